import { TILE_SIZE } from "./cells";
import { bandWeight, DEGREE, E2, WGS84_A } from "./ellipsoid";

/**
 * A field: several layers of one grid, interleaved cell by cell, and a directory of the tiles that are in memory.
 * JavaScript allocates it and maintains its directories (src/kernel/field.ts); kernels read it and mark the tiles that
 * they use.
 *
 *   grid         f64 northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg; i32 rowCount, columnCount
 *   vectorCount  i32: vectors of 8 u16 lanes per cell, one lane per layer; a cell takes vectorCount x 16 bytes
 *   rowTable     f64[6][rowStride]: sine and cosine of the row center's latitude, its p and z (see geodesy.rowSpans),
 *                1 / 4p, area weight
 *   directories  u32 for every tile or pyramid tile: its address, 0 = not in memory; bit 0 = used recently
 *
 * Forms of a tile:
 *   cells    u16[64][64][lane]       steps or a reserved number (cells.ts)
 *   prefix   u32[64][65][lane]       count * 2^22 + sum of the valid cells west of a column
 *   bounds   u16[64][64][lane]       of a pyramid tile, for each block: 0 = no valid cell, else largest step + 1
 *   totals   u32[512][8][lane]       of a pyramid tile, for each row of each data tile: packed like a prefix
 */
const NORTH: usize = 0;
const WEST: usize = 8;
const CELL_LAT: usize = 16;
const CELL_LON: usize = 24;
const ROWS: usize = 32;
const COLUMNS: usize = 36;
const VECTORS: usize = 40;
const ROW_TABLE: usize = 44;
const ROW_STRIDE: usize = 48;
const CELL_TILES: usize = 52;
const PREFIX_TILES: usize = 56;
const BOUND_TILES: usize = 60;
const TOTAL_TILES: usize = 64;
/** Size of the record above, without row table and directories. */
export const FIELD_BYTES: i32 = 72;

/** Data tiles along one edge of a pyramid tile. */
export const PYRAMID_SIZE: i32 = 8;
/** Cells along one edge of a block. */
export const BLOCK_SIZE: i32 = 8;
/** A prefix or total stores the sum in the bits below this one, and the count in this bit and those above. */
export const COUNT_SHIFT: i32 = 22;
export const SUM_MASK: i32 = (1 << COUNT_SHIFT) - 1;

/** Bit of a directory entry that is set if a kernel has used the tile since JavaScript last cleared the bit. */
export const USED: u32 = 1;

export function northOf(field: usize): f64 {
  return load<f64>(field, NORTH);
}
export function westOf(field: usize): f64 {
  return load<f64>(field, WEST);
}
export function cellLatOf(field: usize): f64 {
  return load<f64>(field, CELL_LAT);
}
export function cellLonOf(field: usize): f64 {
  return load<f64>(field, CELL_LON);
}
export function rowCountOf(field: usize): i32 {
  return load<i32>(field, ROWS);
}
export function columnCountOf(field: usize): i32 {
  return load<i32>(field, COLUMNS);
}
export function vectorCountOf(field: usize): i32 {
  return load<i32>(field, VECTORS);
}
export function rowTableOf(field: usize): usize {
  return <usize>load<u32>(field, ROW_TABLE);
}
export function rowStrideOf(field: usize): i32 {
  return load<i32>(field, ROW_STRIDE);
}
export function tileColumnCountOf(field: usize): i32 {
  return (columnCountOf(field) + TILE_SIZE - 1) / TILE_SIZE;
}
export function pyramidColumnCountOf(field: usize): i32 {
  return (tileColumnCountOf(field) + PYRAMID_SIZE - 1) / PYRAMID_SIZE;
}
export function cellTilesOf(field: usize): usize {
  return <usize>load<u32>(field, CELL_TILES);
}
export function prefixTilesOf(field: usize): usize {
  return <usize>load<u32>(field, PREFIX_TILES);
}
export function boundTilesOf(field: usize): usize {
  return <usize>load<u32>(field, BOUND_TILES);
}
export function totalTilesOf(field: usize): usize {
  return <usize>load<u32>(field, TOTAL_TILES);
}

/** Returns the address of a tile and marks the tile as used; returns 0 if the tile is not in memory. */
export function useTile(directory: usize, index: i32): usize {
  assert(index >= 0, "tile indices must not be negative");
  const entryAddress = directory + ((<usize>index) << 2);
  const entry = load<u32>(entryAddress);
  if (entry == 0) return 0;
  if ((entry & USED) == 0) store<u32>(entryAddress, entry | USED);
  return <usize>(entry & ~USED);
}

/**
 * Fills the row table with the quantities of each row that do not depend on the circle.
 *
 * Requires  rowStride > rowCount, because kernels read rows two at a time
 */
export function fillRowTable(field: usize): void {
  const table = rowTableOf(field);
  const stride = (<usize>rowStrideOf(field)) << 3;
  for (let row = 0; row < rowStrideOf(field); row++) {
    const latDeg = northOf(field) - (<f64>row + 0.5) * cellLatOf(field);
    const rowAddress = table + ((<usize>row) << 3);
    storeRow(rowAddress, stride, Math.max(-90.0, Math.min(90.0, latDeg)) * DEGREE);
    const northRad = Math.max(-90.0, Math.min(90.0, northOf(field) - <f64>row * cellLatOf(field))) * DEGREE;
    const southRad = Math.max(-90.0, Math.min(90.0, northOf(field) - (<f64>row + 1.0) * cellLatOf(field))) * DEGREE;
    store<f64>(rowAddress + 5 * stride, bandWeight(northRad, southRad));
  }
}

function storeRow(rowAddress: usize, stride: usize, latRad: f64): void {
  const sine = Math.sin(latRad),
    cosine = Math.max(0.0, Math.cos(latRad));
  const primeVerticalM = WGS84_A / Math.sqrt(1.0 - E2 * sine * sine);
  store<f64>(rowAddress, sine);
  store<f64>(rowAddress + stride, cosine);
  store<f64>(rowAddress + 2 * stride, primeVerticalM * cosine);
  store<f64>(rowAddress + 3 * stride, primeVerticalM * (1.0 - E2) * sine);
  store<f64>(rowAddress + 4 * stride, 0.25 / (primeVerticalM * cosine));
}
