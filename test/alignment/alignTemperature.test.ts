import { describe, expect, test } from "vitest";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { budgetOf } from "../../src/alignment/detail.ts";
import { roundTemperatures } from "../../src/alignment/answer.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import type { AlignmentResult, Entity } from "../../src/contract/wireTypes.ts";
import { entityOf, yearOf } from "./exampleEntities.ts";

const OIL = entityOf({
  info: {
    identifier: "X1",
    name: "Example Energy",
    country: "Germany",
    industry_classification_system: "gics",
    industry: "Integrated Oil & Gas",
    sector: "Energy",
  },
  baselineYear: 2023,
  baseline: { scope1: 500_000, scope2: 300_000, scope3: 1_000_000 },
  revenue: 1e9,
  years: { 2050: { scope1: 200_000, scope2: 150_000, scope3: 400_000 } },
});

async function resultOf(
  entity: Entity,
  options: Parameters<typeof alignTemperature>[1] = {},
): Promise<AlignmentResult> {
  const [result] = (await alignTemperature([entity], options)).results;
  if (result === undefined) throw new Error("There is no result.");
  return result;
}

describe("an answer", () => {
  test("names the method and the benchmark", async () => {
    const { method, benchmark } = await alignTemperature([OIL]);
    expect([method, benchmark]).toEqual(["alignment/2", "ngfs-phase5-message-r12/2"]);
  });

  test("keeps the order of entities and years, and echoes entity_info except the identifier", async () => {
    const shuffledYears: Entity = {
      ...OIL,
      projected_emissions: [2050, 2030, 2040].map((year) => ({ year, emissions: { scope1: year } })),
    };
    const plain = entityOf({ info: { name: "Second" }, baseline: 1, years: { 2030: 1 } });
    const { results } = await alignTemperature([shuffledYears, plain]);
    expect(results.map(({ entity_info }) => entity_info)).toEqual([
      {
        name: "Example Energy",
        asset_type: "equity",
        country: "Germany",
        industry_classification_system: "gics",
        industry: "Integrated Oil & Gas",
        sector: "Energy",
      },
      { name: "Second", asset_type: "equity" },
    ]);
    expect(results[0]?.data.map(({ year }) => year)).toEqual([2050, 2030, 2040]);
  });

  test("has only the temperature and its range if there is nothing to flag", async () => {
    const result = await resultOf(OIL);
    expect(Object.keys(result)).toEqual(["entity_info", "data"]);
    expect(Object.keys(result.data[0] ?? {})).toEqual(["year", "temperature_alignment", "range"]);
  });

  test("has each member of `include` only on request", async () => {
    const members = ["by_scope", "budget", "climate_range", "overall"] as const;
    for (const member of members) {
      const result = await resultOf(OIL, { include: [member] });
      const names = [...Object.keys(result), ...Object.keys(result.data[0] ?? {})];
      expect(names.filter((name) => (members as readonly string[]).includes(name))).toEqual([member]);
    }
    const detailed = await resultOf(OIL, { detail: true });
    expect([...Object.keys(detailed), ...Object.keys(detailed.data[0] ?? {})]).toEqual(
      expect.arrayContaining([...members, "detail"]),
    );
  });

  test.each([
    ["net_zero_2050", 0],
    ["below_2c", 1],
    ["ndcs", 2],
    ["current_policies", 3],
  ] as const)("takes the budget from %s", async (budgetScenario, anchor) => {
    const { data } = await resultOf(OIL, { detail: true, budgetScenario });
    expect(data[0]?.budget?.scenario).toBe(NGFS_PHASE5.anchors[anchor]?.scenario);
    expect(data[0]?.budget).toEqual(data[0]?.detail?.budget?.[anchor]);
  });

  test("adds the budget if its scenario is named", async () => {
    const { data } = await resultOf(OIL, { budgetScenario: "ndcs" });
    const included = await resultOf(OIL, { budgetScenario: "ndcs", include: ["budget"] });
    expect(data[0]?.budget?.scenario).toBe(NGFS_PHASE5.anchors[2]?.scenario);
    expect(data).toEqual(included.data);
    expect((await resultOf(OIL)).data[0]).not.toHaveProperty("budget");
  });

  test.each([0, -5])("has no percentage of an allowed budget of %d", (allowed) => {
    expect(budgetOf("ndcs", { allowed, projected: 10 })).toEqual({
      scenario: "ndcs",
      allowed,
      projected: 10,
      overshoot: 10 - allowed,
      overshoot_pct: null,
    });
  });

  test("rounds temperatures and percentages to two decimals for the wire, but not tonnes and details", async () => {
    const records = [2030, 2040].flatMap((year) =>
      ["target", "trend"].map((label, i) => ({ year, label, emissions: { scope1: 400_000 / (i + 1) } })),
    );
    const answer = await alignTemperature([{ ...OIL, projected_emissions: records }], { detail: true });
    const [exact] = answer.results;
    const [rounded] = roundTemperatures(answer).results;
    const roundToHundredth = (value: number | undefined | null): number => Math.round(100 * (value ?? NaN)) / 100;
    expect(rounded?.data[0]?.detail).toEqual(exact?.data[0]?.detail);
    expect(rounded?.data[0]?.temperature_alignment).toBe(roundToHundredth(exact?.data[0]?.temperature_alignment));
    expect(rounded?.data[0]?.range?.low).toBe(roundToHundredth(exact?.data[0]?.range?.low));
    expect(rounded?.data[0]?.climate_range?.high).toBe(roundToHundredth(exact?.data[0]?.climate_range?.high));
    expect(rounded?.data[0]?.by_scope).toEqual({ s1s2: roundToHundredth(exact?.data[0]?.by_scope?.s1s2), s3: null });
    expect(rounded?.data[0]?.budget?.overshoot_pct).toBe(roundToHundredth(exact?.data[0]?.budget?.overshoot_pct));
    expect(rounded?.data[0]?.budget?.allowed).toBe(exact?.data[0]?.budget?.allowed);
    expect(rounded?.data[0]?.coverage).toBe(exact?.data[0]?.coverage);
    expect(rounded?.overall?.temperature_alignment).toBe(roundToHundredth(exact?.overall?.temperature_alignment));
    expect(rounded?.overall?.range.high).toBe(roundToHundredth(exact?.overall?.range.high));
    expect(rounded?.blended?.[1]?.temperature_alignment).toBe(
      roundToHundredth(exact?.blended?.[1]?.temperature_alignment),
    );
    expect(rounded?.blended?.[1]?.range.low).toBe(roundToHundredth(exact?.blended?.[1]?.range.low));
  });

  test("ignores unknown members of entity_info, data and projected_emissions", async () => {
    const withUnknownMembers = {
      ...OIL,
      entity_info: { ...OIL.entity_info, lei: "5493001KJTIIGC8Y1R12" },
      data: OIL.data.map((record) => ({ ...record, source: 5, emissions: { ...record.emissions, scope4: "?" } })),
      projected_emissions: OIL.projected_emissions.map((record) => ({ ...record, currency: 4 })),
    } as Entity;
    expect(await alignTemperature([withUnknownMembers])).toEqual(await alignTemperature([OIL]));
  });

  test("does not depend on the baseline's revenue, EBITDA or currency", async () => {
    const [baseline] = OIL.data;
    if (baseline === undefined) throw new Error("There is no baseline.");
    const withFinancials = (financials: object): Promise<AlignmentResult> =>
      resultOf({ ...OIL, data: [{ ...baseline, financials }] });
    const expected = await withFinancials({});
    expect(await withFinancials({ revenue: 5, ebitda: -1e9 })).toEqual(expected);
    expect(await withFinancials({ revenue: -3 })).toEqual(expected);
    expect(await withFinancials({ revenue: 1e12, currency: "EUR", price_year: 2020 })).toEqual(expected);
  });
});

