import { CREDIT_TERM_YEARS, RISK_FREE_RATE } from "./methodConstants.ts";
import { erfc, expm1, log, log1p } from "../numerics/elementaryFunctions.ts";

/**
 * Returns the probability that a company defaults within five years (Merton 1974), i.e. that the value of its assets, a
 * geometric Brownian motion, ends below its debt.
 *
 * @param of.assets value of the assets, above 0, in the same currency as `debt`; debt is at least 0
 * @param of.volatility annual volatility of the value of the assets, above 0
 */
export function fiveYearDefaultProbability(of: {
  readonly assets: number;
  readonly debt: number;
  readonly volatility: number;
}): number {
  const { assets, debt, volatility } = of;
  if (debt === 0) return 0;
  const drift = (RISK_FREE_RATE - (volatility * volatility) / 2) * CREDIT_TERM_YEARS;
  return normalCdf(-(log(assets / debt) + drift) / (volatility * Math.sqrt(CREDIT_TERM_YEARS)));
}

/** Converts a five-year probability to one year, at a constant rate of default. */
export function oneYearDefaultProbability(fiveYears: number): number {
  return -expm1(log1p(-fiveYears) / CREDIT_TERM_YEARS) + 0;
}

/**
 * Returns a one-year probability after a loss of value, which shifts the distance to default as it shifts the five-year one.
 * Probabilities of 0 and 1 do not change.
 */
export function shiftedDefaultProbability(
  probability: number,
  { lostValueShare, volatility }: { readonly lostValueShare: number; readonly volatility: number },
): number {
  if (probability === 0 || probability === 1) return probability;
  const shift = -log1p(-lostValueShare) / (volatility * Math.sqrt(CREDIT_TERM_YEARS));
  return normalCdf(normalQuantile(probability) + shift);
}

/** Cumulative standard normal distribution, with a relative error of about 1e-15 in both tails. */
export function normalCdf(z: number): number {
  return erfc(-z / Math.SQRT2) / 2;
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

/** A rational function, with its coefficients from the highest power down. */
interface Quotient {
  readonly numerator: readonly number[];
  readonly denominator: readonly number[];
}

function quotient(x: number, { numerator, denominator }: Quotient): number {
  return polynomial(x, numerator) / polynomial(x, denominator);
}

function polynomial(x: number, coefficients: readonly number[]): number {
  let sum = 0;
  for (const coefficient of coefficients) sum = sum * x + coefficient;
  return sum;
}
