import { convergenceRevenueMUSD2022 } from "./convergenceRevenue.ts";
import type { Entity } from "../contract/wireTypes.ts";

/** Currency of the industry intensities that convergence compares with. */
const CURRENCY = "USD";

/**
 * Returns the revenue of the baseline year in million USD of 2022; NaN if it is missing or not positive, or if its
 * currency is not USD or its price year is not given. Other currencies are not converted, because the package contains no
 * exchange rates.
 */
export function revenueMUSDOf(financials: Entity["data"][number]["financials"]): number {
  const { revenue = NaN, currency, price_year = NaN } = financials ?? {};
  return currency === CURRENCY && revenue > 0 ? convergenceRevenueMUSD2022(revenue, price_year) : NaN;
}
