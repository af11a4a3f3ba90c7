import { describe, expect, test } from "vitest";
import { type Benchmark, NGFS_PHASE5 } from "../../src/alignment/benchmark.ts";
import { entityOf, yearOf } from "./exampleEntities.ts";
import type { Entity } from "../../src/contract/wireTypes.ts";

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
