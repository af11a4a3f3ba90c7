/** Section 8 of the method text (see portfolio.ts): two holdings computed by hand. */
import { describe, expect, it } from "vitest";
import type { Line } from "./holdings.ts";
import { scoredPortfolio } from "./portfolio.ts";
import { METHODS } from "./weights.ts";

const MILLION = 1e6;
const A: Line = {
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
const B: Line = {
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

const resultsOf = (lines: readonly Line[]) => scoredPortfolio(lines, { methods: METHODS, scopes: ["s1s2s3"] }).results;

describe("two holdings computed by hand", () => {
  it("have the stated temperature by each method", () => {
    const temperatures = resultsOf([A, B]).map(({ method, temperature }) => [method, temperature?.toFixed(4)]);
    expect(temperatures).toEqual([
      ["WATS", "2.4000"],
      ["TETS", "2.1667"],
      ["MOTS", "2.2857"],
      ["EOTS", "2.3077"],
      ["ECOTS", "2.2991"],
      ["AOTS", "2.2500"],
      ["ROTS", "2.2105"],
    ]);
  });

  it("have the stated ranges and contributions by value", () => {
    const [wats] = resultsOf([A, B]);
    expect(wats?.range?.low).toBeCloseTo(2.24, 12);
    expect(wats?.range?.high).toBeCloseTo(2.62, 12);
    expect(wats?.range_independent?.low).toBeCloseTo(2.2448, 4);
    expect(wats?.range_independent?.high).toBeCloseTo(2.5552, 4);
    expect(wats?.contributions?.map(({ contribution }) => contribution)).toEqual([1.2, 1.2]);
  });

  it("have the stated bounds if B has no score", () => {
    const [wats] = resultsOf([A, { ...B, temperature: {} }]);
    expect([wats?.temperature, wats?.coverage.value]).toEqual([2, 0.6]);
    expect(wats?.bounds?.low).toBeCloseTo(1.72, 12);
    expect(wats?.bounds?.high).toBeCloseTo(2.48, 12);
  });

  it("finance the stated emissions", () => {
    const { financed } = scoredPortfolio([A, B], { methods: METHODS, scopes: ["s1s2s3"] });
    expect(financed.holdings.map(({ attribution }) => attribution)).toEqual([0.0375, 0.08]);
    expect(financed.financed_emissions).toEqual({ s1s2: 19_000, s3: 34_500 });
    expect(financed.intensity_per_million).toEqual({ s1s2: 190, s3: 345 });
    expect(financed.data_quality.s1s2).toBeCloseTo(2.2, 12);
    expect(financed.waci_per_million).toBeCloseTo(280, 9);
  });
});
