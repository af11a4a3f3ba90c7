/**
 * The edge cases and the bad input of the temperature method (alignment.md, sections 8, 9, 11 and 12), row by row through
 * the command line and the HTTP service. The rows of one table share a process of the command line.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AlignmentAnswer, AlignmentResult, Entity } from "../../src/contract/wireTypes.ts";
import { post, type Refusal, refusalsOf, runCommand, startedHost } from "../bothInterfaces.ts";
import { ALIGNMENT_PATH, type TestHost } from "../host/testHost.ts";

type Scopes = Readonly<Record<string, unknown>>;

/** An entity of which a row changes members; its values may be invalid. */
interface Parts {
  readonly info?: Readonly<Record<string, unknown>>;
  readonly baseline?: Scopes;
  readonly baselineYear?: unknown;
  readonly financials?: Readonly<Record<string, unknown>>;
  /** Projection records by year, or as they are. */
  readonly records?: readonly (readonly [year: unknown, emissions: Scopes, rest?: Readonly<Record<string, unknown>>])[];
}

function entity({ info = {}, baseline = { scope1: 100 }, baselineYear = 2025, financials, records }: Parts): Entity {
  return {
    entity_info: { name: "Company", asset_type: "equity", industry: "Consulting services", ...info },
    data: [{ year: baselineYear, emissions: baseline, ...(financials === undefined ? {} : { financials }) }],
    projected_emissions: (records ?? [[2030, { scope1: 100 }]]).map(([year, emissions, rest = {}]) => ({
      year,
      emissions,
      ...rest,
    })),
  } as unknown as Entity;
}

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

/** The flags of a year besides those that every row without a country has. */
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

