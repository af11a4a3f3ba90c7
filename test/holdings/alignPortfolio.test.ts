import { describe, expect, it } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import type { Entity, Holding } from "../../src/contract/wireTypes.ts";
import { alignPortfolio, roundPortfolio } from "../../src/holdings/alignPortfolio.ts";
import { countEntities } from "../../src/holdings/entityScores.ts";

const ENTITY: Entity = {
  entity_info: { name: "Example Cement AG", asset_type: "equity", country: "Germany", industry: "Cement" },
  data: [{ year: 2023, emissions: { scope1: 700, scope2: 100, scope3: 200 }, financials: { revenue: 5e6 } }],
  projected_emissions: [
    { year: 2030, emissions: { scope1: 500, scope2: 60, scope3: 170 } },
    { year: 2050, emissions: { scope1: 100, scope2: 0, scope3: 50 } },
  ],
};
const HOLDING: Holding = { id: "E", value: 100, evic: 1000, entity: ENTITY };
const READY: Holding = { id: "R", value: 300, evic: 1000, temperature: { s1s2s3: { t: 2, low: 1.9, high: 2.2 } } };

async function resultOf(holdings: readonly Holding[], options: Parameters<typeof alignPortfolio>[1] = {}) {
  const [result] = (await alignPortfolio(holdings, options)).results;
  if (result === undefined) throw new Error("There is no result.");
  return result;
}

