import { CONSUMER_PRICE_ROWS } from "./data/consumerPrices.generated.ts";
import type { Entity } from "../contract/wireTypes.ts";

/** Currency and price year of the industry intensities that the convergence compares with. */
const CURRENCY = "USD";
const PRICE_YEAR = 2022;

const consumerPrices = new Map(
  CONSUMER_PRICE_ROWS.map(({ year, us_cpi_u_annual_average }) => [year, us_cpi_u_annual_average]),
);

/**
 * Returns the revenue of the baseline year in million USD of 2022, converted with US consumer prices (CPI-U, annual
 * average); NaN if it is missing or not positive, or if its currency is not USD or its price year is not given. Other
 * currencies are not converted, because the package contains no exchange rates.
 */
export function convergenceRevenueMUSD(financials: Entity["data"][number]["financials"]): number {
  const { revenue = NaN, currency, price_year } = financials ?? {};
  const prices = consumerPrices.get(price_year ?? NaN);
  const pricesOf2022 = consumerPrices.get(PRICE_YEAR);
  if (currency !== CURRENCY || prices === undefined || pricesOf2022 === undefined || !(revenue > 0)) return NaN;
  return (revenue / 1e6) * (pricesOf2022 / prices);
}
