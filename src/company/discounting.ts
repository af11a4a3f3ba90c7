import { BASE_YEAR, HORIZON_YEAR, TAX_RATE } from "./methodConstants.ts";

/** Discounting of annual amounts from 2026 to 2050, after tax. */
export interface Discounting {
  /** Present value of one dollar before tax, by year from 2026. */
  readonly factors: Float64Array;
  /** Their sum: present value of one dollar per year. */
  readonly annuity: number;
}

export function discountingAt(discountRate: number): Discounting {
  const factors = new Float64Array(HORIZON_YEAR - BASE_YEAR);
  let annuity = 0;
  let divisor = 1;
  for (let i = 0; i < factors.length; i++) {
    divisor *= 1 + discountRate;
    const factor = (1 - TAX_RATE) / divisor;
    factors[i] = factor;
    annuity += factor;
  }
  return { factors, annuity };
}

/** Returns the value of a company before losses: total assets, or the present value of EBITDA if that is more. USD. */
export function valueBeforeUsd(
  { totalAssetsUsd, ebitdaUsd }: { readonly totalAssetsUsd: number; readonly ebitdaUsd: number },
  { annuity }: Discounting,
): number {
  return Math.max(totalAssetsUsd, ebitdaUsd * annuity);
}
