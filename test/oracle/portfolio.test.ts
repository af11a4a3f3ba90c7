/** Section 8 (two holdings by hand), section 9 (properties) and whole portfolios of portfolio aggregation. */
import { describe, expect, it } from "vitest";
import { randomFrom, shuffled } from "../seededRandom.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { scoreEntity } from "./alignment2/entity.ts";
import type { EntityRequest } from "./alignment2/request.ts";
import { describeWithSharedMethod, sharedReference } from "./alignment2/sharedMethod.ts";
import { aggregate, METHODS, SCOPES } from "./portfolio.ts";
import type { Aggregate, Holding, Method } from "./portfolio.ts";
import { portfolioRefusals, scorePortfolio } from "./portfolioEntities.ts";
import { financedOf } from "./portfolioFinanced.ts";

const MILLION = 1e6;
const A: Holding = {
  id: "A",
  value: 60 * MILLION,
  temperature: { s1s2s3: { t: 2, low: 1.8, high: 2.3 } },
  scope1: 400_000,
  scope3: 600_000,
  market_cap: 1200 * MILLION,
  enterprise_value: 1500 * MILLION,
  cash: 100 * MILLION,
  total_assets: 2000 * MILLION,
  revenue: 1000 * MILLION,
  data_quality: { s1s2: 1 },
};
const B: Holding = {
  id: "B",
  value: 40 * MILLION,
  temperature: { s1s2s3: { t: 3, low: 2.9, high: 3.1 } },
  scope1: 50_000,
  scope3: 150_000,
  market_cap: 400 * MILLION,
  enterprise_value: 450 * MILLION,
  cash: 50 * MILLION,
  total_assets: 800 * MILLION,
  revenue: 500 * MILLION,
  data_quality: { s1s2: 4 },
};

describe("two holdings by hand", () => {
  it.each([
    ["WATS", 2.4],
    ["TETS", 2.1667],
    ["MOTS", 2.2857],
    ["EOTS", 2.3077],
    ["ECOTS", 2.2991],
    ["AOTS", 2.25],
    ["ROTS", 2.2105],
  ] as const)("%s gives %d", (method, temperature) => {
    expect(aggregate([A, B], { method, scope: "s1s2s3" }).temperature).toBeCloseTo(temperature, 4);
  });

  it("WATS has the stated intervals and contributions", () => {
    const { figures } = wats([A, B]);
    expect(figures?.range.low).toBeCloseTo(2.24, 9);
    expect(figures?.range.high).toBeCloseTo(2.62, 9);
    expect(figures?.rangeIndependent.low).toBeCloseTo(2.2448, 4);
    expect(figures?.rangeIndependent.high).toBeCloseTo(2.5552, 4);
    expect(figures?.contributions.map(({ contribution }) => contribution)).toEqual([1.2, 1.2]);
  });

  it("bounds the temperature where one score is missing", () => {
    const { temperature, coverage, bounds } = wats([A, { ...B, temperature: {} }]);
    expect([temperature, coverage.value]).toEqual([2, 0.6]);
    expect(bounds?.low).toBeCloseTo(1.72, 9);
    expect(bounds?.high).toBeCloseTo(2.48, 9);
  });

  it("finances the stated emissions", () => {
    const financed = financedOf([A, B]);
    expect(financed.holdings.map(({ attribution }) => attribution)).toEqual([0.0375, 0.08]);
    expect(financed.emissions).toEqual({ s1s2: 19_000, s3: 34_500 });
    expect(financed.intensityPerMillion).toEqual({ s1s2: 190, s3: 345 });
    expect(financed.dataQuality.s1s2).toBeCloseTo(2.2, 12);
    expect(financed.waciPerMillion).toBeCloseTo(280, 9);
  });
});

