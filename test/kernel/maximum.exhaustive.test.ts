import { describe, expect, test } from "vitest";
import type { TileForm } from "../../src/kernel/field.ts";
import type { Circle } from "../../src/kernel/geodesy.ts";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK, STEPS_MAX, STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { circleByBisection, summarizeByDefinition } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { FIELD_CASES, randomCircle } from "./fieldCases.ts";
import { patchyRaster, SyntheticField } from "./syntheticField.ts";

/** Returns bounds as the kernel encodes them: 0 without a valid cell, else the largest step + 1. */
function boundsOf(summaries: readonly { readonly maxSteps: number | undefined }[]): number[] {
  return summaries.map(({ maxSteps }) => (maxSteps === undefined ? 0 : maxSteps + 1));
}

/** Computes the maximum, loading missing tiles. */
function maximum(source: SyntheticField, circle: Circle) {
  if (!source.grid.setCircle(circle)) throw new Error(`circle not set: ${JSON.stringify(circle)}`);
  return source.runUntilFound(() => source.grid.max(source.field));
}

/** Loads a random subset of the tiles. */
function loadSome(source: SyntheticField, random: SeededRandom): void {
  const all = (["bounds", "cells"] as const).flatMap((form) =>
    Array.from({ length: source.countOf(form) }, (_, index): readonly [TileForm, number] => [form, index]),
  );
  for (const [form, index] of shuffled(random, all).slice(0, random.below(all.length + 1))) source.load(form, index);
}

