import type { PriceShocks } from "./carbonPrices.ts";
import type { Country } from "./countryFigures.ts";
import { fiveYearDefaultProbability } from "./defaultProbability.ts";
import { type Discounting, valueBeforeUsd } from "./discounting.ts";
import { type Emissions, modelEmissions } from "./emissions.ts";
import { type Industry, industryById, UNCLASSIFIED_INDUSTRY_ID } from "./industryParameters.ts";
import {
  BORROWER,
  CREDIT_TERM_YEARS,
  DEFAULT_LOSS_GIVEN_DEFAULT,
  LOAN_SHARE,
  TABLE_START_YEAR,
} from "./methodConstants.ts";
import { normalizedEbitdaUsd } from "./normalizedEbitda.ts";
import { acuteLossFraction, chronicLossUsd, damageFractionOf, type DamageFunction, type Warming } from "./physical.ts";
import type { TransitionScenario } from "./scenarios.ts";
import { lostShareOf } from "./score.ts";
import {
  passThroughOf,
  type PriceShock,
  type TransitionLoss,
  transitionLoss,
  type UnitCosts,
  unitCostsOf,
} from "./transition.ts";
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

/** A scenario with its carbon prices and warming, and the assumptions of the caller. */
export interface ScenarioInputs {
  readonly scenario: TransitionScenario;
  readonly prices: PriceShocks;
  /** Global warming by year from 2020, degrees C. */
  readonly warmingC: Float64Array;
  readonly damageFunction: DamageFunction;
  /** First year with a price shock. */
  readonly shockYear: number;
  /** A constant share of costs that is passed on, instead of that of the industry. */
  readonly passThrough: number | undefined;
  readonly discounting: Discounting;
}

/** The loss of one year and its components, USD of 2025. */
export interface YearLoss {
  readonly shock: PriceShock;
  readonly unitCosts: UnitCosts;
  readonly passThrough: number;
  readonly transition: TransitionLoss;
  readonly warming: Warming;
  readonly damageFraction: number;
  readonly chronicLossUsd: number;
  readonly acuteFraction: number;
  readonly assetLossUsd: number;
  readonly interruptionUsd: number;
  readonly creditLossUsd: number;
  /** All losses as a fraction of EBITDA, without an upper limit. */
  readonly lossRatio: number;
}

/** Computes the loss of one year and its components. */
export function lossInYear(year: number, exposure: Exposure, inputs: ScenarioInputs): YearLoss {
  const { industry, country, ebitdaUsd } = exposure;
  const shock = priceShockIn(year, industry, inputs);
  const unitCosts = unitCostsOf(industry, shock, year);
  const passThrough = inputs.passThrough ?? passThroughOf(industry, year);
  const transition = transitionLoss(exposure, unitCosts, passThrough);

  const warming = { startC: valueInYear(inputs.warmingC, TABLE_START_YEAR), endC: valueInYear(inputs.warmingC, year) };
  const damageFraction = damageFractionOf(inputs.damageFunction, country, warming);
  const acuteFraction = acuteLossFraction(country, warming.endC);
  const chronicUsd = chronicLossUsd(damageFraction, exposure);
  const assetLossUsd = exposure.totalAssetsUsd * industry.tangibleShare * acuteFraction;
  const interruptionUsd = ebitdaUsd * acuteFraction;
  const creditLossUsd = industry.isBank ? bankCreditLossUsd(year, exposure, inputs) : 0;
  return {
    shock,
    unitCosts,
    passThrough,
    transition,
    warming,
    damageFraction,
    chronicLossUsd: chronicUsd,
    acuteFraction,
    assetLossUsd,
    interruptionUsd,
    creditLossUsd,
    lossRatio: (transition.lossUsd + chronicUsd + assetLossUsd + interruptionUsd + creditLossUsd) / ebitdaUsd,
  };
}

function priceShockIn(year: number, { productChannel }: Industry, { prices, shockYear }: ScenarioInputs): PriceShock {
  if (year < shockYear) return { usdPerT: 0, buyersUsdPerT: 0 };
  const usdPerT = valueInYear(prices.shock, year);
  return {
    usdPerT,
    buyersUsdPerT: productChannel === "fuel_world" ? valueInYear(prices.worldShock, year) : usdPerT,
  };
}

/** Returns the share of the company's value that is lost if the loss of a year lasts. */
export function lostValueShareOf(lostShare: number, exposure: Exposure, discounting: Discounting): number {
  return (lostShare * exposure.ebitdaUsd * discounting.annuity) / valueBeforeUsd(exposure, discounting);
}

const BORROWERS_BY_COUNTRY = new Map<Country, Exposure>();
const BORROWER_DEFAULT_PROBABILITY = borrowerDefaultProbability(BORROWER.totalAssets);

/** Returns the credit loss of a bank from the additional defaults of its borrowers, USD per year. */
export function bankCreditLossUsd(
  year: number,
  { country, totalAssetsUsd }: Pick<Exposure, "country" | "totalAssetsUsd">,
  inputs: ScenarioInputs,
): number {
  const borrower = borrowerOf(country);
  const lostShare = lostShareOf(lossInYear(year, borrower, inputs).lossRatio);
  const lostValueShare = lostValueShareOf(lostShare, borrower, inputs.discounting);
  const after = borrowerDefaultProbability(BORROWER.totalAssets * (1 - lostValueShare));
  const additional = Math.max(0, after - BORROWER_DEFAULT_PROBABILITY) / CREDIT_TERM_YEARS;
  return LOAN_SHARE * totalAssetsUsd * DEFAULT_LOSS_GIVEN_DEFAULT * additional;
}

function borrowerDefaultProbability(assets: number): number {
  return fiveYearDefaultProbability({ assets, debt: BORROWER.debt, volatility: BORROWER.volatility });
}

function borrowerOf(country: Country): Exposure {
  const known = BORROWERS_BY_COUNTRY.get(country);
  if (known !== undefined) return known;
  const industry = industryById(UNCLASSIFIED_INDUSTRY_ID);
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
