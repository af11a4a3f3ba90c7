import { STEPS_MAX, STEPS_OUTSIDE } from "./cells";
import {
  cellLatOf,
  cellLonOf,
  cellTilesOf,
  columnCountOf,
  northOf,
  rowCountOf,
  tileAt,
  tileColumnCountOf,
  vectorCountOf,
  westOf,
} from "./field";
import { isGrid } from "./grid";
import { STATUS_BAD_GRID, STATUS_OK } from "./status";

/**
 * Which cell contains each location. The one owner of the cell-edge rule.
 *
 * In       latitudes, longitudes  f64[count], degrees
 * Out      rows, columns          i32[count]; -1, -1 outside the grid and for what is no number
 * Formula  Cell c owns its north and west edges: it holds a longitude from west + c * size up to, not
 *          with, west + (c + 1) * size. A location nearer than a billionth of a cell to an edge is on
 *          it: 14.6 is the north edge of a 0.1-degree row, though in f64 it lies a few 1e-15 beside
 *          90 - 754 * 0.1. Latitude 90 belongs to the first row of a grid that reaches the pole, -90
 *          to the last. Longitudes are taken modulo 360.
 */
export function locateCells(
  northDeg: f64,
  westDeg: f64,
  cellSizeLatDeg: f64,
  cellSizeLonDeg: f64,
  rowCount: i32,
  columnCount: i32,
  latitudes: usize,
  longitudes: usize,
  count: i32,
  rows: usize,
  columns: usize,
): i32 {
  if (!isGrid(northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount)) return STATUS_BAD_GRID;
  for (let i = 0; i < count; i++) {
    const at = (<usize>i) << 3;
    const row = rowOf(load<f64>(latitudes + at), northDeg, cellSizeLatDeg, rowCount);
    const column = columnOf(load<f64>(longitudes + at), westDeg, cellSizeLonDeg, columnCount);
    const isInside = row >= 0 && column >= 0;
    store<i32>(rows + ((<usize>i) << 2), isInside ? row : -1);
    store<i32>(columns + ((<usize>i) << 2), isInside ? column : -1);
  }
  return STATUS_OK;
}

/** The cell of a field that contains a location: row * columnCount + column, -1 outside. The rule of locateCells. */
export function cellOf(field: usize, latDeg: f64, lonDeg: f64): f64 {
  const row = rowOf(latDeg, northOf(field), cellLatOf(field), rowCountOf(field));
  const column = columnOf(lonDeg, westOf(field), cellLonOf(field), columnCountOf(field));
  return row >= 0 && column >= 0 ? <f64>row * <f64>columnCountOf(field) + <f64>column : -1;
}

/** In cells. Rounding of degrees in f64 stays a thousand times below, a coordinate's last digit far above. */
const SAME_EDGE: f64 = 1e-9;

function rowOf(latDeg: f64, northDeg: f64, sizeDeg: f64, rowCount: i32): i32 {
  if (!(latDeg >= -90 && latDeg <= 90)) return -1;
  // A pole on the outer edge, or beyond it by rounding, belongs to the row that touches it.
  if (latDeg == 90 && Math.abs(northDeg - 90) < 1e-6 * sizeDeg) return 0;
  if (latDeg == -90 && Math.abs(northDeg - <f64>rowCount * sizeDeg + 90) < 1e-6 * sizeDeg) return rowCount - 1;
  const row = cellAt((northDeg - latDeg) / sizeDeg);
  return row >= 0 && row < <f64>rowCount ? <i32>row : -1;
}

function columnOf(lonDeg: f64, westDeg: f64, sizeDeg: f64, columnCount: i32): i32 {
  const lon = lonDeg - 360 * Math.floor((lonDeg - westDeg) / 360);
  if (westDeg + 360 - lon <= SAME_EDGE * sizeDeg) return 0; // on the first edge, a turn further
  let column = cellAt((lon - westDeg) / sizeDeg);
  if (column == <f64>columnCount && Math.abs(<f64>columnCount * sizeDeg - 360) < 1e-3 * sizeDeg) {
    column -= 1; // a grid that closes but for rounding has no gap before its seam
  }
  return column >= 0 && column < <f64>columnCount ? <i32>column : -1;
}

/** The cell that a distance from the grid's first edge, in cells, falls into. */
function cellAt(position: f64): f64 {
  const edge = Math.floor(position + 0.5);
  return Math.abs(position - edge) <= SAME_EDGE ? edge : Math.floor(position);
}

/**
 * Reads the cells that contain many locations, from whatever tiles of a field are in memory.
 *
 * In       latitudes, longitudes  f64[count], degrees
 * Out      steps    u16[count][lane]; STEPS_OUTSIDE outside the grid; untouched where the tile is missing
 *          missing  i32[count]: -1, or the index of the tile that is not in memory
 *          Answers how many are missing
 * Needs    addresses  u32[count], scratch
 * Cost     Two passes: the first finds addresses, the second only loads, so that many loads are under way at once.
 */
