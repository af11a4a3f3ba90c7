import { checkOptions, type Shape } from "../explain.ts";
import type {
  CompanyAnswer,
  CompanyEcho,
  CompanyHeadline,
  CompanyResult,
  CompanyValuation,
  EmissionsAnswer,
  EmissionsFigure,
  EmissionsFigures,
} from "./answer.ts";
import { DEBT_INTEREST_RATE, METHOD_VERSION, valueIn } from "./methodConstants.ts";
import { creditsOf, EMISSION_CREDITS } from "./dataSources.ts";
import { type Emissions, financedEmissions, modelEmissions, withReported } from "./emissions.ts";
import { type Exposure, lossIn, type Setting, shareOf, type YearLoss } from "./loss.ts";
import { rankOf } from "./physical.ts";
import { mainVariant, PRICE_MODELS, type PriceVariant, shocksOf } from "./carbonPrices.ts";
import { ASSUMPTIONS, companyQuality, emissionQuality, PCAF_SCORE } from "./dataQuality.ts";
import { isCapped, rangeOf } from "./lossRange.ts";
import { companyRemarks, emissionRemarks } from "./remarks.ts";
import {
  type Company,
  type CompanyRequest,
  type EmissionsRequest,
  type Emitter,
  readCompanyRequest,
  readEmissionsRequest,
} from "./request.ts";
import type { Scenario } from "./scenarios.ts";
import { ratingOf, scoreOf } from "./score.ts";
import { defaultOf, owedUsd, valuationOf } from "./valuation.ts";

export type { CompanyAnswer } from "./answer.ts";

export interface CompanyOptions {
  /** Whether damages may be negative, as in cold countries; default false. */
  readonly allowGains?: boolean;
}

const OPTIONS_SHAPE: Shape = {
  type: "object",
  properties: { allowGains: { type: "boolean" } },
  additionalProperties: false,
};

const UNITS = { money: "USD 2025 real per year", emissions: "t CO2e per year" } as const;
const NO_SHOCK = "no shock beyond current policies";
const ALL_LOST = "loss of the whole EBITDA";

/**
 * What a company emits in a year: modelled from its industry, country and revenue, or as it reports.
 *
 * @throws Fault as `readEmissionsRequest` in request.ts
 */
export function estimateEmissions(request: EmissionsRequest): EmissionsAnswer {
  const emitter = readEmissionsRequest(request);
  return {
    company: echoOf(emitter),
    units: UNITS,
    emissions: figuresOf(emitter, emissionsOf(emitter)),
    data_quality: emissionQuality(emitter),
    warnings: emissionRemarks(emitter),
    sources: EMISSION_CREDITS,
    method_version: METHOD_VERSION,
  };
}

/**
 * What a company stands to lose, a year, to the transition and to the climate, in each scenario and year asked for: with
 * all that the loss comes from, how far it may be off, what it does to value and credit, and what to be wary of.
 * docs/methods/company.md has the formulae.
 *
 * @throws Fault as `readCompanyRequest` in request.ts; `invalid_request` with everything that is wrong with the options
 */
export function totalClimateRisk(request: CompanyRequest, options: CompanyOptions = {}): CompanyAnswer {
  checkOptions(options, OPTIONS_SHAPE, { code: "invalid_request" });
  return assess(readCompanyRequest(request), options);
}

/** The same for a request that has been checked. */
export function assess(company: Company, { allowGains = false }: CompanyOptions = {}): CompanyAnswer {
  const emissions = emissionsOf(company);
  const exposure: Exposure = { ...company, industry: company.industry.industry, emissions };
  const rule = { damageFunction: company.damageFunction, allowsGains: allowGains };
  const results: CompanyResult[] = [];
  const valuation: CompanyValuation[] = [];
  for (const scenario of company.scenarios) {
    const prices = shocksOf(scenario.pricePath, {
      variant: variantFor(company, scenario),
      region: company.country.region,
    });
    const setting = { scenario, prices, rule };
    for (const year of company.years) results.push(resultOf(year, { company, exposure, setting }));
    valuation.push(valuedOf({ company, exposure, setting }));
  }
  return {
    company: echoOf(company),
    units: UNITS,
    emissions: figuresOf(company, emissions),
    results,
    valuation,
    headline: headlineOf(results),
    data_quality: companyQuality(company),
    warnings: companyRemarks(company),
    assumptions: ASSUMPTIONS,
    sources: creditsOf(company),
    method_version: METHOD_VERSION,
  };
}

