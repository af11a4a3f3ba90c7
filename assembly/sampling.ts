import { STEPS_MAX, STEPS_OUTSIDE } from "./cells";
import {
  cellLatOf,
  cellLonOf,
  cellTilesOf,
  columnCountOf,
  northOf,
  rowCountOf,
  tileColumnCountOf,
  useTile,
  vectorCountOf,
  westOf,
} from "./field";
import { locate } from "./points";

/**
 * Finds the address of the cell that contains each location.
 *
 * In       latitudes, longitudes  f64[count], degrees
 *          outside        address of a cell that has STEPS_OUTSIDE in every lane
 * Out      addresses      u32[count]; `outside` for locations outside the grid and for those whose tile is not in
 *                         memory
 *          missing        i32[count][2]: index of a location whose tile is not in memory, index of the tile
 * Scratch  rows, columns  i32[count]
 * Returns  the number of entries in `missing`
 * Cost     Two passes: branch-free arithmetic, then the directory lookups. `gatherCells` reads the cells, so that the
 *          processor can overlap its cache misses.
 */
export function findCellAddresses(
  field: usize,
  latitudes: usize,
  longitudes: usize,
  count: i32,
  outside: usize,
  addresses: usize,
  missing: usize,
  rows: usize,
  columns: usize,
): i32 {
  locate(
    northOf(field),
    westOf(field),
    cellLatOf(field),
    cellLonOf(field),
    rowCountOf(field),
    columnCountOf(field),
    latitudes,
    longitudes,
    count,
    rows,
    columns,
  );
  const stride = (<usize>vectorCountOf(field)) << 4;
  const tiles = cellTilesOf(field),
    tileColumns = tileColumnCountOf(field);
  let missingCount = 0;
  for (let i = 0; i < count; i++) {
    const offset = (<usize>i) << 2;
    const row = load<i32>(rows + offset),
      column = load<i32>(columns + offset);
    let address = outside;
    if (row >= 0) {
      const tileIndex = (row >> 6) * tileColumns + (column >> 6);
      const tile = useTile(tiles, tileIndex);
      if (tile != 0) {
        address = tile + <usize>(((row & 63) << 6) + (column & 63)) * stride;
      } else {
        const entry = missing + ((<usize>missingCount) << 3);
        store<i32>(entry, i);
        store<i32>(entry, tileIndex, 4);
        missingCount++;
      }
    }
    store<u32>(addresses + offset, <u32>address);
  }
  return missingCount;
}

/**
 * Copies cells from scattered addresses into one array.
 *
 * In       addresses  u32[count]
 * Out      steps      u16[count][strideBytes / 2]: the first `strideBytes` bytes of each cell
 * Requires 64 spare bytes after steps: entire vectors are written, and the next cell overwrites the surplus
 * Cost     Dominated by cache misses; the loops are kept short so that the processor overlaps more of them.
 */
export function gatherCells(addresses: usize, count: i32, vectorCount: i32, steps: usize, strideBytes: i32): void {
  const end = addresses + ((<usize>count) << 2);
  let target = steps;
  if (vectorCount == 3) {
    for (let entry = addresses; entry < end; entry += 4) {
      const address = <usize>load<u32>(entry);
      v128.store(target, v128.load(address));
      v128.store(target, v128.load(address, 16), 16);
      v128.store(target, v128.load(address, 32), 32);
      target += <usize>strideBytes;
    }
  } else if (vectorCount == 1) {
    for (let entry = addresses; entry < end; entry += 4) {
      v128.store(target, v128.load(<usize>load<u32>(entry)));
      target += <usize>strideBytes;
    }
  } else {
    const stride = (<usize>vectorCount) << 4;
    for (let entry = addresses; entry < end; entry += 4) {
      const address = <usize>load<u32>(entry);
      for (let lane: usize = 0; lane < stride; lane += 16) v128.store(target + lane, v128.load(address + lane));
      target += <usize>strideBytes;
    }
  }
}

/**
 * Copies the selected lanes of many cells, in the order of `lanes`.
 *
 * In   cells  u16[count][laneCount]
 *      lanes  i32[layerCount]
 * Out  steps  u16[count][layerCount]
 */
export function selectLanes(
  cells: usize,
  laneCount: i32,
  count: i32,
  lanes: usize,
  layerCount: i32,
  steps: usize,
): void {
  let cell = cells,
    target = steps;
  for (let i = 0; i < count; i++) {
    for (let layer = 0; layer < layerCount; layer++) {
      const lane = <usize>load<i32>(lanes + ((<usize>layer) << 2));
      store<u16>(target, load<u16>(cell + (lane << 1)));
      target += 2;
    }
    cell += (<usize>laneCount) << 1;
  }
}

/** Entries of `reasons`: why a value is missing; 0 if it is not missing. */
export const REASON_OUTSIDE: i32 = 1;
export const REASON_NODATA: i32 = 2;

