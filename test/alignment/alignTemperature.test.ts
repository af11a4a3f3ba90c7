import { describe, expect, test } from "vitest";
import { alignColumns } from "../../src/alignment/alignColumns.ts";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { type AlignedYear, roundTemperatures } from "../../src/alignment/answer.ts";
import type { AlignTemperatureOptions } from "../../src/alignment/options.ts";
import { type Benchmark, NGFS_PHASE5 } from "../../src/alignment/benchmark.ts";
import type { Entity } from "../../src/alignment/entity.ts";
import { columnsOf } from "./entities.ts";
import { describeWithReference, readShared } from "./sharedReference.ts";

type Emissions = Entity["data"][number]["emissions"];
type EntityInfo = Entity["entity_info"];

/** Creates an entity with one baseline and some later years; a number means scope 1 emissions only. */
function entityOf(of: {
  readonly info?: Partial<EntityInfo>;
  readonly baselineYear?: number;
  readonly baseline: number | Emissions;
  readonly revenue?: number;
  readonly years: Readonly<Record<number, number | Emissions>>;
}): Entity {
  const emissionsOf = (value: number | Emissions): Emissions => (typeof value === "number" ? { scope1: value } : value);
  return {
    entity_info: { name: "Example", asset_type: "equity", ...of.info },
    data: [
      {
        year: of.baselineYear ?? 2025,
        emissions: emissionsOf(of.baseline),
        ...(of.revenue === undefined ? {} : { financials: { revenue: of.revenue } }),
      },
    ],
    projected_emissions: Object.entries(of.years).map(([year, value]) => ({
      year: Number(year),
      emissions: emissionsOf(value),
    })),
  };
}

async function yearOf(entity: Entity, options: AlignTemperatureOptions = {}): Promise<AlignedYear> {
  const { results } = await alignTemperature([entity], { detail: true, ...options });
  const year = results[0]?.data[0];
  if (year === undefined) throw new Error("The entity has no projected year.");
  return year;
}

interface KnownCase {
  readonly name: string;
  readonly inputs: {
    readonly base_year: number;
    readonly e0: readonly (number | null)[];
    readonly year: number;
    readonly e1: readonly (number | null)[];
    readonly sector?: string;
    readonly country?: string;
    readonly country_region?: string;
    readonly kappa?: number;
    readonly gamma?: number;
  };
  readonly expected: {
    readonly temperature_alignment: number;
    readonly emissions_ratio_q: number;
    readonly benchmark_ratio_at_anchors: readonly number[];
    readonly evaluated_year: number;
  };
}

/** An industry name for each pathway. */
const SECTOR_NAMES: Readonly<Record<string, string>> = {
  power: "Electricity",
  energy_supply: "Oil and gas",
  industry: "Cement",
  transport: "Airlines",
  buildings: "Real estate",
};

function emissionsOfCase(scopes: readonly (number | null)[]): Emissions {
  const given = scopes.map((value, i) => [`scope${i + 1}`, value] as const).filter(([, value]) => value !== null);
  return Object.fromEntries(given);
}

const known = readShared("cases/alignment.json") as { readonly cases?: readonly KnownCase[] };

describeWithReference("known answers", () => {
  const cases = known.cases ?? [];

  test("are not empty", () => {
    expect(cases.length).toBeGreaterThan(20);
  });

  test.each(cases)("$name", async ({ inputs, expected }) => {
    const { base_year, e0, year, e1, sector, country, country_region, kappa, gamma } = inputs;
    // The cases give kappa, so the industry intensity is that of the entity divided by kappa.
    const industry = sector === undefined ? undefined : SECTOR_NAMES[sector];
    const entity = entityOf({
      info: { ...(industry === undefined ? {} : { industry }), ...(country === undefined ? {} : { country }) },
      baselineYear: base_year,
      baseline: emissionsOfCase(e0),
      years: { [year]: emissionsOfCase(e1) },
    });
    if (kappa !== undefined && gamma !== undefined) {
      const columns = columnsOf([
        {
          baselineYear: base_year,
          baseline: e0.map((value) => value ?? undefined),
          pathway: sector ?? "economy",
          region: 0,
          revenue: 1,
          reference: [(e0[0] ?? NaN) / kappa, 0, 0],
          projections: [{ year, emissions: e1.map((value) => value ?? undefined) }],
        },
      ]);
      const { temperaturesC } = await alignColumns(columns, { convergence: { gamma } });
      expect(temperaturesC[0]).toBeCloseTo(expected.temperature_alignment, 6);
      return;
    }
    // Without a country the growth is pooled, so that both point bases give the same result.
    const { temperature_alignment, detail } = await yearOf(entity);
    expect(Math.abs((temperature_alignment ?? NaN) - expected.temperature_alignment)).toBeLessThanOrEqual(1e-6);
    expect(Math.abs((detail?.emissions_ratio_q ?? NaN) - expected.emissions_ratio_q)).toBeLessThanOrEqual(1e-6);
    expect(detail?.evaluated_year).toBe(expected.evaluated_year);
    expect(detail?.pathway).toBe(sector ?? "economy");
    expect(detail?.growth_region).toBe(country_region ?? "world_proxy_oecd_asia");
    for (const [i, ratio] of expected.benchmark_ratio_at_anchors.entries()) {
      expect(Math.abs((detail?.benchmark_ratio_at_anchors?.[i] ?? NaN) - ratio)).toBeLessThanOrEqual(1e-4);
    }
  });
});

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

