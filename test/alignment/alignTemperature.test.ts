import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { roundTemperatures } from "../../src/alignment/answer.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmark.ts";
import { entityOf, yearOf } from "./exampleEntities.ts";
import type { Entity } from "../../src/contract/wireTypes.ts";

describe("the worked comparison of docs/methods/alignment.md", () => {
  const indices = (scenario: number): Record<number, number> =>
    Object.fromEntries(
      [2030, 2035, 2040, 2045, 2050].map((year, i) => [
        year,
        100 * (NGFS_PHASE5.pathways.economy[scenario]?.[i + 1] ?? NaN),
      ]),
    );
  const flat = { 2030: 100, 2050: 100 };
  const growing = Object.fromEntries([2030, 2035, 2040, 2045, 2050].map((year) => [year, 100 * 1.03 ** (year - 2025)]));
  test.each([
    { name: "A flat", years: flat, at: 2030, point: 2.76, cumulative: 2.76 },
    { name: "A flat", years: flat, at: 2050, point: 2.8, cumulative: 2.76 },
    { name: "B follows Net Zero 2050", years: indices(0), at: 2050, point: 1.45, cumulative: 1.45 },
    { name: "C follows Current Policies", years: indices(3), at: 2030, point: 2.75, cumulative: 2.75 },
    {
      name: "D halves, then less than a tenth",
      years: { 2030: 50, 2050: 10 },
      at: 2030,
      point: 1.41,
      cumulative: 1.43,
    },
    {
      name: "D halves, then less than a tenth",
      years: { 2030: 50, 2050: 10 },
      at: 2050,
      point: 1.36,
      cumulative: 1.41,
    },
    { name: "E +3 % a year", years: growing, at: 2030, point: 2.99, cumulative: 2.87 },
    { name: "E +3 % a year", years: growing, at: 2050, point: 4.36, cumulative: 3.43 },
    { name: "F late cliff", years: { 2045: 100, 2050: 24.4758 }, at: 2050, point: 1.45, cumulative: 2.45 },
    { name: "G one year", years: { 2026: 99 }, at: 2026, point: 2.1, cumulative: 2.61 },
  ])("$name in $at: $point, cumulative $cumulative", async ({ years, at, point, cumulative }) => {
    const entity = entityOf({ baseline: 100, years });
    const rowOf = async (basis: "intensity" | "cumulative"): Promise<number | null | undefined> =>
      roundTemperatures(await alignTemperature([entity], { basis })).results[0]?.data.find(({ year }) => year === at)
        ?.temperature_alignment;
    expect(await rowOf("intensity")).toBe(point);
    // The page lists every year for B, C and E only; interpolated growth changes E by 0.01.
    expect(Math.abs(((await rowOf("cumulative")) ?? NaN) - cumulative)).toBeLessThanOrEqual(0.0101);
  });
});

