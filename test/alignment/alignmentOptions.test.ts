import { describe, expect, test } from "vitest";
import type { Benchmark } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { intensityOfIndustry } from "../../src/alignment/entityColumns.ts";
import type { AlignTemperatureOptions } from "../../src/alignment/options.ts";
import { isFault } from "../../src/errors.ts";
import { entityOf, yearOf } from "./exampleEntities.ts";
import type { Entity } from "../../src/contract/wireTypes.ts";

type Financials = NonNullable<Entity["data"][number]["financials"]>;

/** A steelmaker with 1,000 t CO2e of scope 1 in 2025. */
function steel(financials: Financials, industry = "Iron and steel"): Entity {
  const entity = entityOf({ info: { industry }, baseline: 1000, years: { 2040: 700 } });
  const [baseline] = entity.data;
  if (baseline === undefined) throw new Error("There is no baseline.");
  return { ...entity, data: [{ ...baseline, financials }] };
}

/** Revenue of 2022 of an entity whose intensity is `kappa` times that of its industry. */
function revenueWith(kappa: number): number {
  const { scope1TCO2ePerMUSD = NaN } = intensityOfIndustry("Iron and steel", undefined) ?? {};
  return (1e6 * 1000) / (kappa * scope1TCO2ePerMUSD);
}

describe("convergence", () => {
  const financials = { revenue: revenueWith(1.5), currency: "USD", price_year: 2022 };

  test("is off by default and shows kappa when on", async () => {
    expect((await yearOf(steel(financials))).detail?.convergence).toBeNull();
    const { detail, flags } = await yearOf(steel(financials), { convergence: 0.5 });
    expect(detail?.convergence?.kappa).toBeCloseTo(1.5, 12);
    expect(detail?.convergence?.gamma).toBe(0.5);
    expect(detail?.emissions_ratio_q).toBeCloseTo(0.7 * 1.5 ** (0.5 * 0.6), 12);
    expect(flags).not.toContain("revenue_unusable");
  });

  test("converts revenue with consumer prices", async () => {
    const { detail } = await yearOf(steel({ ...financials, price_year: 2023 }), { convergence: 0.5 });
    // US consumer prices (CPI-U) rose from 292.655 in 2022 to 304.702 in 2023.
    expect(detail?.convergence?.kappa).toBeCloseTo((1.5 * 304.702) / 292.655, 6);
  });

  test("never raises the temperature when revenue increases", async () => {
    const temperatures: number[] = [];
    for (const kappa of [8, 4, 3, 2, 1, 0.5, 0.25, 0.1]) {
      const { temperature_alignment } = await yearOf(steel({ ...financials, revenue: revenueWith(kappa) }), {
        convergence: 1,
      });
      temperatures.push(temperature_alignment ?? NaN);
    }
    expect(temperatures).toEqual(temperatures.toSorted((a, b) => b - a));
    expect(new Set(temperatures).size).toBeGreaterThan(3);
  });

  test.each([
    { name: "another currency", entity: steel({ ...financials, currency: "EUR" }) },
    { name: "no currency", entity: steel({ revenue: 1e6, price_year: 2022 }) },
    { name: "no price year", entity: steel({ revenue: 1e6, currency: "USD" }) },
    { name: "no revenue", entity: steel({ currency: "USD", price_year: 2022 }) },
    { name: "a revenue of 0", entity: steel({ ...financials, revenue: 0 }) },
    { name: "an industry without an intensity", entity: steel(financials, "Steelworks") },
  ])("does not apply with $name, which is flagged", async ({ entity }) => {
    const without = await yearOf(entity);
    const { temperature_alignment, flags, detail } = await yearOf(entity, { convergence: 0.5 });
    expect(temperature_alignment).toBe(without.temperature_alignment);
    expect(detail?.convergence).toBeNull();
    expect(flags).toContain("revenue_unusable");
    expect(without.flags).not.toContain("revenue_unusable");
  });

  test("does not apply with basis cumulative, without a flag", async () => {
    const { flags, detail } = await yearOf(steel(financials), { basis: "cumulative", convergence: 0.5 });
    expect(detail?.convergence).toBeNull();
    expect(flags ?? []).not.toContain("revenue_unusable");
  });

  test("gives no temperature for a baseline of zero", async () => {
    const started = entityOf({ info: { industry: "Iron and steel" }, baseline: 0, years: { 2040: 300 } });
    expect((await yearOf(started, { convergence: 0.5 })).reason).toBe("zero_baseline");
  });
});

describe("a custom benchmark", () => {
  test("can have other anchors, pathways and years", async () => {
    const anchor = (scenario: string, temperatureC: number): Benchmark["anchors"][number] => ({
      scenario,
      temperature_2100_c: temperatureC,
      temperature_2100_p10_c: temperatureC - 0.5,
      temperature_2100_p90_c: temperatureC + 1,
    });
    const shifted: Benchmark = {
      ...NGFS_PHASE5,
      id: "made-up/2",
      anchors: [anchor("cool", 1.5), anchor("mild", 2), anchor("warm", 3), anchor("hot", 4)],
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
    const { temperature_alignment, climate_range, flags, detail } = await yearOf(entity, { benchmark: shifted });
    // In 2065 the second and third anchors are 0.325 and 0.525.
    expect(temperature_alignment).toBeCloseTo(2 + (0.45 - 0.325) / 0.2, 12);
    expect(climate_range?.low).toBeCloseTo(2.125, 12);
    expect(climate_range?.high).toBeCloseTo(3.625, 12);
    expect(detail?.benchmark).toBe("made-up/2");
    expect(detail?.between?.below).toBe("mild");
    expect(flags).not.toContain("beyond_table");
  });
});

describe("invalid options", () => {
  test("are all reported with a pointer and what is accepted", async () => {
    const options = {
      basis: "carbon",
      scope3Weight: 2,
      convergence: 0,
      include: ["overall", "overal", "overall"],
      budgetScenario: "ndc",
      detail: "yes",
      baseyear: 1,
    } as unknown as AlignTemperatureOptions;
    const error: unknown = await yearOf(entityOf({ baseline: 1, years: { 2040: 1 } }), options).catch(
      (thrown: unknown) => thrown,
    );
    if (!isFault(error, "invalid_request")) throw error;
    expect(error.items.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()).toEqual([
      "/baseyear unknown",
      "/basis not_allowed",
      "/budgetScenario not_allowed",
      "/convergence out_of_range",
      "/detail wrong_type",
      "/include/1 not_allowed",
      "/include/2 duplicate",
      "/scope3Weight out_of_range",
    ]);
    const details = error.items.map(({ detail }) => detail);
    expect(details).toContain("convergence must be greater than 0 and at most 1 (got 0).");
    expect(details.find((detail) => detail.includes('"overal"'))).toContain("did you mean overall?");
  });

  test.each([-0.5, 1.5, NaN])("include a convergence of %d", async (convergence) => {
    const entity = entityOf({ baseline: 1, years: { 2040: 1 } });
    await expect(yearOf(entity, { convergence })).rejects.toSatisfy((error) => isFault(error, "invalid_request"));
  });
});
