import { STEPS_MAX, TILE_SIZE } from "./cells";
import { COUNT_SHIFT } from "./field";

/**
 * Copies the layers of a stored group into their lanes of a field's tile.
 *
 * In   source  u16[count][groupLayers], as stored
 *      lanes   i32[groupLayers]: the lane of each layer, -1 for layers to skip
 * Out  target  u16[count][laneCount]; other lanes are left unchanged
 */
export function copyToLanes16(
  source: usize,
  groupLayers: i32,
  lanes: usize,
  count: i32,
  target: usize,
  laneCount: i32,
): void {
  copyToLanes<u16>(source, groupLayers, lanes, count, target, laneCount);
}

/** Copies like `copyToLanes16`, for u32. */
export function copyToLanes32(
  source: usize,
  groupLayers: i32,
  lanes: usize,
  count: i32,
  target: usize,
  laneCount: i32,
): void {
  copyToLanes<u32>(source, groupLayers, lanes, count, target, laneCount);
}

function copyToLanes<T>(
  source: usize,
  groupLayers: i32,
  lanes: usize,
  count: i32,
  target: usize,
  laneCount: i32,
): void {
  const size = sizeof<T>();
  for (let layer = 0; layer < groupLayers; layer++) {
    const lane = load<i32>(lanes + ((<usize>layer) << 2));
    if (lane < 0) continue;
    let from = source + <usize>layer * size,
      to = target + <usize>lane * size;
    for (let i = 0; i < count; i++) {
      store<T>(to, load<T>(from));
      from += <usize>groupLayers * size;
      to += <usize>laneCount * size;
    }
  }
}

/**
 * Computes the prefixes of a tile: count * 2^22 + sum of the valid cells before each cell of a row, and after the last.
 *
 * In   cells     u16[64][64][lane]
 * Out  prefixes  u32[64][65][lane]
 */
export function prefixTile(cells: usize, vectorCount: i32, prefixes: usize): void {
  const stepsMax = i16x8.splat(<i16>STEPS_MAX);
  const one = i32x4.splat(1 << COUNT_SHIFT),
    zero = i32x4.splat(0);
  const stride = (<usize>vectorCount) << 4;
  for (let vector = 0; vector < vectorCount; vector++) {
    let cell = cells + ((<usize>vector) << 4);
    let prefix = prefixes + ((<usize>vector) << 5);
    for (let row = 0; row < TILE_SIZE; row++) {
      let low = zero,
        high = zero;
      v128.store(prefix, low);
      v128.store(prefix, high, 16);
      prefix += stride << 1;
      for (let column = 0; column < TILE_SIZE; column++) {
        const steps = v128.load(cell);
        const isValid = i16x8.le_u(steps, stepsMax);
        const valid = v128.and(steps, isValid);
        low = i32x4.add(
          low,
          i32x4.add(i32x4.extend_low_i16x8_u(valid), v128.and(i32x4.extend_low_i16x8_s(isValid), one)),
        );
        high = i32x4.add(
          high,
          i32x4.add(i32x4.extend_high_i16x8_u(valid), v128.and(i32x4.extend_high_i16x8_s(isValid), one)),
        );
        v128.store(prefix, low);
        v128.store(prefix, high, 16);
        cell += stride;
        prefix += stride << 1;
      }
    }
  }
}
