import { STEPS_MAX, STEPS_NODATA, TILE_SIZE } from "./cells";
import { STATUS_BAD_GRID, STATUS_OK } from "./status";

/** Bits of `seen`: the kinds of missing cells in the circle. */
export const SEEN_NODATA: i32 = 1;
export const SEEN_OUTSIDE: i32 = 2;

/**
 * Adds the cells of one tile that are in a circle to the circle's running sums.
 *
 * In       cells   u16[64][64][layerCount], the tile
 *          spans   i32[spanCount][3]: row, first and last column of the grid, rows ascending
 * In, out  sums    u64[rowCount][layerCount], steps; row 0 is firstRow of the grid
 *          counts  u32[rowCount][layerCount], valid cells
 *          maxima  i32[layerCount], steps, -1 before the first valid cell
 *          seen    i32[layerCount], bits SEEN_NODATA, SEEN_OUTSIDE
 * Requires every span of the tile to be in a row from firstRow up to, but not including, firstRow + rowCount
 * Formula  All sums are integers, so the order of the tiles does not affect the result.
 */
export function addTile(
  cells: usize,
  layerCount: i32,
  tileRow: i32,
  tileColumn: i32,
  spans: usize,
  spanCount: i32,
  firstRow: i32,
  rowCount: i32,
  sums: usize,
  counts: usize,
  maxima: usize,
  seen: usize,
): i32 {
  const top = tileRow * TILE_SIZE,
    west = tileColumn * TILE_SIZE;
  const stride = (<usize>layerCount) << 1;
  for (let i = 0; i < spanCount; i++) {
    const span = spans + <usize>i * 12;
    const row = load<i32>(span);
    if (row < top || row >= top + TILE_SIZE) continue;
    if (row < firstRow || row >= firstRow + rowCount) return STATUS_BAD_GRID;
    const first = max(load<i32>(span, 4), west) - west;
    const last = min(load<i32>(span, 8), west + TILE_SIZE - 1) - west;
    if (first > last) continue;

    const run = cells + <usize>((row - top) * TILE_SIZE + first) * stride;
    const rowOffset = <usize>((row - firstRow) * layerCount);
    for (let layer = 0; layer < layerCount; layer++) {
      let sum: u64 = 0,
        count: u32 = 0,
        maximum: i32 = -1,
        missingKinds: i32 = 0;
      let cell = run + ((<usize>layer) << 1);
      for (let column = first; column <= last; column++, cell += stride) {
        const steps = <i32>load<u16>(cell);
        if (steps > STEPS_MAX) {
          missingKinds |= steps == STEPS_NODATA ? SEEN_NODATA : SEEN_OUTSIDE;
        } else {
          sum += <u64>steps;
          count += 1;
          maximum = max(maximum, steps);
        }
      }
      const sumAt = sums + ((rowOffset + <usize>layer) << 3),
        countAt = counts + ((rowOffset + <usize>layer) << 2);
      const layerAt = (<usize>layer) << 2;
      store<u64>(sumAt, load<u64>(sumAt) + sum);
      store<u32>(countAt, load<u32>(countAt) + count);
      store<i32>(maxima + layerAt, max(load<i32>(maxima + layerAt), maximum));
      store<i32>(seen + layerAt, load<i32>(seen + layerAt) | missingKinds);
    }
  }
  return STATUS_OK;
}

/**
 * Computes the area-weighted mean of a circle from the sums of its rows.
 *
 * In       sums, counts  from addTile
 *          weights       f64[rowCount], area of one cell of the row (geodesy.rowWeights)
 * Out      out           f64[layerCount][2]: mean in steps (NaN if no cell is valid), area of the valid cells
 * Formula  (sum of weight x sum) / (sum of weight x count) over the rows from north to south. Row sums are exact
 *          integers and the two f64 sums have a fixed order of operations, so the result has the same bits for every
 *          tile size, worker and machine.
 */
export function meanOfRows(
  sums: usize,
  counts: usize,
  weights: usize,
  rowCount: i32,
  layerCount: i32,
  out: usize,
): i32 {
  for (let layer = 0; layer < layerCount; layer++) {
    let total: f64 = 0,
      area: f64 = 0;
    for (let row = 0; row < rowCount; row++) {
      const index = <usize>(row * layerCount + layer);
      const weight = load<f64>(weights + ((<usize>row) << 3));
      total += weight * <f64>load<u64>(sums + (index << 3));
      area += weight * <f64>load<u32>(counts + (index << 2));
    }
    const result = out + ((<usize>layer) << 4);
    store<f64>(result, area > 0 ? total / area : NaN);
    store<f64>(result, area, 8);
  }
  return STATUS_OK;
}