describe("the detail of a year", () => {
  test("contains every figure of the worked example", async () => {
    const { temperature_alignment, detail } = await yearOf(OIL);
    if (detail === undefined) throw new Error("The answer has no detail.");
    expect(temperature_alignment).toBe(detail.temperature_intensity);
    expect([detail.method, detail.benchmark]).toEqual(["alignment/2", "ngfs-phase5-message-r12/2"]);
    expect(detail.credit).toContain("IIASA");
    expect(detail.basis).toBe("intensity");
    expect(detail.pathway).toBe("energy_supply");
    expect(detail.matched).toEqual({ on: "industry", row: 12, key: "oil*" });
    expect(detail.scope_pathways).toEqual({ scope1: "energy_supply", scope2: "power", scope3: "economy" });
    expect(detail.emissions).toEqual({ baseline: 1_800_000, projected: 750_000 });
    expect(detail.emissions_ratio).toBeCloseTo(0.416667, 6);
    expect(detail.growth.source).toBe("country");
    expect(detail.growth.series).toBe("DEU");
    expect(detail.growth_region).toBe("DEU");
    expect(detail.growth_factor).toBe(detail.growth.factor);
    expect(detail.emissions_ratio_q).toBeCloseTo((detail.growth.factor ?? NaN) * 0.4166666667, 9);
    expect(detail.evaluated_year).toBe(2050);
    expect(detail.anchors).toEqual(NGFS_PHASE5.anchors);
    for (const [i, ratio] of [0.122234, 0.27397, 0.5261, 0.890916].entries()) {
      expect(Math.abs((detail.benchmark_ratio_at_anchors?.[i] ?? NaN) - ratio)).toBeLessThanOrEqual(1e-6);
    }
    expect(detail.benchmark_ratio_raw).toEqual(detail.benchmark_ratio_at_anchors);
    expect(detail.between?.below).toBe("Nationally Determined Contributions (NDCs)");
    expect(detail.between?.above).toBe("Current Policies");
    expect(detail.revenue.baseline).toBe(1e9);
    expect(detail.intensity.baseline).toBeCloseTo(0.0018, 9);
    expect(detail.intensity.projected).toBeCloseTo(750_000 / (detail.revenue.projected ?? NaN), 12);
    expect(detail.convergence).toBeNull();
    expect(Object.keys(detail.temperature_by_scope)).toEqual(["scope1", "scope2", "scope3"]);
    expect(detail.by_scope.s3).toBe(detail.temperature_by_scope.scope3);
    expect(detail.budget).toHaveLength(4);
    expect(detail.coverage).toBeNull();
    expect(detail.flags).toEqual([]);
  });

  test.each(["intensity", "emissions", "cumulative"] as const)(
    "with basis %s has the temperature of that basis, bit for bit the same with and without detail",
    async (basis) => {
      const without = (await resultOf(OIL, { basis })).data[0];
      const { temperature_alignment, range, detail } = await yearOf(OIL, { basis });
      expect([temperature_alignment, range]).toEqual([without?.temperature_alignment, without?.range]);
      expect(detail?.[`temperature_${basis}`]).toBe(temperature_alignment);
      expect(detail?.range).toEqual(range);
      expect(detail?.basis).toBe(basis);
    },
  );

  test.each(["emissions", "cumulative"] as const)("has no growth with basis %s", async (basis) => {
    const { detail } = await yearOf(OIL, { basis });
    expect(detail?.growth).toEqual({ source: null, series: null, factor: 1 });
    expect(detail?.growth_region).toBeNull();
  });

  test("has the growth of supplied revenue", async () => {
    const [record] = OIL.projected_emissions;
    if (record === undefined) throw new Error("There is no projection.");
    const entity = { ...OIL, projected_emissions: [{ ...record, financials: { revenue: 2e9 } }] };
    const { detail } = await yearOf(entity);
    expect(detail?.growth.source).toBe("supplied");
    expect(detail?.growth.series).toBeNull();
    expect(detail?.revenue).toEqual({ baseline: 1e9, projected: 2e9 });
  });

  test.each([
    {
      name: "without a country",
      country: undefined,
      growth: { source: "default", series: null, factor: 1 },
      flags: ["growth_default"],
    },
    {
      name: "in an unknown country",
      country: "Atlantis",
      growth: { source: "default", series: null, factor: 1 },
      flags: ["growth_default"],
    },
    {
      name: "in a country without a series of its own",
      country: "Venezuela",
      growth: { source: "region", series: "R5LAM" },
      flags: ["growth_region"],
    },
  ])("uses the default or regional growth for an entity $name", async ({ country, growth, flags }) => {
    const info = { industry: "Banks", ...(country === undefined ? {} : { country }) };
    const { detail } = await yearOf(entityOf({ info, baseline: 100, years: { 2040: 70 } }));
    expect(detail?.growth).toMatchObject(growth);
    expect(detail?.flags).toEqual(expect.arrayContaining(flags));
  });

  test("shows how anchors that are out of order were moved", async () => {
    const entity = entityOf({ info: { industry: "Airlines" }, baseline: 100, years: { 2030: 90 } });
    const { flags, detail } = await yearOf(entity);
    expect(flags).toContain("anchors_close");
    const [, , third = NaN, fourth = NaN] = detail?.benchmark_ratio_raw ?? [];
    expect(third).toBeGreaterThan(fourth);
    const moved = detail?.benchmark_ratio_at_anchors ?? [];
    expect(moved).toEqual(moved.toSorted((a, b) => a - b));
  });
});