describe("properties of aggregation on random portfolios", () => {
  const eachSample = (check: (lines: readonly Holding[], aggregated: Aggregate, method: Method) => void): void => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const random = randomFrom(seed);
      const lines = randomPortfolio(random);
      const method = random.pick(METHODS);
      check(lines, aggregate(lines, { method, scope: random.pick(SCOPES), groupBy: ["sector"], goal: 1.5 }), method);
    }
  };

  it("keeps the temperature between the lowest and the highest score", () => {
    eachSample((_, { temperature, figures }) => {
      if (temperature === null || figures === null) return;
      const scores = figures.contributions.filter(({ weight }) => weight > 0).map((each) => each.temperature);
      expect(temperature).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-12);
      expect(temperature).toBeLessThanOrEqual(Math.max(...scores) + 1e-12);
    });
  });

  it("never lowers the temperature when a score rises", () => {
    eachSample((lines, before, method) => {
      for (const [index, line] of lines.entries()) {
        const score = line.temperature?.[before.scope];
        if (typeof score !== "number") continue;
        const raised = { ...line, temperature: { ...line.temperature, [before.scope]: score + 0.5 } };
        const after = aggregate(lines.with(index, raised), { method, scope: before.scope });
        if (before.temperature !== null) expect(after.temperature).toBeGreaterThanOrEqual(before.temperature - 1e-12);
      }
    });
  });

  it("does not depend on the unit of values, emissions or company figures", () => {
    const members = [
      ["value"],
      ["scope1", "scope2", "scope3"],
      ["market_cap", "enterprise_value", "cash", "evic", "total_assets", "revenue"],
    ] as const;
    eachSample((lines, before, method) => {
      for (const group of members) {
        const scaled = lines.map((line) => {
          const entries = group.map((member) => [
            member,
            typeof line[member] === "number" ? 1000 * line[member] : null,
          ]);
          return { ...line, ...Object.fromEntries(entries) } as Holding;
        });
        const after = aggregate(scaled, { method, scope: before.scope });
        expectClose(after.temperature, before.temperature);
      }
    });
  });

  it("does not depend on how a line of an issuer is split", () => {
    eachSample((lines, before, method) => {
      const split = lines.flatMap((line) => {
        const issuer = line.issuer ?? line.id;
        return [0.25, 0.75].map((share) => ({ ...line, issuer, id: `${line.id}/${share}`, value: share * line.value }));
      });
      const after = aggregate(split, { method, scope: before.scope, groupBy: ["sector"], goal: 1.5 });
      expectClose(after.temperature, before.temperature);
      expect(after.coverage.holdings).toBe(before.coverage.holdings);
      expectClose(after.figures?.range.low ?? null, before.figures?.range.low ?? null);
    });
  });

  it("adds contributions of holdings and groups up to the temperature", () => {
    eachSample((_, { temperature, figures, groups }) => {
      if (temperature === null || figures === null) return;
      const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
      expectClose(sum(figures.contributions.map(({ contribution }) => contribution)), temperature);
      expectClose(sum(figures.contributions.map(({ aboveGoal }) => aboveGoal ?? NaN)), temperature - 1.5);
      expectClose(sum((groups["sector"] ?? []).map(({ contribution }) => contribution)), temperature);
    });
  });

  it("bounds the mean of everything wherever the missing scores are within the limits and every weight is known", () => {
    eachSample((lines, { bounds, scope }, method) => {
      if (bounds === null || !bounds.complete) return;
      const random = randomFrom(lines.length);
      const complete = lines.map((line) => ({
        ...line,
        temperature: { [scope]: line.temperature?.[scope] ?? random.between({ min: 1.3, max: 3.2 }) },
      }));
      const { temperature } = aggregate(complete, { method, scope });
      expect(temperature).toBeGreaterThanOrEqual(bounds.low - 1e-12);
      expect(temperature).toBeLessThanOrEqual(bounds.high + 1e-12);
    });
  });

  it("names the temperature without each holding", () => {
    eachSample((lines, { figures, scope, temperature }, method) => {
      for (const { id, without } of figures?.contributions ?? []) {
        const rest = aggregate(
          lines.filter((line) => (line.issuer ?? line.id) !== id),
          { method, scope },
        );
        if (without !== null && temperature !== null) expect(without).toBeCloseTo(rest.temperature ?? NaN, 6);
      }
    });
  });
});

describe("refusals of portfolios", () => {
  it("accepts the two holdings", () => {
    expect(portfolioRefusals([A, B], {})).toEqual([]);
  });

  it.each([
    ["a negative value", [{ ...A, value: -1 }], "/holdings/0/value"],
    ["an infinite value", [A, { ...B, value: Infinity }], "/holdings/1/value"],
    ["neither entity nor temperature", [{ id: "C", value: 1 }], "/holdings/0"],
    [
      "two currencies",
      [
        { ...A, currency: "EUR" },
        { ...B, currency: "USD" },
      ],
      "/holdings",
    ],
    ["a data quality of 6", [{ ...A, data_quality: { s3: 6 } }], "/holdings/0/data_quality/s3"],
    ["no holding", [], "/holdings"],
  ] as const)("names %s", (_, lines, pointer) => {
    expect(portfolioRefusals(lines, {}).map((refusal) => refusal.pointer)).toEqual([pointer]);
  });
});

