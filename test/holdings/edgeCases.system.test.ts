/** The edge cases and the bad input of portfolios, row by row through the command line and the HTTP service. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Financed, PortfolioAnswer, PortfolioResult } from "../../src/contract/wireTypes.ts";
import { post, type Refusal, refusalsOf, runCommand, startedHost } from "../bothInterfaces.ts";
import type { TestHost } from "../host/testHost.ts";

const PATH = "/api/v1/portfolio-alignment";
type Members = Readonly<Record<string, unknown>>;
const A = { id: "A", value: 60, temperature: { s1s2s3: { t: 2, low: 1.8, high: 2.3 } }, scope1: 4, scope3: 6 };
const B = { id: "B", value: 40, temperature: { s1s2s3: 3 }, scope1: 1, scope3: 1 };
const UNSCORED = { ...B, temperature: {} };
const ENTITY = {
  entity_info: { name: "E", asset_type: "equity" },
  data: [{ year: 2025, emissions: { scope1: 100 } }],
  projected_emissions: [{ year: 2030, emissions: { scope1: 50 } }],
};

interface Case {
  readonly title: string;
  readonly holdings: readonly Members[];
  readonly options?: Members;
  /** Members of the only result. */
  readonly result?: Members;
  readonly financed?: Members;
  readonly entities?: unknown;
}

const COVERED = { holdings: 1, value: 1, weight: 1 };

