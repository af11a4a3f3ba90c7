/** Section 6: value lost over 2026 to 2050 in one scenario. */
import { BASE_YEAR, HORIZON_YEAR } from "./constants.ts";
import { yearLoss, type Company, type Run } from "./loss.ts";
import type { Tables } from "./tables.ts";
import { discountFactor, valueBefore } from "./value.ts";

export interface Valuation {
  /** NPV of L_t and of B x_t. */
  readonly npv: number;
  readonly npvUncapped: number;
  /** V0. */
  readonly valueBefore: number;
  /** v. */
  readonly lostShareOfValue: number;
  readonly assetValueAfter: number;
}

/** NPV = sum over t = 2026..2050 of disc_(t-2025) L_t; v = NPV / V0. */
export function valuationOf(tables: Tables, company: Company, run: Run): Valuation {
  const r = run.assumptions.discountRate;
  let npv = 0;
  let npvUncapped = 0;
  for (let year = BASE_YEAR + 1; year <= HORIZON_YEAR; year++) {
    const { loss, lossRatio } = yearLoss(tables, company, run, year);
    npv += discountFactor(year - BASE_YEAR, r) * loss;
    npvUncapped += discountFactor(year - BASE_YEAR, r) * company.normalizedEbitda * lossRatio;
  }
  const before = valueBefore(company, r);
  const lost = npv / before;
  return {
    npv,
    npvUncapped,
    valueBefore: before,
    lostShareOfValue: lost,
    assetValueAfter: company.totalAssets * (1 - lost),
  };
}
