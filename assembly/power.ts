// Series coefficients, f64[]. Loaded from memory at each use, because V8 would otherwise rebuild a constant vector
// every time.
const LOG_TERMS: usize = memory.data<f64>(
  [
    // 2 / (2n + 1) / ln 2, n from 0 to 9
    2.8853900817779268, 0.9617966939259756, 0.5770780163555853, 0.4121985831111324, 0.3205988979753252,
    0.2623081892525388, 0.22195308321368667, 0.19235933878519512, 0.16972882833987804, 0.15186263588304877,
  ],
  16,
);
const EXP_TERMS: usize = memory.data<f64>(
  [
    // (ln 2)^n / n!, n from 0 to 12
    1,
    Math.LN2,
    0.24022650695910072,
    0.05550410866482158,
    0.009618129107628477,
    0.0013333558146428443,
    0.0001540353039338161,
    1.5252733804059841e-5,
    1.321548679014431e-6,
    1.01780860092397e-7,
    7.054911620801123e-9,
    4.4455382718708116e-10,
    2.5678435993488206e-11,
  ],
  16,
);
/** 2^52 + 1023: the sum with a small integer n has the biased exponent of 2^n in its lowest bits. */
const EXPONENT_MAGIC: f64 = 4503599627371519;
/** 2^52: its bits, combined by OR with a small integer n, are the float 2^52 + n. */
const INTEGER_MAGIC: f64 = 4503599627370496;
const MANTISSA_MASK: i64 = 0x000fffffffffffff;
/** sqrt(1/2): lower end of the range of mantissas around 1. */
const SQRT_HALF: f64 = Math.SQRT1_2;
const NORMAL_MIN: f64 = 2.2250738585072014e-308;
const RESULT_EXPONENT_MAX: f64 = 1022;

/**
 * Computes two powers in parallel.
 *
 * In       bases      0 or more, finite; subnormal numbers are treated as 0
 *          exponents  above 0, finite
 * Returns  bases ** exponents, limited to 2^-1022 to 2^1022; 0 for base 0. Relative error about
 *          1e-16 * (2 + |log2(result)|)
 * Formula  2^(exponent log2 base), with log2 by the series of artanh around 1 and 2^x by the exponential series around
 *          the nearest integer
 */
export function powers(bases: v128, exponents: v128): v128 {
  const one = f64x2.splat(1),
    sqrtHalf = f64x2.splat(SQRT_HALF);
  // base = mantissa * 2^exponent with the mantissa from sqrt(1/2) to sqrt(2), so that bases near 1 keep full precision.
  const offset = i64x2.add(i64x2.sub(bases, sqrtHalf), one);
  const biased = i64x2.shr_u(offset, 52);
  const mantissas = i64x2.add(v128.and(offset, i64x2.splat(MANTISSA_MASK)), sqrtHalf);
  const integerLogs = f64x2.sub(v128.or(biased, f64x2.splat(INTEGER_MAGIC)), f64x2.splat(EXPONENT_MAGIC));
  const s = f64x2.div(f64x2.sub(mantissas, one), f64x2.add(mantissas, one)),
    z = f64x2.mul(s, s);
  const series = logSeries(z);
  const logs = f64x2.add(integerLogs, f64x2.mul(s, series));

  const limit = f64x2.splat(RESULT_EXPONENT_MAX);
  const x = f64x2.pmax(f64x2.neg(limit), f64x2.pmin(limit, f64x2.mul(exponents, logs)));
  const nearest = f64x2.nearest(x),
    rest = f64x2.sub(x, nearest);
  const result = expSeries(rest);
  const scales = i64x2.shl(f64x2.add(nearest, f64x2.splat(EXPONENT_MAGIC)), 52);
  return v128.and(f64x2.mul(result, scales), f64x2.ge(bases, f64x2.splat(NORMAL_MIN)));
}

// Estrin's scheme rather than Horner's: the shorter dependency chain is faster.

function logSeries(z: v128): v128 {
  const z2 = f64x2.mul(z, z),
    z4 = f64x2.mul(z2, z2);
  const low = f64x2.add(pairOfTerms(LOG_TERMS, 0, z), f64x2.mul(z2, pairOfTerms(LOG_TERMS, 16, z))),
    middle = f64x2.add(pairOfTerms(LOG_TERMS, 32, z), f64x2.mul(z2, pairOfTerms(LOG_TERMS, 48, z)));
  return f64x2.add(low, f64x2.mul(z4, f64x2.add(middle, f64x2.mul(z4, pairOfTerms(LOG_TERMS, 64, z)))));
}

function expSeries(x: v128): v128 {
  const x2 = f64x2.mul(x, x),
    x4 = f64x2.mul(x2, x2),
    x8 = f64x2.mul(x4, x4);
  const low = f64x2.add(pairOfTerms(EXP_TERMS, 0, x), f64x2.mul(x2, pairOfTerms(EXP_TERMS, 16, x))),
    middle = f64x2.add(pairOfTerms(EXP_TERMS, 32, x), f64x2.mul(x2, pairOfTerms(EXP_TERMS, 48, x))),
    high = f64x2.add(pairOfTerms(EXP_TERMS, 64, x), f64x2.mul(x2, pairOfTerms(EXP_TERMS, 80, x)));
  const highest = f64x2.add(high, f64x2.mul(x4, v128.load64_splat(EXP_TERMS, 96)));
  return f64x2.add(f64x2.add(low, f64x2.mul(x4, middle)), f64x2.mul(x8, highest));
}

function pairOfTerms(terms: usize, at: usize, x: v128): v128 {
  return f64x2.add(v128.load64_splat(terms + at), f64x2.mul(v128.load64_splat(terms + at + 8), x));
}
