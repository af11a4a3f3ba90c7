import { CREDIT_TERM_YEARS, RISK_FREE_RATE } from "./methodConstants.ts";

/**
 * Returns the probability that a company defaults within five years (Merton 1974), i.e. that the value of its assets, a
 * geometric Brownian motion, ends below its debt.
 *
 * @param of.assets value of the assets, in the same currency as `debt`; debt is at least 0
 * @param of.volatility annual volatility of the value of the assets, above 0
 */
export function defaultProbability(of: {
  readonly assets: number;
  readonly debt: number;
  readonly volatility: number;
}): number {
  const { assets, debt, volatility } = of;
  if (debt === 0) return 0;
  if (assets <= 0) return 1;
  const drift = (RISK_FREE_RATE - (volatility * volatility) / 2) * CREDIT_TERM_YEARS;
  const distance = (Math.log(assets / debt) + drift) / (volatility * Math.sqrt(CREDIT_TERM_YEARS));
  return erfc(distance / Math.SQRT2) / 2;
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

/** The result underflows to 0 above this. */
const UNDERFLOW_MIN = 27;

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
  return Math.exp(-coarse * coarse) * Math.exp(-(x - coarse) * (x + coarse));
}

function quotient(x: number, { numerator, denominator }: Quotient): number {
  return polynomial(x, numerator) / polynomial(x, denominator);
}

function polynomial(x: number, coefficients: readonly number[]): number {
  let sum = 0;
  for (const coefficient of coefficients) sum = sum * x + coefficient;
  return sum;
}
