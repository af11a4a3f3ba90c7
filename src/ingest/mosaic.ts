/** Joins maps of parts of the Earth into one map, on one grid. */
import { closesAt360, type Grid, normalizeLonDeg } from "../kernel/grid.ts";
import {
  type BandWindow,
  type CellWindow,
  checkWindow,
  describeCell,
  type FileSpec,
  type MosaicOrder,
  type Raster,
  type RasterValues,
  type ReprojectedSpec,
  sourceFault,
  valuesOf,
} from "./raster.ts";
import { isSameUnit } from "./units.ts";

/**
 * Joins maps into one. A cell that no map covers is missing.
 *
 * @param options `whole`: the grid to use if it contains all maps
 * @throws Fault `source_invalid` if the grids, bands or units of the maps do not fit together
 */
export function mosaicOf(
  parts: readonly Raster[],
  { order, whole }: { readonly order: MosaicOrder; readonly whole?: Grid | undefined },
): Raster {
  const { grid, placements } = placeMaps(parts, whole);
  const [first] = parts;
  if (first === undefined) throw new Error("A mosaic has at least one map.");
  for (const part of parts) checkBands(first, part);
  return {
    spec: { kind: "mosaic", parts: parts.map(partSpec), grid, order },
    file: `the mosaic of ${parts.length} maps from ${first.file}`,
    grid,
    crs: first.crs,
    bands: first.bands,
    blockRowCount: Math.max(...parts.map(({ blockRowCount }) => blockRowCount)),
    blockColumnCount: Math.max(...parts.map(({ blockColumnCount }) => blockColumnCount)),
    notes: {
      mosaic: `cells that several maps cover: ${ORDER_NOTES[order]}`,
    },
    parts,
    async readWindow(window) {
      checkWindow(window, grid, first.bands.length);
      return readMosaic({ parts, placements, grid, order }, window);
    },
    async close() {
      for (const part of parts) await part.close();
    },
  };
}

const ORDER_NOTES: Readonly<Record<MosaicOrder, string>> = {
  equal: "values must be equal",
  first: "the first map with a value",
  largest: "the largest value",
};

function partSpec({ spec }: Raster): FileSpec | ReprojectedSpec {
  if (spec.kind !== "file" && spec.kind !== "reprojected") throw new Error("A mosaic consists of maps in files.");
  return spec;
}

function checkBands(first: Raster, part: Raster): void {
  if (part.bands.length !== first.bands.length) {
    throw sourceFault(
      part.file,
      `has ${part.bands.length} bands, but ${first.file} has ${first.bands.length}. Maps of a mosaic must have the same bands.`,
    );
  }
  for (const [index, { unit }] of part.bands.entries()) {
    const expected = first.bands[index]?.unit;
    if (unit === expected || (unit !== undefined && expected !== undefined && isSameUnit(unit, expected))) continue;
    const describe = (text: string | undefined): string =>
      text === undefined ? "no unit" : `the unit ${JSON.stringify(text)}`;
    throw sourceFault(
      part.file,
      `band ${index + 1} has ${describe(unit)}, but that of ${first.file} has ${describe(expected)}. Maps of a mosaic must have the same units.`,
    );
  }
}

interface OpenMosaic {
  readonly parts: readonly Raster[];
  readonly placements: readonly Placement[];
  readonly grid: Grid;
  readonly order: MosaicOrder;
}

