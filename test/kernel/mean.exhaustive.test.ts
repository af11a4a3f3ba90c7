import { describe, expect, test } from "vitest";
import type { TileForm } from "../../src/kernel/field.ts";
import type { Circle } from "../../src/kernel/geodesy.ts";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK, STEPS_MAX } from "../../src/kernel/kernel.generated.ts";
import { circleByBisection, summarizeByDefinition } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { FIELD_CASES, randomCircle } from "./fieldCases.ts";
import { patchyRaster, SyntheticField } from "./syntheticField.ts";

/** Maximum relative difference between sums of several thousand doubles added in different orders. */
const ROUNDING = 1e-11;

/** Computes the sums, loading missing tiles. */
function sums(source: SyntheticField, circle: Circle) {
  if (!source.grid.setCircle(circle)) throw new Error(`circle not set: ${JSON.stringify(circle)}`);
  return source.runUntilFound(() => source.grid.sums(source.field));
}

/** Returns the mean in steps and the valid share of the area for each layer. */
function meansOf(
  source: SyntheticField,
  value: Float64Array,
): { readonly meanSteps: number | undefined; readonly validShare: number }[] {
  const allArea = source.grid.sumArea();
  return Array.from({ length: source.raster.layerCount }, (_, lane) => {
    const offset = (lane >> 2) * 8 + (lane & 3);
    const area = value[offset + 4] ?? 0;
    return {
      meanSteps: area > 0 ? (value[offset] ?? 0) / area : undefined,
      validShare: allArea > 0 ? area / allArea : 0,
    };
  });
}

/** Loads a random subset of the tiles. */
function loadSome(source: SyntheticField, random: SeededRandom): void {
  const all = (["totals", "prefixes"] as const).flatMap((form) =>
    Array.from({ length: source.countOf(form) }, (_, index): readonly [TileForm, number] => [form, index]),
  );
  for (const [form, index] of shuffled(random, all).slice(0, random.below(all.length + 1))) source.load(form, index);
}

