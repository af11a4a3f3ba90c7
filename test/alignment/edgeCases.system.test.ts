/**
 * The edge cases of the temperature method (alignment.md, sections 8 and 11), row by row through the command line and the
 * HTTP service. The rows of one basis share a process of the command line and a request.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AlignmentAnswer, AlignmentResult } from "../../src/contract/wireTypes.ts";
import { post, runCommand, startedHost } from "../bothInterfaces.ts";
import { ALIGNMENT_PATH, type TestHost } from "../host/testHost.ts";
import { entity, type Parts } from "./changedEntity.ts";

const LOWEST = { low: 1.3, high: 1.3 };
const NO_SCOPE = { temperature_alignment: null, reason: "no_usable_scope" };
const NO_BASELINE = { temperature_alignment: null, reason: "zero_baseline" };
/** Members that a row of the wire must not have. */
const ABSENT = { range: undefined, budget: undefined };
const FLAT = { temperature_alignment: 2.76, range: { low: 2.08, high: 2.83 } };

interface Case {
  readonly title: string;
  readonly parts: Parts;
  readonly basis?: "cumulative";
  /** Members of each year. */
  readonly years: readonly Readonly<Record<string, unknown>>[];
  /** Members of the element of `results`. */
  readonly result?: Readonly<Record<string, unknown>>;
}

const CASES: readonly Case[] = [
  {
    title: "emissions that fall to 0",
    parts: { records: [[2030, { scope1: 0 }]] },
    years: [{ temperature_alignment: 1.3, range: LOWEST }],
  },
  {
    title: "net removals",
    parts: { records: [[2030, { scope1: -50 }]] },
    years: [{ temperature_alignment: 1.3, range: LOWEST, flags: ["negative_scope", "growth_default"] }],
  },
  {
    title: "net removals, cumulative: the mean of the line decides",
    basis: "cumulative",
    parts: { records: [[2030, { scope1: -50 }]] },
    years: [{ temperature_alignment: 1.39 }],
  },
  {
    title: "a baseline of 0 and later emissions",
    parts: { baseline: { scope1: 0 } },
    years: [{ ...NO_BASELINE, ...ABSENT, flags: ["zero_baseline"] }],
    result: { overall: null },
  },
  {
    title: "a baseline below 1e-12 and later emissions",
    parts: { baseline: { scope1: 9e-13 } },
    years: [{ ...NO_BASELINE, ...ABSENT }],
  },
  {
    title: "a negative baseline and later emissions",
    parts: { baseline: { scope1: -5 } },
    years: [{ ...NO_BASELINE, ...ABSENT, flags: ["zero_baseline", "negative_scope"] }],
  },
  {
    title: "a baseline of 0 and no later emissions",
    parts: { baseline: { scope1: 0 }, records: [[2030, { scope1: 0 }]] },
    years: [
      {
        temperature_alignment: 1.3,
        range: LOWEST,
        climate_range: { low: 0.93, high: 1.87 },
        budget: undefined,
        flags: ["zero_baseline"],
      },
    ],
    result: { overall: null },
  },
  {
    title: "a baseline of 0 in one of two scored years has no weight in overall",
    parts: {
      baseline: { scope1: 100, scope2: 0 },
      records: [
        [2030, { scope1: 100 }],
        [2040, { scope2: 0 }],
      ],
    },
    years: [FLAT, { temperature_alignment: 1.3 }],
    result: { overall: { ...FLAT, years: 2 } },
  },
  {
    title: "a baseline of 0, cumulative: null in every year once a year of the line is above 0",
    basis: "cumulative",
    parts: {
      baseline: { scope1: 0 },
      records: [
        [2030, { scope1: 0 }],
        [2040, { scope1: 1 }],
      ],
    },
    years: [
      { ...NO_BASELINE, ...ABSENT },
      { ...NO_BASELINE, ...ABSENT },
    ],
  },
  {
    title: "no scope in both years",
    parts: { records: [[2030, { scope2: 100 }]] },
    years: [{ ...NO_SCOPE, ...ABSENT, flags: ["scope_dropped", "no_usable_scope"] }],
  },
  {
    title: "removals in one scope",
    parts: { baseline: { scope1: 100, scope2: -10 }, records: [[2030, { scope1: 90, scope2: -10 }]] },
    years: [{ temperature_alignment: expect.any(Number), flags: expect.arrayContaining(["negative_scope"]) }],
  },
  ...[{}, { revenue: 0 }, { revenue: -5, ebitda: -1 }, { revenue: 1e15, ebitda: 0 }].map((financials): Case => ({
    title: `unused financial figures ${JSON.stringify(financials)}`,
    parts: { financials },
    years: [FLAT],
  })),
  {
    title: "projected revenue without a baseline revenue",
    parts: { records: [[2030, { scope1: 100 }, { financials: { revenue: 5 } }]] },
    years: [{ ...FLAT, flags: ["growth_default", "revenue_unusable", "sensitive"] }],
  },
  {
    title: "projected revenue of 0",
    parts: { financials: { revenue: 4 }, records: [[2030, { scope1: 100 }, { financials: { revenue: 0 } }]] },
    years: [{ ...FLAT, flags: ["growth_default", "revenue_unusable", "sensitive"] }],
  },
  {
    title: "emissions of 1e15 t, the largest",
    parts: { baseline: { scope1: 1e15 }, records: [[2030, { scope1: 1e15 }]] },
    years: [FLAT],
  },
  {
    title: "a label of 64 characters and a probability of 1",
    parts: { records: [[2030, { scope1: 100 }, { label: "é".repeat(64), probability: 1 }]] },
    years: [{ ...FLAT, label: "é".repeat(64) }],
  },
  {
    title: "a projected year past 2060",
    parts: { records: [[2100, { scope1: 100 }]] },
    years: [{ temperature_alignment: expect.any(Number), flags: ["growth_default", "beyond_table"] }],
  },
  {
    title: "the first and the last year that are accepted",
    parts: { baselineYear: 1900, records: [[2200, { scope1: 100 }]] },
    years: [{ year: 2200, temperature_alignment: expect.any(Number) }],
    result: { flags: expect.arrayContaining(["early_baseline"]) },
  },
  {
    title: "a baseline before 2025, with a cut before 2025",
    parts: { baselineYear: 2015, records: [[2030, { scope1: 50 }]] },
    years: [{ temperature_alignment: 1.41 }],
    result: { flags: ["scope3_absent", "early_baseline"] },
  },
  {
    title: "years out of order",
    parts: {
      records: [
        [2050, { scope1: 10 }],
        [2030, { scope1: 100 }],
      ],
    },
    years: [{ year: 2050 }, { year: 2030, ...FLAT }],
  },
  {
    title: "a year given twice",
    parts: {
      records: [
        [2030, { scope1: 50 }],
        [2030, { scope1: 100 }],
      ],
    },
    years: [
      { temperature_alignment: 1.41, flags: ["growth_default", "duplicate_year"] },
      { ...FLAT, flags: ["growth_default", "duplicate_year", "sensitive"] },
    ],
  },
  {
    title: "a year given twice, cumulative: the last one counts for both",
    basis: "cumulative",
    parts: {
      records: [
        [2030, { scope1: 50 }],
        [2030, { scope1: 100 }],
      ],
    },
    years: [{ temperature_alignment: 2.76 }, { temperature_alignment: 2.76 }],
  },
  {
    title: "the same year under two labels is not a duplicate",
    parts: {
      records: [
        [2030, { scope1: 50 }, { label: "a" }],
        [2030, { scope1: 100 }, { label: "b" }],
      ],
    },
    years: [
      { temperature_alignment: 1.41, flags: ["growth_default"] },
      { ...FLAT, flags: ["growth_default", "sensitive"] },
    ],
    result: { blended: [{ year: 2030, temperature_alignment: 2.09, range: { low: 1.74, high: 2.12 } }] },
  },
  {
    title: "unknown names",
    parts: { info: { country: "Germny", industry: "Cemment", sector: "Airlnes" } },
    years: [FLAT],
    result: {
      flags: ["unknown_industry", "unknown_country", "scope3_absent"],
      did_you_mean: { country: "Germany", industry: "cement", sector: "Airlines" },
    },
  },
  {
    title: "an industry from the sector",
    parts: { info: { industry: "Zzyzx", sector: "Consulting services" } },
    years: [FLAT],
    result: { flags: ["industry_from_sector", "scope3_absent"] },
  },
  {
    title: "an unknown classification system",
    parts: { info: { industry_classification_system: "homemade" } },
    years: [FLAT],
    result: { flags: ["unknown_classification", "scope3_absent"] },
  },
  {
    title: "emissions far above every pathway",
    parts: { records: [[2030, { scope1: 1000 }]] },
    years: [{ temperature_alignment: 6, range: { low: 6, high: 6 } }],
  },
];

