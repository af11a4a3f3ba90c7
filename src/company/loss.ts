import type { PriceShocks } from "./carbonPrices.ts";
import { clamp } from "./clamp.ts";
import type { Country } from "./countryFigures.ts";
import { fiveYearDefaultProbability } from "./defaultProbability.ts";
import { type Discounting, valueBeforeUsd } from "./discounting.ts";
import { type Emissions, modelEmissions } from "./emissions.ts";
import { type Industry, INDUSTRIES, UNCLASSIFIED_INDUSTRY_ID } from "./industryParameters.ts";
import { BORROWER, CREDIT_TERM_YEARS, DEFAULT_LOSS_GIVEN_DEFAULT, LOAN_SHARE } from "./methodConstants.ts";
import { normalizedEbitdaUsd } from "./normalizedEbitda.ts";
import {
  type AcuteLoss,
  acuteLossOf,
  chronicLossUsd,
  type Climate,
  climateOf,
  damageFractionOf,
  type DamageFunction,
} from "./physical.ts";
import type { TransitionScenario } from "./scenarios.ts";
import { lostShareOf } from "./score.ts";
import { passThroughOf, type TransitionLoss, transitionLoss } from "./transition.ts";
import { valueInYear } from "./yearlySeries.ts";

/** What the losses of a company depend on: USD of 2025, flows per year. */
export interface Exposure {
  readonly industry: Industry;
  readonly country: Country;
  readonly revenueUsd: number;
  readonly totalAssetsUsd: number;
  /** Normalized EBITDA, above 0. */
  readonly ebitdaUsd: number;
  readonly emissions: Emissions;
}

/** A scenario with its carbon prices, and the assumptions of the caller. */
export interface ScenarioInputs {
  readonly scenario: TransitionScenario;
  readonly prices: PriceShocks;
  readonly damageFunction: DamageFunction;
  /** First year with a price shock. */
  readonly shockYear: number;
  /** A constant share of costs that is passed on, instead of that of the industry. */
  readonly passThrough: number | undefined;
  readonly discounting: Discounting;
}

/** The loss of one year and its components, USD of 2025. */
export interface YearLoss {
  readonly shockUsdPerT: number;
  readonly buyersShockUsdPerT: number;
  readonly transition: TransitionLoss;
  readonly climate: Climate;
  readonly damageFraction: number;
  readonly chronicLossUsd: number;
  readonly acute: AcuteLoss;
  readonly assetLossUsd: number;
  readonly interruptionUsd: number;
  readonly creditLossUsd: number;
  /** All losses as a fraction of EBITDA, without an upper limit. */
  readonly lossRatio: number;
  /** Share of EBITDA lost after closures, below 1. */
  readonly lostShare: number;
}

/**
 * Computes the loss of one year and its components.
 *
 * @param of.passThroughShift added to the share of costs that is passed on; not applied to the borrowers of a bank
 */
export function lossInYear(
  year: number,
  of: { readonly exposure: Exposure; readonly inputs: ScenarioInputs; readonly passThroughShift?: number },
): YearLoss {
  const { exposure, inputs, passThroughShift = 0 } = of;
  const { industry, country, revenueUsd, totalAssetsUsd, ebitdaUsd, emissions } = exposure;
  const { scenario, prices } = inputs;

  const hasShock = year >= inputs.shockYear;
  const shockUsdPerT = hasShock ? valueInYear(prices.shock, year) : 0;
  const worldShockUsdPerT = hasShock ? valueInYear(prices.worldShock, year) : 0;
  const buyersShockUsdPerT = industry.productChannel === "fuel_world" ? worldShockUsdPerT : shockUsdPerT;
  const transition = transitionLoss({
    industry,
    emissions,
    revenueUsd,
    ebitdaUsd,
    year,
    shockUsdPerT,
    buyersShockUsdPerT,
    passThrough: clamp((inputs.passThrough ?? passThroughOf(industry, year)) + passThroughShift, [0, 1]),
  });

  const climate = climateOf(country, { temperaturePath: scenario.temperaturePath, year });
  const damageFraction = damageFractionOf(inputs.damageFunction, climate);
  const chronicUsd = chronicLossUsd(damageFraction, { industry, revenueUsd, ebitdaUsd });
  const acute = acuteLossOf(country, climate.warmingC);
  const assetLossUsd = totalAssetsUsd * industry.tangibleShare * acute.fraction;
  const interruptionUsd = ebitdaUsd * acute.fraction;
  const creditLossUsd = industry.isBank ? bankCreditLossUsd(year, { exposure, inputs }) : 0;
  const lossRatio = (transition.lossUsd + chronicUsd + assetLossUsd + interruptionUsd + creditLossUsd) / ebitdaUsd;
  return {
    shockUsdPerT,
    buyersShockUsdPerT,
    transition,
    climate,
    damageFraction,
    chronicLossUsd: chronicUsd,
    acute,
    assetLossUsd,
    interruptionUsd,
    creditLossUsd,
    lossRatio,
    lostShare: lostShareOf(lossRatio),
  };
}

/** Returns the share of the company's value that is lost if the loss of a year lasts. */
export function lostValueShareOf(lostShare: number, exposure: Exposure, discounting: Discounting): number {
  return (lostShare * exposure.ebitdaUsd * discounting.annuity) / valueBeforeUsd(exposure, discounting);
}

const BORROWERS_BY_COUNTRY = new Map<Country, Exposure>();
const BORROWER_DEFAULT_PROBABILITY = borrowerDefaultProbability(BORROWER.totalAssets);

/** Credit loss of a bank from the additional defaults of its borrowers, USD per year. */
function bankCreditLossUsd(
  year: number,
  { exposure, inputs }: { readonly exposure: Exposure; readonly inputs: ScenarioInputs },
): number {
  const borrower = borrowerOf(exposure.country);
  const { lostShare } = lossInYear(year, { exposure: borrower, inputs });
  const lostValueShare = lostValueShareOf(lostShare, borrower, inputs.discounting);
  const after = borrowerDefaultProbability(BORROWER.totalAssets * (1 - lostValueShare));
  const additional = Math.max(0, after - BORROWER_DEFAULT_PROBABILITY) / CREDIT_TERM_YEARS;
  return LOAN_SHARE * exposure.totalAssetsUsd * DEFAULT_LOSS_GIVEN_DEFAULT * additional;
}

function borrowerDefaultProbability(assets: number): number {
  return fiveYearDefaultProbability({ assets, debt: BORROWER.debt, volatility: BORROWER.volatility });
}

function borrowerOf(country: Country): Exposure {
  const known = BORROWERS_BY_COUNTRY.get(country);
  if (known !== undefined) return known;
  const industry = INDUSTRIES.find(({ id }) => id === UNCLASSIFIED_INDUSTRY_ID);
  if (industry === undefined) throw new Error(`The industry table has no ${UNCLASSIFIED_INDUSTRY_ID}.`);
  const revenueUsd = BORROWER.revenue;
  const borrower = {
    industry,
    country,
    revenueUsd,
    totalAssetsUsd: BORROWER.totalAssets,
    ebitdaUsd: normalizedEbitdaUsd(BORROWER.ebitda, { industry, revenueUsd }),
    emissions: modelEmissions({ industry, country, revenueUsd }),
  };
  BORROWERS_BY_COUNTRY.set(country, borrower);
  return borrower;
}
