import { CONSUMER_PRICE_ROWS } from "./data/consumerPrices.generated.ts";

/** Year of the prices of the industry intensities that convergence compares with. */
const REFERENCE_PRICE_YEAR = 2022;

const priceIndexByYear = new Map(CONSUMER_PRICE_ROWS.map((row) => [row.year, row.us_cpi_u_annual_average]));
export const PRICE_YEAR_MIN = Math.min(...priceIndexByYear.keys());
export const PRICE_YEAR_MAX = Math.max(...priceIndexByYear.keys());

/**
 * Converts a revenue in USD of `priceYear` to million USD of 2022, by US consumer prices (annual averages, all items).
 *
 * @returns NaN, which `alignColumns` treats as unusable, outside PRICE_YEAR_MIN to PRICE_YEAR_MAX
 */
export function convergenceRevenueMUSD2022(revenueUSD: number, priceYear: number): number {
  const priceIndex = (year: number): number => priceIndexByYear.get(year) ?? NaN;
  return (revenueUSD / 1e6) * (priceIndex(REFERENCE_PRICE_YEAR) / priceIndex(priceYear));
}