const OPTIONS = "include=budget,climate_range,overall";

describe("edge cases of the temperature method", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await startedHost();
  });
  afterAll(() => host.close());

  describe.each([undefined, "cumulative"] as const)("basis %s", (basis) => {
    const cases = CASES.filter((each) => each.basis === basis);
    let answers: readonly AlignmentAnswer[];
    beforeAll(async () => {
      const entities = cases.map(({ parts }) => entity(parts));
      const [query, flags] = basis === undefined ? ["", []] : [`&basis=${basis}`, ["--basis", basis]];
      const http = await post(host, `${ALIGNMENT_PATH}?${OPTIONS}${query}`, entities);
      expect(http.status, JSON.stringify(http.body)).toBe(200);
      const args = ["align", "in.json", "out.json", "--include", "budget,climate_range,overall", ...flags];
      const command = await runCommand(args, { "in.json": JSON.stringify(entities) });
      expect(command.exitCode, command.stderr).toBe(0);
      answers = [http.body as AlignmentAnswer, JSON.parse(command.output ?? "") as AlignmentAnswer];
    });

    test("have the same answers through both interfaces", () => {
      expect(answers[1]).toEqual(answers[0]);
    });

    test.each(cases.map((each, index) => ({ ...each, index })))("$title", ({ index, years, result = {} }) => {
      for (const answer of answers) {
        const actual = answer.results[index] as AlignmentResult;
        expect(actual.data).toHaveLength(years.length);
        for (const [i, expected] of years.entries()) expect(membersOf(actual.data[i], expected)).toEqual(expected);
        expect(membersOf(actual, result)).toEqual(result);
      }
    });
  });
});

/** The members of a value that the expected object has. */
function membersOf(value: object | undefined, expected: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.keys(expected).map((name) => [name, (value as Readonly<Record<string, unknown>>)[name]]),
  );
}
