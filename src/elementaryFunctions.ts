/**
 * exp, log and power with the same result in every JavaScript engine. ECMAScript leaves the last digits of `Math.exp` and its
 * relatives to the engine: Node.js 20 and Chromium 156 differ in a tenth of the results, and answers must not depend on where they
 * are computed. The errors are below one unit in the last place.
 *
 * Translated from FreeBSD's msun (e_exp.c, s_expm1.c, e_log.c, s_log1p.c, e_pow.c), with this notice:
 *
 * Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc. business.
 * Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is preserved.
 */

const view = new DataView(new ArrayBuffer(8));

/** Returns the upper 32 bits: sign, exponent and 20 bits of the fraction. */
function highWord(value: number): number {
  view.setFloat64(0, value);
  return view.getInt32(0);
}

function withHighWord(value: number, word: number): number {
  view.setFloat64(0, value);
  view.setInt32(0, word);
  return view.getFloat64(0);
}

function withoutLowWord(value: number): number {
  view.setFloat64(0, value);
  view.setInt32(4, 0);
  return view.getFloat64(0);
}

/** Returns value * 2^exponent. */
function scale(value: number, exponent: number): number {
  let scaled = value;
  let rest = exponent;
  for (; rest > 1023; rest -= 1023) scaled *= 2 ** 1023;
  for (; rest < -969; rest += 969) scaled *= 2 ** -969;
  return scaled * 2 ** rest;
}

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
/** Above it, exp overflows. */
const EXP_MAX = 709.782712893384;

/** Returns x(exp(x) + 1) / (exp(x) - 1) by the square of x, minus the first term; |x| at most ln(2) / 2. */
function exponentialRest(x: number): number {
  const square = x * x;
  return (
    x -
    square *
      (0.16666666666666602 +
        square *
          (-0.0027777777777015593 +
            square * (6.613756321437934e-5 + square * (-1.6533902205465252e-6 + square * 4.1381367970572385e-8))))
  );
}

export function exp(x: number): number {
  const magnitude = highWord(x) & 0x7fffffff;
  if (!(x <= EXP_MAX)) return Number.isNaN(x) ? NaN : Infinity;
  if (x < -745.1332191019411) return 0;
  if (magnitude <= 0x3e300000) return 1 + x;
  if (x === 1) return Math.E;
  let [high, low, k] = [x, 0, 0];
  if (magnitude > 0x3fd62e42) {
    k = magnitude < 0x3ff0a2b2 ? Math.sign(x) : Math.trunc(Math.LOG2E * x + (x < 0 ? -0.5 : 0.5));
    high = x - k * LN2_HIGH;
    low = k * LN2_LOW;
  }
  const reduced = high - low;
  const rest = exponentialRest(reduced);
  if (k === 0) return 1 - ((reduced * rest) / (rest - 2) - reduced);
  return scale(1 - (low - (reduced * rest) / (2 - rest) - high), k);
}

/** Returns exp(x) - 1, also precisely near 0. */
export function expm1(x: number): number {
  const magnitude = highWord(x) & 0x7fffffff;
  if (Number.isNaN(x)) return NaN;
  if (x > EXP_MAX) return Infinity;
  if (magnitude >= 0x4043687a && x < 0) return -1;
  if (magnitude < 0x3c900000) return x;
  let [reduced, correction, k] = [x, 0, 0];
  if (magnitude > 0x3fd62e42) {
    k = magnitude < 0x3ff0a2b2 ? Math.sign(x) : Math.trunc(Math.LOG2E * x + (x < 0 ? -0.5 : 0.5));
    const high = x - k * LN2_HIGH;
    const low = k * LN2_LOW;
    reduced = high - low;
    correction = high - reduced - low;
  }
  const half = 0.5 * reduced;
  const square = reduced * half;
  const r =
    1 +
    square *
      (-0.03333333333333313 +
        square *
          (0.0015873015872548146 +
            square * (-7.93650757867488e-5 + square * (4.008217827329362e-6 + square * -2.0109921818362437e-7))));
  const t = 3 - r * half;
  let e = square * ((r - t) / (6 - reduced * t));
  if (k === 0) return reduced - (reduced * e - square);
  e = reduced * (e - correction) - correction - square;
  if (k === -1) return 0.5 * (reduced - e) - 0.5;
  if (k === 1) return reduced < -0.25 ? -2 * (e - (reduced + 0.5)) : 1 + 2 * (reduced - e);
  if (k <= -2 || k > 56) return scale(1 - (e - reduced), k) - 1;
  if (k < 20) return scale(1 - 2 ** -k - (e - reduced), k);
  return scale(reduced - (e + 2 ** -k) + 1, k);
}