function variantFor({ iam }: Company, { family, pricePath }: Scenario): PriceVariant {
  return family === "NGFS" ? iam : mainVariant(pricePath);
}

function emissionsOf({ industry: { industry }, country, revenueUsd, reported }: Emitter): Emissions {
  return withReported(modelEmissions({ industry, country, revenueUsd }), reported, { industry, country });
}

function echoOf({ name, country, industry: { industry, on } }: Emitter): CompanyEcho {
  return {
    name: name ?? null,
    country: { iso3: country.iso3, name: country.name, tier: country.tier },
    industry: { id: industry.id, name: industry.name, matched_on: on },
  };
}

function figuresOf(emitter: Emitter, emissions: Emissions): EmissionsFigures {
  const { reported, industry, country, totalAssetsUsd } = emitter;
  const isFinancing = industry.industry.group === "banks" && totalAssetsUsd !== undefined;
  return {
    scope1: emissionsFigure(emissions.scope1, { isReported: reported.scope1 !== undefined, factor: 2 }),
    scope2: emissionsFigure(emissions.scope2, { isReported: reported.scope2 !== undefined, factor: 2 }),
    scope3_upstream: emissionsFigure(emissions.scope3Upstream, {
      isReported: reported.scope3 !== undefined,
      factor: 3,
    }),
    scope3_downstream: emissionsFigure(emissions.scope3Downstream, {
      isReported: reported.scope3 !== undefined,
      factor: 3,
    }),
    financed: isFinancing
      ? emissionsFigure(financedEmissions(totalAssetsUsd, country), { isReported: false, factor: 3 })
      : null,
  };
}

function emissionsFigure(
  value: number,
  { isReported, factor }: { readonly isReported: boolean; readonly factor: number },
): EmissionsFigure {
  const method = isReported ? "reported" : "modelled";
  const [low, high] = isReported ? [value, value] : [value / factor, value * factor];
  return { value, low, high, method, pcaf_score: PCAF_SCORE[method] };
}

interface Assessed {
  readonly company: Company;
  readonly exposure: Exposure;
  readonly setting: Setting;
}

function resultOf(year: number, of: Assessed): CompanyResult {
  const { company, exposure, setting } = of;
  const { scenario, prices, rule } = setting;
  const loss = lossIn(year, { exposure, setting });
  const { transition, chronic, acute } = loss;
  const isScope1Modelled = company.reported.scope1 === undefined;
  const range = rangeOf(year, { exposure, setting, central: loss, isScope1Modelled });
  const share = shareOf(loss.totalUsd, exposure);
  const score = scoreOf(share);
  const shock = valueIn(prices.shock, year);
  const isCappedHere = isCapped(loss);
  return {
    scenario: scenario.id,
    family: scenario.family,
    vintage: scenario.vintage,
    year,
    drivers: {
      price: valueIn(prices.scenario, year),
      baseline_price: valueIn(prices.baseline, year),
      price_shock: shock,
      fuel_price_shock: transition.fuelShockUsdPerT,
      price_model: modelName(prices.variant),
      gsat: chronic.warmingC,
      local_temperature: chronic.temperatureC,
      local_temperature_2020: chronic.startTemperatureC,
      emissions_cut: transition.cut,
      abatement_share: transition.abatementShare,
      unit_cost: transition.unitCostUsdPerT,
      pass_through: transition.passThrough,
    },
    transition: {
      gross_cost: transition.grossCostUsd,
      volume_change: transition.volumeChange,
      own_volume_change: transition.ownVolumeChange,
      fuel_volume_change: transition.fuelVolumeChange,
      volume_floor: transition.isVolumeHeld,
      loss: transition.lossUsd,
      uncapped: transition.uncappedUsd,
      capped: isCappedHere,
      credit_loss: loss.creditLossUsd,
      score: scoreOf(shareOf(transition.lossUsd + loss.creditLossUsd, exposure)),
      // A region may have no shock while the world that burns its fuel has one.
      ...(shock === 0 && transition.fuelShockUsdPerT === 0 ? { note: NO_SHOCK } : {}),
    },
    physical: {
      chronic: {
        damage_fraction: chronic.damageFraction,
        loss: loss.chronicLossUsd,
        loss_upper_bound: loss.chronicBoundUsd,
      },
      acute: {
        by_hazard: acute.byHazard,
        aal_fraction: acute.fraction,
        asset_loss: loss.assetLossUsd,
        interruption: loss.interruptionUsd,
      },
      score: scoreOf(shareOf(loss.chronicLossUsd + loss.assetLossUsd + loss.interruptionUsd, exposure)),
      percentile: rankOf(
        { acuteFraction: acute.fraction, damageFraction: chronic.damageFraction },
        { temperaturePath: scenario.temperaturePath, year },
        rule,
      ),
    },
    interaction: loss.interactionUsd,
    total: {
      loss: loss.totalUsd,
      pct_of_ebitda: figure(100 * share),
      pct_of_assets: figure((100 * loss.totalUsd) / company.totalAssetsUsd),
      score,
      rating: ratingOf(score),
      low: figure(100 * range.low),
      high: figure(100 * range.high),
      measured_by: company.ebitdaUsd > 0 ? "ebitda" : "16_pct_of_revenue",
      ...(range.isAlwaysCapped ? { note: ALL_LOST } : {}),
    },
    credit: creditOf(company, loss),
  };
}

