import type { CompanyResult, CompanyValuation, EmissionsFigure } from "../contract/wireTypes.ts";
import { originOf } from "./carbonPrices.ts";
import { debtRatiosOf, defaultRiskOf } from "./credit.ts";
import { type Exposure, lossInYear, lostValueShareOf, type ScenarioInputs, type YearLoss } from "./loss.ts";
import { lossRangeOf } from "./lossRange.ts";
import { percentilesOf } from "./physicalPercentiles.ts";
import type { Company } from "./request.ts";
import { ratingOf, scoreOf } from "./score.ts";
import { valuationOf } from "./valuation.ts";
import { valueInYear } from "./yearlySeries.ts";

const NO_SHOCK = "no shock beyond current policies";

/** A company in one scenario. */
export interface ScenarioAssessment {
  readonly company: Company;
  readonly exposure: Exposure;
  readonly scope1: EmissionsFigure;
  readonly inputs: ScenarioInputs;
}

/** Computes the result of one scenario and year. */
export function resultOf(year: number, of: ScenarioAssessment): CompanyResult {
  const { company, exposure, inputs } = of;
  const { ebitdaUsd } = exposure;
  const loss = lossInYear(year, of);
  const { low, high } = lossRangeOf(year, { ...of, central: loss });
  const totalUsd = ebitdaUsd * loss.lostShare;
  const transition = transitionOf(loss, ebitdaUsd);
  const physical = physicalOf(loss, { inputs, ebitdaUsd, year });
  const score = scoreOf(loss.lossRatio);
  return {
    scenario: inputs.scenario.id,
    family: inputs.scenario.family,
    vintage: inputs.scenario.vintage,
    year,
    drivers: driversOf(loss, inputs, year),
    transition,
    physical,
    interaction:
      totalUsd -
      (transition.loss + loss.chronicLossUsd + loss.assetLossUsd + loss.interruptionUsd + loss.creditLossUsd),
    total: {
      loss: totalUsd,
      loss_ratio: loss.lossRatio,
      pct_of_ebitda: 100 * loss.lostShare,
      pct_of_assets: (100 * totalUsd) / company.totalAssetsUsd,
      score,
      rating: ratingOf(score),
      low: 100 * low,
      high: 100 * high,
      measured_by: company.ebitdaUsd < company.normalizedEbitdaUsd ? "normal_ebitda" : "ebitda",
    },
    credit: {
      ...debtRatiosOf(company, totalUsd),
      ...defaultRiskOf(company, lostValueShareOf(loss.lostShare, exposure, inputs.discounting)),
    },
  };
}

function driversOf(loss: YearLoss, { prices }: ScenarioInputs, year: number): CompanyResult["drivers"] {
  const { transition, climate } = loss;
  return {
    price: valueInYear(prices.scenario, year),
    baseline_price: valueInYear(prices.baseline, year),
    price_shock: loss.shockUsdPerT,
    fuel_price_shock: loss.buyersShockUsdPerT,
    price_model: originOf(prices.variant),
    price_region: prices.region,
    gsat: climate.warmingC,
    local_temperature: climate.temperatureC,
    local_temperature_2020: climate.startTemperatureC,
    capital_renewed: transition.renewedShare,
    abatement_share: transition.abatedShare,
    unit_cost: transition.unitCostUsdPerT,
    unit_cost_scope2: transition.powerUnitCostUsdPerT,
    unit_cost_upstream: transition.supplierUnitCostUsdPerT,
    product_unit_cost: transition.productUnitCostUsdPerT,
    pass_through: transition.passThrough,
  };
}

function transitionOf(
  { transition, creditLossUsd, shockUsdPerT }: YearLoss,
  ebitdaUsd: number,
): CompanyResult["transition"] {
  const { lossUsd } = transition;
  return {
    gross_cost: transition.grossCostUsd,
    volume_change: transition.volumeChange,
    own_volume_change: transition.ownVolumeChange,
    product_volume_change: transition.productVolumeChange,
    loss: ebitdaUsd * -Math.expm1(-lossUsd / ebitdaUsd) + 0,
    uncapped: lossUsd,
    capped: lossUsd >= ebitdaUsd,
    credit_loss: creditLossUsd,
    score: scoreOf((lossUsd + creditLossUsd) / ebitdaUsd),
    // A region can have no price shock while the worldwide buyers of its fuel have one.
    ...(shockUsdPerT === 0 && lossUsd === 0 ? { note: NO_SHOCK } : {}),
  };
}

function physicalOf(
  loss: YearLoss,
  of: { readonly inputs: ScenarioInputs; readonly ebitdaUsd: number; readonly year: number },
): CompanyResult["physical"] {
  const { chronicLossUsd, damageFraction, acute, assetLossUsd, interruptionUsd } = loss;
  const { scenario, damageFunction } = of.inputs;
  return {
    chronic: { damage_fraction: damageFraction, loss: chronicLossUsd },
    acute: {
      by_hazard: acute.byHazard,
      aal_fraction: acute.fraction,
      asset_loss: assetLossUsd,
      interruption: interruptionUsd,
    },
    score: scoreOf((chronicLossUsd + assetLossUsd + interruptionUsd) / of.ebitdaUsd),
    percentile: percentilesOf(
      { acuteFraction: acute.fraction, damageFraction },
      { temperaturePath: scenario.temperaturePath, year: of.year },
      damageFunction,
    ),
  };
}

/** Computes the effect of one scenario on the value of a company. */
export function companyValuationOf({ company, exposure, inputs }: ScenarioAssessment): CompanyValuation {
  const { npvUsd, npvUncappedUsd, valueBeforeUsd, lostValueShare } = valuationOf(exposure, inputs);
  const { pd_5y, ...risk } = defaultRiskOf(company, lostValueShare);
  return {
    scenario: inputs.scenario.id,
    npv_of_losses: npvUsd,
    npv_uncapped: npvUncappedUsd,
    value_before: valueBeforeUsd,
    value_at_risk_pct: 100 * lostValueShare,
    asset_value_after: company.totalAssetsUsd * (1 - lostValueShare),
    pd_5y_before: pd_5y.before,
    pd_5y_after: pd_5y.after,
    ...risk,
  };
}