const CASES: readonly Case[] = [
  {
    title: "a holding without a score: bounds instead of a default",
    holdings: [A, UNSCORED],
    result: {
      temperature: 2,
      coverage: { holdings: 0.5, value: 0.6, weight: 0.6 },
      bounds: { low: 1.72, high: 2.48, complete: true },
      uncovered: [{ id: "B", reason: "score_missing" }],
      default_share: undefined,
    },
  },
  {
    title: "a default score, which coverage and bounds do not count",
    holdings: [A, UNSCORED],
    options: { default_score: 4 },
    result: {
      temperature: 2.8,
      coverage: { holdings: 0.5, value: 0.6, weight: 0.6 },
      bounds: { low: 1.72, high: 2.48, complete: true },
      default_share: 0.4,
    },
  },
  {
    title: "no score at all",
    holdings: [UNSCORED],
    options: { missing_low: 1.5, missing_high: 4 },
    result: {
      temperature: null,
      reason: "no_weight",
      bounds: { low: 1.5, high: 4, complete: true },
      coverage: { holdings: 0, value: 0, weight: 0 },
      range: undefined,
      contributions: undefined,
    },
  },
  {
    title: "no value",
    holdings: [
      { ...A, value: 0 },
      { ...B, value: 0 },
    ],
    result: {
      temperature: null,
      reason: "no_weight",
      coverage: { holdings: 1, value: 0, weight: 0 },
      bounds: undefined,
      uncovered: [],
    },
  },
  {
    title: "removals and missing emissions as weights",
    holdings: [A, { ...B, scope1: -5 }, { ...B, id: "C", scope3: null }],
    options: { methods: ["TETS"] },
    result: {
      temperature: 2,
      coverage: { holdings: 0.333333, value: 0.428571, weight: 1 },
      bounds: { low: 2, high: 2, complete: false },
      uncovered: [
        { id: "B", reason: "emissions_negative" },
        { id: "C", reason: "emissions_missing" },
      ],
    },
  },
  {
    title: "denominators that are missing, 0 and negative",
    holdings: [{ ...A, total_assets: 100 }, B, { ...B, id: "C", total_assets: 0 }, { ...B, id: "D", total_assets: -1 }],
    options: { methods: ["AOTS"] },
    result: {
      temperature: 2,
      uncovered: [
        { id: "B", reason: "denominator_missing" },
        { id: "C", reason: "denominator_not_positive" },
        { id: "D", reason: "denominator_not_positive" },
      ],
    },
  },
  {
    title: "the first reason that applies",
    holdings: [A, { id: "B", value: 1, temperature: {}, scope1: -1, scope3: 0 }],
    options: { methods: ["ROTS"] },
    result: {
      temperature: null,
      uncovered: [
        { id: "A", reason: "denominator_missing" },
        { id: "B", reason: "emissions_negative" },
      ],
    },
  },
  {
    title: "lines of one issuer, of which the first counts",
    holdings: [
      { ...A, id: "A1", issuer: "A" },
      B,
      { ...A, id: "A2", issuer: "A", value: 60, temperature: { s1s2s3: 6 }, scope1: 999 },
    ],
    options: { methods: ["TETS"] },
    result: { temperature: 2.17, coverage: COVERED, contributions: [{ id: "A" }, { id: "B" }] },
  },
  {
    title: "one holding, whose sale leaves nothing",
    holdings: [A],
    options: { goal: 1.5 },
    result: {
      temperature: 2,
      contributions: [
        { id: "A", weight: 1, temperature: 2, contribution: 2, share: 1, above_goal: 0.5, without: null },
      ],
    },
  },
  {
    title: "a score without an interval",
    holdings: [A, B],
    result: { range: { low: 2.28, high: 2.58 }, range_independent: { low: 2.25, high: 2.55 }, range_coverage: 0.6 },
  },
  {
    title: "scores that are not rounded to a limit of the method",
    holdings: [{ ...A, temperature: { s1s2s3: 0.4 } }],
    result: { temperature: 0.4 },
  },
  {
    title: "groups, of which one has no score and one no entry",
    holdings: [
      { ...A, groups: { sector: "steel" } },
      { ...UNSCORED, groups: { sector: "banks" } },
      { ...B, id: "C" },
    ],
    options: { group_by: ["sector"] },
    result: {
      temperature: 2.4,
      groups: {
        sector: [
          { group: "steel", temperature: 2, coverage: COVERED, weight: 0.6, contribution: 1.2 },
          {
            group: "banks",
            temperature: null,
            coverage: { holdings: 0, value: 0, weight: 0 },
            weight: 0,
            contribution: 0,
          },
          { group: "unassigned", temperature: 3, coverage: COVERED, weight: 0.4, contribution: 1.2 },
        ],
      },
    },
  },
  {
    title: "an entity that cannot be scored",
    holdings: [A, { id: "E", value: 40, entity: { ...ENTITY, data: [] } }],
    result: { temperature: 2, uncovered: [{ id: "E", reason: "score_missing" }] },
    entities: [
      { id: "E", error: { code: "invalid_request", errors: [{ code: "empty", pointer: "/holdings/1/entity/data" }] } },
    ],
  },
  {
    title: "a year that an entity does not have",
    holdings: [A, { id: "E", value: 40, entity: ENTITY }],
    options: { year: 2040 },
    result: { temperature: 2, uncovered: [{ id: "E", reason: "score_missing" }] },
  },
  {
    title: "an entity whose scope has no emissions",
    holdings: [{ id: "E", value: 40, entity: ENTITY }],
    options: { scopes: ["s3"] },
    result: { temperature: null, reason: "no_weight", uncovered: [{ id: "E", reason: "score_missing" }] },
  },
  {
    title: "an attribution above 1",
    holdings: [{ ...A, evic: 50 }],
    financed: {
      holdings: [{ id: "A", attribution: 1.2, flags: ["attribution_above_one"], s1s2: 4.8, s3: 7.199999999999999 }],
    },
  },
  {
    title: "removals in financed emissions, and EVIC from equity and debt",
    holdings: [{ ...A, scope1: -4, equity: 100, debt: 20 }],
    financed: { holdings: [{ id: "A", attribution: 0.5, s1s2: -2, s3: 3 }], financed_emissions: { s1s2: -2, s3: 3 } },
  },
  {
    title: "holdings without an attribution factor",
    holdings: [A, { ...B, evic: 0 }],
    financed: {
      holdings: [],
      uncovered: [
        { id: "A", reason: "denominator_missing" },
        { id: "B", reason: "denominator_not_positive" },
      ],
      financed_emissions: { s1s2: 0, s3: 0 },
      intensity_per_million: { s1s2: null, s3: null },
      data_quality: { s1s2: null, s3: null },
      waci_per_million: null,
      budget: null,
    },
  },
  {
    title: "a budget of which nothing is allowed",
    holdings: [{ ...A, evic: 120, budget: { allowed: 0, projected: 10 } }],
    financed: { budget: { allowed: 0, projected: 5, overshoot: 5, overshoot_pct: null }, budget_coverage: 1 },
  },
];

