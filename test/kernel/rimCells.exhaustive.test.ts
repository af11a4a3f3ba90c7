/**
 * Compares the cells on either side of the rim of random circles at all latitudes with GeographicLib, for both
 * implementations: rowSpans and FieldGrid.setCircle. ISOTHERM_RIM_CELLS sets the number of cells.
 */
import { expect, test } from "vitest";
import { rowSpans } from "../../src/kernel/geodesy.ts";
import { containingCellByDefinition, type OracleCell, type OracleGrid, type OracleLocation } from "../oracle/points.ts";
import { centerByDefinition, distanceByGeographicLib } from "../oracle/radius.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { SpanReader } from "./spanReader.ts";

const CELL_COUNT = Number(process.env["ISOTHERM_RIM_CELLS"] ?? 300_000);
const GRIDS = [
  worldGrid(0.1),
  worldGrid(0.1, { westDeg: -180.05 }),
  worldGrid(1 / 120),
  worldGrid(1 / 120, { westDeg: 20 }),
  worldGrid(360 / 40448),
  { ...worldGrid(0.0089), rowCount: 20224, columnCount: 40449 }, // 359.996 degrees wide
  worldGrid(0.3, { heightDeg: 0.025, westDeg: 0 }),
  worldGrid(0.02, { heightDeg: 0.9 }),
  { ...worldGrid(0.25, { northDeg: 90.125, westDeg: -180.125 }), rowCount: 721 },
];

/** Returns a random location: one in ten within 2 degrees of a pole, some at the pole or the antimeridian. */
function randomLocation(random: SeededRandom): OracleLocation {
  const poleDeg = random.pick([90, -90]);
  const latDeg = random.chance(0.1)
    ? random.chance(0.1)
      ? poleDeg
      : poleDeg - Math.sign(poleDeg) * 2 * random.next() ** 2
    : random.between({ min: -88, max: 88 });
  const lonDeg = random.chance(0.1)
    ? random.pick([180, -180, 180 - 1e-3 * random.next(), -180 + 1e-3 * random.next()])
    : random.between({ min: -180, max: 180 });
  return { latDeg, lonDeg };
}

/** Returns a radius from 0.1 to 100 km; in half of the cases the rim passes 1e-9 to 1 m from a cell's center. */
function randomRadiusM(random: SeededRandom, grid: OracleGrid, location: OracleLocation): number {
  const radiusM = 100 * 1000 ** random.next();
  if (random.chance(0.5)) return radiusM;
  const bearing = 2 * Math.PI * random.next();
  const northDeg = (radiusM / 111_200) * Math.cos(bearing);
  const eastDeg =
    ((radiusM / 111_200) * Math.sin(bearing)) / Math.max(1e-3, Math.cos((location.latDeg * Math.PI) / 180));
  const latDeg = Math.max(-90, Math.min(90, location.latDeg + northDeg));
  const cell = approximateCell(grid, { latDeg, lonDeg: location.lonDeg + eastDeg });
  const gapM = random.pick([-1, 1]) * 10 ** random.between({ min: -9, max: 0 });
  const rimRadiusM = distanceByGeographicLib(location, centerByDefinition(grid, cell)) + gapM;
  return rimRadiusM >= 100 && rimRadiusM <= 100_000 ? rimRadiusM : radiusM;
}

/** Returns the cell of a location, or a neighbor of it if rounding errors matter at an edge. */
function approximateCell(grid: OracleGrid, { latDeg, lonDeg }: OracleLocation): OracleCell {
  const row = Math.floor((grid.northDeg - latDeg) / grid.cellSizeLatDeg);
  const column = Math.floor(((((lonDeg - grid.westDeg) % 360) + 360) % 360) / grid.cellSizeLonDeg);
  return {
    row: Math.max(0, Math.min(grid.rowCount - 1, row)),
    column: Math.max(0, Math.min(grid.columnCount - 1, column)),
  };
}

type ColumnRange = readonly [first: number, last: number];

function rangesByRowOf(spans: Int32Array): Map<number, ColumnRange[]> {
  const rangesByRow = new Map<number, ColumnRange[]>();
  for (let i = 0; i < spans.length; i += 3) {
    const row = spans[i] ?? NaN;
    const range: ColumnRange = [spans[i + 1] ?? NaN, spans[i + 2] ?? NaN];
    const ranges = rangesByRow.get(row);
    if (ranges === undefined) rangesByRow.set(row, [range]);
    else ranges.push(range);
  }
  return rangesByRow;
}

function contains(ranges: readonly ColumnRange[], column: number): boolean {
  return ranges.some(([first, last]) => first <= column && column <= last);
}