export function fieldCells(
  field: usize,
  latitudes: usize,
  longitudes: usize,
  count: i32,
  steps: usize,
  missing: usize,
  addresses: usize,
): i32 {
  const vectors = vectorCountOf(field),
    stride = (<usize>vectors) << 4;
  const tiles = cellTilesOf(field),
    tileColumns = tileColumnCountOf(field);
  const northDeg = northOf(field),
    westDeg = westOf(field),
    cellLatDeg = cellLatOf(field),
    cellLonDeg = cellLonOf(field);
  const rowCount = rowCountOf(field),
    columnCount = columnCountOf(field);
  let missingCount = 0;
  for (let i = 0; i < count; i++) {
    const at = (<usize>i) << 3;
    const row = rowOf(load<f64>(latitudes + at), northDeg, cellLatDeg, rowCount);
    const column = columnOf(load<f64>(longitudes + at), westDeg, cellLonDeg, columnCount);
    let address: usize = 0,
      absent = -1;
    if (row >= 0 && column >= 0) {
      const index = (row >> 6) * tileColumns + (column >> 6);
      const tile = tileAt(tiles, index);
      if (tile != 0) address = tile + <usize>(((row & 63) << 6) + (column & 63)) * stride;
      else absent = index;
    }
    if (absent >= 0) missingCount++;
    store<u32>(addresses + ((<usize>i) << 2), <u32>address);
    store<i32>(missing + ((<usize>i) << 2), absent);
  }
  const outside = i16x8.splat(<i16>STEPS_OUTSIDE);
  let target = steps;
  for (let i = 0; i < count; i++) {
    const address = <usize>load<u32>(addresses + ((<usize>i) << 2));
    if (address != 0) {
      for (let lane: usize = 0; lane < stride; lane += 16) v128.store(target + lane, v128.load(address + lane));
    } else if (load<i32>(missing + ((<usize>i) << 2)) < 0) {
      for (let lane: usize = 0; lane < stride; lane += 16) v128.store(target + lane, outside);
    }
    target += stride;
  }
  return missingCount;
}

/** Why there is no value, in `reasons`. 0 where there is one. */
export const REASON_OUTSIDE: i32 = 1;
export const REASON_NODATA: i32 = 2;

/**
 * Steps to values: one f64 for each layer asked for.
 *
 * In   steps    u16[count][laneCount]
 *      lanes    i32[layerCount]: the lane of each layer; quickest where layer i has lane i
 *      quanta   f64[2][layerCount padded to 8]: steps per unit, offset; padded with 1 and 0
 * Out  values   f64[count][layerCount], NaN where there is none
 *      reasons  u8[count][layerCount]
 * Needs    64 bytes to spare behind values and reasons: vectors are written whole
 */
export function stepsToValues(
  steps: usize,
  laneCount: i32,
  count: i32,
  lanes: usize,
  quanta: usize,
  layerCount: i32,
  values: usize,
  reasons: usize,
): void {
  let isInOrder = true;
  for (let layer = 0; layer < layerCount; layer++) {
    if (load<i32>(lanes + ((<usize>layer) << 2)) != layer) isInOrder = false;
  }
  const padded = (<usize>((layerCount + 7) & ~7)) << 3;
  let cell = steps,
    value = values,
    reason = reasons;
  for (let i = 0; i < count; i++) {
    if (isInOrder) {
      for (let layer = 0; layer < layerCount; layer += 8) {
        const at = (<usize>layer) << 3;
        const found = v128.load(cell + (at >> 2));
        const isNone = i16x8.gt_u(found, i16x8.splat(<i16>STEPS_MAX));
        const low = i32x4.extend_low_i16x8_u(found),
          high = i32x4.extend_high_i16x8_u(found);
        const quantum = quanta + at;
        storeValues(value + at, low, quantum, padded);
        storeValues(value + at + 16, i64x2.shuffle(low, low, 1, 1), quantum + 16, padded);
        storeValues(value + at + 32, high, quantum + 32, padded);
        storeValues(value + at + 48, i64x2.shuffle(high, high, 1, 1), quantum + 48, padded);
        v128.store64_lane(reason + <usize>layer, i8x16.splat(0), 0);
        if (v128.any_true(isNone)) {
          const last = min(layerCount, layer + 8);
          for (let lane = layer; lane < last; lane++) {
            const steps = <i32>load<u16>(cell + ((<usize>lane) << 1));
            if (steps > STEPS_MAX) storeNone(value + ((<usize>lane) << 3), reason + <usize>lane, steps);
          }
        }
      }
    } else {
      for (let layer = 0; layer < layerCount; layer++) {
        const at = (<usize>layer) << 3;
        const found = <i32>load<u16>(cell + ((<usize>load<i32>(lanes + (at >> 1))) << 1));
        store<f64>(value + at, <f64>found / load<f64>(quanta + at) + load<f64>(quanta + padded + at));
        store<u8>(reason + <usize>layer, 0);
        if (found > STEPS_MAX) storeNone(value + at, reason + <usize>layer, found);
      }
    }
    cell += (<usize>laneCount) << 1;
    value += (<usize>layerCount) << 3;
    reason += <usize>layerCount;
  }
}

/** Two values from the two low lanes of `steps`. */
function storeValues(value: usize, steps: v128, quantum: usize, padded: usize): void {
  const exact = f64x2.div(f64x2.convert_low_i32x4_u(steps), v128.load(quantum));
  v128.store(value, f64x2.add(exact, v128.load(quantum + padded)));
}

function storeNone(value: usize, reason: usize, steps: i32): void {
  store<f64>(value, NaN);
  store<u8>(reason, steps == STEPS_OUTSIDE ? <u8>REASON_OUTSIDE : <u8>REASON_NODATA);
}