describe("maximum of a circle", () => {
  for (const [index, { name, grid, layerCount }] of FIELD_CASES.entries()) {
    test(`equals the maximum of its cells, regardless of which tiles are loaded first: ${name}`, async () => {
      const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount, seed: 20 + index }));
      const random = randomFrom(50 + index);
      for (let i = 0; i < 60; i++) {
        const circle = randomCircle(grid, random);
        const expected = boundsOf(source.summarize(circle).summaries);
        source.unloadAll();
        const fromNothing = maximum(source, circle);
        expect([...fromNothing.value.subarray(0, layerCount)], JSON.stringify(circle)).toEqual(expected);
        expect(fromNothing.value.subarray(layerCount).every((bound) => bound === 0)).toBe(true);
        for (let round = 0; round < 2; round++) {
          source.unloadAll();
          loadSome(source, random);
          expect(maximum(source, circle).value, JSON.stringify(circle)).toEqual(fromNothing.value);
        }
      }
    });
  }

  test("includes the cells on the rim and no cell outside the circle", async () => {
    const grids = [
      { ...worldGrid(0.02, { westDeg: 8, northDeg: 65 }), rowCount: 203, columnCount: 531 },
      { ...worldGrid(0.01, { westDeg: -20, northDeg: 1 }), rowCount: 300, columnCount: 520 },
      { ...worldGrid(0.1, { westDeg: -180.05 }), rowCount: 43 },
    ];
    for (const [index, grid] of grids.entries()) {
      const { rowCount, columnCount } = grid;
      // One layer for each direction in which the values increase: east, west, south, north and the four corners.
      const step = Math.floor(STEPS_MAX / (rowCount + columnCount));
      const steps = new Uint16Array(rowCount * columnCount * 8);
      for (let row = 0; row < rowCount; row++) {
        for (let column = 0; column < columnCount; column++) {
          const [upward, leftward] = [rowCount - 1 - row, columnCount - 1 - column];
          const rises = [
            column,
            leftward,
            row,
            upward,
            column + row,
            column + upward,
            leftward + row,
            leftward + upward,
          ];
          steps.set(
            rises.map((rise) => rise * step),
            (row * columnCount + column) * 8,
          );
        }
      }
      const source = await SyntheticField.of(grid, { layerCount: 8, steps });
      const random = randomFrom(70 + index);
      for (let i = 0; i < 100; i++) {
        const circle = randomCircle(grid, random);
        const expected = boundsOf(source.summarize(circle).summaries);
        expect([...maximum(source, circle).value], JSON.stringify(circle)).toEqual(expected);
      }
    }
  });

  test("matches the reference implementation", async () => {
    const { grid, layerCount } = { grid: worldGrid(0.25, { heightDeg: 0.1, westDeg: 20 }), layerCount: 3 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount, seed: 3 }));
    const random = randomFrom(4);
    for (let i = 0; i < 25; i++) {
      const circle = randomCircle(grid, random);
      const cells = circleByBisection(grid, circle);
      const expected = Array.from({ length: layerCount }, (_, layer) =>
        summarizeByDefinition(grid, cells, (cell) => source.stepsAt({ ...cell, layer })),
      );
      expect([...maximum(source, circle).value.subarray(0, layerCount)], JSON.stringify(circle)).toEqual(
        boundsOf(expected),
      );
    }
  });

  test("reads only the cells of rim blocks that could raise the maximum, largest bound first", async () => {
    // 4 x 4 tiles; the circle is about 100 cells wide and has rim blocks in several tiles.
    const grid = { ...worldGrid(0.02, { westDeg: 0, northDeg: 2.56 }), rowCount: 256, columnCount: 256 };
    const steps = new Uint16Array(256 * 256).fill(10);
    const circle = { latDeg: 0, lonDeg: 2.56, radiusM: 110_000 };
    const center = 128 * 256 + 128;
    const build = async (changes: Readonly<Record<number, number>>) => {
      const changed = steps.slice();
      for (const [cellIndex, value] of Object.entries(changes)) changed[Number(cellIndex)] = value;
      const source = await SyntheticField.of(grid, { layerCount: 1, steps: changed });
      const { value, loaded } = maximum(source, circle);
      return {
        steps: (value[0] ?? 0) - 1,
        tiles: loaded.filter(({ form }) => form === "cells").map(({ index }) => index),
      };
    };
    // All cells equal: no rim block can raise the maximum.
    expect(await build({})).toEqual({ steps: 10, tiles: [] });
    // The largest value is in the middle: rim blocks with larger values than the rest do not matter.
    expect(await build({ [center]: 50, [128 * 256 + 176]: 20 })).toEqual({ steps: 50, tiles: [] });
    // A large value just outside the rim: its tile must be read, but the value does not count.
    const justOutside = 128 * 256 + 128 - 50;
    const isInside = (await build({ [justOutside]: 700 })).steps === 700;
    expect(isInside).toBe(false);
    expect((await build({ [justOutside]: 700 })).tiles).toEqual([2 * 4 + 1]);
    // A larger value just inside: its tile suffices, and the tile with the smaller bound is not read.
    const justInside = 128 * 256 + 128 + 48;
    expect(await build({ [justInside]: 900, [justOutside]: 800 })).toEqual({ steps: 900, tiles: [2 * 4 + 2] });
  });

  test("distinguishes the largest step from nodata", async () => {
    const grid = { ...worldGrid(0.1, { westDeg: 0, northDeg: 5 }), rowCount: 70, columnCount: 70 };
    for (const [first, expected] of [
      [STEPS_MAX, STEPS_MAX + 1],
      [STEPS_NODATA, 1],
    ] as const) {
      const steps = new Uint16Array(70 * 70).fill(STEPS_NODATA);
      steps[35 * 70 + 35] = first;
      steps[35 * 70 + 36] = 0;
      const source = await SyntheticField.of(grid, { layerCount: 1, steps });
      expect(maximum(source, { latDeg: 1.45, lonDeg: 3.55, radiusM: 30_000 }).value[0]).toBe(expected);
    }
  });

  test("returns no maximum for a circle outside the grid and needs no tiles", async () => {
    const grid = { ...worldGrid(0.1, { westDeg: 0, northDeg: 5 }), rowCount: 70, columnCount: 70 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 1 }));
    for (const place of [
      { latDeg: 20, lonDeg: 3 },
      { latDeg: -20, lonDeg: 3 },
      { latDeg: 2, lonDeg: 100 },
      { latDeg: 2, lonDeg: -3 },
      { latDeg: 89.9, lonDeg: 3 },
    ]) {
      const { value, loaded } = maximum(source, { ...place, radiusM: 50_000 });
      expect({ bound: value[0], loaded }).toEqual({ bound: 0, loaded: [] });
    }
  });

  test("lists some of the missing tiles in a small buffer and never writes past its end", async () => {
    const grid = { ...worldGrid(0.02, { westDeg: 0 }), rowCount: 40 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 2 }));
    const { kernel } = source;
    source.grid.setCircle({ latDeg: 90, lonDeg: 0, radiusM: 60_000 });
    // Intercept the call to learn the address of the span table.
    let spans = 0;
    const { circleMax } = kernel.exports;
    const intercepted = {
      ...kernel.exports,
      circleMax: (_field: number, table: number) => ((spans = table), STATUS_OK),
    };
    Object.defineProperty(kernel, "exports", { value: intercepted });
    source.grid.max(source.field);
    const { best } = source.field;
    const rows = kernel.reserve(16 * 16);
    const missing = kernel.i32(kernel.reserve(400)); // reserved last, because growth detaches views
    for (const capacity of [3, 4, 9, 20]) {
      missing.fill(-7);
      const status = circleMax(source.field.pointer, spans, best.pointer, missing.byteOffset, capacity, rows.pointer);
      expect(status).toBe(STATUS_MISSING);
      const [bounds = 0, cells = 0] = missing;
      expect(cells).toBe(0);
      expect(bounds).toBeGreaterThan(0);
      expect(bounds).toBeLessThanOrEqual(capacity - 2);
      expect(missing.subarray(2, 2 + bounds).every((index) => index >= 0 && index < source.countOf("bounds"))).toBe(
        true,
      );
      expect(missing.subarray(capacity).every((word) => word === -7)).toBe(true);
    }
    expect(circleMax(source.field.pointer, spans, best.pointer, missing.byteOffset, 2, rows.pointer)).toBe(STATUS_FULL);
  });
});