describe("mean of a circle", () => {
  for (const [index, { name, grid, layerCount }] of FIELD_CASES.entries()) {
    test(`equals the mean of its cells bit for bit, regardless of which tiles are loaded first: ${name}`, async () => {
      const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount, seed: 120 + index }));
      const random = randomFrom(150 + index);
      for (let i = 0; i < 60; i++) {
        const circle = randomCircle(grid, random);
        const expected = source
          .summarize(circle)
          .summaries.map(({ meanSteps, validShare }) => ({ meanSteps, validShare }));
        source.unloadAll();
        const fromNothing = sums(source, circle);
        // toEqual distinguishes 0 from -0 and has no tolerance.
        expect(meansOf(source, fromNothing.value), JSON.stringify(circle)).toEqual(expected);
        for (let round = 0; round < 2; round++) {
          source.unloadAll();
          loadSome(source, random);
          expect(sums(source, circle).value, JSON.stringify(circle)).toEqual(fromNothing.value);
        }
      }
    });
  }

  test("matches the reference implementation", async () => {
    const { grid, layerCount } = { grid: worldGrid(0.25, { heightDeg: 0.1, westDeg: 20 }), layerCount: 3 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount, seed: 5 }));
    const random = randomFrom(6);
    for (let i = 0; i < 25; i++) {
      const circle = randomCircle(grid, random);
      const cells = circleByBisection(grid, circle);
      const got = meansOf(source, sums(source, circle).value);
      for (const [layer, { meanSteps, validShare }] of got.entries()) {
        const expected = summarizeByDefinition(grid, cells, (cell) => source.stepsAt({ ...cell, layer }));
        expect(meanSteps === undefined).toBe(expected.meanSteps === undefined);
        const difference = Math.abs((meanSteps ?? 0) - (expected.meanSteps ?? 0));
        expect(difference, JSON.stringify(circle)).toBeLessThanOrEqual(ROUNDING * (expected.meanSteps ?? 0));
        expect(Math.abs(validShare - expected.validShare)).toBeLessThanOrEqual(ROUNDING);
      }
    }
  });

  test("reads prefixes only of the tiles at the ends of spans, and totals of those between", async () => {
    // The circle spans four columns and four rows of tiles.
    const grid = { ...worldGrid(0.01, { westDeg: 0, northDeg: 2.56 }), rowCount: 256, columnCount: 1024 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 8 }));
    const { loaded } = sums(source, { latDeg: 1.5, lonDeg: 5.12, radiusM: 100_000 });
    expect(loaded.filter(({ form }) => form === "totals").map(({ index }) => index)).toEqual([0, 1]);
    const columns = new Set(loaded.filter(({ form }) => form === "prefixes").map(({ index }) => index % 16));
    expect(columns.has(6)).toBe(true);
    expect(loaded.length).toBeLessThan(2 + 5 * 4);
    // A smaller circle in a single tile needs only that tile.
    source.unloadAll();
    expect(sums(source, { latDeg: 2.2, lonDeg: 5.4, radiusM: 5000 }).loaded).toEqual([{ form: "prefixes", index: 8 }]);
  });

  test("does not overflow if the sum of a row exceeds 32 bits", async () => {
    // A row of 70,400 cells around the pole, each with the largest step; the sum is 4.6e9. One tile of each form serves
    // as all tiles.
    const grid = { ...worldGrid(360 / 70_400), rowCount: 1, cellSizeLatDeg: 0.1 };
    const single = { ...grid, columnCount: 512 };
    const raster = { layerCount: 9, steps: new Uint16Array(512 * 9).fill(STEPS_MAX) };
    const whole = await SyntheticField.of(grid, raster);
    const { kernel, field } = whole;
    const first = await SyntheticField.of(single, raster);
    for (const form of ["prefixes", "totals"] as const) {
      const tile = kernel.reserve(first.tile(form, 0).sizeBytes);
      kernel.bytes(tile).set(first.kernel.bytes(first.tile(form, 0)));
      kernel.words.fill(
        tile.pointer,
        field.directories[form].pointer >> 2,
        (field.directories[form].pointer >> 2) + whole.countOf(form),
      );
    }
    const { value } = sums(whole, { latDeg: 90, lonDeg: 0, radiusM: 50_000 });
    for (const { meanSteps, validShare } of meansOf(whole, value)) {
      expect(Math.abs((meanSteps ?? NaN) / STEPS_MAX - 1)).toBeLessThan(1e-15);
      expect(validShare).toBe(1);
    }
  });

  test("returns no mean for a circle outside the grid and needs no tiles", async () => {
    const grid = { ...worldGrid(0.1, { westDeg: 0, northDeg: 5 }), rowCount: 70, columnCount: 70 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 1 }));
    for (const place of [
      { latDeg: 20, lonDeg: 3 },
      { latDeg: 2, lonDeg: 100 },
      { latDeg: 89.9, lonDeg: 3 },
    ]) {
      const { value, loaded } = sums(source, { ...place, radiusM: 50_000 });
      expect({ ...meansOf(source, value)[0], loaded }).toEqual({ meanSteps: undefined, validShare: 0, loaded: [] });
    }
  });

  test("lists some of the missing tiles in a small buffer and never writes past its end", async () => {
    const grid = { ...worldGrid(0.02, { westDeg: 0, northDeg: 84 }), rowCount: 200 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 2 }));
    const { kernel } = source;
    source.grid.setCircle({ latDeg: 82, lonDeg: 0, radiusM: 90_000 });
    const { circleSums } = kernel.exports;
    let tables: readonly [number, number] = [0, 0];
    const intercepted = {
      ...kernel.exports,
      circleSums: (_field: number, spans: number, wrappedSpans: number) => (
        (tables = [spans, wrappedSpans]),
        STATUS_OK
      ),
    };
    Object.defineProperty(kernel, "exports", { value: intercepted });
    source.grid.sums(source.field);
    const missing = kernel.i32(kernel.reserve(4000));
    const plan = kernel.reserve(kernel.exports.rowPlanBytes(source.grid.pyramidColumnCount)).pointer;
    const call = (capacity: number): number =>
      circleSums(source.field.pointer, ...tables, source.field.sums.pointer, missing.byteOffset, capacity, plan);
    for (const capacity of [10, 12, 16, 30]) {
      missing.fill(-7);
      expect(call(capacity)).toBe(STATUS_MISSING);
      const [totals = 0, prefixes = 0] = missing;
      expect(totals + prefixes).toBeGreaterThan(0);
      expect(2 + totals + prefixes).toBeLessThanOrEqual(capacity);
      const indexes = missing.subarray(2, 2 + totals + prefixes);
      expect(
        indexes.every((index, i) => index >= 0 && index < source.countOf(i < totals ? "totals" : "prefixes")),
      ).toBe(true);
      expect(missing.subarray(capacity).every((word) => word === -7)).toBe(true);
    }
    expect(call(4)).toBe(STATUS_FULL);
  });
});