/** Returns the columns of a row on either side of the rim. */
function rimColumns(grid: OracleGrid, location: OracleLocation, ranges: readonly ColumnRange[]): number[] {
  const { columnCount, westDeg, cellSizeLonDeg } = grid;
  const wrapped = (column: number): number => ((column % columnCount) + columnCount) % columnCount;
  const isFullRow = ranges.length === 1 && ranges[0]?.[0] === 0 && ranges[0][1] === columnCount - 1;
  const columns = new Set<number>();
  if (ranges.length === 0 || isFullRow) {
    // In an empty row, takes the columns closest to the meridian of the center; in a full one, those farthest from it.
    const lonDeg = location.lonDeg + (isFullRow ? 180 : 0);
    const column = Math.floor(((((lonDeg - westDeg) % 360) + 360) % 360) / cellSizeLonDeg - 0.5);
    columns.add(wrapped(column)).add(wrapped(column + 1));
  }
  if (!isFullRow) {
    for (const [first, last] of ranges)
      for (const column of [first - 1, first, last, last + 1]) columns.add(wrapped(column));
  }
  return [...columns];
}

test(
  `${CELL_COUNT.toLocaleString("en")} cells at the rims of random circles are classified as GeographicLib does`,
  { timeout: 120_000 + CELL_COUNT / 10 },
  async () => {
    const readers = await Promise.all(GRIDS.map((grid) => SpanReader.open(grid)));
    const random = randomFrom(11);
    const startMs = performance.now();
    const misclassified: unknown[] = [];
    const tally = { cells: 0, circles: 0, fast: 0, ambiguous: 0, within1um: 0, within1m: 0, inside: 0 };
    while (tally.cells < CELL_COUNT) {
      const reader = random.pick(readers);
      const { kernel } = reader;
      const { grid } = reader.grid;
      const location = randomLocation(random);
      const radiusM = randomRadiusM(random, grid, location);
      const { spans, ambiguousCount } = rowSpans(kernel, grid, { ...location, radiusM });
      tally.circles += 1;
      tally.ambiguous += ambiguousCount;
      const locationCell = containingCell(grid, location);
      const rangesByRow = rangesByRowOf(spans);
      const fieldCircle = reader.read({ ...location, radiusM });
      if (fieldCircle.isFast) tally.fast += 1;
      const fieldRangesByRow = rangesByRowOf(fieldCircle.spans);
      const firstRow = Math.max(0, Math.min(spans[0] ?? 0, fieldCircle.spans[0] ?? 0) - 1);
      const lastRow = Math.min(grid.rowCount - 1, Math.max(spans.at(-3) ?? 0, fieldCircle.spans.at(-3) ?? 0) + 1);
      for (let row = firstRow; row <= lastRow; row++) {
        const ranges = rangesByRow.get(row) ?? [];
        const fieldRanges = fieldRangesByRow.get(row) ?? [];
        const columns = new Set([ranges, fieldRanges].flatMap((rowRanges) => rimColumns(grid, location, rowRanges)));
        for (const column of columns) {
          if (row === locationCell.row && column === locationCell.column) continue; // the containing cell is always included
          const distanceM = distanceByGeographicLib(location, centerByDefinition(grid, { row, column }));
          const isInside = contains(ranges, column);
          const isInFieldCircle = contains(fieldRanges, column);
          const gapM = Math.abs(distanceM - radiusM);
          tally.cells += 1;
          if (isInside) tally.inside += 1;
          if (gapM < 1e-6) tally.within1um += 1;
          if (gapM < 1) tally.within1m += 1;
          if (isInside !== distanceM <= radiusM || isInFieldCircle !== isInside) {
            misclassified.push({
              isInside,
              isInFieldCircle,
              fast: fieldCircle.isFast,
              grid,
              location,
              radiusM,
              row,
              column,
              distanceM,
            });
          }
        }
      }
    }
    const seconds = Math.round((performance.now() - startMs) / 1000);
    console.info(`rim: ${JSON.stringify({ ...tally, misclassified: misclassified.length, seconds })}`);
    expect(misclassified.slice(0, 5)).toEqual([]);
    // The test is only meaningful if it covers both sides of the rim, distances below 1 um, ambiguous cells, and the fast
    // kernels.
    expect(tally.inside / tally.cells).toBeGreaterThan(0.3);
    expect(tally.inside / tally.cells).toBeLessThan(0.7);
    expect(tally.within1um).toBeGreaterThan(CELL_COUNT / 10_000);
    expect(tally.ambiguous).toBeGreaterThan(CELL_COUNT / 10_000);
    expect(tally.fast / tally.circles).toBeGreaterThan(0.3);
  },
);

/**
 * Returns the cell that contains a location by the reference implementation, applied to the 25 cells around it; testing all
 * cells of a fine grid is too slow.
 */
function containingCell(grid: OracleGrid, location: OracleLocation): OracleCell {
  const near = approximateCell(grid, location);
  const row = Math.max(0, near.row - 2);
  const column = Math.max(0, near.column - 2);
  const containsLocation = (candidate: OracleCell): boolean => {
    const cell = containingCellByDefinition(
      {
        ...grid,
        northDeg: grid.northDeg - candidate.row * grid.cellSizeLatDeg,
        westDeg: grid.westDeg + candidate.column * grid.cellSizeLonDeg,
        rowCount: 1,
        columnCount: 1,
      },
      location,
    );
    return cell !== undefined;
  };
  for (let r = row; r <= Math.min(grid.rowCount - 1, row + 4); r++) {
    for (let c = column; c <= Math.min(grid.columnCount - 1, column + 4); c++) {
      if (containsLocation({ row: r, column: c })) return { row: r, column: c };
    }
  }
  return near;
}