/** Errors of an entity, with pointers relative to it. */
const REFUSED: readonly { readonly title: string; readonly parts: Parts; readonly errors: readonly Refusal[] }[] = [
  {
    title: "emissions above 1e15 t and below -1e15 t",
    parts: { baseline: { scope1: 2e15 }, records: [[2030, { scope3: -2e15 }]] },
    errors: [
      ["out_of_range", "/data/0/emissions/scope1"],
      ["out_of_range", "/projected_emissions/0/emissions/scope3"],
    ],
  },
  {
    title: "amounts above 1e15",
    parts: {
      financials: { revenue: 2e15, ebitda: -2e15 },
      records: [[2030, { scope1: 1 }, { financials: { revenue: 2e15 } }]],
    },
    errors: [
      ["out_of_range", "/data/0/financials/revenue"],
      ["out_of_range", "/data/0/financials/ebitda"],
      ["out_of_range", "/projected_emissions/0/financials/revenue"],
    ],
  },
  {
    title: "emissions as text",
    parts: { baseline: { scope1: "100" }, records: [[2030, { scope1: "NaN" }]] },
    errors: [
      ["wrong_type", "/data/0/emissions/scope1"],
      ["wrong_type", "/projected_emissions/0/emissions/scope1"],
    ],
  },
  {
    title: "labels of 0 and 65 characters",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "" }],
        [2030, { scope1: 1 }, { label: "x".repeat(65) }],
      ],
    },
    errors: [
      ["out_of_range", "/projected_emissions/0/label"],
      ["out_of_range", "/projected_emissions/1/label"],
    ],
  },
  {
    title: "probabilities outside 0 to 1",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: -0.1 }],
        [2030, { scope1: 1 }, { label: "b", probability: 1.1 }],
      ],
    },
    errors: [
      ["out_of_range", "/projected_emissions/0/probability"],
      ["out_of_range", "/projected_emissions/1/probability"],
    ],
  },
  {
    title: "a record without a label beside one with a label",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a" }],
        [2040, { scope1: 1 }],
      ],
    },
    errors: [["missing", "/projected_emissions/1/label"]],
  },
  {
    title: "a probability without a label",
    parts: { records: [[2030, { scope1: 1 }, { probability: 0.5 }]] },
    errors: [["not_expected", "/projected_emissions/0/probability"]],
  },
  {
    title: "a label with two probabilities",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0.5 }],
        [2040, { scope1: 1 }, { label: "a", probability: 0.6 }],
      ],
    },
    errors: [["not_allowed", "/projected_emissions/1/probability"]],
  },
  {
    title: "a probability on some records of a label",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0.5 }],
        [2040, { scope1: 1 }, { label: "a" }],
      ],
    },
    errors: [["missing", "/projected_emissions/1/probability"]],
  },
  {
    title: "a probability on some labels",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0.5 }],
        [2030, { scope1: 1 }, { label: "b" }],
      ],
    },
    errors: [["missing", "/projected_emissions/1/probability"]],
  },
  {
    title: "probabilities that are all 0",
    parts: {
      records: [
        [2030, { scope1: 1 }, { label: "a", probability: 0 }],
        [2030, { scope1: 1 }, { label: "b", probability: 0 }],
      ],
    },
    errors: [["out_of_range", "/projected_emissions/0/probability"]],
  },
  {
    title: "price years outside 2015 to 2024 and a currency in small letters",
    parts: { financials: { currency: "usd", price_year: 2014 } },
    errors: [
      ["malformed", "/data/0/financials/currency"],
      ["out_of_range", "/data/0/financials/price_year"],
    ],
  },
  {
    title: "the price year 2025 and a currency of four letters",
    parts: { financials: { currency: "EURO", price_year: 2025 } },
    errors: [
      ["malformed", "/data/0/financials/currency"],
      ["out_of_range", "/data/0/financials/price_year"],
    ],
  },
  {
    title: "projected years that are not after the baseline year",
    parts: {
      records: [
        [2025, { scope1: 1 }],
        [2024, { scope1: 1 }],
      ],
    },
    errors: [
      ["out_of_range", "/projected_emissions/0/year"],
      ["out_of_range", "/projected_emissions/1/year"],
    ],
  },
  {
    title: "years outside 1900 to 2200",
    parts: { baselineYear: 1899, records: [[2201, { scope1: 1 }]] },
    errors: [
      ["out_of_range", "/data/0/year"],
      ["out_of_range", "/projected_emissions/0/year"],
    ],
  },
  {
    title: "years that are not whole numbers",
    parts: { baselineYear: 2024.5, records: [["2030", { scope1: 1 }]] },
    errors: [
      ["wrong_type", "/data/0/year"],
      ["wrong_type", "/projected_emissions/0/year"],
    ],
  },
  {
    title: "records without emissions",
    parts: { baseline: {}, records: [[2030, {}]] },
    errors: [
      ["missing", "/data/0/emissions"],
      ["missing", "/projected_emissions/0/emissions"],
    ],
  },
  {
    title: "no projected year",
    parts: { records: [] },
    errors: [["empty", "/projected_emissions"]],
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

  test.each(REFUSED)("the service refuses $title", async ({ parts, errors }) => {
    const valid = entity({});
    const answer = await post(host, ALIGNMENT_PATH, [valid, entity(parts)]);
    expect(answer.status).toBe(400);
    expect((answer.body as { code: string }).code).toBe("invalid_request");
    expect(refusalsOf(answer)).toEqual(errors.map(([code, pointer]) => [code, `/1${pointer}`]));
  });

  test("the command line names every error of all of these entities at once", async () => {
    const entities = [entity({}), ...REFUSED.map(({ parts }) => entity(parts))];
    const command = await runCommand(["align", "in.json", "out.json"], { "in.json": JSON.stringify(entities) });
    expect([command.exitCode, command.output]).toEqual([1, undefined]);
    const expected = REFUSED.flatMap(({ errors }, i) => errors.map(([, pointer]) => `/${i + 1}${pointer}`));
    const named = [...command.stderr.matchAll(/^ {2}line \d+, (\S+): /gm)].map(([, pointer]) => pointer);
    expect(named, command.stderr).toEqual(expected);
    expect(command.stderr).toContain(`${expected.length} errors`);
  });

  test.each<{ title: string; query: string; flags: readonly string[]; errors: readonly Refusal[] }>([
    ...["0", "1.01", "x"].map((text) => ({
      title: `a convergence of ${JSON.stringify(text)}`,
      query: `convergence=${text}`,
      flags: [`--convergence=${text}`],
      errors: [[Number.isNaN(Number.parseFloat(text)) ? "wrong_type" : "out_of_range", "convergence"]] as const,
    })),
    {
      title: "an unknown basis, member and scenario",
      query: "basis=x&include=y&budget_scenario=z",
      flags: ["--basis", "x"],
      errors: [
        ["not_allowed", "basis"],
        ["not_allowed", "budget_scenario"],
        ["not_allowed", "include"],
      ],
    },
    {
      title: "an unknown benchmark",
      query: "benchmark=iea",
      flags: ["--benchmark", "iea"],
      errors: [["not_allowed", "benchmark"]],
    },
  ])("both refuse $title", async ({ query, flags, errors }) => {
    const answer = await post(host, `${ALIGNMENT_PATH}?${query}`, [entity({})]);
    expect(answer.status).toBe(400);
    expect(refusalsOf(answer).toSorted(([, a], [, b]) => a.localeCompare(b))).toEqual(errors);
    const files = { "in.json": JSON.stringify([entity({})]) };
    const command = await runCommand(["align", "in.json", "out.json", ...flags], files);
    expect([command.exitCode, command.output], command.stderr).toEqual([1, undefined]);
    expect(command.stderr).toContain((flags[0] ?? "").split("=")[0]);
  });

  test.each([
    ["1e999", "a number above every finite one"],
    ["NaN", "NaN"],
    ["-Infinity", "an infinite number"],
  ])("both refuse %s as emissions: %s", async (number) => {
    const body = JSON.stringify([entity({ baseline: { scope1: "NUMBER" } })]).replace('"NUMBER"', number);
    const answer = await post(host, ALIGNMENT_PATH, body);
    expect(answer.status).toBe(400);
    const command = await runCommand(["align", "in.json", "out.json"], { "in.json": body });
    expect([command.exitCode, command.output]).toEqual([1, undefined]);
    expect(answer.body).toMatchObject({ code: "json_malformed", line: 1 });
    expect(command.stderr).toContain("Line 1, column ");
  });

  test("both refuse another asset type than equity", async () => {
    const bond = entity({ info: { asset_type: "bond" } });
    const answer = await post(host, ALIGNMENT_PATH, [bond]);
    expect([answer.status, refusalsOf(answer)]).toEqual([
      422,
      [["asset_type_unsupported", "/0/entity_info/asset_type"]],
    ]);
    const command = await runCommand(["align", "in.json", "out.json"], { "in.json": JSON.stringify([bond]) });
    expect([command.exitCode, command.output]).toEqual([1, undefined]);
    expect(command.stderr).toContain("/0/entity_info/asset_type");
  });
});

/** The members of a value that the expected object has. */
function membersOf(value: object | undefined, expected: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.keys(expected).map((name) => [name, (value as Readonly<Record<string, unknown>>)[name]]),
  );
}
