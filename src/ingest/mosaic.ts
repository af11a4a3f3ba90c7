/** Joins maps of parts of the Earth into one map. */
import type { Grid } from "../kernel/grid.ts";
import { type Placement, placeMaps } from "./mosaicGrid.ts";
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