describe("a null temperature", () => {
  test.each([
    { name: "no scope in common", baseline: { scope1: 5 }, later: { scope3: 4 }, reason: "no_usable_scope" },
    {
      name: "zero baseline and positive projection",
      baseline: { scope1: 0 },
      later: { scope1: 4 },
      reason: "zero_baseline",
    },
  ] as const)("has a reason and no derived figures: $name", async ({ baseline, later, reason }) => {
    const year = await yearOf(entityOf({ baseline, years: { 2030: later } }));
    expect(year.temperature_alignment).toBeNull();
    expect(year.reason).toBe(reason);
    expect(year.flags).toContain(reason);
    expect(year).not.toHaveProperty("range");
    expect(year).not.toHaveProperty("climate_range");
    expect(year).not.toHaveProperty("budget");
    expect(year.by_scope).toEqual({ s1s2: null, s3: null });
    const { detail } = year;
    expect([detail?.range, detail?.climate_range, detail?.budget, detail?.between]).toEqual([null, null, null, null]);
    expect([detail?.temperature_intensity, detail?.benchmark_ratio_at_anchors]).toEqual([null, null]);
    expect([detail?.emissions_ratio, detail?.emissions_ratio_q]).toEqual([null, null]);
  });
});

describe("alignTemperature in edge cases", () => {
  test.each([
    { name: "all projected emissions are 0", baseline: 100, later: 0 },
    { name: "net removals are projected", baseline: 100, later: -50 },
    { name: "baseline and projection are 0", baseline: 0, later: 0 },
  ])("gives 1.3 degrees C with a range of 1.3 to 1.3 if $name", async ({ baseline, later }) => {
    const { temperature_alignment, range } = await yearOf(entityOf({ baseline, years: { 2040: later } }));
    expect(temperature_alignment).toBeCloseTo(1.3, 12);
    expect(range?.low).toBeCloseTo(1.3, 12);
    expect(range?.high).toBeCloseTo(1.3, 12);
  });

  test("gives no temperature with basis cumulative if the baseline is 0 and a later year has emissions", async () => {
    const entity = entityOf({ baseline: 0, years: { 2030: 0, 2040: 5 } });
    const { data } = await resultOf(entity, { basis: "cumulative", include: ["overall"] });
    expect(data.map(({ reason }) => reason)).toEqual(["zero_baseline", "zero_baseline"]);
  });

  test("limits temperatures to 6 degrees C", async () => {
    const { temperature_alignment, flags } = await yearOf(entityOf({ baseline: 1, years: { 2040: 1e6 } }));
    expect(temperature_alignment).toBeCloseTo(6, 12);
    expect(flags).toContain("implausible_change");
  });

  test("evaluates years after 2060 at the anchors of 2060", async () => {
    const { flags, detail } = await yearOf(entityOf({ baseline: 100, years: { 2100: 50 } }));
    expect(flags).toContain("beyond_table");
    expect(detail?.evaluated_year).toBe(2060);
  });

  test("accepts emissions of 1e15 and a baseline year of 1900", async () => {
    const entity = entityOf({ baselineYear: 1900, baseline: 1e15, years: { 2200: 1e15 } });
    const { temperature_alignment } = await yearOf(entity);
    expect(temperature_alignment).toBeGreaterThan(2);
    expect((await resultOf(entity)).flags).toContain("early_baseline");
  });

  test("reports the share of baseline emissions in the scopes used, if a scope is dropped", async () => {
    const baseline = { scope1: 10, scope2: 5, scope3: 85 };
    const { coverage, flags } = await yearOf(entityOf({ baseline, years: { 2030: { scope1: 6, scope2: 3 } } }));
    expect(coverage).toBeCloseTo(0.15, 12);
    expect(flags).toContain("scope_dropped");
  });

  test("treats blank names as absent", async () => {
    const blank = entityOf({ info: { country: " ", industry: "", sector: "\t" }, baseline: 1, years: { 2040: 1 } });
    const absent = entityOf({ baseline: 1, years: { 2040: 1 } });
    const [withBlank, without] = [await resultOf(blank), await resultOf(absent)];
    expect(withBlank.flags).toEqual(without.flags);
    expect(withBlank).not.toHaveProperty("did_you_mean");
  });
});