/**
 * Decodes the steps of the requested layers to values.
 *
 * In       steps      u16[count][laneCount]
 *          lanes      i32[layerCount]: the lane of each layer; fastest if layer i has lane i
 *          encodings  f64[3][layerCount padded to 8]: steps per unit, offset, value of 0 steps; padded with 1, 0 and 0
 * Out      values     f64[count][layerCount], NaN where missing
 *          reasons    u8[count][layerCount], REASON_*
 * Requires 64 spare bytes after values and reasons: entire vectors are written
 * Cost     Most cells of most maps are 0 in every layer; for these, eight precomputed values at a time are copied.
 */
export function stepsToValues(
  steps: usize,
  laneCount: i32,
  count: i32,
  lanes: usize,
  encodings: usize,
  layerCount: i32,
  values: usize,
  reasons: usize,
): void {
  for (let layer = 0; layer < layerCount; layer++) {
    if (load<i32>(lanes + ((<usize>layer) << 2)) != layer) {
      selectedStepsToValues(steps, laneCount, count, lanes, encodings, layerCount, values, reasons);
      return;
    }
  }
  const padded = (<usize>((layerCount + 7) & ~7)) << 3;
  const lastGroup = (<usize>(layerCount & ~7)) << 3;
  // The lanes after the last layer hold STEPS_OUTSIDE; they are set to 0 so that they do not prevent the fast path.
  const isLayer = i16x8.lt_s(i16x8(0, 1, 2, 3, 4, 5, 6, 7), i16x8.splat(<i16>(layerCount & 7)));
  let cell = steps,
    value = values,
    reason = reasons;
  for (let i = 0; i < count; i++) {
    for (let offset: usize = 0; offset < padded; offset += 64) {
      let cellSteps = v128.load(cell + (offset >> 2));
      if (offset == lastGroup) cellSteps = v128.and(cellSteps, isLayer);
      v128.store64_lane(reason + (offset >> 3), i8x16.splat(0), 0);
      const target = value + offset,
        encoding = encodings + offset;
      if (!v128.any_true(cellSteps)) {
        const zero = encoding + 2 * padded;
        v128.store(target, v128.load(zero));
        v128.store(target, v128.load(zero, 16), 16);
        v128.store(target, v128.load(zero, 32), 32);
        v128.store(target, v128.load(zero, 48), 48);
        continue;
      }
      const low = i32x4.extend_low_i16x8_u(cellSteps),
        high = i32x4.extend_high_i16x8_u(cellSteps);
      storeValues(target, low, encoding, padded);
      storeValues(target + 16, i64x2.shuffle(low, low, 1, 1), encoding + 16, padded);
      storeValues(target + 32, high, encoding + 32, padded);
      storeValues(target + 48, i64x2.shuffle(high, high, 1, 1), encoding + 48, padded);
      let missing = i16x8.bitmask(i16x8.gt_u(cellSteps, i16x8.splat(<i16>STEPS_MAX)));
      while (missing != 0) {
        const lane = <usize>ctz(missing);
        storeMissing(
          target + (lane << 3),
          reason + (offset >> 3) + lane,
          <i32>load<u16>(cell + (offset >> 2) + (lane << 1)),
        );
        missing &= missing - 1;
      }
    }
    cell += (<usize>laneCount) << 1;
    value += (<usize>layerCount) << 3;
    reason += <usize>layerCount;
  }
}

/** Decodes like `stepsToValues`, for layers that are not in the order of their lanes. */
function selectedStepsToValues(
  steps: usize,
  laneCount: i32,
  count: i32,
  lanes: usize,
  encodings: usize,
  layerCount: i32,
  values: usize,
  reasons: usize,
): void {
  const padded = (<usize>((layerCount + 7) & ~7)) << 3;
  let cell = steps,
    value = values,
    reason = reasons;
  for (let i = 0; i < count; i++) {
    for (let layer = 0; layer < layerCount; layer++) {
      const offset = (<usize>layer) << 3;
      const cellSteps = <i32>load<u16>(cell + ((<usize>load<i32>(lanes + (offset >> 1))) << 1));
      store<f64>(
        value + offset,
        <f64>cellSteps / load<f64>(encodings + offset) + load<f64>(encodings + padded + offset),
      );
      store<u8>(reason + <usize>layer, 0);
      if (cellSteps > STEPS_MAX) storeMissing(value + offset, reason + <usize>layer, cellSteps);
    }
    cell += (<usize>laneCount) << 1;
    value += (<usize>layerCount) << 3;
    reason += <usize>layerCount;
  }
}

/** Stores the values of the two low lanes of `steps`, u32[4]. */
function storeValues(value: usize, steps: v128, encoding: usize, padded: usize): void {
  const exact = f64x2.div(f64x2.convert_low_i32x4_u(steps), v128.load(encoding));
  v128.store(value, f64x2.add(exact, v128.load(encoding + padded)));
}

/** Stores NaN and the reason for steps above STEPS_MAX. */
function storeMissing(value: usize, reason: usize, steps: i32): void {
  store<f64>(value, NaN);
  store<u8>(reason, steps == STEPS_OUTSIDE ? <u8>REASON_OUTSIDE : <u8>REASON_NODATA);
}