interface RefusedCase {
  readonly title: string;
  readonly body: unknown;
  readonly errors: readonly Refusal[];
}

/** Lines with errors; all of them are also sent in one portfolio. */
const REFUSED_LINES: readonly { readonly line: Members; readonly errors: readonly Refusal[] }[] = [
  { line: { ...A, value: -1 }, errors: [["out_of_range", "/value"]] },
  { line: { ...A, value: 2e18 }, errors: [["out_of_range", "/value"]] },
  { line: { ...A, value: "60" }, errors: [["wrong_type", "/value"]] },
  { line: { ...A, value: undefined }, errors: [["missing", "/value"]] },
  { line: { ...A, id: "" }, errors: [["empty", "/id"]] },
  { line: { id: "C", value: 1 }, errors: [["missing", ""]] },
  { line: { ...A, entity: ENTITY }, errors: [["not_expected", "/temperature"]] },
  {
    line: { ...A, temperature: { s1s2s3: 0, s3: 21 } },
    errors: [
      ["out_of_range", "/temperature/s1s2s3"],
      ["out_of_range", "/temperature/s3"],
    ],
  },
  {
    line: { ...A, temperature: { s1s2s3: { t: 2, low: 2.1, high: 2.3 } } },
    errors: [["out_of_range", "/temperature/s1s2s3/t"]],
  },
  { line: { ...A, temperature: { s1s2s3: { t: 2, low: 1.9 } } }, errors: [["missing", "/temperature/s1s2s3/high"]] },
  { line: { ...A, temperature: { s4: 2 } }, errors: [["unknown", "/temperature/s4"]] },
  {
    line: { ...A, data_quality: { s1s2: 0, s3: 5.1 } },
    errors: [
      ["out_of_range", "/data_quality/s1s2"],
      ["out_of_range", "/data_quality/s3"],
    ],
  },
  {
    line: { ...A, scope1: 2e15, revenue: -2e18 },
    errors: [
      ["out_of_range", "/scope1"],
      ["out_of_range", "/revenue"],
    ],
  },
  { line: { ...A, evic: 1e-13 }, errors: [["out_of_range", "/evic"]] },
  { line: { ...A, budget: { allowed: 1 } }, errors: [["missing", "/budget/projected"]] },
  { line: { ...A, market_capitalization: 5 }, errors: [["unknown", "/market_capitalization"]] },
];

const REFUSED: readonly RefusedCase[] = [
  { title: "no holdings", body: { holdings: [] }, errors: [["empty", "/holdings"]] },
  { title: "a body without holdings", body: {}, errors: [["missing", "/holdings"]] },
  {
    title: "5,001 holdings",
    body: { holdings: Array.from({ length: 5001 }, (_, i) => ({ ...A, id: `line ${i}` })) },
    errors: [["too_many", "/holdings"]],
  },
  {
    title: "two currencies",
    body: { holdings: [{ ...A, currency: "EUR" }, B, { ...B, id: "C", currency: "USD" }] },
    errors: [["not_allowed", "/holdings/2/currency"]],
  },
  {
    title: "unknown methods, scopes and a year that is not one",
    body: { holdings: [A], options: { methods: ["WATS", "XOTS"], scopes: ["s4"], year: "2030" } },
    errors: [
      ["not_allowed", "/options/methods/1"],
      ["not_allowed", "/options/scopes/0"],
      ["not_allowed", "/options/year"],
    ],
  },
  {
    title: "empty and repeated lists",
    body: { holdings: [A], options: { methods: [], scopes: ["s3", "s3"], group_by: [] } },
    errors: [
      ["empty", "/options/group_by"],
      ["empty", "/options/methods"],
      ["duplicate", "/options/scopes/1"],
    ],
  },
  {
    title: "temperatures outside the range",
    body: { holdings: [A], options: { goal: 0, default_score: 21 } },
    errors: [
      ["out_of_range", "/options/default_score"],
      ["out_of_range", "/options/goal"],
    ],
  },
  {
    title: "a lower limit above the upper one",
    body: { holdings: [A], options: { missing_low: 4, missing_high: 2 } },
    errors: [["out_of_range", "/options/missing_low"]],
  },
  {
    title: "a key that no holding has",
    body: { holdings: [{ ...A, groups: { sector: "steel" } }], options: { group_by: ["sectors"] } },
    errors: [["unknown", "/options/group_by/0"]],
  },
  {
    title: "an unknown option",
    body: { holdings: [A], options: { weighting: "WATS" } },
    errors: [["unknown", "/options/weighting"]],
  },
];