describe("flags about country and industry", () => {
  test.each([
    { name: "neither a country nor an industry", info: {}, flags: ["unknown_industry", "scope3_absent"] },
    {
      name: "an unknown country",
      info: { country: "Atlantis", sector: "Steel" },
      flags: ["unknown_country", "scope3_absent"],
    },
    {
      name: "an unknown industry",
      info: { country: "NLD", industry: "Zzz" },
      flags: ["unknown_industry", "scope3_absent"],
    },
    {
      name: "an unknown industry of a known sector",
      info: { country: "NLD", industry: "Zzz", sector: "Materials" },
      flags: ["industry_from_sector", "scope3_absent"],
    },
    {
      name: "an unknown classification system",
      info: { country: "NLD", industry: "Steel", industry_classification_system: "mine" },
      flags: ["unknown_classification", "scope3_absent"],
    },
    {
      name: "a known classification system in capitals",
      info: { country: "NLD", industry: "Steel", industry_classification_system: "GICS" },
      flags: ["scope3_absent"],
    },
    {
      name: "banks, which map to economy",
      info: { country: "NLD", industry: "Banks" },
      flags: ["scope3_absent"],
    },
  ])("are set for $name", async ({ info, flags }) => {
    const result = await resultOf(entityOf({ info, baseline: 100, years: { 2040: 70 } }));
    expect(result.flags).toEqual(flags);
  });
});

describe("did_you_mean", () => {
  test.each([
    {
      info: { country: "Germny", industry: "Stel", sector: "Materials" },
      expected: { country: "Germany", industry: "Steel" },
    },
    { info: { country: "Cnina", industry: "Airlnes" }, expected: { country: "China", industry: "Airlines" } },
    { info: { country: "Germany", industry: "Cemment" }, expected: { industry: "cement" } },
    { info: { country: "Zz", industry: "Qqqqqqqq", sector: "Bankss" }, expected: undefined },
    { info: { country: "Germany", industry: "Steel", sector: "Matrials" }, expected: undefined },
  ])("suggests known names only for close misspellings: $info", async ({ info, expected }) => {
    const { did_you_mean: suggestions } = await resultOf(entityOf({ info, baseline: 100, years: { 2040: 70 } }));
    expect(suggestions).toEqual(expected);
  });
});
