import { describe, expect, test } from "vitest";
import type { TileForm } from "../../src/kernel/field.ts";
import type { Circle } from "../../src/kernel/geodesy.ts";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK, STEPS_MAX, STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { circleByBisection, summariseByDefinition } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { FIELD_CASES, someCircle } from "./fieldCases.ts";
import { MadeField, patchyRaster } from "./madeField.ts";

/** Bounds as the kernel says them: 0 without a valid cell, else the largest step + 1. */
function boundsOf(summaries: readonly { readonly maxSteps: number | undefined }[]): number[] {
  return summaries.map(({ maxSteps }) => (maxSteps === undefined ? 0 : maxSteps + 1));
}

/** The maximum from no tile at all, asking for what is missing. */
function maximum(made: MadeField, circle: Circle) {
  if (!made.grid.lay(circle).isLaid) throw new Error(`not laid: ${JSON.stringify(circle)}`);
  return made.askUntilFound(() => made.grid.max(made.field));
}

function admitSome(made: MadeField, random: SeededRandom): void {
  const all = (["bounds", "cells"] as const).flatMap((form) =>
    Array.from({ length: made.countOf(form) }, (_, index): readonly [TileForm, number] => [form, index]),
  );
  for (const [form, index] of shuffled(random, all).slice(0, random.below(all.length + 1))) made.admit(form, index);
}