describe("edge cases of portfolios", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await startedHost();
  });
  afterAll(() => host.close());

  describe("that are accepted", () => {
    test.each(CASES)("the service answers $title", async ({ holdings, options = {}, result, financed, entities }) => {
      const { status, body } = await post(host, PATH, { holdings, options });
      expect(status, JSON.stringify(body)).toBe(200);
      const answer = body as PortfolioAnswer;
      expect(answer.results).toHaveLength(1);
      if (result !== undefined) expectMembers(answer.results[0], result);
      if (financed !== undefined) expectMembers(answer.financed, financed);
      if (entities !== undefined) expect(answer.entities).toMatchObject(entities as object);
    });

    // One process per portfolio: those whose result has the most parts.
    test.each(CASES.filter(({ title }) => /groups|cannot be scored|no score|lines of one/.test(title)))(
      "the command line answers the same: $title",
      async ({ holdings, options = {} }) => {
        const { body } = await post(host, PATH, { holdings, options });
        const files = { "portfolio.json": JSON.stringify({ holdings, options }) };
        const command = await runCommand(["align", "--portfolio", "portfolio.json"], files, "stdout");
        expect(command.exitCode, command.stderr).toBe(0);
        expect(JSON.parse(command.output ?? "")).toEqual(body);
      },
    );
  });

  describe("that are refused", () => {
    const lines = REFUSED_LINES.map(({ line }, i) => (line["id"] === "" ? line : { ...line, id: `line ${i}` }));
    const expected = REFUSED_LINES.flatMap(({ errors }, i) =>
      errors.map(([code, pointer]): Refusal => [code, `/holdings/${i}${pointer}`]),
    );

    test("the service names every error of all lines at once", async () => {
      const answer = await post(host, PATH, { holdings: lines });
      expect(answer.status).toBe(400);
      expect(sorted(refusalsOf(answer))).toEqual(sorted(expected));
    });

    test("the command line names every error of all lines at once", async () => {
      const files = { "portfolio.json": JSON.stringify({ holdings: lines }) };
      const command = await runCommand(["align", "--portfolio", "portfolio.json"], files, "stdout");
      expect([command.exitCode, command.output]).toEqual([1, ""]);
      const named = [...command.stderr.matchAll(/^ {2}(\/\S+): /gm)].map(([, pointer]) => pointer);
      expect(new Set(named), command.stderr).toEqual(new Set(expected.map(([, pointer]) => pointer)));
      expect(named).toHaveLength(expected.length);
    });

    test.each(REFUSED)("the service refuses $title", async ({ body, errors }) => {
      const answer = await post(host, PATH, body);
      expect(answer.status).toBe(400);
      expect(sorted(refusalsOf(answer))).toEqual(sorted(errors));
    });

    test.each(REFUSED.filter(({ title }) => /currencies|unknown methods|no holding has/.test(title)))(
      "the command line refuses $title",
      async ({ body, errors }) => {
        const files = { "portfolio.json": JSON.stringify(body) };
        const command = await runCommand(["align", "--portfolio", "portfolio.json"], files, "stdout");
        expect([command.exitCode, command.output]).toEqual([1, ""]);
        for (const [, pointer] of errors) expect(command.stderr).toContain(pointer);
      },
    );
  });
});

/** Expects the members that the expected object has; those of list items only where they are stated. */
function expectMembers(actual: PortfolioResult | Financed | undefined, expected: Members): void {
  const members = Object.entries(expected);
  expect(actual).toMatchObject(Object.fromEntries(members.filter(([, value]) => value !== undefined)));
  for (const [name, value] of members) if (value === undefined) expect(actual).not.toHaveProperty(name);
}

function sorted(refusals: readonly Refusal[]): readonly Refusal[] {
  return refusals.toSorted(([, a], [, b]) => a.localeCompare(b));
}
