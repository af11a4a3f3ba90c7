import { CREDIT_TERM_YEARS, RISK_FREE_RATE } from "./methodConstants.ts";
import { normalCdf, normalQuantile } from "./normalDistribution.ts";
import { expm1, log, log1p } from "../numerics/elementaryFunctions.ts";

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
