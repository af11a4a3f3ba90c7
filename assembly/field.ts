import { TILE_SIZE } from "./cells";
import { bandWeight, DEGREE, E2, WGS84_A } from "./ellipsoid";

/**
 * A field: several layers of one grid, interleaved cell by cell, and a directory of the tiles that are in memory.
 * JavaScript allocates it and maintains its directories (src/kernel/field.ts); kernels read it and mark the tiles they
 * use.
 *
 *   grid         f64 northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg; i32 rowCount, columnCount
 *   vectorCount  i32: vectors of 8 u16 lanes per cell, one lane per layer; a cell takes vectorCount x 16 bytes
 *   rowTable     f64[6][rowStride]: sine and cosine of the row center's latitude, its p and z (see geodesy.rowSpans),
 *                1 / 4p, area weight
 *   directories  u32 for every tile or pyramid tile: its address, 0 = not in memory; bit 0 = used recently
 *
 * The forms of a tile:
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
/** In a prefix or total, the sum is below this bit and the count from it upwards. */
export const COUNT_SHIFT: i32 = 22;
export const SUM_MASK: i32 = (1 << COUNT_SHIFT) - 1;

const USED: u32 = 1;

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

/** Returns the address of a tile and marks the tile as used, or 0 if it is not in memory. */
export function useTile(directory: usize, index: i32): usize {
  const at = directory + ((<usize>index) << 2);
  const entry = load<u32>(at);
  if (entry == 0) return 0;
  if ((entry & USED) == 0) store<u32>(at, entry | USED);
  return <usize>(entry & ~USED);
}

/**
 * Fills the row table with the quantities of each row that do not depend on the circle.
 *
 * Requires  rowStride > rowCount: rows are read two at a time
 */
export function fillRowTable(field: usize): void {
  const table = rowTableOf(field);
  const stride = (<usize>rowStrideOf(field)) << 3;
  for (let row = 0; row < rowStrideOf(field); row++) {
    const latitude = northOf(field) - (<f64>row + 0.5) * cellLatOf(field);
    const at = table + ((<usize>row) << 3);
    storeRow(at, stride, Math.max(-90.0, Math.min(90.0, latitude)) * DEGREE);
    const north = Math.max(-90.0, Math.min(90.0, northOf(field) - <f64>row * cellLatOf(field))) * DEGREE;
    const south = Math.max(-90.0, Math.min(90.0, northOf(field) - (<f64>row + 1.0) * cellLatOf(field))) * DEGREE;
    store<f64>(at + 5 * stride, bandWeight(north, south));
  }
}

function storeRow(at: usize, stride: usize, latitude: f64): void {
  const sine = Math.sin(latitude),
    cosine = Math.max(0.0, Math.cos(latitude));
  const normal = WGS84_A / Math.sqrt(1.0 - E2 * sine * sine);
  store<f64>(at, sine);
  store<f64>(at + stride, cosine);
  store<f64>(at + 2 * stride, normal * cosine);
  store<f64>(at + 3 * stride, normal * (1.0 - E2) * sine);
  store<f64>(at + 4 * stride, 0.25 / (normal * cosine));
}
