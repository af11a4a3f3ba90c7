/** Section 14 of the method, worked by hand, from the figures in the text. */
import { describe, expect, it } from "vitest";
import type { Scopes } from "./figures.ts";
import { growthFactor } from "./growth.ts";
import type { Pathway, PerAnchor, Reference, Series } from "./reference.ts";
import { scoreRow } from "./row.ts";
import type { Row, ScoredRow } from "./row.ts";
import { poolAdjacentViolators } from "./temperature.ts";

const ECONOMY_2030: PerAnchor = [0.728207, 0.842426, 0.946694, 0.992171];
const INDUSTRY_2030: PerAnchor = [0.852315, 0.914826, 1.018488, 1.035477];

describe("worked examples of temperature alignment", () => {
  it("warms flat emissions above Current Policies", () => {
    const row = scoreRow(reference(), rowOf({ projected: 100 }));
    expect(row.ratio).toBe(1);
    expect(row.temperature).toBeCloseTo(2.7647, 4);
    expect(row.range?.low).toBeCloseTo(2.0812, 4);
    expect(row.range?.high).toBeCloseTo(2.8341, 4);
    expect(row.flags).toEqual(["growth_default", "sensitive"]);
  });

  it("scores a halving below Net Zero 2050", () => {
    const row = scoreRow(reference(), rowOf({ projected: 50 }));
    expect(row.temperature).toBeCloseTo(1.4061, 4);
    expect(row.range?.low).toBeCloseTo(1.4008, 4);
    expect(row.range?.high).toBeCloseTo(1.4114, 4);
    expect(row.climateRange?.low).toBeCloseTo(1.0355, 4);
  });

  it("compares flat emissions with the budget of Net Zero 2050", () => {
    const [netZero] = scoreRow(reference(), rowOf({ projected: 100 })).budget ?? [];
    expect(netZero?.projected).toBeCloseTo(500, 9);
    expect(netZero?.allowed).toBeCloseTo(418.46, 2);
    expect(netZero?.overshoot).toBeCloseTo(81.54, 2);
    expect(netZero?.overshootPct).toBeCloseTo(19.49, 2);
  });

  it("credits growth and orders the anchors of Korean steel", () => {
    const row = koreanSteel();
    expect(row.growth?.factor).toBeCloseTo(1.085913, 6);
    expect(row.rawAnchors).toEqual(INDUSTRY_2030);
    expect(row.anchors?.[2]).toBeCloseTo(1.0169825, 12);
    expect(row.anchors?.[3]).toBeCloseTo(1.0369825, 12);
    expect(row.temperature).toBeCloseTo(2.8188, 4);
    expect(row.flags).toContain("anchors_close");
  });

  // The text rounds the end of the slope to 2.356767; (6 - T_4) / (T_4 - N) is 2.356789, which the known answers use.
  it("ends the scale at 6.0", () => {
    expect(scoreRow(reference(), rowOf({ projected: 1e6 })).temperature).toBeCloseTo(6, 12);
  });
});

describe("the growth factor", () => {
  const growth = reference().growth;
  const row = { baselineYear: 2025, year: 2030, revenue: 100, projectedRevenue: 100, growthSeries: null };

  it("limits supplied growth to a factor of 4", () => {
    expect(growthFactor(growth, { ...row, projectedRevenue: 1 })).toMatchObject({ factor: 4, isLimited: true });
    expect(growthFactor(growth, { ...row, projectedRevenue: 1e4 })).toMatchObject({ factor: 1 / 4, isLimited: true });
  });

  it("falls back to 1 without revenue and country", () => {
    const withoutRevenue = { ...row, revenue: 0 };
    expect(growthFactor(growth, withoutRevenue)).toEqual({ source: "default", factor: 1, isLimited: false });
  });
});

describe("the order of the anchors", () => {
  it("merges values out of order into plain means, also across blocks", () => {
    expect(poolAdjacentViolators([1, 2, 3, 4])).toEqual([1, 2, 3, 4]);
    expect(poolAdjacentViolators([1, 3, 2, 4])).toEqual([1, 2.5, 2.5, 4]);
    expect(poolAdjacentViolators([4, 3, 2, 1])).toEqual([2.5, 2.5, 2.5, 2.5]);
    expect(poolAdjacentViolators([3, 5, 1, 2])).toEqual([2.75, 2.75, 2.75, 2.75]);
  });
});

function koreanSteel(): ScoredRow {
  const growthSeries = { id: "KOR", source: "country" } as const;
  return scoreRow(reference(), { ...rowOf({ projected: 100 }), pathway: "industry", baselineYear: 2023, growthSeries });
}

function rowOf({ projected }: { readonly projected: number }): Row {
  const emissions: Scopes = [projected, null, null];
  return {
    basis: "intensity",
    pathway: "economy",
    growthSeries: null,
    weights: [1, 1, 1],
    baselineYear: 2025,
    baseline: [100, null, null],
    year: 2030,
    projected: emissions,
    points: [{ year: 2030, emissions }],
    revenue: null,
    projectedRevenue: null,
    convergence: null,
    isDuplicateYear: false,
  };
}

/** Figures of the worked examples: pathways from 2025 to 2030 and growth from 2020 to 2030. */
function reference(): Reference {
  const seriesOf = (values: PerAnchor): readonly [Series, Series, Series, Series] => {
    const [s1, s2, s3, s4] = values.map((value) => ({ years: [2025, 2030], values: [1, value] }));
    if (s1 === undefined || s2 === undefined || s3 === undefined || s4 === undefined) throw new Error("four anchors");
    return [s1, s2, s3, s4];
  };
  const pathways = ["power", "energy_supply", "transport", "buildings", "economy"].map((name) => [
    name,
    seriesOf(ECONOMY_2030),
  ]);
  const growth = (values: readonly number[]): Series => ({ years: [2020, 2025, 2030], values });
  return {
    benchmark: {
      scenarios: ["Net Zero 2050", "Below 2°C", "Nationally Determined Contributions (NDCs)", "Current Policies"],
      warming: {
        p10: { anchors: [1.083907, 1.264614, 1.550915, 2.134761], now: 1.151727, floor: 0.929398 },
        p50: { anchors: [1.454509, 1.686509, 2.028517, 2.753858], now: 1.3765, floor: 1.3 },
        p90: { anchors: [2.023845, 2.337193, 2.777016, 3.628354], now: 1.591124, floor: 1.869336 },
      },
      pathways: { ...Object.fromEntries(pathways), industry: seriesOf(INDUSTRY_2030) } as Readonly<
        Record<Pathway, readonly [Series, Series, Series, Series]>
      >,
    },
    growth: new Map([
      ["POOL", growth([0.827662, 1, 1.165405])],
      ["KOR", growth([0.882594, 1, 1.09853])],
    ]),
    countries: [],
    countryNames: [],
    industries: [],
    industryKeys: [],
    consumerPrices: new Map(),
  };
}
