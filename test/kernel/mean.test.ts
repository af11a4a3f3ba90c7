import { describe, expect, test } from "vitest";
import type { TileForm } from "../../src/kernel/field.ts";
import type { Circle } from "../../src/kernel/geodesy.ts";
import { STATUS_FULL, STATUS_MISSING, STATUS_OK, STEPS_MAX } from "../../src/kernel/kernel.generated.ts";
import { circleByBisection, summariseByDefinition } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { FIELD_CASES, someCircle } from "./fieldCases.ts";
import { MadeField, patchyRaster } from "./madeField.ts";

/** Sums of some thousand doubles in another order: this much apart at the most, of the whole. */
const ROUNDING = 1e-11;

/** The sums from no tile at all, asking for what is missing. */
function sums(made: MadeField, circle: Circle) {
  if (!made.grid.lay(circle).isLaid) throw new Error(`not laid: ${JSON.stringify(circle)}`);
  return made.askUntilFound(() => made.grid.sums(made.field));
}

/** Mean in steps and share of the valid area, layer by layer. */
function meansOf(
  made: MadeField,
  value: Float64Array,
): { readonly meanSteps: number | undefined; readonly validShare: number }[] {
  const allArea = made.grid.sumArea();
  return Array.from({ length: made.raster.layerCount }, (_, lane) => {
    const at = (lane >> 2) * 8 + (lane & 3);
    const area = value[at + 4] ?? 0;
    return {
      meanSteps: area > 0 ? (value[at] ?? 0) / area : undefined,
      validShare: allArea > 0 ? area / allArea : 0,
    };
  });
}

function admitSome(made: MadeField, random: SeededRandom): void {
  const all = (["totals", "prefixes"] as const).flatMap((form) =>
    Array.from({ length: made.countOf(form) }, (_, index): readonly [TileForm, number] => [form, index]),
  );
  for (const [form, index] of shuffled(random, all).slice(0, random.below(all.length + 1))) made.admit(form, index);
}

