/** Cumulative standard normal distribution, with a relative error of about 1e-15 in both tails. */
import { exp, log } from "../numerics/elementaryFunctions.ts";
export function normalCdf(z: number): number {
  return erfc(-z / Math.SQRT2) / 2;
}

/**
 * Complementary error function with a relative error of about 1e-15, by the rational approximations of W. J. Cody
 * ("Rational Chebyshev approximations for the error function", Math. Comp. 23, 1969) in three ranges.
 */
export function erfc(x: number): number {
  const size = Math.abs(x);
  if (size <= 0.46875) return 1 - x * quotient(size * size, NEAR);
  const tail = size > UNDERFLOW_MIN ? 0 : size <= 4 ? middleTail(size) : farTail(size);
  return x < 0 ? 2 - tail : tail;
}

/** Above this, the result is below the smallest positive number, 5e-324. */
const UNDERFLOW_MIN = 27.3;

interface Quotient {
  readonly numerator: readonly number[];
  readonly denominator: readonly number[];
}

/** erf(x) / x as a function of x², coefficients from the highest power down. */
const NEAR: Quotient = {
  numerator: [0.18577770618460315, 3.1611237438705655, 113.86415415105016, 377.485237685302, 3209.3775891384694],
  denominator: [1, 23.601290952344122, 244.02463793444417, 1282.6165260773723, 2844.236833439171],
};
/** exp(x²) erfc(x) as a function of x, for x up to 4. */
const MIDDLE: Quotient = {
  numerator: [
    2.1531153547440383e-8, 0.5641884969886701, 8.883149794388377, 66.11919063714163, 298.6351381974001,
    881.952221241769, 1712.0476126340707, 2051.0783778260716, 1230.3393547979972,
  ],
  denominator: [
    1, 15.744926110709835, 117.6939508913125, 537.1811018620099, 1621.3895745666903, 3290.7992357334597,
    4362.619090143247, 3439.3676741437216, 1230.3393548037495,
  ],
};
/** x² (1/√π - x exp(x²) erfc(x)) as a function of 1/x². */
const FAR: Quotient = {
  numerator: [
    0.016315387137302097, 0.30532663496123236, 0.36034489994980445, 0.12578172611122926, 0.016083785148742275,
    0.0006587491615298378,
  ],
  denominator: [
    1, 2.568520192289822, 1.8729528499234604, 0.5279051029514285, 0.06051834131244132, 0.0023352049762686918,
  ],
};

function middleTail(x: number): number {
  return expOfMinusSquare(x) * quotient(x, MIDDLE);
}

function farTail(x: number): number {
  const inverse = 1 / (x * x);
  return (expOfMinusSquare(x) * (1 / Math.sqrt(Math.PI) - inverse * quotient(inverse, FAR))) / x;
}

/** exp(-x²) with the square split into two parts, because its rounding error grows with the square. */
function expOfMinusSquare(x: number): number {
  const coarse = Math.trunc(16 * x) / 16;
  return exp(-coarse * coarse) * exp(-(x - coarse) * (x + coarse));
}

function quotient(x: number, { numerator, denominator }: Quotient): number {
  return polynomial(x, numerator) / polynomial(x, denominator);
}

function polynomial(x: number, coefficients: readonly number[]): number {
  let sum = 0;
  for (const coefficient of coefficients) sum = sum * x + coefficient;
  return sum;
}

/**
 * Quantile of the standard normal distribution, for p between 0 and 1, both excluded. M. J. Wichura, "Algorithm AS 241",
 * Applied Statistics 37 (1988), with a relative error of about 1e-16.
 */
export function normalQuantile(p: number): number {
  const offset = p - 0.5;
  if (Math.abs(offset) <= 0.425) return offset * quotient(0.180625 - offset * offset, CENTRAL_QUANTILE);
  // 1 - p is exact for p above 0.5.
  const depth = Math.sqrt(-log(offset < 0 ? p : 1 - p));
  const quantile = depth <= 5 ? quotient(depth - 1.6, TAIL_QUANTILE) : quotient(depth - 5, FAR_TAIL_QUANTILE);
  return offset < 0 ? -quantile : quantile;
}

const CENTRAL_QUANTILE: Quotient = {
  numerator: [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
    133.14166789178438, 3.3871328727963665,
  ],
  denominator: [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
    42.31333070160091, 1,
  ],
};
const TAIL_QUANTILE: Quotient = {
  numerator: [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
    5.769497221460691, 4.630337846156546, 1.4234371107496835,
  ],
  denominator: [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
    1.6763848301838038, 2.053191626637759, 1,
  ],
};
const FAR_TAIL_QUANTILE: Quotient = {
  numerator: [
    2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
    1.7848265399172913, 5.463784911164114, 6.657904643501103,
  ],
  denominator: [
    2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133, 0.014875361290850615,
    0.1369298809227358, 0.599832206555888, 1,
  ],
};
