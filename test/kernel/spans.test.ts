import { describe, expect, test } from "vitest";
import { type Circle, geodesicDistanceM, rowSpans, rowWeights } from "../../src/kernel/geodesy.ts";
import { cellCenter, type Grid } from "../../src/kernel/grid.ts";
import { Field, FieldGrid } from "../../src/kernel/field.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STATUS_FULL, STATUS_OK } from "../../src/kernel/kernel.generated.ts";
import { circleByDefinition } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { cellsOf, rowsAsText, worldGrid } from "./circleCells.ts";
import { type CircleSpans, mergeSpans, SpanReader } from "./spanReader.ts";

/** The fast kernel only handles circles entirely within this latitude. */
const FAST_LAT_DEG_MAX = 85;

const GRIDS: Readonly<Record<string, Grid>> = {
  "0.1 degree": worldGrid(0.1),
  "0.1 degree from 180.05 west": worldGrid(0.1, { westDeg: -180.05 }),
  "0.1 degree from Greenwich": worldGrid(0.1, { westDeg: 0 }),
  "1/120 degree": worldGrid(1 / 120),
  "1/120 degree from 20 east": worldGrid(1 / 120, { westDeg: 20 }),
  "0.0089 degree, slightly less than 360 degrees wide": { ...worldGrid(0.0089), rowCount: 20_224, columnCount: 40_449 },
  "360/40448 degree": worldGrid(360 / 40_448),
  "wide cells": worldGrid(0.3, { heightDeg: 0.025, westDeg: 0 }),
  "high cells": worldGrid(0.02, { heightDeg: 0.9 }),
  "cells wider than most circles": worldGrid(5, { heightDeg: 0.5 }),
  "first meridian repeated": { ...worldGrid(0.25), columnCount: 1441 },
  "first meridian repeated, large cells": { ...worldGrid(1, { westDeg: -180.5 }), columnCount: 361 },
  "a crop": { ...worldGrid(1 / 120, { westDeg: 8, northDeg: 62 }), rowCount: 481, columnCount: 963 },
  "a crop over the antimeridian": { ...worldGrid(0.1, { westDeg: 170, northDeg: 5 }), rowCount: 101, columnCount: 203 },
  "a single cell": { northDeg: 10, westDeg: 10, cellSizeLatDeg: 0.2, cellSizeLonDeg: 0.2, rowCount: 1, columnCount: 1 },
};

/** Returns a radius from 1 m to 100 km, uniform in its logarithm. */
function randomRadiusM(random: SeededRandom): number {
  return 100_000 ** random.next();
}

function randomLatDeg(random: SeededRandom, { northDeg, rowCount, cellSizeLatDeg }: Grid, radiusM: number): number {
  const mostDeg = FAST_LAT_DEG_MAX - 0.01 - radiusM / 110_000;
  const marginDeg = radiusM / 110_000 + cellSizeLatDeg;
  return random.between({
    min: Math.max(-mostDeg, northDeg - rowCount * cellSizeLatDeg - marginDeg),
    max: Math.min(mostDeg, northDeg + marginDeg),
  });
}

/** Returns a random circle within the range of the fast kernel. */
function randomCircle(grid: Grid, random: SeededRandom): Circle {
  const radiusM = randomRadiusM(random);
  const latDeg = randomLatDeg(random, grid, radiusM);
  const marginDeg = radiusM / 110_000 / Math.cos((latDeg * Math.PI) / 180);
  const eastDeg = grid.westDeg + grid.columnCount * grid.cellSizeLonDeg;
  return { latDeg, lonDeg: random.between({ min: grid.westDeg - marginDeg, max: eastDeg + marginDeg }), radiusM };
}

/**
 * Returns a difficult circle: on a cell's center or edge, at the grid's west or east edge, or with its rim through a
 * center.
 */