describe("a holding with an entity", () => {
  it("has the overall temperature of the entity, and its range", async () => {
    const { results } = await alignTemperature([ENTITY], { include: ["overall"] });
    const overall = results[0]?.overall;
    const { temperature, range } = await resultOf([HOLDING]);
    expect(temperature).toBeCloseTo(overall?.temperature_alignment ?? NaN, 12);
    expect(range?.low).toBeCloseTo(overall?.range.low ?? NaN, 12);
    expect(range?.high).toBeCloseTo(overall?.range.high ?? NaN, 12);
  });

  it("has the temperature of a year where one is requested, by scope", async () => {
    const { results } = await alignTemperature([ENTITY], { include: ["by_scope"] });
    const [year] = results[0]?.data ?? [];
    const answer = await alignPortfolio([HOLDING], { year: 2030, scopes: ["s1s2", "s3", "s1s2s3"] });
    const expected = [year?.by_scope?.s1s2, year?.by_scope?.s3, year?.temperature_alignment];
    expect(answer.year).toBe(2030);
    for (const [index, { temperature }] of answer.results.entries()) {
      expect(temperature).toBeCloseTo(expected[index] ?? NaN, 12);
    }
  });

  it("has no score in a year that the entity does not project", async () => {
    const result = await resultOf([HOLDING, READY], { year: 2040 });
    expect(result.uncovered).toEqual([{ id: "E", reason: "score_missing" }]);
    expect(result.temperature).toBe(2);
  });

  it("has the emissions, revenue and budget of the entity, and its own where the entity gives none", async () => {
    const [baseline] = ENTITY.data;
    const partial: Entity = { ...ENTITY, data: [{ year: 2023, emissions: { scope1: 700 } }] };
    const line = { ...HOLDING, scope1: 1, scope2: 2, scope3: 3, revenue: 10 };
    const budget = (await alignTemperature([ENTITY], { include: ["budget"] })).results[0]?.data.at(-1)?.budget;
    const whole = await alignPortfolio([line]);
    expect(whole.financed.financed_emissions).toEqual({ s1s2: 80, s3: 20 });
    expect(whole.financed.waci_per_million).toBeCloseTo((1e6 * 800) / (baseline?.financials?.revenue ?? NaN), 9);
    expect(whole.financed.budget?.allowed).toBeCloseTo((budget?.allowed ?? NaN) / 10, 9);
    expect(whole.financed.budget?.overshoot_pct).toBeCloseTo(budget?.overshoot_pct ?? NaN, 9);
    const { financed } = await alignPortfolio([{ ...line, entity: partial }]);
    expect(financed.financed_emissions.s1s2).toBeCloseTo(70.2, 12);
    expect(financed.financed_emissions.s3).toBeCloseTo(0.3, 12);
    expect(financed.waci_per_million).toBeCloseTo((1e6 * 702) / 10, 6);
  });

  it("compares its budget with the requested scenario", async () => {
    const allowed = [];
    for (const budget_scenario of ["net_zero_2050", "current_policies"] as const) {
      allowed.push((await alignPortfolio([HOLDING], { budget_scenario })).financed.budget?.allowed ?? NaN);
    }
    expect(allowed[1]).toBeGreaterThan(allowed[0] ?? NaN);
  });

  it("is listed among the entities with the id of the holding", async () => {
    const { results, benchmark } = await alignTemperature([ENTITY], { include: ["overall", "budget"] });
    const answer = await alignPortfolio([READY, { ...HOLDING, issuer: "Issuer" }, { ...HOLDING, issuer: "Issuer" }]);
    expect(answer).toMatchObject({ method: "portfolio/1", scores: "alignment/2", benchmark, year: "overall" });
    expect(answer.entities).toEqual([{ id: "Issuer", ...results[0] }]);
  });

  it("leaves the holding uncovered if it cannot be scored, and says why", async () => {
    const refused = { ...ENTITY, projected_emissions: [{ year: 2020, emissions: {} }] };
    const answer = await alignPortfolio([READY, READY, { ...HOLDING, entity: refused, scope1: 5 }]);
    expect(answer.results[0]).toMatchObject({ temperature: 2, uncovered: [{ id: "E", reason: "score_missing" }] });
    expect(answer.financed.financed_emissions.s1s2).toBe(0.5);
    expect(answer.entities).toMatchObject([
      {
        id: "E",
        error: {
          code: "invalid_request",
          errors: [
            { pointer: "/holdings/2/entity/projected_emissions/0/year", code: "out_of_range" },
            { pointer: "/holdings/2/entity/projected_emissions/0/emissions", code: "missing" },
          ],
        },
      },
    ]);
  });

  it("leaves the holding uncovered if it has no temperature, with the emissions of the entity", async () => {
    const zero: Entity = { ...ENTITY, data: [{ year: 2023, emissions: { scope1: 0 } }] };
    const answer = await alignPortfolio([READY, { ...HOLDING, entity: zero, scope1: 5 }]);
    expect(answer.results[0]?.uncovered).toEqual([{ id: "E", reason: "score_missing" }]);
    expect(answer.financed.holdings[1]).toEqual({ id: "E", attribution: 0.1, s1s2: 0 });
    expect(answer.entities).toMatchObject([
      { id: "E", data: [{ reason: "zero_baseline" }, { reason: "zero_baseline" }] },
    ]);
  });

  it("is scored in chunks with the same results", async () => {
    const holdings = Array.from({ length: 1500 }, (_, index): Holding => {
      const scale = 1 + (index % 7);
      const data = ENTITY.data.map((record) => ({
        ...record,
        emissions: { scope1: 700 * scale, scope2: 100, scope3: 200 },
      }));
      return { ...HOLDING, id: `E${index}`, entity: { ...ENTITY, data } };
    });
    const answer = await alignPortfolio(holdings);
    expect(answer.entities.map(({ id }) => id)).toEqual(holdings.map(({ id }) => id));
    const scores = answer.results[0]?.contributions?.map(({ temperature }) => temperature) ?? [];
    expect(scores).toHaveLength(1500);
    for (const [index, score] of scores.entries()) expect(score).toBe(scores[index % 7]);
    expect(new Set(scores).size).toBe(7);
  });
});

describe("the entities of a portfolio", () => {
  it("are counted once per issuer, with their projected years, also where they are invalid", () => {
    const broken = { id: "X", value: 1, entity: {} as unknown as Entity };
    expect(countEntities([HOLDING, { ...HOLDING, id: "again", issuer: "E" }, READY, broken])).toEqual({
      entityCount: 2,
      projectionCount: 2,
    });
  });
});

describe("the groups of a portfolio", () => {
  it("take keys and names literally, also those of inherited members", async () => {
    const { groups } = await resultOf(
      [
        { ...READY, id: "A", groups: { constructor: "__proto__", "": "x" } },
        { ...READY, id: "B", groups: null },
        { ...READY, id: "C", groups: JSON.parse('{"__proto__":"y"}') as Record<string, string> },
      ],
      { group_by: ["constructor", "__proto__", ""] },
    );
    const names = Object.entries(groups ?? {}).map(([key, members]) => [key, members.map(({ group }) => group)]);
    expect(names).toEqual([
      ["constructor", ["__proto__", "unassigned"]],
      ["__proto__", ["unassigned", "y"]],
      ["", ["x", "unassigned"]],
    ]);
  });
});