async function readMosaic({ parts, placements, grid, order }: OpenMosaic, window: BandWindow): Promise<RasterValues> {
  const values = valuesOf(parts, window);
  // For each cell, the number of the map that its value is from, counted from 1.
  const origins = new Uint16Array(order === "equal" ? values.length : 0);
  for (const [index, placement] of placements.entries()) {
    for (const common of intersectionsOf(placement, grid, window)) {
      if (order === "first" && isFilled(values, common.target, window)) continue;
      const read = await placement.part.readWindow({ ...common.source, band: window.band });
      const { firstRow, rowCount, firstColumn, columnCount } = common.target;
      for (let row = 0; row < rowCount; row++) {
        const from = row * columnCount;
        const to = (firstRow + row - window.firstRow) * window.columnCount + firstColumn - window.firstColumn;
        for (let column = 0; column < columnCount; column++) {
          const value = read[from + column] ?? NaN;
          if (Number.isNaN(value)) continue;
          const before = values[to + column] ?? NaN;
          if (Number.isNaN(before)) {
            values[to + column] = value;
            if (order === "equal") origins[to + column] = index + 1;
          } else if (order === "equal" && before !== value) {
            const cell = { row: firstRow + row, column: firstColumn + column };
            throw overlapFault(placement.part, parts[(origins[to + column] ?? 1) - 1], { before, value, grid, cell });
          } else if (order === "largest" && value > before) {
            values[to + column] = value;
          }
        }
      }
    }
  }
  return values;
}

function overlapFault(
  part: Raster,
  other: Raster | undefined,
  at: {
    readonly before: number;
    readonly value: number;
    readonly grid: Grid;
    readonly cell: { row: number; column: number };
  },
): Error {
  return sourceFault(
    part.file,
    `${describeCell(at.grid, at.cell)} of the mosaic has the value ${at.value}, but ${at.before} in ${other?.file}. ` +
      'To use the value of the first map in the list, or the largest value, set "overlap": "first" or "largest" for the layer in ' +
      "the manifest (in the recipe storm-winds, --overlap).",
    { details: { ...at.cell, other_file: other?.file, value: at.value, other_value: at.before } },
  );
}

/** Returns whether every cell of a part of a window has a value. */
function isFilled(values: RasterValues, part: CellWindow, window: BandWindow): boolean {
  for (let row = part.firstRow; row < part.firstRow + part.rowCount; row++) {
    const from = (row - window.firstRow) * window.columnCount + part.firstColumn - window.firstColumn;
    for (let i = from; i < from + part.columnCount; i++) if (Number.isNaN(values[i])) return false;
  }
  return true;
}

/**
 * Returns the cells that a map and a window have in common, in cells of the map and of the mosaic. A map that continues
 * beyond the last column of a grid around the Earth has two parts.
 */
function intersectionsOf(
  { part, firstRow, firstColumn }: Placement,
  grid: Grid,
  window: CellWindow,
): readonly { readonly source: CellWindow; readonly target: CellWindow }[] {
  const top = Math.max(firstRow, window.firstRow);
  const bottom = Math.min(firstRow + part.grid.rowCount, window.firstRow + window.rowCount);
  if (bottom <= top) return [];
  const found: { readonly source: CellWindow; readonly target: CellWindow }[] = [];
  for (const turn of [0, -grid.columnCount]) {
    const left = Math.max(firstColumn + turn, window.firstColumn);
    const right = Math.min(firstColumn + turn + part.grid.columnCount, window.firstColumn + window.columnCount);
    if (right <= left) continue;
    const size = { rowCount: bottom - top, columnCount: right - left };
    found.push({
      source: { ...size, firstRow: top - firstRow, firstColumn: left - firstColumn - turn },
      target: { ...size, firstRow: top, firstColumn: left },
    });
  }
  return found;
}

/** Largest difference between the edges of cells of two maps, as a fraction of a cell. */
const EDGE_TOLERANCE_CELLS = 1e-3;

/** Position of a map on the grid of a mosaic. */
interface Placement {
  readonly part: Raster;
  readonly firstRow: number;
  /** May be such that the map continues beyond the last column, at the first one. */
  readonly firstColumn: number;
}

/**
 * Returns the smallest grid that contains all maps, and their positions on it.
 *
 * The grid begins at the westernmost map between -180 and 180 degrees, or, if a map crosses the antimeridian, east of the
 * widest gap between the maps.
 *
 * @param whole the grid to use if it contains all maps, which is that of an existing atlas
 * @throws Fault `source_invalid` naming a map with other cells, or with cells shifted by a part of a cell
 */
