/** Odd multipliers that keep the three axes of the lattice, and the four lanes, apart. */
const AXIS_X: i32 = 0x27d4eb2f;
const AXIS_Y: i32 = 0x165667b1;
const AXIS_Z: i32 = 0x5bd1e995;

/**
 * Four independent smooth random fields over space, at one place.
 *
 * In       x, y, z  the place, in wavelengths; |coordinate| below 2^30
 *          seed     another seed, another four fields
 * Out      f32x4, each from -1 to 1; continuous with its first and second derivatives
 * Formula  Value noise: a hash of each corner of the unit cube around the place, blended with
 *          Perlin's quintic 6t^5 - 15t^4 + 10t^3 ("Improving Noise", SIGGRAPH 2002). The hash ends in the
 *          finaliser of MurmurHash3. In space and not on the map, so that no meridian and no
 *          pole shows.
 * Cost     About 25 ns; the four lanes share it.
 */
export function noise4(x: f64, y: f64, z: f64, seed: i32): v128 {
  const floorX = Math.floor(x),
    floorY = Math.floor(y),
    floorZ = Math.floor(z);
  const tx = blend(<f32>(x - floorX)),
    ty = blend(<f32>(y - floorY)),
    tz = blend(<f32>(z - floorZ));
  const lanes = i32x4.add(i32x4(0x3c6ef372, 0x1b873593, 0x52dce729, 0x38495ab5), i32x4.splat(seed));
  const corner = <i32>floorX * AXIS_X + <i32>floorY * AXIS_Y + <i32>floorZ * AXIS_Z;

  const near = between(
    between(hashed(lanes, corner), hashed(lanes, corner + AXIS_X), tx),
    between(hashed(lanes, corner + AXIS_Y), hashed(lanes, corner + AXIS_Y + AXIS_X), tx),
    ty,
  );
  const far = between(
    between(hashed(lanes, corner + AXIS_Z), hashed(lanes, corner + AXIS_Z + AXIS_X), tx),
    between(hashed(lanes, corner + AXIS_Z + AXIS_Y), hashed(lanes, corner + AXIS_Z + AXIS_Y + AXIS_X), tx),
    ty,
  );
  return between(near, far, tz);
}

function blend(t: f32): v128 {
  return f32x4.splat(t * t * t * (t * (t * 6 - 15) + 10));
}

function between(from: v128, to: v128, share: v128): v128 {
  return f32x4.add(from, f32x4.mul(f32x4.sub(to, from), share));
}

/** Four numbers from -1 to 1 for one corner of the lattice. */
function hashed(lanes: v128, corner: i32): v128 {
  let hash = i32x4.mul(v128.xor(lanes, i32x4.splat(corner)), i32x4.splat(0x2c1b3c6d));
  hash = v128.xor(hash, i32x4.shr_u(hash, 16));
  hash = i32x4.mul(hash, i32x4.splat(<i32>0x85ebca6b));
  hash = v128.xor(hash, i32x4.shr_u(hash, 13));
  hash = i32x4.mul(hash, i32x4.splat(<i32>0xc2b2ae35));
  hash = v128.xor(hash, i32x4.shr_u(hash, 16));
  return f32x4.mul(f32x4.convert_i32x4_s(hash), f32x4.splat(4.6566128730773926e-10)); // 2^-31
}