function modelName(variant: PriceVariant): string {
  switch (variant) {
    case "remind":
    case "messageix":
    case "gcam":
      return PRICE_MODELS[variant];
    default:
      return `AR6 scenario ensemble, ${variant}`;
  }
}

function creditOf({ ebitdaUsd, totalDebtUsd }: Company, { totalUsd }: YearLoss): CompanyResult["credit"] {
  const leftUsd = ebitdaUsd - totalUsd;
  const interestUsd = DEBT_INTEREST_RATE * totalDebtUsd;
  return {
    debt_to_ebitda: {
      before: ebitdaUsd > 0 ? figure(totalDebtUsd / ebitdaUsd) : null,
      after: ebitdaUsd > 0 && leftUsd > 0 ? figure(totalDebtUsd / leftUsd) : null,
    },
    interest_coverage: {
      before: totalDebtUsd > 0 ? figure(ebitdaUsd / interestUsd) : null,
      after: totalDebtUsd > 0 ? figure(leftUsd / interestUsd) : null,
    },
  };
}

function valuedOf({ company, exposure, setting }: Assessed): CompanyValuation {
  const { uncappedUsd, lossesUsd, valueAtRisk, assetsAfterUsd } = valuationOf(exposure, setting);
  const owed = owedUsd({ ...company, exposure });
  const chance = (assetsUsd: number): number | null =>
    owed === undefined ? null : defaultOf(exposure, { assetsUsd, owedUsd: owed });
  return {
    scenario: setting.scenario.id,
    npv_of_losses: lossesUsd,
    npv_uncapped: uncappedUsd,
    value_at_risk_pct: valueAtRisk === undefined ? null : figure(100 * valueAtRisk),
    asset_value_after: assetsAfterUsd,
    pd_5y_before: chance(company.totalAssetsUsd),
    pd_5y_after: chance(assetsAfterUsd),
  };
}

function headlineOf(results: readonly CompanyResult[]): CompanyHeadline {
  const [first] = results;
  if (first === undefined) throw new Error("A request has at least one result.");
  let worst = first;
  let [scores, percents] = [0, 0];
  for (const result of results) {
    if (result.total.score > worst.total.score) worst = result;
    scores += result.total.score;
    percents += result.total.pct_of_ebitda ?? NaN;
  }
  return {
    max: {
      score: worst.total.score,
      pct_of_ebitda: worst.total.pct_of_ebitda,
      scenario: worst.scenario,
      year: worst.year,
    },
    mean: { score: scores / results.length, pct_of_ebitda: figure(percents / results.length) },
  };
}

/** A number that does not exist is null on the wire: what is divided by next to nothing has no finite size. */
function figure(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
