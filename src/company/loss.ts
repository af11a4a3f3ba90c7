import {
  BASE_YEAR,
  BORROWER,
  CREDIT_TERM_YEARS,
  DEFAULT_LOSS_GIVEN_DEFAULT,
  EBITDA_FLOOR_SHARE,
  HALF_SCORE_RATIO,
  HORIZON_YEAR,
  LOAN_SHARE,
  LOST_SHARE_MAX,
  TABLE_START_YEAR,
  TAX_RATE,
} from "./methodConstants.ts";
import { type Industry, industryById } from "./industryParameters.ts";
import type { CompanyResult } from "../contract/wireTypes.ts";
import { expm1 } from "../numerics/elementaryFunctions.ts";
import { UNCLASSIFIED_INDUSTRY_ID } from "../reference/industries.ts";
import type { PriceShocks } from "./carbonPrices.ts";
import type { Country } from "./countryFigures.ts";
import { fiveYearDefaultProbability } from "./defaultProbability.ts";
import { type Emissions, modelEmissions } from "./emissions.ts";
import { acuteLossFraction, chronicLossUsd, damageFractionOf, type DamageFunction, type Warming } from "./physical.ts";
import type { TransitionScenario } from "./scenarios.ts";
import {
  grossCostUsd,
  passThroughOf,
  productUnitCostOf,
  type TransitionCosts,
  transitionLossUsd,
} from "./transition.ts";
import { valueInYear } from "./yearlySeries.ts";

/** Discounting of annual amounts from 2026 to 2050, after tax. */
interface Discounting {
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
function valueBeforeUsd(
  { totalAssetsUsd, ebitdaUsd }: { readonly totalAssetsUsd: number; readonly ebitdaUsd: number },
  { annuity }: Discounting,
): number {
  return Math.max(totalAssetsUsd, ebitdaUsd * annuity);
}

/**
 * Returns the EBITDA that losses are measured by, above 0: as sent, or half of what is normal in the industry if that is
 * more. It is continuous in EBITDA, so no result jumps where EBITDA crosses 0.
 */
export function normalizedEbitdaUsd(
  ebitdaUsd: number,
  { industry, revenueUsd }: { readonly industry: Industry; readonly revenueUsd: number },
): number {
  return Math.max(ebitdaUsd, EBITDA_FLOOR_SHARE * industry.ebitdaMargin * revenueUsd);
}

/**
 * Returns the share of EBITDA lost at a loss ratio. Plants whose earnings are below their loss close and lose no more than
 * they earned; with exponentially distributed earnings, a loss spread evenly leaves exp(-x).
 */
export function lostShareOf(lossRatio: number): number {
  return Math.min(-expm1(-lossRatio), LOST_SHARE_MAX);
}

/** Returns the score of a loss ratio: 0 for no loss, 50 for 25%, approaching 100 for larger ones. */
export function scoreOf(lossRatio: number): number {
  return (100 * lossRatio) / (lossRatio + HALF_SCORE_RATIO);
}

type Rating = CompanyResult["total"]["rating"];

/** Upper bounds of the scores of each rating but the last: loss ratios of 2.8%, 8.3%, 25% and 75%. */
const RATING_SCORES_MAX: readonly (readonly [Rating, number])[] = [
  ["A", 10],
  ["B", 25],
  ["C", 50],
  ["D", 75],
];

/** Returns the rating of a score. The bands are our own, not those of a rating agency. */
export function ratingOf(score: number): Rating {
  return RATING_SCORES_MAX.find(([, scoreMax]) => score <= scoreMax)?.[0] ?? "E";
}

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
  /** A constant share of costs that is passed on; if undefined, the industry's pass-through for each year applies. */
  readonly passThrough: number | undefined;
  readonly discounting: Discounting;
}

/** The loss of one year and its components, USD of 2025. */
export interface YearLoss {
  /** Excess of the carbon price over current policies, USD per t CO2e. */
  readonly shockUsdPerT: number;
  /** The same for the buyers of the company's products. */
  readonly buyersShockUsdPerT: number;
  readonly passThrough: number;
  readonly costs: TransitionCosts;
  readonly transitionUsd: number;
  readonly warming: Warming;
  readonly damageFraction: number;
  readonly chronicUsd: number;
  readonly acuteFraction: number;
  readonly assetUsd: number;
  readonly interruptionUsd: number;
  readonly creditUsd: number;
  /** All losses as a fraction of EBITDA, without an upper limit. */
  readonly lossRatio: number;
}

