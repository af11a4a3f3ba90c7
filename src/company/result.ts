import type { CompanyResult, CompanyValuation, EmissionsFigure } from "../contract/wireTypes.ts";
import { originOf } from "./carbonPrices.ts";
import { debtRatiosOf, defaultRiskOf } from "./credit.ts";
import {
  type Exposure,
  isShockDelayed,
  lossInYear,
  lostShareOf,
  lostValueShareOf,
  ratingOf,
  type ScenarioInputs,
  scoreOf,
  valuationOf,
} from "./loss.ts";
import { type CentralLoss, lossRangeOf } from "./lossRange.ts";
import { POWER_ABATEMENT, SUPPLIER_ABATEMENT } from "./methodConstants.ts";
import { hazardLossFraction, localTemperatureC, percentilesOf } from "./physical.ts";
import type { Company } from "./request.ts";
import { abatedShareOf, productUnitCostOf, renewedShareOf, unitCostOf, volumeChangeOf } from "./transition.ts";
import { valueInYear } from "./yearlySeries.ts";
import { expm1 } from "../numerics/elementaryFunctions.ts";

/** A company in one scenario. */
export interface ScenarioAssessment {
  readonly company: Company;
  readonly exposure: Exposure;
  readonly scope1: EmissionsFigure;
  readonly inputs: ScenarioInputs;
}

/** Computes the result of one scenario and year. */
export function resultOf(year: number, { company, exposure, scope1, inputs }: ScenarioAssessment): CompanyResult {
  const { ebitdaUsd } = exposure;
  const loss = lossInYear(year, exposure, inputs);
  const central = { year, exposure, inputs, loss };
  const { low, high } = lossRangeOf(central, scope1);
  const lostShare = lostShareOf(loss.lossRatio);
  const totalUsd = ebitdaUsd * lostShare;
  const transition = transitionOf(central);
  const score = scoreOf(loss.lossRatio);
  return {
    scenario: inputs.scenario.id,
    family: inputs.scenario.family,
    vintage: inputs.scenario.vintage,
    year,
    drivers: driversOf(central),
    transition,
    physical: physicalOf(central),
    interaction: totalUsd - (transition.loss + loss.chronicUsd + loss.assetUsd + loss.interruptionUsd + loss.creditUsd),
    total: {
      loss: totalUsd,
      loss_ratio: loss.lossRatio,
      pct_of_ebitda: 100 * lostShare,
      pct_of_assets: (100 * totalUsd) / company.totalAssetsUsd,
      score,
      rating: ratingOf(score),
      low: 100 * low,
      high: 100 * high,
      measured_by: company.ebitdaUsd < company.normalizedEbitdaUsd ? "normal_ebitda" : "ebitda",
    },
    credit: {
      ...debtRatiosOf(company, totalUsd),
      ...defaultRiskOf(company, lostValueShareOf(lostShare, exposure, inputs.discounting)),
    },
  };
}

function driversOf({ year, exposure, inputs, loss }: CentralLoss): CompanyResult["drivers"] {
  const { industry, country } = exposure;
  const { prices } = inputs;
  const { shockUsdPerT, buyersShockUsdPerT, warming } = loss;
  return {
    price: valueInYear(prices.scenario, year),
    baseline_price: valueInYear(prices.baseline, year),
    price_shock: shockUsdPerT,
    fuel_price_shock: buyersShockUsdPerT,
    price_model: originOf(prices.variant),
    price_region: prices.region,
    gsat: warming.endC,
    local_temperature: localTemperatureC(country, warming.endC),
    local_temperature_2020: localTemperatureC(country, warming.startC),
    capital_renewed: renewedShareOf(industry.abatement, year),
    abatement_share: abatedShareOf(shockUsdPerT, industry.abatement, year),
    unit_cost: unitCostOf(shockUsdPerT, industry.abatement, year),
    unit_cost_scope2: unitCostOf(shockUsdPerT, POWER_ABATEMENT, year),
    unit_cost_upstream: unitCostOf(shockUsdPerT, SUPPLIER_ABATEMENT, year),
    product_unit_cost: productUnitCostOf(industry, buyersShockUsdPerT, year),
    pass_through: loss.passThrough,
  };
}

function transitionOf(central: CentralLoss): CompanyResult["transition"] {
  const { exposure, loss } = central;
  const { ebitdaUsd } = exposure;
  const { costs, passThrough, transitionUsd, creditUsd } = loss;
  return {
    gross_cost: costs.grossUsd,
    volume_change: volumeChangeOf(exposure, passThrough * costs.grossUsd + costs.useUsd),
    own_volume_change: volumeChangeOf(exposure, passThrough * costs.grossUsd),
    product_volume_change: volumeChangeOf(exposure, costs.useUsd),
    loss: ebitdaUsd * -expm1(-transitionUsd / ebitdaUsd) + 0,
    uncapped: transitionUsd,
    capped: transitionUsd >= ebitdaUsd,
    credit_loss: creditUsd,
    score: scoreOf((transitionUsd + creditUsd) / ebitdaUsd),
    // A region can have no price shock while the worldwide buyers of its fuel have one.
    ...(loss.shockUsdPerT === 0 && transitionUsd === 0 ? { note: noShockNote(central) } : {}),
  };
}

function noShockNote({ year, exposure, inputs }: CentralLoss): string {
  const note = "no shock beyond current policies";
  return isShockDelayed(year, exposure, inputs) ? `${note} before shock_year ${inputs.shockYear}` : note;
}

function physicalOf({ year, exposure, inputs, loss }: CentralLoss): CompanyResult["physical"] {
  const { country, ebitdaUsd } = exposure;
  const { warming, damageFraction, acuteFraction, chronicUsd, assetUsd, interruptionUsd } = loss;
  return {
    chronic: { damage_fraction: damageFraction, loss: chronicUsd },
    acute: {
      by_hazard: {
        flood: hazardLossFraction(country, "flood", warming.endC),
        wind: hazardLossFraction(country, "wind", warming.endC),
        surge: hazardLossFraction(country, "surge", warming.endC),
      },
      aal_fraction: acuteFraction,
      asset_loss: assetUsd,
      interruption: interruptionUsd,
    },
    score: scoreOf((chronicUsd + assetUsd + interruptionUsd) / ebitdaUsd),
    percentile: percentilesOf(
      { acuteFraction, damageFraction },
      { temperaturePath: inputs.scenario.temperaturePath, year, warming },
      inputs.damageFunction,
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
