import { CREDIT_TERM_YEARS, LOAN_SHARE, LOSS_GIVEN_DEFAULT, FALLBACK_EBITDA_SHARE } from "./methodConstants.ts";
import { valueInYear } from "./yearlySeries.ts";
import type { Country } from "./countryFigures.ts";
import { defaultProbability } from "./defaultProbability.ts";
import { type Emissions, modelEmissions } from "./emissions.ts";
import { type Industry, INDUSTRIES, UNCLASSIFIED_INDUSTRY_ID } from "./industryParameters.ts";
import { type AcuteLoss, acuteLoss, type ChronicDamage, chronicDamage, type DamageRule } from "./physical.ts";
import type { PriceShocks } from "./carbonPrices.ts";
import { cutsOf, type TransitionScenario } from "./scenarios.ts";
import { passThroughOf, type TransitionLoss, transitionLoss } from "./transition.ts";

/** The exposure of a company: USD of 2025, flows per year. */
export interface Exposure {
  readonly industry: Industry;
  readonly country: Country;
  readonly revenueUsd: number;
  readonly totalAssetsUsd: number;
  readonly ebitdaUsd: number;
  readonly emissions: Emissions;
}

/** A scenario with its carbon prices and damage function. */
export interface ScenarioInputs {
  readonly scenario: TransitionScenario;
  readonly prices: PriceShocks;
  readonly rule: DamageRule;
}

/** A changed assumption of the sensitivity range. Does not apply to the borrowers of a bank. */
export interface SensitivityCase {
  readonly passThroughShift?: number;
  readonly scope1Factor?: number;
}

/** The loss of one year and its components, USD of 2025. */
export interface YearLoss {
  readonly transition: TransitionLoss;
  readonly chronic: ChronicDamage;
  readonly chronicLossUsd: number;
  /** The chronic loss if wages do not fall with output. */
  readonly chronicUpperBoundUsd: number;
  readonly acute: AcuteLoss;
  readonly assetLossUsd: number;
  readonly interruptionUsd: number;
  readonly creditLossUsd: number;
  /** Correction for losses counted twice; at most 0. */
  readonly interactionUsd: number;
  readonly totalUsd: number;
}

/** Computes the loss of one year and its components. */
export function lossInYear(
  year: number,
  { exposure, inputs, sensitivity = {} }: { exposure: Exposure; inputs: ScenarioInputs; sensitivity?: SensitivityCase },
): YearLoss {
  const { industry, country, revenueUsd, totalAssetsUsd, ebitdaUsd } = exposure;
  const { scenario, prices, rule } = inputs;
  const { passThroughShift = 0, scope1Factor = 1 } = sensitivity;

  const emissions =
    scope1Factor === 1
      ? exposure.emissions
      : { ...exposure.emissions, scope1: exposure.emissions.scope1 * scope1Factor };
  const transition = transitionLoss({
    industry,
    emissions,
    revenueUsd,
    ebitdaUsd,
    shockUsdPerT: valueInYear(prices.shock, year),
    worldShockUsdPerT: valueInYear(prices.worldShock, year),
    cut: valueInYear(cutsOf(scenario), year),
    passThrough: Math.max(0, Math.min(1, passThroughOf(industry, year) + passThroughShift)),
  });

  const positiveEbitdaUsd = Math.max(ebitdaUsd, 0);
  const chronic = chronicDamage(country, { temperaturePath: scenario.temperaturePath, year }, rule);
  const chronicShare = chronic.damageFraction * industry.heatSensitivity;
  const chronicLossUsd = chronicShare * positiveEbitdaUsd;
  const acute = acuteLoss(country, chronic.warmingC);
  const assetLossUsd = totalAssetsUsd * industry.tangibleShare * acute.fraction;
  const interruptionUsd = positiveEbitdaUsd * acute.fraction;

  const creditLossUsd = bankCreditLoss(year, { exposure, inputs });
  // A dollar of EBITDA can be lost to one cause only.
  const interactionUsd =
    0 - (chronicShare + acute.fraction) * Math.min(Math.max(transition.lossUsd, 0), positiveEbitdaUsd);
  return {
    transition,
    chronic,
    chronicLossUsd,
    chronicUpperBoundUsd: chronicShare * industry.valueAddedShare * revenueUsd,
    acute,
    assetLossUsd,
    interruptionUsd,
    creditLossUsd,
    interactionUsd,
    totalUsd: transition.lossUsd + chronicLossUsd + assetLossUsd + interruptionUsd + creditLossUsd + interactionUsd,
  };
}

/** Denominator of relative losses: EBITDA if positive, else that of an average company with the same revenue. */
function denominatorUsd({ ebitdaUsd, revenueUsd }: Pick<Exposure, "ebitdaUsd" | "revenueUsd">): number {
  return ebitdaUsd > 0 ? ebitdaUsd : FALLBACK_EBITDA_SHARE * revenueUsd;
}

/** Returns a loss as a fraction of EBITDA (or its substitute), at least 0. */
export function shareOfEbitda(lossUsd: number, exposure: Pick<Exposure, "ebitdaUsd" | "revenueUsd">): number {
  // Tested first, because the denominator underflows for the smallest revenues.
  return lossUsd > 0 ? lossUsd / denominatorUsd(exposure) : 0;
}

/** Representative borrower of a bank, in an arbitrary unit of money. */
const REFERENCE_BORROWER = { revenueUsd: 1, totalAssetsUsd: 1.2, ebitdaUsd: 0.16, debt: 0.5, volatility: 0.25 };
const BASELINE_ANNUAL_DEFAULT_PROBABILITY = annualDefaultProbability(REFERENCE_BORROWER.totalAssetsUsd);
const BORROWERS_BY_COUNTRY = new Map<Country, Exposure>();

/** Credit loss of a bank from the additional defaults of its borrowers; 0 for other companies. */
function bankCreditLoss(
  year: number,
  { exposure, inputs }: { readonly exposure: Exposure; readonly inputs: ScenarioInputs },
): number {
  if (exposure.industry.group !== "banks") return 0;
  const borrower = borrowerOf(exposure.country);
  const lost = Math.min(1, shareOfEbitda(lossInYear(year, { exposure: borrower, inputs }).totalUsd, borrower));
  const more =
    annualDefaultProbability(REFERENCE_BORROWER.totalAssetsUsd * (1 - lost)) - BASELINE_ANNUAL_DEFAULT_PROBABILITY;
  return LOAN_SHARE * exposure.totalAssetsUsd * LOSS_GIVEN_DEFAULT * Math.max(0, more);
}

function annualDefaultProbability(assets: number): number {
  return (
    defaultProbability({ assets, debt: REFERENCE_BORROWER.debt, volatility: REFERENCE_BORROWER.volatility }) /
    CREDIT_TERM_YEARS
  );
}

function borrowerOf(country: Country): Exposure {
  const known = BORROWERS_BY_COUNTRY.get(country);
  if (known !== undefined) return known;
  const industry = INDUSTRIES.find(({ id }) => id === UNCLASSIFIED_INDUSTRY_ID);
  if (industry === undefined) throw new Error(`The industry table has no ${UNCLASSIFIED_INDUSTRY_ID}.`);
  const { revenueUsd, totalAssetsUsd, ebitdaUsd } = REFERENCE_BORROWER;
  const emissions = modelEmissions({ industry, country, revenueUsd });
  const borrower = { industry, country, revenueUsd, totalAssetsUsd, ebitdaUsd, emissions };
  BORROWERS_BY_COUNTRY.set(country, borrower);
  return borrower;
}