/** Computes the loss of one year and its components. */
export function lossInYear(year: number, exposure: Exposure, inputs: ScenarioInputs): YearLoss {
  const { industry, country } = exposure;
  const shockUsdPerT = shockIn(year, inputs);
  const buyersShockUsdPerT = buyersShockIn(year, industry, inputs);
  const passThrough = inputs.passThrough ?? passThroughOf(industry, year);
  const costs = costsOf(year, exposure, { shockUsdPerT, buyersShockUsdPerT });
  const warming = warmingIn(year, inputs);
  const damageFraction = damageFractionOf(inputs.damageFunction, country, warming);
  const acuteFraction = acuteLossFraction(country, warming.endC);
  return {
    shockUsdPerT,
    buyersShockUsdPerT,
    passThrough,
    costs,
    transitionUsd: transitionLossUsd(exposure, costs, passThrough),
    warming,
    damageFraction,
    chronicUsd: chronicLossUsd(damageFraction, exposure),
    acuteFraction,
    assetUsd: exposure.totalAssetsUsd * industry.tangibleShare * acuteFraction,
    interruptionUsd: exposure.ebitdaUsd * acuteFraction,
    creditUsd: industry.isBank ? bankCreditLossUsd(year, exposure, inputs) : 0,
    lossRatio: lossRatioInYear(year, exposure, inputs),
  };
}

/** Returns the loss ratio of one year like `lossInYear`, but without the components, which take most of the time. */
export function lossRatioInYear(year: number, exposure: Exposure, inputs: ScenarioInputs): number {
  const { industry, country } = exposure;
  const shockUsdPerT = shockIn(year, inputs);
  const costs = costsOf(year, exposure, {
    shockUsdPerT,
    buyersShockUsdPerT: buyersShockIn(year, industry, inputs),
  });
  const passThrough = inputs.passThrough ?? passThroughOf(industry, year);
  const warming = warmingIn(year, inputs);
  const chronicUsd = chronicLossUsd(damageFractionOf(inputs.damageFunction, country, warming), exposure);
  const acuteFraction = acuteLossFraction(country, warming.endC);
  const assetUsd = exposure.totalAssetsUsd * industry.tangibleShare * acuteFraction;
  const interruptionUsd = exposure.ebitdaUsd * acuteFraction;
  const creditUsd = industry.isBank ? bankCreditLossUsd(year, exposure, inputs) : 0;
  const sum = transitionLossUsd(exposure, costs, passThrough) + chronicUsd + assetUsd + interruptionUsd + creditUsd;
  return sum / exposure.ebitdaUsd;
}

function shockIn(year: number, { prices, shockYear }: ScenarioInputs): number {
  return year < shockYear ? 0 : valueInYear(prices.shock, year);
}

function buyersShockIn(year: number, { productChannel }: Industry, { prices, shockYear }: ScenarioInputs): number {
  if (year < shockYear) return 0;
  return valueInYear(productChannel === "fuel_world" ? prices.worldShock : prices.shock, year);
}

/** Returns whether there is no price shock only because the year is before `shockYear`. */
export function isShockDelayed(
  year: number,
  { industry }: Pick<Exposure, "industry">,
  inputs: ScenarioInputs,
): boolean {
  if (year >= inputs.shockYear) return false;
  const undelayed = { ...inputs, shockYear: year };
  return shockIn(year, undelayed) > 0 || buyersShockIn(year, industry, undelayed) > 0;
}

function warmingIn(year: number, { warmingC }: ScenarioInputs): Warming {
  return { startC: valueInYear(warmingC, TABLE_START_YEAR), endC: valueInYear(warmingC, year) };
}

function costsOf(
  year: number,
  { industry, emissions }: Exposure,
  shock: { readonly shockUsdPerT: number; readonly buyersShockUsdPerT: number },
): TransitionCosts {
  return {
    grossUsd: grossCostUsd(industry, emissions, shock.shockUsdPerT, year),
    useUsd: productUnitCostOf(industry, shock.buyersShockUsdPerT, year) * emissions.scope3Downstream,
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
  const lostShare = lostShareOf(lossRatioInYear(year, borrower, inputs));
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
  // The method represents the borrowers of a bank by the average of the economy.
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

/** Effect of the losses of 2026 to 2050 on the value of a company, USD of 2025. */
interface Valuation {
  /** Present value of the losses after tax. */
  readonly npvUsd: number;
  /** Present value of the losses after tax, without closures. */
  readonly npvUncappedUsd: number;
  readonly valueBeforeUsd: number;
  /** Share of the value that is lost, below 1. */
  readonly lostValueShare: number;
}

export function valuationOf(exposure: Exposure, inputs: ScenarioInputs): Valuation {
  const { ebitdaUsd } = exposure;
  const { factors } = inputs.discounting;
  let lost = 0;
  let uncapped = 0;
  for (const [i, factor] of factors.entries()) {
    const lossRatio = lossRatioInYear(BASE_YEAR + 1 + i, exposure, inputs);
    lost += factor * lostShareOf(lossRatio);
    uncapped += factor * lossRatio;
  }
  const beforeUsd = valueBeforeUsd(exposure, inputs.discounting);
  return {
    npvUsd: ebitdaUsd * lost,
    npvUncappedUsd: ebitdaUsd * uncapped,
    valueBeforeUsd: beforeUsd,
    lostValueShare: (ebitdaUsd * lost) / beforeUsd,
  };
}