describe("convergence", () => {
  const steel = (revenue: number): Entity =>
    entityOf({ info: { industry: "Iron and steel" }, revenue, baseline: 1000, years: { 2040: 700 } });

  test("is off by default and shows kappa when on", async () => {
    expect((await yearOf(steel(1))).detail?.convergence).toBeNull();
    // 1000 t per 2 million USD, compared with 334.2 t per million USD.
    const { detail } = await yearOf(steel(2), { convergence: {} });
    expect(detail?.convergence?.kappa).toBeCloseTo(500 / 334.2, 12);
    expect(detail?.convergence?.gamma).toBe(0.5);
    expect(detail?.emissions_ratio_q).toBeCloseTo(0.7 * (500 / 334.2) ** (0.5 * 0.6), 12);
  });

  test("never raises the temperature when revenue increases", async () => {
    const temperatures: number[] = [];
    for (const revenue of [0.1, 0.5, 1, 2, 3, 5, 10, 100]) {
      temperatures.push((await yearOf(steel(revenue), { convergence: { gamma: 1 } })).temperature_alignment ?? NaN);
    }
    expect(temperatures).toEqual(temperatures.toSorted((a, b) => b - a));
    expect(new Set(temperatures).size).toBeGreaterThan(3);
  });

  test("scores an entity with a zero baseline by its intensity", async () => {
    const started = entityOf({ info: { industry: "Iron and steel" }, revenue: 2, baseline: 0, years: { 2040: 334.2 } });
    expect((await yearOf(started)).reason).toBe("zero_baseline");
    const { temperature_alignment, detail } = await yearOf(started, { convergence: {} });
    expect(detail?.emissions_ratio_q).toBeCloseTo(0.5, 12);
    expect(detail?.flags).toContain("zero_baseline");
    const [low = NaN] = NGFS_PHASE5.pathways.industry[0].slice(3, 4);
    expect(temperature_alignment).toBeCloseTo(1.3 + ((1.454509 - 1.3) * 0.5) / low, 9);
  });

  test("is skipped for an industry without an intensity", async () => {
    const other = entityOf({ info: { industry: "Steelworks" }, revenue: 2, baseline: 1000, years: { 2040: 700 } });
    expect((await yearOf(other, { convergence: {} })).detail?.convergence).toBeNull();
  });
});

describe("a custom benchmark", () => {
  test("can have other anchors, pathways and years", async () => {
    const shifted: Benchmark = {
      ...NGFS_PHASE5,
      id: "made-up/2",
      anchors: [
        { scenario: "cool", temperature_2100_c: 1.5 },
        { scenario: "mild", temperature_2100_c: 2 },
        { scenario: "warm", temperature_2100_c: 3 },
        { scenario: "hot", temperature_2100_c: 4 },
      ],
      pathwayYears: [2025, 2050, 2070],
      pathways: Object.fromEntries(
        Object.keys(NGFS_PHASE5.pathways).map((name) => [
          name,
          [
            [1, 0.2, 0.1],
            [1, 0.4, 0.3],
            [1, 0.6, 0.5],
            [1, 1, 1.2],
          ],
        ]),
      ) as unknown as Benchmark["pathways"],
    };
    const entity = entityOf({ baseline: 100, years: { 2065: 45 } });
    const { temperature_alignment, detail } = await yearOf(entity, { benchmark: shifted });
    // In 2065 the second and third anchors are 0.325 and 0.525.
    expect(temperature_alignment).toBeCloseTo(2 + (0.45 - 0.325) / 0.2, 12);
    expect(detail?.benchmark).toBe("made-up/2");
    expect(detail?.between?.below).toBe("mild");
    expect(detail?.flags).not.toContain("beyond_table");
  });
});