describe("an answer", () => {
  const oil = entityOf({
    info: {
      identifier: "X1",
      name: "Example Energy",
      country: "France",
      industry_classification_system: "gics",
      industry: "Integrated Oil & Gas",
      sector: "Energy",
    },
    baselineYear: 2023,
    baseline: { scope1: 500_000, scope2: 300_000, scope3: 1_000_000 },
    revenue: 1e9,
    years: { 2050: { scope1: 200_000, scope2: 150_000, scope3: 400_000 } },
  });

  test("keeps the order of entities and years, and echoes everything but the identifier", async () => {
    const shuffledYears: Entity = {
      ...oil,
      projected_emissions: [2050, 2030, 2040].map((year) => ({ year, emissions: { scope1: year } })),
    };
    const plain = entityOf({ info: { name: "Second" }, baseline: 1, years: { 2030: 1 } });
    const { results } = await alignTemperature([shuffledYears, plain]);
    expect(results.map(({ entity_info }) => entity_info)).toEqual([
      {
        name: "Example Energy",
        asset_type: "equity",
        country: "France",
        industry_classification_system: "gics",
        industry: "Integrated Oil & Gas",
        sector: "Energy",
      },
      { name: "Second", asset_type: "equity" },
    ]);
    expect(results[0]?.data.map(({ year }) => year)).toEqual([2050, 2030, 2040]);
    expect(Object.keys(results[0]?.data[0] ?? {})).toEqual(["year", "temperature_alignment"]);
  });

  test("contains every figure of the worked example with `detail`", async () => {
    const { temperature_alignment, detail } = await yearOf(oil);
    if (detail === undefined) throw new Error("The answer has no detail.");
    expect(temperature_alignment).toBe(detail.temperature_intensity);
    expect(detail.temperature_intensity).toBeCloseTo(2.058704, 6);
    expect(detail.temperature_emissions).toBeCloseTo(1.880074, 6);
    expect(detail.temperature_cumulative).toBeCloseTo(1.816931, 6);
    expect(detail.benchmark).toBe("ngfs-phase5-message-r12/1");
    expect(detail.credit).toContain("IIASA");
    expect(detail.basis).toBe("intensity");
    expect(detail.pathway).toBe("energy_supply");
    expect(detail.matched).toEqual({ on: "industry", row: 12, key: "oil*" });
    expect(detail.scope_pathways).toEqual({ scope1: "energy_supply", scope2: "power", scope3: "economy" });
    expect(detail.emissions).toEqual({ baseline: 1_800_000, projected: 750_000 });
    expect(detail.emissions_ratio).toBeCloseTo(0.416667, 6);
    expect(detail.growth_factor).toBeCloseTo(1.299078, 6);
    expect(detail.emissions_ratio_q).toBeCloseTo(0.541283, 6);
    expect(detail.evaluated_year).toBe(2050);
    expect(detail.anchors).toEqual(NGFS_PHASE5.anchors);
    for (const [i, ratio] of [0.122234, 0.27397, 0.5261, 0.890916].entries()) {
      expect(Math.abs((detail.benchmark_ratio_at_anchors?.[i] ?? NaN) - ratio)).toBeLessThanOrEqual(1e-6);
    }
    expect(detail.between?.below).toBe("Nationally Determined Contributions (NDCs)");
    expect(detail.between?.above).toBe("Current Policies");
    expect(detail.between?.weight).toBeCloseTo(0.041617, 6);
    expect(detail.growth_region).toBe("oecd_eu");
    expect(detail.revenue.baseline).toBe(1e9);
    expect(detail.revenue.projected).toBeCloseTo(1_504_723_247, 0);
    expect(detail.intensity.baseline).toBeCloseTo(0.0018, 9);
    expect(detail.intensity.projected).toBeCloseTo(0.000498, 6);
    expect(detail.convergence).toBeNull();
    expect(detail.temperature_by_scope.scope1).toBeCloseTo(2.351952, 6);
    expect(detail.temperature_by_scope.scope2).toBeCloseTo(2.19327, 6);
    expect(detail.temperature_by_scope.scope3).toBeCloseTo(1.914576, 6);
    expect(detail.flags).toEqual([]);
  });

  test.each(["intensity", "emissions", "cumulative"] as const)(
    "with basis %s has the temperature of that basis, bit for bit the same with and without detail",
    async (basis) => {
      const value = (await yearOf(oil, { basis, detail: false })).temperature_alignment;
      const { temperature_alignment, detail } = await yearOf(oil, { basis });
      expect(temperature_alignment).toBe(value);
      expect(detail?.[`temperature_${basis}`]).toBe(value);
      expect(detail?.basis).toBe(basis);
    },
  );

  test("shows the temperature of single scopes in the basis of the other figures", async () => {
    const [intensity, emissions, cumulative] = await Promise.all(
      (["intensity", "emissions", "cumulative"] as const).map(async (basis) => (await yearOf(oil, { basis })).detail),
    );
    expect(cumulative?.temperature_by_scope).toEqual(intensity?.temperature_by_scope);
    expect(cumulative?.emissions_ratio_q).toBe(intensity?.emissions_ratio_q);
    expect(emissions?.temperature_by_scope.scope1).not.toBe(intensity?.temperature_by_scope.scope1);
    expect(emissions?.emissions_ratio_q).toBeCloseTo(0.416667, 6);
  });

  test("rounds only temperatures, and only for the wire", async () => {
    const answer = await alignTemperature([oil], { detail: true });
    const [year] = roundTemperatures(answer).results[0]?.data ?? [];
    expect(year?.temperature_alignment).toBe(2.06);
    expect(year?.detail).toEqual(answer.results[0]?.data[0]?.detail);
  });

  test.each([
    { name: "no scope in common", baseline: { scope1: 5 }, later: { scope3: 4 }, reason: "no_usable_scope" },
    {
      name: "zero baseline and positive projection",
      baseline: { scope1: 0 },
      later: { scope1: 4 },
      reason: "zero_baseline",
    },
  ] as const)("has a null temperature with a reason: $name", async ({ baseline, later, reason }) => {
    const year = await yearOf(entityOf({ baseline, years: { 2030: later } }));
    expect(year.temperature_alignment).toBeNull();
    expect(year.reason).toBe(reason);
    expect(year.detail?.flags).toContain(reason);
    expect(year.detail?.temperature_intensity).toBeNull();
    expect(year.detail?.benchmark_ratio_at_anchors).toBeNull();
    expect(year.detail?.between).toBeNull();
    expect(year.detail?.emissions_ratio).toBeNull();
  });

  test.each([
    {
      name: "revenue of zero",
      info: {},
      revenue: 0,
      flags: ["unknown_industry", "unknown_country", "revenue_unusable"],
    },
    {
      name: "a negative revenue",
      info: {},
      revenue: -3,
      flags: ["unknown_industry", "unknown_country", "revenue_unusable"],
    },
    {
      name: "an unknown country",
      info: { country: "Atlantis", sector: "Steel" },
      revenue: 1,
      flags: ["unknown_country"],
    },
    { name: "an unknown industry", info: { country: "NLD", industry: "Zzz" }, revenue: 1, flags: ["unknown_industry"] },
    {
      name: "an unknown classification system",
      info: { country: "NLD", industry: "Steel", industry_classification_system: "mine" },
      revenue: 1,
      flags: ["unknown_classification"],
    },
    {
      name: "a known classification system in capitals",
      info: { country: "NLD", industry: "Steel", industry_classification_system: "GICS" },
      revenue: 1,
      flags: [],
    },
    { name: "banks, which map to economy", info: { country: "NLD", industry: "Banks" }, revenue: 1, flags: [] },
  ])("flags $name", async ({ info, revenue, flags }) => {
    const { detail } = await yearOf(entityOf({ info, revenue, baseline: 100, years: { 2040: 70 } }));
    expect(detail?.flags).toEqual(flags);
    if (flags.includes("revenue_unusable")) {
      expect(detail?.revenue.projected).toBeNull();
      expect(detail?.intensity).toEqual({ baseline: null, projected: null });
    }
  });

  test("does not depend on revenue, EBITDA or currency", async () => {
    const at = async (financials: { readonly revenue?: number; readonly ebitda?: number }): Promise<number | null> => {
      const [data] = oil.data;
      if (data === undefined) throw new Error("no baseline");
      return (await yearOf({ ...oil, data: [{ ...data, financials }] })).temperature_alignment;
    };
    const values = new Set([await at({}), await at({ revenue: 5, ebitda: -1e9 }), await at({ revenue: 1e12 })]);
    expect(values.size).toBe(1);
  });

  test("ignores unknown members of entity_info, data and projected_emissions", async () => {
    const more = {
      ...oil,
      entity_info: { ...oil.entity_info, lei: "5493001KJTIIGC8Y1R12" },
      data: oil.data.map((record) => ({ ...record, currency: "EUR", emissions: { ...record.emissions, scope4: "?" } })),
    } as Entity;
    expect(await alignTemperature([more])).toEqual(await alignTemperature([oil]));
  });
});
