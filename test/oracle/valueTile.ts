/**
 * Computes map tiles pixel by pixel from the cells of a layer, as docs/tiles.md defines them. Does not import code under
 * test.
 */
import { containingCellByDefinition, type OracleGrid } from "./points.ts";

const NODATA = 65_535;
const OUTSIDE = 65_534;
const PIXELS = 256;
/** Cells along one edge of a data tile. */
const DATA_TILE_CELLS = 64;

export interface OracleLayer {
  readonly grid: OracleGrid;
  /** u16[row][column] of the layer. */
  readonly cells: Uint16Array;
  /** u16[row][column] of every layer of its group, which decide whether a data tile is outside. */
  readonly groupCells: readonly Uint16Array[];
}

interface OracleAddress {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

export function longitudeOfPixelByDefinition(z: number, pixel: number): number {
  return (pixel / (PIXELS * 2 ** z)) * 360 - 180;
}

export function latitudeOfPixelByDefinition(z: number, pixel: number): number {
  const fromEquator = Math.PI - (2 * Math.PI * pixel) / (PIXELS * 2 ** z);
  return (2 * Math.atan(Math.exp(fromEquator)) - Math.PI / 2) * (180 / Math.PI);
}

/** Returns the cells along one edge of the blocks of a zoom; 1 if each pixel is a cell. */
export function blockSizeByDefinition({ cellSizeLatDeg, cellSizeLonDeg }: OracleGrid, z: number): number {
  const pixelDeg = 360 / (PIXELS * 2 ** z);
  return [1, 8, 64, 512, 4096, 32_768].find((size) => size * Math.min(cellSizeLatDeg, cellSizeLonDeg) >= pixelDeg) ?? 0;
}

/** Returns u16[256][256]. */
export function valueTileByDefinition(layer: OracleLayer, { z, x, y }: OracleAddress): Uint16Array {
  const { grid } = layer;
  const size = blockSizeByDefinition(grid, z);
  const [insideLatDeg, insideLonDeg] = [
    Math.max(-90, Math.min(90, grid.northDeg - grid.cellSizeLatDeg / 2)),
    grid.westDeg + grid.cellSizeLonDeg / 2,
  ];
  const rowOfPixel = (pixel: number): number | undefined =>
    containingCellByDefinition(grid, { latDeg: latitudeOfPixelByDefinition(z, pixel + 0.5), lonDeg: insideLonDeg })
      ?.row;
  const columnOfPixel = (pixel: number): number | undefined =>
    containingCellByDefinition(grid, { latDeg: insideLatDeg, lonDeg: longitudeOfPixelByDefinition(z, pixel + 0.5) })
      ?.column;
  const rows = blocksOfPixels(y * PIXELS, size, { z, cellOf: rowOfPixel, count: grid.rowCount }, (row) => {
    const latDeg = grid.northDeg - row * grid.cellSizeLatDeg;
    return ((1 - Math.asinh(Math.tan((latDeg * Math.PI) / 180)) / Math.PI) / 2) * PIXELS * 2 ** z;
  });
  const columns = blocksOfPixels(x * PIXELS, size, { z, cellOf: columnOfPixel, count: grid.columnCount }, (column) => {
    const lonDeg = grid.westDeg + column * grid.cellSizeLonDeg;
    return ((((lonDeg + 180) % 360) + 360) % 360) * ((PIXELS * 2 ** z) / 360);
  });
  const known = new Map<string, number>();
  const maximumOf = (row: number, column: number): number => {
    const name = `${row}/${column}`;
    const step = known.get(name) ?? blockMaximumByDefinition(layer, size, row, column);
    known.set(name, step);
    return step;
  };
  const steps = new Uint16Array(PIXELS * PIXELS).fill(OUTSIDE);
  for (const [row, rowBlocks] of rows.entries()) {
    for (const [column, columnBlocks] of columns.entries()) {
      const candidates = rowBlocks.flatMap((r) => columnBlocks.map((c) => maximumOf(r, c)));
      const values = candidates.filter((step) => step < OUTSIDE);
      steps[row * PIXELS + column] =
        values.length > 0 ? Math.max(...values) : candidates.includes(NODATA) ? NODATA : OUTSIDE;
    }
  }
  return steps;
}

/**
 * Returns the blocks that each pixel of an axis shows: that of the cell at its center, and the last block if the edge of
 * the grid cuts it, it begins in the pixel, and no pixel of the world has its center in it.
 */
function blocksOfPixels(
  first: number,
  size: number,
  axis: { readonly z: number; readonly count: number; cellOf(pixel: number): number | undefined },
  pixelOfCell: (cell: number) => number,
): readonly (readonly number[])[] {
  const { z, count, cellOf } = axis;
  const last = Math.ceil(count / size) - 1;
  const start = Math.floor(pixelOfCell(last * size));
  const isCut = size > 1 && count % size !== 0;
  const worldPixels = PIXELS * 2 ** z;
  const nearby = Array.from({ length: 20 }, (_, i) => (start - 10 + i + worldPixels) % worldPixels);
  const isShown = nearby.some((pixel) => Math.floor((cellOf(pixel) ?? -size) / size) === last);
  return Array.from({ length: PIXELS }, (_, i) => {
    const cell = cellOf(first + i);
    const blocks = cell === undefined ? [] : [Math.floor(cell / size)];
    if (isCut && !isShown && first + i === start) blocks.push(last);
    return blocks;
  });
}

/** Returns the step that represents a block: the largest one, or why there is none. */
export function blockMaximumByDefinition(
  { grid, cells, groupCells }: OracleLayer,
  size: number,
  row: number,
  column: number,
): number {
  const valuesIn = (steps: Uint16Array, from: readonly [number, number], edge: number): number[] => {
    const found: number[] = [];
    for (let r = from[0]; r < Math.min(from[0] + edge, grid.rowCount); r++) {
      for (let c = from[1]; c < Math.min(from[1] + edge, grid.columnCount); c++) {
        found.push(steps[r * grid.columnCount + c] ?? NaN);
      }
    }
    return found;
  };
  const inBlock = valuesIn(cells, [row * size, column * size], size);
  if (size === 1) return inBlock[0] ?? OUTSIDE;
  const largest = inBlock.filter((step) => step < OUTSIDE).reduce((max, step) => Math.max(max, step), -1);
  if (largest >= 0) return largest;
  // Whole data tiles decide, because the pyramid does not keep the reason of each block.
  const edge = Math.max(size, DATA_TILE_CELLS);
  const from = [Math.floor((row * size) / edge) * edge, Math.floor((column * size) / edge) * edge] as const;
  const isOutside = groupCells.every((some) => valuesIn(some, from, edge).every((step) => step === OUTSIDE));
  return isOutside ? OUTSIDE : NODATA;
}
