/** Odd multipliers that decorrelate the three axes. */
const AXIS_X: i32 = 0x27d4eb2f;
const AXIS_Y: i32 = 0x165667b1;
const AXIS_Z: i32 = 0x5bd1e995;

/**
 * Evaluates four independent smooth noise functions at one point in space.
 *
 * In       x, y, z  the point, in wavelengths; |coordinate| below 2^30
 *          seed     selects the four functions
 * Returns  f32x4, each from -1 to 1; continuous, with continuous first and second derivatives
 * Formula  Value noise: a hash of each corner of the unit cube around the point, interpolated with Perlin's quintic
 *          6t^5 - 15t^4 + 10t^3 ("Improving Noise", SIGGRAPH 2002). The hash ends in the finalizer of MurmurHash3.
 *          The noise is a function of position in space rather than of latitude and longitude, so there are no
 *          artifacts at the antimeridian and the poles.
 * Cost     About 25 ns for all four.
 */
export function noise4(x: f64, y: f64, z: f64, seed: i32): v128 {
  const floorX = Math.floor(x),
    floorY = Math.floor(y),
    floorZ = Math.floor(z);
  const tx = fade(<f32>(x - floorX)),
    ty = fade(<f32>(y - floorY)),
    tz = fade(<f32>(z - floorZ));
  const lanes = i32x4.add(i32x4(0x3c6ef372, 0x1b873593, 0x52dce729, 0x38495ab5), i32x4.splat(seed));
  const corner = <i32>floorX * AXIS_X + <i32>floorY * AXIS_Y + <i32>floorZ * AXIS_Z;

  const near = lerp(
    lerp(hashCorner(lanes, corner), hashCorner(lanes, corner + AXIS_X), tx),
    lerp(hashCorner(lanes, corner + AXIS_Y), hashCorner(lanes, corner + AXIS_Y + AXIS_X), tx),
    ty,
  );
  const far = lerp(
    lerp(hashCorner(lanes, corner + AXIS_Z), hashCorner(lanes, corner + AXIS_Z + AXIS_X), tx),
    lerp(hashCorner(lanes, corner + AXIS_Z + AXIS_Y), hashCorner(lanes, corner + AXIS_Z + AXIS_Y + AXIS_X), tx),
    ty,
  );
  return lerp(near, far, tz);
}

function fade(t: f32): v128 {
  return f32x4.splat(t * t * t * (t * (t * 6 - 15) + 10));
}

function lerp(from: v128, to: v128, share: v128): v128 {
  return f32x4.add(from, f32x4.mul(f32x4.sub(to, from), share));
}

/** Returns four numbers from -1 to 1 for one corner of the unit cube. */
function hashCorner(lanes: v128, corner: i32): v128 {
  let hash = i32x4.mul(v128.xor(lanes, i32x4.splat(corner)), i32x4.splat(0x2c1b3c6d));
  hash = v128.xor(hash, i32x4.shr_u(hash, 16));
  hash = i32x4.mul(hash, i32x4.splat(<i32>0x85ebca6b));
  hash = v128.xor(hash, i32x4.shr_u(hash, 13));
  hash = i32x4.mul(hash, i32x4.splat(<i32>0xc2b2ae35));
  hash = v128.xor(hash, i32x4.shr_u(hash, 16));
  return f32x4.mul(f32x4.convert_i32x4_s(hash), f32x4.splat(4.6566128730773926e-10)); // 2^-31
}