function difficultCircle(grid: Grid, random: SeededRandom): Circle {
  const circle = randomCircle(grid, random);
  const row = Math.floor((grid.northDeg - circle.latDeg) / grid.cellSizeLatDeg);
  const column = random.below(grid.columnCount);
  const center = cellCenter(grid, { row, column });
  const onCell = { ...circle, latDeg: Math.max(-83, Math.min(83, center.latDeg)), lonDeg: center.lonDeg };
  switch (random.below(6)) {
    case 0:
      return onCell;
    case 1:
      return { ...onCell, lonDeg: grid.westDeg + column * grid.cellSizeLonDeg };
    case 2:
      return { ...onCell, latDeg: Math.max(-83, Math.min(83, grid.northDeg - row * grid.cellSizeLatDeg)) };
    case 3: {
      const edges = [grid.westDeg, grid.westDeg + grid.columnCount * grid.cellSizeLonDeg];
      const offsetDeg = random.pick([0, 1e-12, 1e-9, 1e-4, 0.1]) * random.between({ min: -1, max: 1 });
      return { ...circle, lonDeg: random.pick(edges) + offsetDeg };
    }
    case 4:
      return withRimThroughCenter(grid, onCell, random);
    default:
      return withRimThroughCenter(grid, circle, random);
  }
}

/** Returns the circle with its rim through the center of a cell, as exactly as f64 can represent. */
function withRimThroughCenter(grid: Grid, circle: Circle, random: SeededRandom): Circle {
  const bearing = 2 * Math.PI * random.next();
  const reachDeg = circle.radiusM / 111_200;
  const targetLatDeg = circle.latDeg + reachDeg * Math.cos(bearing);
  const targetLonDeg = circle.lonDeg + (reachDeg * Math.sin(bearing)) / Math.cos((circle.latDeg * Math.PI) / 180);
  const target = cellCenter(grid, {
    row: Math.floor((grid.northDeg - targetLatDeg) / grid.cellSizeLatDeg),
    column: Math.floor((targetLonDeg - grid.westDeg) / grid.cellSizeLonDeg),
  });
  const radiusM = geodesicDistanceM(circle, target);
  return radiusM > 0 && radiusM <= 100_000 ? { ...circle, radiusM } : circle;
}

/** Returns the spans of `setCircle`, and a description of the first difference from `rowSpans`. */
function compare(reader: SpanReader, circle: Circle): { readonly actual: CircleSpans; readonly problem: unknown } {
  const actual = reader.read(circle);
  const exact = mergeSpans(rowSpans(reader.kernel, reader.grid.grid, circle));
  const count = exact.reduce((sum, last, i) => (i % 3 === 2 ? sum + last - (exact[i - 1] ?? 0) + 1 : sum), 0);
  const isEqual = actual.spans.length === exact.length && actual.spans.every((value, i) => value === exact[i]);
  if (isEqual && reader.grid.countCells() === count) return { actual, problem: undefined };
  const differenceIndex = exact.findIndex((value, i) => value !== actual.spans[i]);
  const from = Math.floor(Math.max(0, differenceIndex) / 3) * 3;
  return {
    actual,
    problem: {
      circle,
      isFast: actual.isFast,
      exact: [...exact.subarray(from, from + 6)],
      actual: [...actual.spans.subarray(from, from + 6)],
      count: [count, reader.grid.countCells()],
    },
  };
}

