/**
 * The campaign on whole circles: each cell of each row, not those beside the rim alone, in or out as GeographicLib has
 * it by bisection. Both ways to find a circle's cells are judged: rowSpans, and the strands that FieldGrid lays.
 * ISOTHERM_CIRCLES sets how many; 10,000 is the whole of it.
 */
import { expect, test } from "vitest";
import { RADIUS_M_MAX, rowSpans } from "../../src/kernel/geodesy.ts";
import { circleRunsByBisection } from "../oracle/circleRuns.ts";
import type { OracleGrid, OraclePlace } from "../oracle/points.ts";
import {
  centreByDefinition,
  circleByDefinition,
  distanceByGeographicLib,
  type OracleCircle,
} from "../oracle/radius.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { joined, StrandReader } from "./strandReader.ts";

const CIRCLES = Number(process.env["ISOTHERM_CIRCLES"] ?? 200);
const CROP_COUNT = 40;

const WORLDS: readonly OracleGrid[] = [
  worldGrid(0.1),
  worldGrid(0.1, { westDeg: -180.05 }),
  worldGrid(1 / 120),
  worldGrid(1 / 120, { westDeg: 20 }),
  worldGrid(360 / 40_448),
  { ...worldGrid(0.0089), rowCount: 20_224, columnCount: 40_449 }, // ends 0.004 degrees before its beginning
  worldGrid(0.3, { heightDeg: 0.025, westDeg: 0 }),
  worldGrid(0.02, { heightDeg: 0.9 }),
  { ...worldGrid(0.25, { northDeg: 90.125, westDeg: -180.125 }), rowCount: 721 }, // centres on both poles
  { ...worldGrid(0.25), columnCount: 1441 }, // its first meridian comes twice
];

/** 100 x 100 cells of some size and shape somewhere: at a pole, over the antimeridian, anywhere. */
function someCrop(random: SeededRandom): OracleGrid {
  const cellSizeLatDeg = 0.002 * 200 ** random.next();
  const cellSizeLonDeg = random.chance(0.5) ? cellSizeLatDeg : 0.002 * 500 ** random.next();
  const heightDeg = 100 * cellSizeLatDeg;
  const northDeg = random.pick([
    90,
    heightDeg - 90,
    random.between({ least: heightDeg - 90, most: 90 }),
    random.between({ least: heightDeg - 90, most: 90 }),
  ]);
  const westDeg = random.pick([180 - 50 * cellSizeLonDeg, -180, 0, random.between({ least: -180, most: 180 })]);
  return { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount: 100, columnCount: 100 };
}

/** One in six near a pole, some on it; one in six at the antimeridian; the rest at every latitude. */
function somePlace(random: SeededRandom, grid: OracleGrid): OraclePlace {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const southDeg = northDeg - rowCount * cellSizeLatDeg;
  const marginDeg = random.pick([0, 0.5]);
  const latDeg = random.between({
    least: Math.max(-90, southDeg - marginDeg),
    most: Math.min(90, northDeg + marginDeg),
  });
  const lonDeg = westDeg - marginDeg + random.next() * (columnCount * cellSizeLonDeg + 2 * marginDeg);
  switch (random.below(6)) {
    case 0: {
      const fromPoleDeg = random.pick([0, 1e-8, 2 * random.next() ** 2]);
      return { latDeg: random.pick([90 - fromPoleDeg, fromPoleDeg - 90]), lonDeg: wrapped(lonDeg) };
    }
    case 1:
      return { latDeg, lonDeg: random.pick([180, -180, 180 - random.next(), random.next() - 180]) };
    case 2: // on the centre of a cell
      return onEarth(centreByDefinition(grid, { row: random.below(rowCount), column: random.below(columnCount) }));
    default:
      return { latDeg, lonDeg: wrapped(lonDeg) };
  }
}

function onEarth({ latDeg, lonDeg }: OraclePlace): OraclePlace {
  return { latDeg, lonDeg: wrapped(lonDeg) };
}

function wrapped(lonDeg: number): number {
  return lonDeg - 360 * Math.floor((lonDeg + 180) / 360);
}

/** 10 m to the largest, as many small ones as large; one in four so that its rim meets the centre of some cell. */
function someRadiusM(random: SeededRandom, grid: OracleGrid, place: OraclePlace): number {
  const radiusM = random.chance(0.05) ? RADIUS_M_MAX : 10 * (RADIUS_M_MAX / 10) ** random.next();
  if (!random.chance(0.25)) return radiusM;
  const turn = 2 * Math.PI * random.next();
  const reachDeg = radiusM / 111_200;
  const cosine = Math.max(1e-3, Math.cos((place.latDeg * Math.PI) / 180));
  const aimedLonDeg = place.lonDeg + (reachDeg * Math.sin(turn)) / cosine;
  const row = Math.floor((grid.northDeg - place.latDeg - reachDeg * Math.cos(turn)) / grid.cellSizeLatDeg);
  const column = Math.floor((wrapped(aimedLonDeg - grid.westDeg - 180) + 180) / grid.cellSizeLonDeg);
  const touchedM =
    distanceByGeographicLib(place, centreByDefinition(grid, { row, column })) +
    random.pick([0, 0, 1e-9, -1e-9, 1e-6, -1e-6]);
  return touchedM >= 0 && touchedM <= RADIUS_M_MAX ? touchedM : radiusM;
}