/** Returns the series of log(1 + f) in s = f / (2 + f), which both logarithms use. */
function logarithmSeries(s: number): number {
  const z = s * s;
  const w = z * z;
  const even = w * (0.3999999999940942 + w * (0.22222198432149784 + w * 0.15313837699209373));
  const odd = z * (0.6666666666666735 + w * (0.2857142874366239 + w * (0.1818357216161805 + w * 0.14798198605116586)));
  return odd + even;
}

export function log(x: number): number {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN;
  if (x === Infinity) return Infinity;
  const isSubnormal = x < 2 ** -1022;
  const normal = isSubnormal ? x * 2 ** 54 : x;
  const word = highWord(normal);
  const fraction = word & 0xfffff;
  // 0x100000 if the fraction is above sqrt(2), so that the reduced number is between sqrt(1/2) and sqrt(2).
  const excess = (fraction + 0x95f64) & 0x100000;
  const k = (word >> 20) - 1023 + (excess >> 20) - (isSubnormal ? 54 : 0);
  const f = withHighWord(normal, fraction | (excess ^ 0x3ff00000)) - 1;
  if ((0xfffff & (2 + fraction)) < 3) {
    if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + k * LN2_LOW;
    const r = f * f * (0.5 - 0.3333333333333333 * f);
    return k === 0 ? f - r : k * LN2_HIGH - (r - k * LN2_LOW - f);
  }
  const s = f / (2 + f);
  const r = logarithmSeries(s);
  if (((fraction - 0x6147a) | (0x6b851 - fraction)) > 0) {
    const halfSquare = 0.5 * f * f;
    if (k === 0) return f - (halfSquare - s * (halfSquare + r));
    return k * LN2_HIGH - (halfSquare - (s * (halfSquare + r) + k * LN2_LOW) - f);
  }
  return k === 0 ? f - s * (f - r) : k * LN2_HIGH - (s * (f - r) - k * LN2_LOW - f);
}