describe("FieldGrid.setCircle", () => {
  for (const [index, [name, grid]] of Object.entries(GRIDS).entries()) {
    test(`finds the cells of rowSpans, nearly always by the fast kernel: ${name}`, async () => {
      const reader = await SpanReader.open(grid);
      const random = randomFrom(700 + index);
      const problems: unknown[] = [];
      let fallbacks = 0;
      let empty = 0;
      const count = 600;
      for (let i = 0; i < count; i++) {
        const { actual, problem } = compare(reader, randomCircle(grid, random));
        if (problem !== undefined) problems.push(problem);
        if (!actual.isFast) fallbacks += 1;
        if (actual.spanCount === 0) empty += 1;
      }
      expect(problems.slice(0, 2)).toEqual([]);
      expect(fallbacks).toBeLessThanOrEqual(1);
      expect(empty).toBeLessThan(0.75 * count);
    });

    test(`finds the cells of rowSpans for difficult circles: ${name}`, async () => {
      const reader = await SpanReader.open(grid);
      const random = randomFrom(800 + index);
      const problems: unknown[] = [];
      for (let i = 0; i < 500; i++) {
        const { problem } = compare(reader, difficultCircle(grid, random));
        if (problem !== undefined) problems.push(problem);
      }
      expect(problems.slice(0, 2)).toEqual([]);
    });
  }

  test("uses GeographicLib for a rim through a cell's center", async () => {
    for (const [index, grid] of [worldGrid(0.1), worldGrid(1 / 120), worldGrid(5, { heightDeg: 0.5 })].entries()) {
      const reader = await SpanReader.open(grid);
      const random = randomFrom(900 + index);
      for (let i = 0; i < 300; i++) {
        const circle = randomCircle(grid, random);
        const through = withRimThroughCenter(grid, circle, random);
        if (through.radiusM === circle.radiusM) continue;
        const { actual, problem } = compare(reader, through);
        expect({ isFast: actual.isFast, problem, through }).toEqual({ isFast: false, problem: undefined, through });
      }
    }
  });

  test("uses GeographicLib for a rim through a cell's center many degrees of longitude away", async () => {
    // At 83 degrees 100 km are 8 degrees of longitude, so that half a span is one or two columns of a coarse grid.
    for (const sizeDeg of [3, 4, 5, 6]) {
      const grid = worldGrid(sizeDeg, { heightDeg: 0.1 });
      const reader = await SpanReader.open(grid);
      const random = randomFrom(sizeDeg);
      for (let i = 0; i < 200; i++) {
        const latDeg = random.pick([1, -1]) * random.between({ min: 82, max: 83.6 });
        const lonDeg = random.between({ min: -170, max: 170 });
        const row = Math.floor((90 - latDeg) / 0.1);
        const column = Math.floor((lonDeg + 180) / sizeDeg) + random.pick([-1, 1]);
        const radiusM = geodesicDistanceM({ latDeg, lonDeg }, cellCenter(grid, { row, column }));
        if (radiusM > 139_000) continue;
        const { actual, problem } = compare(reader, { latDeg, lonDeg, radiusM });
        expect({ isFast: actual.isFast, problem, radiusM }).toEqual({ isFast: false, problem: undefined, radiusM });
      }
    }
  });

  test("uses the exact kernel near the poles", async () => {
    for (const grid of [worldGrid(0.1, { westDeg: -180.05 }), worldGrid(0.25), worldGrid(0.3, { heightDeg: 0.05 })]) {
      const reader = await SpanReader.open(grid);
      const random = randomFrom(31);
      for (let i = 0; i < 150; i++) {
        const latDeg = random.pick([1, -1]) * random.pick([90, random.between({ min: 85, max: 90 })]);
        const lonDeg = random.between({ min: -180, max: 180 });
        const { actual, problem } = compare(reader, { latDeg, lonDeg, radiusM: randomRadiusM(random) });
        expect({ isFast: actual.isFast, problem }).toEqual({ isFast: false, problem: undefined });
      }
    }
  });

  test("matches the reference implementation on every cell", async () => {
    const grid = worldGrid(0.5, { heightDeg: 0.2 });
    const reader = await SpanReader.open(grid);
    const random = randomFrom(5);
    for (let i = 0; i < 30; i++) {
      const circle = difficultCircle(grid, random);
      const actual = cellsOf(grid, { ...reader.read(circle), ambiguousCount: 0 });
      expect(rowsAsText(actual), JSON.stringify(circle)).toEqual(rowsAsText(circleByDefinition(grid, circle)));
    }
  });

  test("finds only the containing cell if the radius is 0 or almost 0", async () => {
    const grid = worldGrid(0.1);
    const reader = await SpanReader.open(grid);
    for (const radiusM of [0, 5e-324, 1e-200, 1e-160, 1e-12, 1e-6, 1e-3]) {
      for (const location of [
        { latDeg: 10.05, lonDeg: 20.05 },
        { latDeg: 10.02, lonDeg: -180 },
        cellCenter(grid, { row: 700, column: 3599 }),
      ]) {
        const { actual, problem } = compare(reader, { ...location, radiusM });
        expect({ radiusM, problem, cells: actual.spanCount }).toEqual({ radiusM, problem: undefined, cells: 1 });
      }
    }
  });

  test("sumArea returns the sum of the row weights bit for bit", async () => {
    const grid = worldGrid(0.1, { westDeg: -180.05 });
    const reader = await SpanReader.open(grid);
    const random = randomFrom(41);
    for (let i = 0; i < 100; i++) {
      const { spans } = reader.read(
        i % 3 === 0 ? { latDeg: 89, lonDeg: 3, radiusM: 90_000 } : difficultCircle(grid, random),
      );
      const firstRow = spans[0] ?? 0;
      const rowCount = (spans.at(-3) ?? 0) - firstRow + 1;
      const cells = new Float64Array(rowCount);
      for (let i = 0; i < spans.length; i += 3) {
        const row = (spans[i] ?? 0) - firstRow;
        cells[row] = (cells[row] ?? 0) + (spans[i + 2] ?? 0) - (spans[i + 1] ?? 0) + 1;
      }
      const weights = rowWeights(reader.kernel, grid, { firstRow, rowCount });
      expect(reader.grid.sumArea()).toBe(cells.reduce((sum, count, row) => sum + (weights[row] ?? 0) * count, 0));
    }
  });

  test("accepts the largest circle and rejects invalid ones", async () => {
    for (const grid of [worldGrid(0.1), worldGrid(0.02, { heightDeg: 0.005 }), worldGrid(5), GRIDS["a single cell"]]) {
      const reader = await SpanReader.open(grid ?? worldGrid(1));
      for (const latDeg of [0, 10.0001, -60, 89]) {
        expect(compare(reader, { latDeg, lonDeg: 10.1, radiusM: 140_000 }).problem).toBeUndefined();
      }
      for (const circle of [
        { latDeg: 0, lonDeg: 0, radiusM: -1 },
        { latDeg: 0, lonDeg: 0, radiusM: NaN },
        { latDeg: 0, lonDeg: 0, radiusM: 140_001 },
        { latDeg: 91, lonDeg: 0, radiusM: 1000 },
        { latDeg: NaN, lonDeg: 0, radiusM: 1000 },
        { latDeg: 0, lonDeg: NaN, radiusM: 1000 },
        { latDeg: 0, lonDeg: Infinity, radiusM: 1000 },
      ]) {
        expect(() => reader.grid.setCircle(circle), JSON.stringify(circle)).toThrow(
          /status STATUS_BAD_(RADIUS|LOCATION)/,
        );
      }
    }
  });

  test("does not write past the end of a span table that is too small", async () => {
    const kernel = await Kernel.load();
    const field = new Field(new FieldGrid(kernel, worldGrid(0.1)), 1);
    const capacity = 12;
    const spans = kernel.reserve(32 + capacity * 16);
    const words = kernel.i32({ pointer: spans.pointer, sizeBytes: spans.sizeBytes + 64 });
    words.fill(-77);
    words[4] = capacity;
    expect(kernel.exports.fastRowSpans(field.pointer, 10, 10, 100_000, spans.pointer)).toBe(STATUS_FULL);
    expect(words.filter((word) => word !== -77)).toHaveLength(1);
    expect(kernel.exports.fastRowSpans(field.pointer, 10.02, 10.02, 30_000, spans.pointer)).toBe(STATUS_OK);
    expect([...words.subarray(8 + 4 * capacity)].every((word) => word === -77)).toBe(true);
  });
});