describe("the maximum of a circle", () => {
  for (const [index, { name, grid, layerCount }] of FIELD_CASES.entries()) {
    test(`is that of its cells, whichever tiles are in memory first: ${name}`, async () => {
      const made = await MadeField.of(grid, patchyRaster(grid, { layerCount, seed: 20 + index }));
      const random = randomFrom(50 + index);
      for (let i = 0; i < 60; i++) {
        const circle = someCircle(grid, random);
        const expected = boundsOf(made.summarise(circle).summaries);
        made.withholdAll();
        const fromNothing = maximum(made, circle);
        expect([...fromNothing.value.subarray(0, layerCount)], JSON.stringify(circle)).toEqual(expected);
        expect(fromNothing.value.subarray(layerCount).every((bound) => bound === 0)).toBe(true);
        for (let round = 0; round < 2; round++) {
          made.withholdAll();
          admitSome(made, random);
          expect(maximum(made, circle).value, JSON.stringify(circle)).toEqual(fromNothing.value);
        }
      }
    });
  }

  test("stands on the rim where values rise towards one side, and no cell beyond it counts", async () => {
    const grids = [
      { ...worldGrid(0.02, { westDeg: 8, northDeg: 65 }), rowCount: 203, columnCount: 531 },
      { ...worldGrid(0.01, { westDeg: -20, northDeg: 1 }), rowCount: 300, columnCount: 520 },
      { ...worldGrid(0.1, { westDeg: -180.05 }), rowCount: 43 },
    ];
    for (const [index, grid] of grids.entries()) {
      const { rowCount, columnCount } = grid;
      // East, west, south, north, and towards each corner: each cell higher than the one before.
      const step = Math.floor(STEPS_MAX / (rowCount + columnCount));
      const steps = new Uint16Array(rowCount * columnCount * 8);
      for (let row = 0; row < rowCount; row++) {
        for (let column = 0; column < columnCount; column++) {
          const [up, left] = [rowCount - 1 - row, columnCount - 1 - column];
          const rises = [column, left, row, up, column + row, column + up, left + row, left + up];
          steps.set(
            rises.map((rise) => rise * step),
            (row * columnCount + column) * 8,
          );
        }
      }
      const made = await MadeField.of(grid, { layerCount: 8, steps });
      const random = randomFrom(70 + index);
      for (let i = 0; i < 100; i++) {
        const circle = someCircle(grid, random);
        const expected = boundsOf(made.summarise(circle).summaries);
        expect([...maximum(made, circle).value], JSON.stringify(circle)).toEqual(expected);
      }
    }
  });

  test("is the definition's", async () => {
    const { grid, layerCount } = { grid: worldGrid(0.25, { heightDeg: 0.1, westDeg: 20 }), layerCount: 3 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount, seed: 3 }));
    const random = randomFrom(4);
    for (let i = 0; i < 25; i++) {
      const circle = someCircle(grid, random);
      const cells = circleByBisection(grid, circle);
      const expected = Array.from({ length: layerCount }, (_, layer) =>
        summariseByDefinition(grid, cells, (cell) => made.stepsAt({ ...cell, layer })),
      );
      expect([...maximum(made, circle).value.subarray(0, layerCount)], JSON.stringify(circle)).toEqual(
        boundsOf(expected),
      );
    }
  });

  test("names a tile of cells only where a block on the rim could hold more, the most promising first", async () => {
    // 4 x 4 tiles; the circle of about 100 cells across has whole blocks, and blocks on its rim in nine tiles.
    const grid = { ...worldGrid(0.02, { westDeg: 0, northDeg: 2.56 }), rowCount: 256, columnCount: 256 }; // 2.56 south
    const steps = new Uint16Array(256 * 256).fill(10);
    const circle = { latDeg: 0, lonDeg: 2.56, radiusM: 110_000 };
    const centre = 128 * 256 + 128;
    const build = async (changes: Readonly<Record<number, number>>) => {
      const own = steps.slice();
      for (const [at, value] of Object.entries(changes)) own[Number(at)] = value;
      const made = await MadeField.of(grid, { layerCount: 1, steps: own });
      const { value, named } = maximum(made, circle);
      return {
        steps: (value[0] ?? 0) - 1,
        tiles: named.filter(({ form }) => form === "cells").map(({ index }) => index),
      };
    };
    // All alike: whole blocks say all that the rim could.
    expect(await build({})).toEqual({ steps: 10, tiles: [] });
    // The highest stands in the middle: no rim block matters, though some are above the rest.
    expect(await build({ [centre]: 50, [128 * 256 + 176]: 20 })).toEqual({ steps: 50, tiles: [] });
    // High cells beside the rim, just outside: they must be looked at, and do not count.
    const rimWest = 128 * 256 + 128 - 50;
    const isInside = (await build({ [rimWest]: 700 })).steps === 700;
    expect(isInside).toBe(false);
    expect((await build({ [rimWest]: 700 })).tiles).toEqual([2 * 4 + 1]);
    // Just inside: one tile answers, and the lower promise of another tile is never read.
    const rimEast = 128 * 256 + 128 + 48;
    expect(await build({ [rimEast]: 900, [rimWest]: 800 })).toEqual({ steps: 900, tiles: [2 * 4 + 2] });
  });

  test("a cell at the top, and one without a value, beside each other", async () => {
    const grid = { ...worldGrid(0.1, { westDeg: 0, northDeg: 5 }), rowCount: 70, columnCount: 70 };
    for (const [first, expected] of [
      [STEPS_MAX, STEPS_MAX + 1],
      [STEPS_NODATA, 1],
    ] as const) {
      const steps = new Uint16Array(70 * 70).fill(STEPS_NODATA);
      steps[35 * 70 + 35] = first;
      steps[35 * 70 + 36] = 0;
      const made = await MadeField.of(grid, { layerCount: 1, steps });
      expect(maximum(made, { latDeg: 1.45, lonDeg: 3.55, radiusM: 30_000 }).value[0]).toBe(expected);
    }
  });

  test("a circle beside the grid has none, and needs no tile", async () => {
    const grid = { ...worldGrid(0.1, { westDeg: 0, northDeg: 5 }), rowCount: 70, columnCount: 70 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 1 }));
    for (const place of [
      { latDeg: 20, lonDeg: 3 },
      { latDeg: -20, lonDeg: 3 },
      { latDeg: 2, lonDeg: 100 },
      { latDeg: 2, lonDeg: -3 },
      { latDeg: 89.9, lonDeg: 3 },
    ]) {
      const { value, named } = maximum(made, { ...place, radiusM: 50_000 });
      expect({ bound: value[0], named }).toEqual({ bound: 0, named: [] });
    }
  });

  test("with little room to say what is missing, says some of it, and never writes past the room", async () => {
    const grid = { ...worldGrid(0.02, { westDeg: 0 }), rowCount: 40 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 2 }));
    const { kernel } = made;
    made.grid.lay({ latDeg: 90, lonDeg: 0, radiusM: 60_000 });
    // The strands' place, as circleSums is told it.
    let spans = 0;
    const { circleMax } = kernel.exports;
    const listening = {
      ...kernel.exports,
      circleMax: (_field: number, strand: number) => ((spans = strand), STATUS_OK),
    };
    Object.defineProperty(kernel, "exports", { value: listening });
    made.grid.max(made.field);
    const { best } = made.field;
    const rows = kernel.reserve(16 * 16);
    const room = kernel.i32(kernel.reserve(400)); // last: growth would detach it
    for (const capacity of [3, 4, 9, 20]) {
      room.fill(-7);
      const status = circleMax(made.field.pointer, spans, best.pointer, room.byteOffset, capacity, rows.pointer);
      expect(status).toBe(STATUS_MISSING);
      const [bounds = 0, cells = 0] = room;
      expect(cells).toBe(0);
      expect(bounds).toBeGreaterThan(0);
      expect(bounds).toBeLessThanOrEqual(capacity - 2);
      expect(room.subarray(2, 2 + bounds).every((index) => index >= 0 && index < made.countOf("bounds"))).toBe(true);
      expect(room.subarray(capacity).every((word) => word === -7)).toBe(true);
    }
    expect(circleMax(made.field.pointer, spans, best.pointer, room.byteOffset, 2, rows.pointer)).toBe(STATUS_FULL);
  });
});