describe("a portfolio without weight", () => {
  const MISSING: Holding = { id: "M", value: 100, temperature: {} };

  it("has the bounds of its missing scores", async () => {
    const result = await resultOf([MISSING, { ...READY, value: 0 }], { missing_low: 1.4, missing_high: 3 });
    expect(result).toMatchObject({ temperature: null, reason: "no_weight" });
    expect(result.bounds).toEqual({ low: 1.4, high: 3, complete: true });
  });

  it("has no bounds if the holdings with missing scores have no weight either", async () => {
    expect(await resultOf([{ ...MISSING, value: 0 }])).not.toHaveProperty("bounds");
  });

  it("has groups, each with the reason why it has no temperature", async () => {
    const negative: Holding = { id: "N", value: 1, scope1: -5, scope3: 1, temperature: { s1s2s3: 2 } };
    const { groups } = await resultOf(
      [
        { ...MISSING, groups: { sector: "steel" } },
        { ...MISSING, id: "L", groups: { sector: "steel" } },
        { ...negative, groups: { sector: "forestry" } },
        { ...READY, scope1: 0, scope3: 0, groups: { sector: "software" } },
        { ...negative, id: "O", groups: { sector: "software" } },
      ],
      { methods: ["TETS"], group_by: ["sector"] },
    );
    const coverage = { holdings: 0, value: 0, weight: 0 };
    const common = { temperature: null, coverage, weight: 0, contribution: 0 };
    expect(groups).toEqual({
      sector: [
        { ...common, group: "steel", reason: "emissions_missing" },
        { ...common, group: "forestry", reason: "emissions_negative" },
        {
          ...common,
          group: "software",
          coverage: { holdings: 0.5, value: 300 / 301, weight: 0 },
          reason: "no_weight",
        },
      ],
    });
  });

  it("has groups without a reason if it has a temperature", async () => {
    const { groups } = await resultOf(
      [
        { ...MISSING, groups: { sector: "steel" } },
        { ...READY, groups: { sector: "software" } },
      ],
      { group_by: ["sector"] },
    );
    expect(groups?.["sector"]?.[0]).toMatchObject({ group: "steel", temperature: null });
    expect(groups?.["sector"]?.[0]).not.toHaveProperty("reason");
  });
});

describe("rounding", () => {
  it("keeps 2 decimals of temperatures and 6 of shares and contributions", async () => {
    const answer = roundPortfolio(
      await alignPortfolio(
        [
          { ...READY, value: 1 / 3, scope1: 1 / 3, groups: { a: "b" } },
          { ...READY, id: "S", value: 2, temperature: { s1s2s3: 3.456789 }, budget: { allowed: 3, projected: 7.7 } },
        ],
        { goal: 1.5, group_by: ["a"], default_score: 3 },
      ),
    );
    expect(answer.results).toEqual([
      {
        method: "WATS",
        scope: "s1s2s3",
        temperature: 3.25,
        range: { low: 3.23, high: 3.28 },
        range_independent: { low: 3.23, high: 3.27 },
        range_coverage: 0.142857,
        coverage: { holdings: 1, value: 1, weight: 1 },
        bounds: { low: 3.25, high: 3.25, complete: true },
        default_share: 0,
        uncovered: [],
        contributions: [
          {
            id: "R",
            weight: 0.142857,
            temperature: 2,
            contribution: 0.285714,
            share: 0.087948,
            above_goal: 0.071429,
            without: 3.46,
          },
          {
            id: "S",
            weight: 0.857143,
            temperature: 3.46,
            contribution: 2.962962,
            share: 0.912052,
            above_goal: 1.677248,
            without: 2,
          },
        ],
        groups: {
          a: [
            {
              group: "b",
              temperature: 2,
              coverage: { holdings: 1, value: 1, weight: 1 },
              weight: 0.142857,
              contribution: 0.285714,
            },
            {
              group: "unassigned",
              temperature: 3.46,
              coverage: { holdings: 1, value: 1, weight: 1 },
              weight: 0.857143,
              contribution: 2.962962,
            },
          ],
        },
      },
    ]);
    expect(answer.financed).toMatchObject({
      coverage: { s1s2: 0.142857, s3: 0 },
      financed_emissions: { s1s2: 1 / 3 / 3 / 1000, s3: 0 },
      budget: { allowed: 0.006, overshoot_pct: 156.67 },
      budget_coverage: 0.857143,
    });
  });
});
