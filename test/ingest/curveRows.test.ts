import { beforeAll, describe, expect, test } from "vitest";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import { BadValueError } from "../../src/ingest/badValues.ts";
import { curveRows } from "../../src/ingest/curve.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

const { metrics, rules, ownMetric } = HAZARDS.riverine_floods;
const OWN = metrics.findIndex(({ metric }) => metric === ownMetric);
const PROBABILITY = metrics.findIndex(({ metric }) => metric === "probability");

/** Computes the layers of cells whose depths at 10, 100 and 1000 years are given. */
function rowsOf(curves: readonly (readonly number[])[], cellEnds: readonly number[]) {
  const maps = [0, 1, 2].map((map) => Float64Array.from(curves, (depths) => depths[map] ?? NaN));
  return curveRows(
    kernel,
    { maps, unitFactors: [1, 1, 1] },
    {
      layers: { specs: metrics, own: OWN, rules },
      rule: { family: "gumbel", returnPeriods: [10, 100, 1000], designReturnPeriodYears: 100, threshold: 0.5 },
      clampTolerance: 0.01,
      cellEnds,
    },
  );
}

describe("curveRows", () => {
  const curves = [
    [0, 0, 0],
    [0.2, 1, 2],
    [1, 0.4, 2], // decreases
    [NaN, 1, 2],
    [NaN, NaN, NaN],
    [-0.005, 0.3, 0.4],
    [0.6, 0.7, 0.8],
  ];

  test("counts the cells of each run by what was done to their curves", () => {
    const rows = rowsOf(curves, [3, 7]);
    if (rows.kind !== "rows") throw new Error("A value is out of range.");
    const none = { valid: 0, nodata: 0, zero: 0, clampedNegative: 0, partlyMissing: 0, reachedAtFirst: 0, raised: 0 };
    expect(rows.counts).toEqual([
      { ...none, valid: 3, zero: 1, reachedAtFirst: 1, raised: 1 },
      { ...none, valid: 2, nodata: 2, clampedNegative: 1, partlyMissing: 1, reachedAtFirst: 1 },
    ]);
  });

  test("stores the value of the design return period of the non-decreasing curve, and the probability", () => {
    const rows = rowsOf(curves, [7]);
    if (rows.kind !== "rows") throw new Error("A value is out of range.");
    const valueOf = (cell: number, layer: number): number => {
      const steps = rows.steps[cell * metrics.length + layer] ?? NaN;
      return steps === STEPS_NODATA ? NaN : steps / (metrics[layer]?.stepsPerUnit ?? NaN);
    };
    const cells = curves.map((_, cell) => cell);
    expect(cells.map((cell) => valueOf(cell, OWN))).toEqual([0, 1, 1, NaN, NaN, 0.3, 0.7]);
    const probabilities = cells.map((cell) => valueOf(cell, PROBABILITY));
    expect([0, 2, 5, 6].map((cell) => probabilities[cell])).toEqual([0, 0.1, 0, 0.1]);
    // 0.5 m is between 10 and 100 years.
    expect(probabilities[1]).toBeGreaterThan(0.01);
    expect(probabilities[1]).toBeLessThan(0.1);
  });

  test("names the cell of a depth that no step can store, and of a value that is rejected", () => {
    expect(rowsOf([...curves, [1, 70, 80]], [8])).toMatchObject({
      kind: "out-of-range",
      layer: metrics[OWN],
      cell: 7,
      value: 70,
    });
    expect(() => rowsOf([...curves, [1, -5, 2]], [8])).toThrow(BadValueError);
  });
});