function placeMaps(
  parts: readonly Raster[],
  whole: Grid | undefined,
): { readonly grid: Grid; readonly placements: readonly Placement[] } {
  const [first] = parts;
  if (first === undefined) throw new Error("A mosaic has at least one map.");
  const turnColumns = Math.round(360 / first.grid.cellSizeLonDeg);
  const isTurnWhole = Math.abs(turnColumns * first.grid.cellSizeLonDeg - 360) < 1e-3 * first.grid.cellSizeLonDeg;
  const located = parts.map((part) => ({ part, ...offsetOf(first, part, isTurnWhole ? turnColumns : undefined) }));
  if (whole !== undefined) {
    const placements = placeOn(whole, located);
    if (placements !== undefined) return { grid: whole, placements };
  }
  const firstRow = Math.min(...located.map(({ row }) => row));
  const endRow = Math.max(...located.map(({ row, part }) => row + part.grid.rowCount));
  const { startColumn, columnCount } = isTurnWhole
    ? columnsAround(first.grid, located, turnColumns)
    : columnsAlong(located);
  const { grid } = first;
  return {
    grid: {
      ...grid,
      northDeg: grid.northDeg - firstRow * grid.cellSizeLatDeg,
      westDeg: normalizedWestDeg(grid.westDeg + startColumn * grid.cellSizeLonDeg),
      rowCount: endRow - firstRow,
      columnCount,
    },
    placements: located.map(({ part, row, column }) => ({
      part,
      firstRow: row - firstRow,
      firstColumn: isTurnWhole ? modulo(column - startColumn, turnColumns) : column - startColumn,
    })),
  };
}

