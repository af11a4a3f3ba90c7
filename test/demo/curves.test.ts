import { describe, expect, test } from "vitest";
import { returnPeriodsOf, supplementName } from "../../src/atlas/supplement.ts";
import type { CellSource } from "../../src/atlas/cellSource.ts";
import { HAZARDS, type HazardName } from "../../src/hazard/hazards.ts";
import { STEPS_MAX, TILE_SIZE } from "../../src/kernel/kernel.generated.ts";
import { curveByDefinition } from "../oracle/curve.ts";
import { demo, hazardOf, LAYER_COUNT, randomCells, readCells } from "./openedDemo.ts";

const CURVE_HAZARDS = ["cyclones", "coastal_floods", "riverine_floods"] as const;
const CELL_COUNT = 3000;

function curvesOf(hazard: HazardName): CellSource {
  const [source] = demo.hazards.find((item) => item.hazard === supplementName(hazard))?.sources ?? [];
  if (source === undefined) throw new Error(`the demo has no curves of ${hazard}`);
  return source;
}

test("wildfire has no curves", () => {
  expect(() => curvesOf("wildfire")).toThrow("no curves");
});

describe.each(CURVE_HAZARDS)("the curves of %s", (hazard) => {
  const source = curvesOf(hazard);
  const periods = returnPeriodsOf(source.groups[0] as CellSource["groups"][number]) ?? [];
  const { rules, metrics } = HAZARDS[hazard];
  const own = metrics[1]?.stepsPerUnit ?? NaN;
  const probabilityStepsPerUnit = metrics[2]?.stepsPerUnit ?? NaN;

  test("have the groups of the metrics", () => {
    const named = ({ scenario, year }: CellSource["groups"][number]) => `${scenario} ${year}`;
    expect(source.groups.map(named)).toEqual(hazardOf(hazard).source.groups.map(named));
    expect(periods).toContain(100);
  });

  test("never decrease, and have the value of the metric at 100 years", () => {
    const cells = randomCells(source.grid, CELL_COUNT, 5);
    for (const group of [0, source.groups.length - 1]) {
      const curves = source.readCells?.(group, cells) ?? new Uint16Array();
      const stored = readCells(hazard, group, cells);
      let wet = 0;
      for (let cell = 0; cell < cells.length; cell++) {
        const curve = curves.subarray(cell * periods.length, (cell + 1) * periods.length);
        expect([...curve]).toEqual([...curve].toSorted((a, b) => a - b));
        expect(curve[periods.indexOf(100)]).toBe(stored[cell * LAYER_COUNT + 1]);
        if ((curve[0] ?? 0) > 0 && (curve[0] ?? 0) <= STEPS_MAX) wet++;
      }
      expect(wet).toBeGreaterThan(0);
    }
  });

  test("give the stored probability, except where the curve bends between two return periods", () => {
    const cells = randomCells(source.grid, CELL_COUNT, 6);
    const curves = source.readCells?.(1, cells) ?? new Uint16Array();
    const stored = readCells(hazard, 1, cells);
    let compared = 0;
    let close = 0;
    for (let cell = 0; cell < cells.length; cell++) {
      const steps = [...curves.subarray(cell * periods.length, (cell + 1) * periods.length)];
      if (steps.some((step) => step > STEPS_MAX) || steps.at(-1) === 0) continue;
      const rule = {
        family: rules.curve ?? "gumbel",
        returnPeriods: periods,
        unitFactor: 1 / own,
        designReturnPeriodYears: 100,
        threshold: rules.threshold,
      } as const;
      const { probability } = curveByDefinition(steps, rule);
      const expected = (stored[cell * LAYER_COUNT + 2] ?? NaN) / probabilityStepsPerUnit;
      compared++;
      if (Math.abs(probability - expected) <= 0.01 * expected + 1 / probabilityStepsPerUnit) close++;
    }
    expect(compared).toBeGreaterThan(20);
    expect(close / compared).toBeGreaterThan(0.8);
  });

  test("have the same bits in tiles and single cells", async () => {
    const [cell] = randomCells(source.grid, 1, 7);
    const [tileRow, tileColumn] = [
      Math.floor((cell?.row ?? 0) / TILE_SIZE),
      Math.floor((cell?.column ?? 0) / TILE_SIZE),
    ];
    const [tile] = await source.load([{ group: 1, tileRow, tileColumn }]);
    const cells = Array.from({ length: TILE_SIZE * TILE_SIZE }, (_, index) => ({
      row: tileRow * TILE_SIZE + Math.floor(index / TILE_SIZE),
      column: tileColumn * TILE_SIZE + (index % TILE_SIZE),
    }));
    expect(tile).toEqual(source.readCells?.(1, cells));
  });
});
