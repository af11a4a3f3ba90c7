import { CREDIT_TERM_YEARS, LOAN_SHARE, LOSS_GIVEN_DEFAULT, STAND_IN_EBITDA_SHARE, valueIn } from "./methodConstants.ts";
import type { Country } from "./countryFigures.ts";
import { defaultProbability } from "./defaultProbability.ts";
import { type Emissions, modelEmissions } from "./emissions.ts";
import { type Industry, INDUSTRIES, UNCLASSIFIED_ID } from "./industryParameters.ts";
import { type AcuteLoss, acuteLoss, type ChronicDamage, chronicDamage, type DamageRule } from "./physical.ts";
import type { PriceShocks } from "./carbonPrices.ts";
import { cutsOf, type Scenario } from "./scenarios.ts";
import { passThroughOf, type TransitionLoss, transitionLoss } from "./transition.ts";

/** What of a company is at risk: USD of 2025, flows a year. */
export interface Exposure {
  readonly industry: Industry;
  readonly country: Country;
  readonly revenueUsd: number;
  readonly totalAssetsUsd: number;
  readonly ebitdaUsd: number;
  readonly emissions: Emissions;
}

/** A scenario with the prices that stand for it, and how its warming is taken to hurt. */
export interface Setting {
  readonly scenario: Scenario;
  readonly prices: PriceShocks;
  readonly rule: DamageRule;
}

/** One thing that is taken otherwise, to see what hangs on it. The borrowers of a bank do not follow. */
export interface Variation {
  readonly passThroughShift?: number;
  readonly scope1Factor?: number;
}

/** The loss of one year, USD of 2025, and all that it is made of. */
export interface YearLoss {
  readonly transition: TransitionLoss;
  readonly chronic: ChronicDamage;
  readonly chronicLossUsd: number;
  /** The same if wages do not fall with output. */
  readonly chronicBoundUsd: number;
  readonly acute: AcuteLoss;
  readonly assetLossUsd: number;
  readonly interruptionUsd: number;
  readonly creditLossUsd: number;
  /** What the parts count twice: at most 0. */
  readonly interactionUsd: number;
  readonly totalUsd: number;
}

export function lossIn(
  year: number,
  { exposure, setting, variation = {} }: { exposure: Exposure; setting: Setting; variation?: Variation },
): YearLoss {
  const { industry, country, revenueUsd, totalAssetsUsd, ebitdaUsd } = exposure;
  const { scenario, prices, rule } = setting;
  const { passThroughShift = 0, scope1Factor = 1 } = variation;

  const emissions =
    scope1Factor === 1
      ? exposure.emissions
      : { ...exposure.emissions, scope1: exposure.emissions.scope1 * scope1Factor };
  const transition = transitionLoss({
    industry,
    emissions,
    revenueUsd,
    ebitdaUsd,
    shockUsdPerT: valueIn(prices.shock, year),
    worldShockUsdPerT: valueIn(prices.worldShock, year),
    cut: valueIn(cutsOf(scenario), year),
    passThrough: Math.max(0, Math.min(1, passThroughOf(industry, year) + passThroughShift)),
  });

  const earnedUsd = Math.max(ebitdaUsd, 0);
  const chronic = chronicDamage(country, { temperaturePath: scenario.temperaturePath, year }, rule);
  const chronicShare = chronic.damageFraction * industry.heatSensitivity;
  const chronicLossUsd = chronicShare * earnedUsd;
  const acute = acuteLoss(country, chronic.warmingC);
  const assetLossUsd = totalAssetsUsd * industry.tangibleShare * acute.fraction;
  const interruptionUsd = earnedUsd * acute.fraction;

  const creditLossUsd = bankCreditLoss(year, { exposure, setting });
  // A dollar of EBITDA that is lost to one cause cannot be lost to another.
  const interactionUsd = 0 - (chronicShare + acute.fraction) * Math.min(Math.max(transition.lossUsd, 0), earnedUsd);
  return {
    transition,
    chronic,
    chronicLossUsd,
    chronicBoundUsd: chronicShare * industry.valueAddedShare * revenueUsd,
    acute,
    assetLossUsd,
    interruptionUsd,
    creditLossUsd,
    interactionUsd,
    totalUsd: transition.lossUsd + chronicLossUsd + assetLossUsd + interruptionUsd + creditLossUsd + interactionUsd,
  };
}

/** What losses are measured by: EBITDA, or what an average company would earn of the same revenue. */
function measureUsd({ ebitdaUsd, revenueUsd }: Pick<Exposure, "ebitdaUsd" | "revenueUsd">): number {
  return ebitdaUsd > 0 ? ebitdaUsd : STAND_IN_EBITDA_SHARE * revenueUsd;
}

/** A loss as a fraction of the measure, at least 0. */
export function shareOf(lossUsd: number, exposure: Pick<Exposure, "ebitdaUsd" | "revenueUsd">): number {
  // Asked first, since of the smallest revenues the measure vanishes.
  return lossUsd > 0 ? lossUsd / measureUsd(exposure) : 0;
}

/** A company as banks lend to, in money of any unit. */
const BORROWER = { revenueUsd: 1, totalAssetsUsd: 1.2, ebitdaUsd: 0.16, debt: 0.5, volatility: 0.25 };
const UNTROUBLED_YEARLY_DEFAULT = yearlyDefault(BORROWER.totalAssetsUsd);
const BORROWERS = new Map<Country, Exposure>();

/** Loans that default because the borrowers lose, less those that would have anyway; 0 for who is no bank. */
function bankCreditLoss(
  year: number,
  { exposure, setting }: { readonly exposure: Exposure; readonly setting: Setting },
): number {
  if (exposure.industry.group !== "banks") return 0;
  const borrower = borrowerIn(exposure.country);
  const lost = Math.min(1, shareOf(lossIn(year, { exposure: borrower, setting }).totalUsd, borrower));
  const more = yearlyDefault(BORROWER.totalAssetsUsd * (1 - lost)) - UNTROUBLED_YEARLY_DEFAULT;
  return LOAN_SHARE * exposure.totalAssetsUsd * LOSS_GIVEN_DEFAULT * Math.max(0, more);
}

function yearlyDefault(assets: number): number {
  return defaultProbability({ assets, debt: BORROWER.debt, volatility: BORROWER.volatility }) / CREDIT_TERM_YEARS;
}

function borrowerIn(country: Country): Exposure {
  const known = BORROWERS.get(country);
  if (known !== undefined) return known;
  const industry = INDUSTRIES.find(({ id }) => id === UNCLASSIFIED_ID);
  if (industry === undefined) throw new Error(`There is no industry ${UNCLASSIFIED_ID}.`);
  const { revenueUsd, totalAssetsUsd, ebitdaUsd } = BORROWER;
  const emissions = modelEmissions({ industry, country, revenueUsd });
  const borrower = { industry, country, revenueUsd, totalAssetsUsd, ebitdaUsd, emissions };
  BORROWERS.set(country, borrower);
  return borrower;
}
