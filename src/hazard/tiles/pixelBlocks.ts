/** Which block of cells each pixel along one axis of a map tile shows. */
import { closesAt360, type Grid } from "../../kernel/grid.ts";
import {
  nativeZoom,
  pixelOfLatitude,
  pixelOfLongitude,
  pixelWidthDeg,
  TILE_PIXELS,
  type TileAddress,
  tilesPerEdge,
} from "../../tiles/mercator.ts";

/** The block that the edge of the grid cuts, and the pixel that shows it together with the block at its center. */
export interface CutBlock {
  readonly pixel: number;
  readonly block: number;
}

/** An interval on an axis of the map, in pixels from the western or northern edge of the world. */
interface PixelInterval {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the smallest size of the pyramid's blocks that are at least as wide as a pixel, so that every block contains the
 * center of a pixel; 1 if cells are. Blocks are 8, 64, 512 cells wide, and so on.
 */
export function blockSizeOf({ cellSizeLatDeg, cellSizeLonDeg }: Grid, z: number): number {
  let blockSizeCells = 1;
  while (blockSizeCells * Math.min(cellSizeLatDeg, cellSizeLonDeg) < pixelWidthDeg(z)) blockSizeCells *= 8;
  return blockSizeCells;
}

/** Returns `blockSizeOf` of the zooms 0 to the one at which it is 1, the native zoom. */
export function blockSizesOf(grid: Grid): readonly number[] {
  const zoomCount = nativeZoom(Math.min(grid.cellSizeLatDeg, grid.cellSizeLonDeg)) + 1;
  return Array.from({ length: zoomCount }, (_, z) => blockSizeOf(grid, z));
}

/** Returns the blocks of cells, -1 for -1. */
export function blocksOf(cells: Int32Array, blockSizeCells: number): Int32Array {
  return cells.map((cell) => (cell < 0 ? -1 : Math.floor(cell / blockSizeCells)));
}

/**
 * Returns the last row of blocks if the southern edge of the grid cuts it so short that no pixel's center is inside, and
 * it begins in a pixel of the tile.
 */
export function cutBlockRow(grid: Grid, { z, y }: TileAddress, blockSizeCells: number): CutBlock | undefined {
  const block = cutBlock(grid.rowCount, blockSizeCells);
  if (block === undefined) return undefined;
  const latDegOf = (row: number): number => grid.northDeg - row * grid.cellSizeLatDeg;
  const start = pixelOfLatitude(z, latDegOf(block * blockSizeCells));
  const pixel = ownerOf({ start, end: pixelOfLatitude(z, latDegOf(grid.rowCount)) });
  return pixel === undefined ? undefined : within(pixel - y * TILE_PIXELS, block);
}

/** Returns the last column of blocks, as `cutBlockRow` does, if the eastern edge of the grid cuts it. */
export function cutBlockColumn(grid: Grid, { z, x }: TileAddress, blockSizeCells: number): CutBlock | undefined {
  const block = cutBlock(grid.columnCount, blockSizeCells);
  if (block === undefined) return undefined;
  const worldPixels = TILE_PIXELS * tilesPerEdge(z);
  const firstColumn = block * blockSizeCells;
  const position = pixelOfLongitude(z, grid.westDeg + firstColumn * grid.cellSizeLonDeg);
  const start = position - Math.floor(position / worldPixels) * worldPixels;
  const endColumn = closesAt360(grid) ? 360 / grid.cellSizeLonDeg : grid.columnCount;
  const width = ((endColumn - firstColumn) * grid.cellSizeLonDeg) / pixelWidthDeg(z);
  const pixel = ownerOf({ start, end: start + width });
  return pixel === undefined ? undefined : within((pixel % worldPixels) - x * TILE_PIXELS, block);
}

/** Returns the last block if the edge of the grid cuts it. */
function cutBlock(cellCount: number, blockSizeCells: number): number | undefined {
  return cellCount % blockSizeCells === 0 ? undefined : Math.floor(cellCount / blockSizeCells);
}

/** Returns the pixel in which an interval begins, or undefined if the center of a pixel is inside. */
function ownerOf({ start, end }: PixelInterval): number | undefined {
  const firstCenter = Math.ceil(start - 0.5) + 0.5;
  return firstCenter < end || end <= start ? undefined : Math.floor(start);
}

function within(pixel: number, block: number): CutBlock | undefined {
  return pixel >= 0 && pixel < TILE_PIXELS ? { pixel, block } : undefined;
}