/** Returns log(1 + x), also precisely near 0. */
export function log1p(x: number): number {
  if (!(x > -1)) return x === -1 ? -Infinity : NaN;
  if (x === Infinity) return Infinity;
  const word = highWord(x);
  const magnitude = word & 0x7fffffff;
  let [k, f, correction, fractionWord] = [0, x, 0, 1];
  if (word < 0x3fda827a) {
    if (magnitude < 0x3e200000) return magnitude < 0x3c900000 ? x : x - x * x * 0.5;
  }
  const isSmall = word < 0x3fda827a && (word > 0 || word <= (0xbfd2bec4 | 0));
  if (!isSmall) {
    const sum = magnitude < 0x43400000 ? 1 + x : x;
    const sumWord = highWord(sum);
    k = (sumWord >> 20) - 1023;
    if (magnitude < 0x43400000) correction = (k > 0 ? 1 - (sum - x) : x - (sum - 1)) / sum;
    fractionWord = sumWord & 0xfffff;
    if (fractionWord < 0x6a09e) f = withHighWord(sum, fractionWord | 0x3ff00000) - 1;
    else {
      k += 1;
      f = withHighWord(sum, fractionWord | 0x3fe00000) - 1;
      fractionWord = (0x100000 - fractionWord) >> 2;
    }
  }
  const halfSquare = 0.5 * f * f;
  if (fractionWord === 0) {
    if (f === 0) return k === 0 ? 0 : k * LN2_HIGH + (correction + k * LN2_LOW);
    const r = halfSquare * (1 - 0.6666666666666666 * f);
    return k === 0 ? f - r : k * LN2_HIGH - (r - (k * LN2_LOW + correction) - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const r =
    z *
    (0.6666666666666735 +
      z *
        (0.3999999999940942 +
          z *
            (0.2857142874366239 +
              z *
                (0.22222198432149784 +
                  z * (0.1818357216161805 + z * (0.15313837699209373 + z * 0.14798198605116586))))));
  if (k === 0) return f - (halfSquare - s * (halfSquare + r));
  return k * LN2_HIGH - (halfSquare - (s * (halfSquare + r) + (k * LN2_LOW + correction)) - f);
}

/** Returns base^exponent for a base above 0 and a result that neither overflows nor underflows. */
export function power(base: number, exponent: number): number {
  if (exponent === 0 || base === 1) return 1;
  if (exponent === 1) return base;
  if (exponent === 2) return base * base;
  if (exponent === -1) return 1 / base;
  if (exponent === 0.5) return Math.sqrt(base);
  // log2(base) in two parts, and its product with the exponent in two parts.
  const [logHigh, logLow] = binaryLogarithm(base);
  const exponentHigh = withoutLowWord(exponent);
  const productLow = (exponent - exponentHigh) * logHigh + exponent * logLow;
  let productHigh = exponentHigh * logHigh;
  // 2^(productHigh + productLow)
  const word = highWord(productLow + productHigh);
  const magnitude = word & 0x7fffffff;
  let n = 0;
  if (magnitude > 0x3fe00000) {
    const rounded = word + (0x100000 >> ((magnitude >> 20) - 1022));
    const k = ((rounded & 0x7fffffff) >> 20) - 1023;
    const whole = withHighWord(0, rounded & ~(0xfffff >> k));
    n = ((rounded & 0xfffff) | 0x100000) >> (20 - k);
    if (word < 0) n = -n;
    productHigh -= whole;
  }
  const t = withoutLowWord(productLow + productHigh);
  const u = t * 0.6931471824645996;
  const v = (productLow - (t - productHigh)) * Math.LN2 + t * -1.904654299957768e-9;
  const z = u + v;
  const w = v - (z - u);
  const rest = exponentialRest(z);
  return scale(1 - ((z * rest) / (rest - 2) - (w + z * w) - z), n);
}

/** Returns log2(x) of a positive number as the sum of two numbers, the first of which has a short fraction. */
function binaryLogarithm(x: number): readonly [number, number] {
  const isSubnormal = x < 2 ** -1022;
  const normal = isSubnormal ? x * 2 ** 53 : x;
  const word = highWord(normal);
  const fraction = word & 0xfffff;
  let n = (word >> 20) - 1023 - (isSubnormal ? 53 : 0);
  let interval = 0;
  let reducedWord = fraction | 0x3ff00000;
  if (fraction > 0x3988e && fraction < 0xbb67a) interval = 1;
  else if (fraction >= 0xbb67a) {
    n += 1;
    reducedWord -= 0x100000;
  }
  const a = withHighWord(normal, reducedWord);
  const breakpoint = interval === 1 ? 1.5 : 1;
  const u = a - breakpoint;
  const v = 1 / (a + breakpoint);
  const s = u * v;
  const sHigh = withoutLowWord(s);
  const tHigh = withHighWord(0, ((reducedWord >> 1) | 0x20000000) + 0x80000 + (interval << 18));
  const tLow = a - (tHigh - breakpoint);
  const sLow = v * (u - sHigh * tHigh - sHigh * tLow);
  const square = s * s;
  const r =
    square *
      square *
      (0.5999999999999946 +
        square *
          (0.4285714285785502 +
            square *
              (0.33333332981837743 +
                square * (0.272728123808534 + square * (0.23066074577556175 + square * 0.20697501780033842))))) +
    sLow * (sHigh + s);
  const highSquare = sHigh * sHigh;
  const sumHigh = withoutLowWord(3 + highSquare + r);
  const sumLow = r - (sumHigh - 3 - highSquare);
  const productHigh = sHigh * sumHigh;
  const productLow = sLow * sumHigh + sumLow * s;
  const pHigh = withoutLowWord(productHigh + productLow);
  const pLow = productLow - (pHigh - productHigh);
  const zHigh = 0.9617967009544373 * pHigh;
  const zLow = -7.028461650952758e-9 * pHigh + pLow * 0.9617966939259756 + (interval === 1 ? 1.350039202129749e-8 : 0);
  const breakpointLog = interval === 1 ? 0.5849624872207642 : 0;
  const high = withoutLowWord(zHigh + zLow + breakpointLog + n);
  return [high, zLow - (high - n - breakpointLog - zHigh)];
}
