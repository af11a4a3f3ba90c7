/**
 * Compares all cells of random circles with GeographicLib, by bisection, for both implementations: rowSpans and
 * FieldGrid.setCircle. ISOTHERM_CIRCLES sets the number of circles; a full run has 10,000.
 */
import { expect, test } from "vitest";
import { RADIUS_M_MAX, rowSpans } from "../../src/kernel/geodesy.ts";
import { circleSpansByBisection } from "../oracle/circleSpans.ts";
import type { OracleGrid, OracleLocation } from "../oracle/points.ts";
import {
  centerByDefinition,
  circleByDefinition,
  distanceByGeographicLib,
  type OracleCircle,
} from "../oracle/radius.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { mergeSpans, SpanReader } from "./spanReader.ts";

const CIRCLES = Number(process.env["ISOTHERM_CIRCLES"] ?? 200);
const CROP_COUNT = 40;

const GLOBAL_GRIDS: readonly OracleGrid[] = [
  worldGrid(0.1),
  worldGrid(0.1, { westDeg: -180.05 }),
  worldGrid(1 / 120),
  worldGrid(1 / 120, { westDeg: 20 }),
  worldGrid(360 / 40_448),
  { ...worldGrid(0.0089), rowCount: 20_224, columnCount: 40_449 }, // 0.004 degrees short of 360
  worldGrid(0.3, { heightDeg: 0.025, westDeg: 0 }),
  worldGrid(0.02, { heightDeg: 0.9 }),
  { ...worldGrid(0.25, { northDeg: 90.125, westDeg: -180.125 }), rowCount: 721 }, // centers on both poles
  { ...worldGrid(0.25), columnCount: 1441 }, // first meridian repeated
];

/** Returns a grid of 100 x 100 cells of random size and shape, often at a pole or across the antimeridian. */
function randomCrop(random: SeededRandom): OracleGrid {
  const cellSizeLatDeg = 0.002 * 200 ** random.next();
  const cellSizeLonDeg = random.chance(0.5) ? cellSizeLatDeg : 0.002 * 500 ** random.next();
  const heightDeg = 100 * cellSizeLatDeg;
  const northDeg = random.pick([
    90,
    heightDeg - 90,
    random.between({ min: heightDeg - 90, max: 90 }),
    random.between({ min: heightDeg - 90, max: 90 }),
  ]);
  const westDeg = random.pick([180 - 50 * cellSizeLonDeg, -180, 0, random.between({ min: -180, max: 180 })]);
  return { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount: 100, columnCount: 100 };
}

/** Returns a random location: one in six near or at a pole, one in six at the antimeridian. */
function randomLocation(random: SeededRandom, grid: OracleGrid): OracleLocation {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const southDeg = northDeg - rowCount * cellSizeLatDeg;
  const marginDeg = random.pick([0, 0.5]);
  const latDeg = random.between({
    min: Math.max(-90, southDeg - marginDeg),
    max: Math.min(90, northDeg + marginDeg),
  });
  const lonDeg = westDeg - marginDeg + random.next() * (columnCount * cellSizeLonDeg + 2 * marginDeg);
  switch (random.below(6)) {
    case 0: {
      const fromPoleDeg = random.pick([0, 1e-8, 2 * random.next() ** 2]);
      return { latDeg: random.pick([90 - fromPoleDeg, fromPoleDeg - 90]), lonDeg: wrapped(lonDeg) };
    }
    case 1:
      return { latDeg, lonDeg: random.pick([180, -180, 180 - random.next(), random.next() - 180]) };
    case 2: // on the center of a cell
      return normalized(centerByDefinition(grid, { row: random.below(rowCount), column: random.below(columnCount) }));
    default:
      return { latDeg, lonDeg: wrapped(lonDeg) };
  }
}

function normalized({ latDeg, lonDeg }: OracleLocation): OracleLocation {
  return { latDeg, lonDeg: wrapped(lonDeg) };
}

function wrapped(lonDeg: number): number {
  return lonDeg - 360 * Math.floor((lonDeg + 180) / 360);
}

/** Returns a radius from 10 m to the largest, uniform in its logarithm; one in four puts the rim on a cell's center. */
function randomRadiusM(random: SeededRandom, grid: OracleGrid, location: OracleLocation): number {
  const radiusM = random.chance(0.05) ? RADIUS_M_MAX : 10 * (RADIUS_M_MAX / 10) ** random.next();
  if (!random.chance(0.25)) return radiusM;
  const bearing = 2 * Math.PI * random.next();
  const reachDeg = radiusM / 111_200;
  const cosine = Math.max(1e-3, Math.cos((location.latDeg * Math.PI) / 180));
  const targetLonDeg = location.lonDeg + (reachDeg * Math.sin(bearing)) / cosine;
  const row = Math.floor((grid.northDeg - location.latDeg - reachDeg * Math.cos(bearing)) / grid.cellSizeLatDeg);
  const column = Math.floor((wrapped(targetLonDeg - grid.westDeg - 180) + 180) / grid.cellSizeLonDeg);
  const rimRadiusM =
    distanceByGeographicLib(location, centerByDefinition(grid, { row, column })) +
    random.pick([0, 0, 1e-9, -1e-9, 1e-6, -1e-6]);
  return rimRadiusM >= 0 && rimRadiusM <= RADIUS_M_MAX ? rimRadiusM : radiusM;
}