function cellCountOf(runs: Int32Array): number {
  let count = 0;
  for (let i = 0; i < runs.length; i += 3) count += (runs[i + 2] ?? 0) - (runs[i + 1] ?? 0) + 1;
  return count;
}

function firstDifference(found: Int32Array, expected: Int32Array): unknown {
  const length = Math.max(found.length, expected.length);
  for (let at = 0; at < length; at++) {
    if (found[at] === expected[at]) continue;
    const from = Math.floor(at / 3) * 3;
    return { found: [...found.subarray(from, from + 3)], expected: [...expected.subarray(from, from + 3)] };
  }
  return undefined;
}

test("the oracle of this campaign finds the cells that asking about each of them finds", () => {
  const random = randomFrom(61);
  const grids = [
    worldGrid(2),
    worldGrid(1, { westDeg: -180.5, heightDeg: 0.4 }),
    ...Array.from({ length: 6 }, () => someCrop(random)),
  ];
  for (const grid of grids) {
    for (let i = 0; i < 12; i++) {
      const place = somePlace(random, grid);
      const circle = { ...place, radiusM: someRadiusM(random, grid, place) };
      const cells = circleByDefinition(grid, circle);
      const expected = joined({ spans: Int32Array.from(cells.flatMap(({ row, column }) => [row, column, column])) });
      expect(firstDifference(circleRunsByBisection(grid, circle), expected), JSON.stringify({ grid, circle })).toBe(
        undefined,
      );
    }
  }
});

test(
  `${CIRCLES.toLocaleString("en")} whole circles have the cells that GeographicLib finds, one and all`,
  { timeout: 120_000 + CIRCLES * 200 },
  async () => {
    const random = randomFrom(62);
    const grids = [...WORLDS, ...Array.from({ length: CROP_COUNT }, () => someCrop(random))];
    const readers = new Map<OracleGrid, StrandReader>();
    const wrong: unknown[] = [];
    const tally = { circles: 0, cells: 0, rows: 0, laidFast: 0, doubts: 0, polar: 0, seamed: 0, empty: 0, largest: 0 };
    const startedAt = performance.now();
    while (tally.circles < CIRCLES) {
      const grid = random.chance(0.6) ? random.pick(WORLDS) : random.pick(grids);
      const reader = readers.get(grid) ?? (await StrandReader.on(grid));
      readers.set(grid, reader);
      const place = somePlace(random, grid);
      const circle: OracleCircle = { ...place, radiusM: someRadiusM(random, grid, place) };
      const expected = circleRunsByBisection(grid, circle);
      const exact = rowSpans(reader.kernel, grid, circle);
      const laid = reader.lay(circle);
      for (const [way, spans] of [
        ["rowSpans", joined(exact)],
        ["lay", laid.spans],
      ] as const) {
        const difference = firstDifference(spans, expected);
        if (difference !== undefined) wrong.push({ way, grid, circle, difference });
      }
      const cells = cellCountOf(expected);
      if (reader.grid.countCells() !== cells) wrong.push({ way: "countCells", grid, circle, cells });
      tally.circles += 1;
      tally.cells += cells;
      tally.rows += new Set(expected.filter((_, i) => i % 3 === 0)).size;
      tally.doubts += exact.doubtCount;
      tally.largest = Math.max(tally.largest, cells);
      if (laid.isFast) tally.laidFast += 1;
      if (Math.abs(circle.latDeg) > 88) tally.polar += 1;
      if (expected.some((row, i) => i % 3 === 0 && row === expected[i + 3])) tally.seamed += 1;
      if (cells === 0) tally.empty += 1;
    }
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.info(`circles: ${JSON.stringify({ ...tally, wrong: wrong.length, seconds })}`);
    expect(wrong.slice(0, 3)).toEqual([]);
    // The campaign says something only if it met what it is about.
    expect(tally.laidFast).toBeGreaterThan(CIRCLES / 3);
    expect(tally.polar).toBeGreaterThan(CIRCLES / 20);
    expect(tally.seamed).toBeGreaterThan(CIRCLES / 100);
    expect(tally.empty).toBeLessThan(CIRCLES / 4);
    expect(tally.doubts).toBeGreaterThan(CIRCLES / 20);
  },
);
