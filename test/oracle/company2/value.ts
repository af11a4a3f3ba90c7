/** Section 6: discounting and the value before losses. */
import { BASE_YEAR, HORIZON_YEAR, TAX } from "./constants.ts";

/** disc_j = (1 - TAX)/(1 + r)^j. */
export function discountFactor(j: number, r: number): number {
  return (1 - TAX) / (1 + r) ** j;
}

/** K = sum over j = 1..25 of disc_j. */
export function annualFactor(r: number): number {
  let sum = 0;
  for (let j = 1; j <= HORIZON_YEAR - BASE_YEAR; j++) sum += discountFactor(j, r);
  return sum;
}

/** V0 = max(total_assets, B K). */
export function valueBefore(
  company: { readonly totalAssets: number; readonly normalizedEbitda: number },
  r: number,
): number {
  return Math.max(company.totalAssets, company.normalizedEbitda * annualFactor(r));
}