/** A map and its position, in cells from the first map. */
interface LocatedMap {
  readonly part: Raster;
  readonly row: number;
  readonly column: number;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/** Moves a west edge by multiples of 360 degrees to between -180 and 180. */
function normalizedWestDeg(westDeg: number): number {
  const turns = Math.floor((westDeg + 180 + 1e-9) / 360);
  return turns === 0 ? westDeg : westDeg - 360 * turns;
}

/** Returns the position of a map in cells from the first one. */
function offsetOf(
  first: Raster,
  part: Raster,
  turnColumns: number | undefined,
): { readonly row: number; readonly column: number } {
  const [a, b] = [first.grid, part.grid];
  const describe = ({ file, grid }: Raster): string =>
    `${file} has cells of ${grid.cellSizeLatDeg} x ${grid.cellSizeLonDeg} degrees (lat, lon) from latitude ${grid.northDeg}, longitude ${grid.westDeg}`;
  const row = (a.northDeg - b.northDeg) / a.cellSizeLatDeg;
  const column = (b.westDeg - a.westDeg) / a.cellSizeLonDeg;
  const isSameSize = (sizeA: number, sizeB: number, count: number): boolean =>
    Math.abs(sizeA - sizeB) * count <= EDGE_TOLERANCE_CELLS * sizeA;
  // Files store rounded sizes: the error adds up over the map, but not over the distance between maps.
  if (
    !isSameSize(a.cellSizeLatDeg, b.cellSizeLatDeg, Math.max(a.rowCount, b.rowCount)) ||
    !isSameSize(a.cellSizeLonDeg, b.cellSizeLonDeg, Math.max(a.columnCount, b.columnCount))
  ) {
    throw sourceFault(
      part.file,
      `the maps of a mosaic must have the same cells: ${describe(part)}; ${describe(first)}.`,
    );
  }
  const [wholeRow, wholeColumn] = [Math.round(row) + 0, Math.round(column) + 0];
  const [shiftRows, shiftColumns] = [row - wholeRow, column - wholeColumn];
  if (Math.abs(shiftRows) > EDGE_TOLERANCE_CELLS || Math.abs(shiftColumns) > EDGE_TOLERANCE_CELLS) {
    throw sourceFault(
      part.file,
      `its grid is shifted against that of ${first.file} by a part of a cell (${shiftRows.toFixed(4)} cells in latitude, ` +
        `${shiftColumns.toFixed(4)} in longitude). Maps of a mosaic are never resampled: ${describe(part)}; ${describe(first)}.`,
    );
  }
  return { row: wholeRow, column: turnColumns === undefined ? wholeColumn : modulo(wholeColumn, turnColumns) };
}

/** Returns the columns of maps whose cells do not divide 360 degrees, so that they cannot be moved around the Earth. */
function columnsAlong(maps: readonly LocatedMap[]): { readonly startColumn: number; readonly columnCount: number } {
  const startColumn = Math.min(...maps.map(({ column }) => column));
  const end = Math.max(...maps.map(({ column, part }) => column + part.grid.columnCount));
  return { startColumn, columnCount: end - startColumn };
}

/** Returns the columns of maps on a circle. */
function columnsAround(
  first: Grid,
  maps: readonly LocatedMap[],
  turnColumns: number,
): { readonly startColumn: number; readonly columnCount: number } {
  // Columns east of the first edge at or east of -180 degrees.
  const antimeridian = Math.ceil((-180 - first.westDeg) / first.cellSizeLonDeg - EDGE_TOLERANCE_CELLS);
  const ranges = maps
    .map(({ column, part }) => {
      const start = modulo(column - antimeridian, turnColumns);
      return { start, end: start + part.grid.columnCount };
    })
    .toSorted((a, b) => a.start - b.start);
  const west = ranges[0]?.start ?? 0;
  const east = Math.max(...ranges.map(({ end }) => end));
  if (east <= turnColumns) return { startColumn: west + antimeridian, columnCount: east - west };
  // Finds the widest gap; the end of a range that crosses the antimeridian covers the first columns.
  let [covered, gap, afterGap] = [east - turnColumns, 0, 0];
  for (const { start, end } of ranges) {
    if (start - covered > gap) [gap, afterGap] = [start - covered, start];
    covered = Math.max(covered, end);
  }
  return gap === 0
    ? { startColumn: antimeridian, columnCount: turnColumns }
    : { startColumn: afterGap + antimeridian, columnCount: turnColumns - gap };
}

/** Returns the positions of maps on an existing grid, or undefined if it does not contain them. */
function placeOn(whole: Grid, maps: readonly LocatedMap[]): readonly Placement[] | undefined {
  const placements: Placement[] = [];
  const closes = closesAt360(whole);
  for (const { part } of maps) {
    const { grid } = part;
    const count = Math.max(whole.columnCount, whole.rowCount);
    const isSame =
      Math.abs(grid.cellSizeLatDeg - whole.cellSizeLatDeg) * count <= EDGE_TOLERANCE_CELLS * whole.cellSizeLatDeg &&
      Math.abs(grid.cellSizeLonDeg - whole.cellSizeLonDeg) * count <= EDGE_TOLERANCE_CELLS * whole.cellSizeLonDeg;
    const row = (whole.northDeg - grid.northDeg) / whole.cellSizeLatDeg;
    const eastDeg = normalizeLonDeg(whole, grid.westDeg + EDGE_TOLERANCE_CELLS * whole.cellSizeLonDeg);
    const column = (eastDeg - whole.westDeg) / whole.cellSizeLonDeg - EDGE_TOLERANCE_CELLS;
    const [firstRow, firstColumn] = [Math.round(row) + 0, Math.round(column) + 0];
    const isAligned =
      Math.abs(row - firstRow) <= EDGE_TOLERANCE_CELLS && Math.abs(column - firstColumn) <= 2 * EDGE_TOLERANCE_CELLS;
    const isInside =
      firstRow >= 0 &&
      firstRow + grid.rowCount <= whole.rowCount &&
      (closes || firstColumn + grid.columnCount <= whole.columnCount);
    if (!isSame || !isAligned || !isInside) return undefined;
    placements.push({ part, firstRow, firstColumn });
  }
  return placements;
}
