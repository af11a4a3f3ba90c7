import { BASE_YEAR, DISCOUNT_RATE, HORIZON_YEAR, TAX_RATE } from "./methodConstants.ts";
import { defaultProbability } from "./defaultProbability.ts";
import { isBankOrInsurer } from "./industryParameters.ts";
import { type Exposure, lossInYear, type ScenarioInputs } from "./loss.ts";

/** Discount divisors (1 + r)^(t - 2025) for the years 2026 to 2050. */
const DISCOUNTS: readonly { readonly year: number; readonly divisor: number }[] = discounts();
/** Present value after tax of one dollar before tax in each of those years. */
const ANNUITY = DISCOUNTS.reduce((sum, { divisor }) => sum + (1 - TAX_RATE) / divisor, 0);

function discounts(): readonly { readonly year: number; readonly divisor: number }[] {
  const list = [];
  let divisor = 1;
  for (let year = BASE_YEAR + 1; year <= HORIZON_YEAR; year++) {
    divisor *= 1 + DISCOUNT_RATE;
    list.push({ year, divisor });
  }
  return list;
}

/** Effect of a scenario on the value of a company, USD of 2025. */
export interface Valuation {
  /** Discounted losses of 2026 to 2050 after tax, uncapped. */
  readonly uncappedUsd: number;
  /** Discounted losses, at most total assets. */
  readonly lossesUsd: number;
  /** Fraction of the present value of EBITDA to 2050, uncapped; undefined without positive EBITDA. */
  readonly valueAtRisk: number | undefined;
  readonly assetsAfterUsd: number;
}

export function valuationOf(exposure: Exposure, inputs: ScenarioInputs): Valuation {
  const { industry, totalAssetsUsd, ebitdaUsd } = exposure;
  let uncappedUsd = 0;
  for (const { year, divisor } of DISCOUNTS) {
    uncappedUsd += ((1 - TAX_RATE) * lossInYear(year, { exposure, inputs }).totalUsd) / divisor;
  }
  const lossesUsd = Math.min(uncappedUsd, totalAssetsUsd);
  const valueAtRisk = ebitdaUsd > 0 ? uncappedUsd / (ebitdaUsd * ANNUITY) : undefined;
  const isValuedByEarnings = valueAtRisk !== undefined && !isBankOrInsurer(industry);
  return {
    uncappedUsd,
    lossesUsd,
    valueAtRisk,
    assetsAfterUsd: isValuedByEarnings ? totalAssetsUsd * (1 - Math.min(1, valueAtRisk)) : totalAssetsUsd - lossesUsd,
  };
}

/** Returns the liabilities of a company, USD; undefined for a bank or insurer that does not report them. */
export function liabilitiesUsd(of: {
  readonly exposure: Exposure;
  readonly totalDebtUsd: number;
  readonly totalLiabilitiesUsd: number | undefined;
}): number | undefined {
  return isBankOrInsurer(of.exposure.industry) ? of.totalLiabilitiesUsd : of.totalDebtUsd;
}

/** Returns the probability of default within five years for a value of the assets. */
export function fiveYearDefaultProbability(
  exposure: Exposure,
  { assetsUsd, liabilitiesUsd }: { readonly assetsUsd: number; readonly liabilitiesUsd: number },
): number {
  return defaultProbability({ assets: assetsUsd, debt: liabilitiesUsd, volatility: exposure.industry.assetVolatility });
}