describeWithSharedMethod("portfolios of entities", () => {
  const entity: EntityRequest = {
    entity_info: { name: "E", asset_type: "equity", country: "Germany", industry: "Cement" },
    data: [{ year: 2023, emissions: { scope1: 700, scope2: 100, scope3: 200 }, financials: { revenue: 5 * MILLION } }],
    projected_emissions: [
      { year: 2030, emissions: { scope1: 500, scope2: 60, scope3: 170 } },
      { year: 2050, emissions: { scope1: 100, scope2: 0, scope3: 50 } },
    ],
  };

  it("uses the overall score of an entity, and its baseline emissions as weight", () => {
    const { overall } = scoreEntity(sharedReference(), entity);
    const { results } = scorePortfolio(sharedReference(), [{ id: "E", value: 1, entity }], { methods: ["TETS"] });
    expect(results[0]?.temperature).toBeCloseTo(overall?.temperature ?? NaN, 12);
    expect(results[0]?.figures?.range).toEqual(overall?.range);
  });

  it("uses the score of a year by scope", () => {
    const [row] = scoreEntity(sharedReference(), entity).rows;
    const { results } = scorePortfolio(sharedReference(), [{ id: "E", value: 1, entity }], {
      year: 2030,
      scopes: ["s1s2", "s3", "s1s2s3"],
    });
    const expected = [row?.byScope.s1s2, row?.byScope.s3, row?.temperature];
    for (const [index, { temperature }] of results.entries())
      expect(temperature).toBeCloseTo(expected[index] ?? NaN, 12);
  });

  it("takes an entity's budget up to its last year", () => {
    const last = scoreEntity(sharedReference(), entity).rows.at(-1)?.budget?.[0];
    const { financed } = scorePortfolio(sharedReference(), [{ id: "E", value: 1, evic: 2, entity }], {});
    expect(financed.budget?.allowed).toBeCloseTo((last?.allowed ?? NaN) / 2, 9);
    expect(financed.budget?.projected).toBeCloseTo((last?.projected ?? NaN) / 2, 9);
  });

  it("leaves an entity that cannot be scored uncovered", () => {
    const refused = { ...entity, projected_emissions: [{ year: 2020, emissions: { scope1: 1 } }] };
    const { results, entities } = scorePortfolio(sharedReference(), [A, { id: "E", value: 1, entity: refused }], {});
    expect(results[0]?.uncovered).toEqual([{ id: "E", reason: "score_missing" }]);
    expect(entities).toEqual([null]);
  });
});

function wats(lines: readonly Holding[]): Aggregate {
  return aggregate(lines, { method: "WATS", scope: "s1s2s3" });
}

/** Holdings with gaps: missing scores, emissions and denominators, removals, several lines of one issuer. */
function randomPortfolio(random: SeededRandom): readonly Holding[] {
  const amount = (): number | null =>
    random.chance(0.1) ? null : random.chance(0.05) ? 0 : 10 ** random.between({ min: 6, max: 10 });
  const score = (): number | null => (random.chance(0.15) ? null : random.between({ min: 1.3, max: 6 }));
  const lines = Array.from({ length: 1 + random.below(12) }, (_, index): Holding => {
    const { t, low, high } = { t: score(), low: random.next(), high: random.next() };
    return {
      id: `line ${index}`,
      value: random.chance(0.05) ? 0 : 10 ** random.between({ min: 4, max: 9 }),
      temperature: {
        s1s2: score(),
        s3: score(),
        s1s2s3: t === null || random.chance(0.3) ? t : { t, low: t - low, high: t + high },
      },
      scope1: random.chance(0.05) ? -500 : amount(),
      scope2: amount(),
      scope3: amount(),
      market_cap: amount(),
      enterprise_value: amount(),
      cash: amount(),
      evic: random.chance(0.5) ? amount() : null,
      total_assets: amount(),
      revenue: amount(),
      ...(random.chance(0.8) ? { groups: { sector: random.pick(["steel", "software", "banks"]) } } : {}),
    };
  });
  const again = lines
    .filter(() => random.chance(0.2))
    .map((line) => ({ ...line, issuer: line.id, id: `${line.id} again` }));
  return shuffled(random, [...lines, ...again]);
}

function expectClose(actual: number | null, expected: number | null): void {
  if (actual === null || expected === null) expect(actual).toBe(expected);
  else expect(actual).toBeCloseTo(expected, 9);
}