describe("the mean of a circle", () => {
  for (const [index, { name, grid, layerCount }] of FIELD_CASES.entries()) {
    test(`is that of its cells to the last bit, whichever tiles are in memory first: ${name}`, async () => {
      const made = await MadeField.of(grid, patchyRaster(grid, { layerCount, seed: 120 + index }));
      const random = randomFrom(150 + index);
      for (let i = 0; i < 60; i++) {
        const circle = someCircle(grid, random);
        const expected = made
          .summarise(circle)
          .summaries.map(({ meanSteps, validShare }) => ({ meanSteps, validShare }));
        made.withholdAll();
        const fromNothing = sums(made, circle);
        // toEqual tells 0 from -0 and NaN from a number, and has no tolerance.
        expect(meansOf(made, fromNothing.value), JSON.stringify(circle)).toEqual(expected);
        for (let round = 0; round < 2; round++) {
          made.withholdAll();
          admitSome(made, random);
          expect(sums(made, circle).value, JSON.stringify(circle)).toEqual(fromNothing.value);
        }
      }
    });
  }

  test("is the definition's", async () => {
    const { grid, layerCount } = { grid: worldGrid(0.25, { heightDeg: 0.1, westDeg: 20 }), layerCount: 3 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount, seed: 5 }));
    const random = randomFrom(6);
    for (let i = 0; i < 25; i++) {
      const circle = someCircle(grid, random);
      const cells = circleByBisection(grid, circle);
      const got = meansOf(made, sums(made, circle).value);
      for (const [layer, { meanSteps, validShare }] of got.entries()) {
        const expected = summariseByDefinition(grid, cells, (cell) => made.stepsAt({ ...cell, layer }));
        expect(meanSteps === undefined).toBe(expected.meanSteps === undefined);
        const difference = Math.abs((meanSteps ?? 0) - (expected.meanSteps ?? 0));
        expect(difference, JSON.stringify(circle)).toBeLessThanOrEqual(ROUNDING * (expected.meanSteps ?? 0));
        expect(Math.abs(validShare - expected.validShare)).toBeLessThanOrEqual(ROUNDING);
      }
    }
  });

  test("needs the tiles at the ends of its runs, and of those between their totals alone", async () => {
    // The circle reaches over five tiles of 64 columns at most, and over three rows of tiles.
    const grid = { ...worldGrid(0.01, { westDeg: 0, northDeg: 2.56 }), rowCount: 256, columnCount: 1024 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 8 }));
    const { named } = sums(made, { latDeg: 1.5, lonDeg: 5.12, radiusM: 100_000 });
    expect(named.filter(({ form }) => form === "totals").map(({ index }) => index)).toEqual([0, 1]);
    const columns = new Set(named.filter(({ form }) => form === "prefixes").map(({ index }) => index % 16));
    expect(columns.has(6)).toBe(true);
    expect(named.length).toBeLessThan(2 + 5 * 4);
    // A smaller one stays in one tile, and asks for nothing else.
    made.withholdAll();
    expect(sums(made, { latDeg: 2.2, lonDeg: 5.4, radiusM: 5000 }).named).toEqual([{ form: "prefixes", index: 8 }]);
  });

  test("sums of a row beyond 32 bits stay exact", async () => {
    // A row round the pole of 70,400 cells at the top: 4.6e9 steps. One tile of each form stands for all.
    const grid = { ...worldGrid(360 / 70_400), rowCount: 1, cellSizeLatDeg: 0.1 };
    const single = { ...grid, columnCount: 512 };
    const raster = { layerCount: 9, steps: new Uint16Array(512 * 9).fill(STEPS_MAX) };
    const whole = await MadeField.of(grid, raster);
    const { kernel, field } = whole;
    const first = await MadeField.of(single, raster);
    for (const form of ["prefixes", "totals"] as const) {
      const tile = kernel.reserve(first.made(form, 0).sizeBytes);
      kernel.bytes(tile).set(first.kernel.bytes(first.made(form, 0)));
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

  test("a circle beside the grid has none, and needs no tile", async () => {
    const grid = { ...worldGrid(0.1, { westDeg: 0, northDeg: 5 }), rowCount: 70, columnCount: 70 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 1 }));
    for (const place of [
      { latDeg: 20, lonDeg: 3 },
      { latDeg: 2, lonDeg: 100 },
      { latDeg: 89.9, lonDeg: 3 },
    ]) {
      const { value, named } = sums(made, { ...place, radiusM: 50_000 });
      expect({ ...meansOf(made, value)[0], named }).toEqual({ meanSteps: undefined, validShare: 0, named: [] });
    }
  });

  test("with little room to say what is missing, says some of it, and never writes past the room", async () => {
    const grid = { ...worldGrid(0.02, { westDeg: 0, northDeg: 84 }), rowCount: 200 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount: 1, seed: 2 }));
    const { kernel } = made;
    made.grid.lay({ latDeg: 82, lonDeg: 0, radiusM: 90_000 });
    const { circleSums } = kernel.exports;
    let strands: readonly [number, number] = [0, 0];
    const listening = {
      ...kernel.exports,
      circleSums: (_field: number, spans: number, seam: number) => ((strands = [spans, seam]), STATUS_OK),
    };
    Object.defineProperty(kernel, "exports", { value: listening });
    made.grid.sums(made.field);
    const room = kernel.i32(kernel.reserve(4000));
    const runs = kernel.reserve(kernel.exports.rowRunsBytes(made.grid.pyramidColumnCount)).pointer;
    const ask = (capacity: number): number =>
      circleSums(made.field.pointer, ...strands, made.field.sums.pointer, room.byteOffset, capacity, runs);
    for (const capacity of [10, 12, 16, 30]) {
      room.fill(-7);
      expect(ask(capacity)).toBe(STATUS_MISSING);
      const [totals = 0, prefixes = 0] = room;
      expect(totals + prefixes).toBeGreaterThan(0);
      expect(2 + totals + prefixes).toBeLessThanOrEqual(capacity);
      const listed = room.subarray(2, 2 + totals + prefixes);
      expect(listed.every((at, i) => at >= 0 && at < made.countOf(i < totals ? "totals" : "prefixes"))).toBe(true);
      expect(room.subarray(capacity).every((word) => word === -7)).toBe(true);
    }
    expect(ask(4)).toBe(STATUS_FULL);
  });
});