function cellCountOf(spans: Int32Array): number {
  let count = 0;
  for (let i = 0; i < spans.length; i += 3) count += (spans[i + 2] ?? 0) - (spans[i + 1] ?? 0) + 1;
  return count;
}

function firstDifference(found: Int32Array, expected: Int32Array): unknown {
  const length = Math.max(found.length, expected.length);
  for (let i = 0; i < length; i++) {
    if (found[i] === expected[i]) continue;
    const from = Math.floor(i / 3) * 3;
    return { found: [...found.subarray(from, from + 3)], expected: [...expected.subarray(from, from + 3)] };
  }
  return undefined;
}

test("circleSpansByBisection finds the same cells as circleByDefinition", () => {
  const random = randomFrom(61);
  const grids = [
    worldGrid(2),
    worldGrid(1, { westDeg: -180.5, heightDeg: 0.4 }),
    ...Array.from({ length: 6 }, () => randomCrop(random)),
  ];
  for (const grid of grids) {
    for (let i = 0; i < 12; i++) {
      const location = randomLocation(random, grid);
      const circle = { ...location, radiusM: randomRadiusM(random, grid, location) };
      const cells = circleByDefinition(grid, circle);
      const expected = mergeSpans({
        spans: Int32Array.from(cells.flatMap(({ row, column }) => [row, column, column])),
      });
      expect(firstDifference(circleSpansByBisection(grid, circle), expected), JSON.stringify({ grid, circle })).toBe(
        undefined,
      );
    }
  }
});

test(
  `${CIRCLES.toLocaleString("en")} random circles have exactly the cells that GeographicLib finds`,
  { timeout: 120_000 + CIRCLES * 200 },
  async () => {
    const random = randomFrom(62);
    const grids = [...GLOBAL_GRIDS, ...Array.from({ length: CROP_COUNT }, () => randomCrop(random))];
    const readers = new Map<OracleGrid, SpanReader>();
    const wrong: unknown[] = [];
    const tally = {
      circles: 0,
      cells: 0,
      rows: 0,
      fast: 0,
      ambiguous: 0,
      polar: 0,
      splitRows: 0,
      empty: 0,
      largest: 0,
    };
    const startMs = performance.now();
    while (tally.circles < CIRCLES) {
      const grid = random.chance(0.6) ? random.pick(GLOBAL_GRIDS) : random.pick(grids);
      const reader = readers.get(grid) ?? (await SpanReader.open(grid));
      readers.set(grid, reader);
      const location = randomLocation(random, grid);
      const circle: OracleCircle = { ...location, radiusM: randomRadiusM(random, grid, location) };
      const expected = circleSpansByBisection(grid, circle);
      const exact = rowSpans(reader.kernel, grid, circle);
      const fieldCircle = reader.read(circle);
      for (const [implementation, spans] of [
        ["rowSpans", mergeSpans(exact)],
        ["setCircle", fieldCircle.spans],
      ] as const) {
        const difference = firstDifference(spans, expected);
        if (difference !== undefined) wrong.push({ implementation, grid, circle, difference });
      }
      const cells = cellCountOf(expected);
      if (reader.grid.countCells() !== cells) wrong.push({ implementation: "countCells", grid, circle, cells });
      tally.circles += 1;
      tally.cells += cells;
      tally.rows += new Set(expected.filter((_, i) => i % 3 === 0)).size;
      tally.ambiguous += exact.ambiguousCount;
      tally.largest = Math.max(tally.largest, cells);
      if (fieldCircle.isFast) tally.fast += 1;
      if (Math.abs(circle.latDeg) > 88) tally.polar += 1;
      if (expected.some((row, i) => i % 3 === 0 && row === expected[i + 3])) tally.splitRows += 1;
      if (cells === 0) tally.empty += 1;
    }
    const seconds = Math.round((performance.now() - startMs) / 1000);
    console.info(`circles: ${JSON.stringify({ ...tally, wrong: wrong.length, seconds })}`);
    expect(wrong.slice(0, 3)).toEqual([]);
    // The test is only meaningful if it covers all these cases.
    expect(tally.fast).toBeGreaterThan(CIRCLES / 3);
    expect(tally.polar).toBeGreaterThan(CIRCLES / 20);
    expect(tally.splitRows).toBeGreaterThan(CIRCLES / 100);
    expect(tally.empty).toBeLessThan(CIRCLES / 4);
    expect(tally.ambiguous).toBeGreaterThan(CIRCLES / 20);
  },
);
