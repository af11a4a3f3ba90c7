import { BASE_YEAR, DISCOUNT_RATE, HORIZON_YEAR, TAX_RATE } from "./methodConstants.ts";
import { defaultProbability } from "./defaultProbability.ts";
import { isBankOrInsurer } from "./industryParameters.ts";
import { type Exposure, lossInYear, type ScenarioInputs } from "./loss.ts";

/** (1 + r)^(t - 2025) for each year from 2026 to 2050. */
const DISCOUNTS: readonly { readonly year: number; readonly divisor: number }[] = discounts();
/** A dollar before tax in each of those years, today. */
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

/** What a scenario does to the value of a company. USD of 2025. */
export interface Valuation {
  /** Losses of 2026 to 2050 after tax, discounted; without a limit. */
  readonly uncappedUsd: number;
  /** The same, at most all that the company has. */
  readonly lossesUsd: number;
  /** Of the value of all EBITDA to 2050, as a fraction, without a limit; undefined without EBITDA. */
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
  const isByEarnings = valueAtRisk !== undefined && !isBankOrInsurer(industry);
  return {
    uncappedUsd,
    lossesUsd,
    valueAtRisk,
    assetsAfterUsd: isByEarnings ? totalAssetsUsd * (1 - Math.min(1, valueAtRisk)) : totalAssetsUsd - lossesUsd,
  };
}

/** What creditors of a company are owed, USD; undefined where its debt is only a part of that. */
export function owedUsd(of: {
  readonly exposure: Exposure;
  readonly totalDebtUsd: number;
  readonly totalLiabilitiesUsd: number | undefined;
}): number | undefined {
  return isBankOrInsurer(of.exposure.industry) ? of.totalLiabilitiesUsd : of.totalDebtUsd;
}

/** The chance of default within five years if the assets are worth so much. */
export function fiveYearDefaultProbability(
  exposure: Exposure,
  { assetsUsd, owedUsd }: { readonly assetsUsd: number; readonly owedUsd: number },
): number {
  return defaultProbability({ assets: assetsUsd, debt: owedUsd, volatility: exposure.industry.assetVolatility });
}
