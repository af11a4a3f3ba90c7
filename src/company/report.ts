import { checkOptions, type ValueSchema } from "../schemaErrors.ts";
import { DEBT_INTEREST_RATE, METHOD_VERSION } from "./methodConstants.ts";
import { valueInYear } from "./yearlySeries.ts";
import { dataSourcesOf, EMISSION_DATA_SOURCES } from "./dataSources.ts";
import { type Emissions, financedEmissions, modelEmissions, withReported } from "./emissions.ts";
import { type Exposure, lossInYear, type ScenarioInputs, shareOfEbitda, type YearLoss } from "./loss.ts";
import { percentilesOf } from "./physical.ts";
import { mainVariant, PRICE_MODELS, type PriceVariant, priceShocksOf } from "./carbonPrices.ts";
import { ASSUMPTIONS, companyQuality, emissionsQuality, PCAF_SCORE } from "./dataQuality.ts";
import { isCapped, lossRangeOf } from "./lossRange.ts";
import { companyRemarks, emissionsRemarks } from "./remarks.ts";
import { type Company, type Emitter, readCompanyRequest, readEmissionsRequest } from "./request.ts";
import type { TransitionScenario } from "./scenarios.ts";
import { ratingOf, scoreOf } from "./score.ts";
import { fiveYearDefaultProbability, liabilitiesUsd, valuationOf } from "./valuation.ts";
import type {
  CompanyAnswer,
  CompanyEcho,
  CompanyHeadline,
  CompanyRequest,
  CompanyResult,
  CompanyValuation,
  EmissionsAnswer,
  EmissionsFigure,
  EmissionsFigures,
  EmissionsRequest,
} from "../contract/wireTypes.ts";

export interface CompanyOptions {
  /** Whether damages may be negative, i.e. gains, as in cold countries; default false. */
  readonly allowGains?: boolean;
}

const COMPANY_OPTIONS_SHAPE: ValueSchema = {
  type: "object",
  properties: { allowGains: { type: "boolean" } },
  additionalProperties: false,
};

const RESULT_UNITS = { money: "USD 2025 real per year", emissions: "t CO2e per year" } as const;
const NO_SHOCK = "no shock beyond current policies";
const WHOLE_EBITDA_LOST = "loss of the whole EBITDA";

/**
 * Estimates the annual emissions of a company: as reported, or modeled from its industry, country and revenue.
 *
 * @throws Fault as `readEmissionsRequest` in request.ts
 */
export function estimateEmissions(request: EmissionsRequest): EmissionsAnswer {
  const emitter = readEmissionsRequest(request);
  return {
    company: companyEcho(emitter),
    units: RESULT_UNITS,
    emissions: emissionsFiguresOf(emitter, emissionsOf(emitter)),
    data_quality: emissionsQuality(emitter),
    warnings: emissionsRemarks(emitter),
    sources: EMISSION_DATA_SOURCES,
    method_version: METHOD_VERSION,
  };
}

/**
 * Computes the annual losses of a company from transition and physical risk in each requested scenario and year, with
 * their components, range, effects on value and credit, and warnings. Formulas: docs/methods/company.md.
 *
 * @throws Fault as `readCompanyRequest` in request.ts; `invalid_request` listing every invalid option
 */
export function totalClimateRisk(request: CompanyRequest, options: CompanyOptions = {}): CompanyAnswer {
  checkOptions(options, COMPANY_OPTIONS_SHAPE, { code: "invalid_request" });
  return assess(readCompanyRequest(request), options);
}

/** Computes the answer to a validated request. */
export function assess(company: Company, { allowGains = false }: CompanyOptions = {}): CompanyAnswer {
  const emissions = emissionsOf(company);
  const exposure: Exposure = { ...company, industry: company.industry.industry, emissions };
  const rule = { damageFunction: company.damageFunction, allowsGains: allowGains };
  const results: CompanyResult[] = [];
  const valuation: CompanyValuation[] = [];
  for (const scenario of company.scenarios) {
    const prices = priceShocksOf(scenario.pricePath, {
      variant: priceVariantFor(company, scenario),
      region: company.country.region,
    });
    const inputs = { scenario, prices, rule };
    for (const year of company.years) results.push(resultOf(year, { company, exposure, inputs }));
    valuation.push(valuationResultOf({ company, exposure, inputs }));
  }
  return {
    company: companyEcho(company),
    units: RESULT_UNITS,
    emissions: emissionsFiguresOf(company, emissions),
    results,
    valuation,
    headline: headlineOf(results),
    data_quality: companyQuality(company),
    warnings: companyRemarks(company),
    assumptions: ASSUMPTIONS,
    sources: dataSourcesOf(company),
    method_version: METHOD_VERSION,
  };
}

function priceVariantFor({ iam }: Company, { family, pricePath }: TransitionScenario): PriceVariant {
  return family === "NGFS" ? iam : mainVariant(pricePath);
}

function emissionsOf({ industry: { industry }, country, revenueUsd, reported }: Emitter): Emissions {
  return withReported(modelEmissions({ industry, country, revenueUsd }), reported, { industry, country });
}

function companyEcho({ name, country, industry: { industry, on } }: Emitter): CompanyEcho {
  return {
    name: name ?? null,
    country: { iso3: country.iso3, name: country.name, tier: country.tier },
    industry: { id: industry.id, name: industry.name, matched_on: on },
  };
}

function emissionsFiguresOf(emitter: Emitter, emissions: Emissions): EmissionsFigures {
  const { reported, industry, country, totalAssetsUsd } = emitter;
  const hasFinancedEmissions = industry.industry.group === "banks" && totalAssetsUsd !== undefined;
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
    financed: hasFinancedEmissions
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

interface ScenarioAssessment {
  readonly company: Company;
  readonly exposure: Exposure;
  readonly inputs: ScenarioInputs;
}

function resultOf(year: number, of: ScenarioAssessment): CompanyResult {
  const { company, exposure, inputs } = of;
  const { scenario, prices, rule } = inputs;
  const loss = lossInYear(year, { exposure, inputs });
  const { transition, chronic, acute } = loss;
  const isScope1Modeled = company.reported.scope1 === undefined;
  const range = lossRangeOf(year, { exposure, inputs, central: loss, isScope1Modeled });
  const share = shareOfEbitda(loss.totalUsd, exposure);
  const score = scoreOf(share);
  const shock = valueInYear(prices.shock, year);
  const isCappedHere = isCapped(loss);
  return {
    scenario: scenario.id,
    family: scenario.family,
    vintage: scenario.vintage,
    year,
    drivers: {
      price: valueInYear(prices.scenario, year),
      baseline_price: valueInYear(prices.baseline, year),
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
      volume_floor: transition.isVolumeFloored,
      loss: transition.lossUsd,
      uncapped: transition.uncappedUsd,
      capped: isCappedHere,
      credit_loss: loss.creditLossUsd,
      score: scoreOf(shareOfEbitda(transition.lossUsd + loss.creditLossUsd, exposure)),
      // A region can have no price shock while the worldwide buyers of its fuel have one.
      ...(shock === 0 && transition.fuelShockUsdPerT === 0 ? { note: NO_SHOCK } : {}),
    },
    physical: {
      chronic: {
        damage_fraction: chronic.damageFraction,
        loss: loss.chronicLossUsd,
        loss_upper_bound: loss.chronicUpperBoundUsd,
      },
      acute: {
        by_hazard: acute.byHazard,
        aal_fraction: acute.fraction,
        asset_loss: loss.assetLossUsd,
        interruption: loss.interruptionUsd,
      },
      score: scoreOf(shareOfEbitda(loss.chronicLossUsd + loss.assetLossUsd + loss.interruptionUsd, exposure)),
      percentile: percentilesOf(
        { acuteFraction: acute.fraction, damageFraction: chronic.damageFraction },
        { temperaturePath: scenario.temperaturePath, year },
        rule,
      ),
    },
    interaction: loss.interactionUsd,
    total: {
      loss: loss.totalUsd,
      pct_of_ebitda: finiteOrNull(100 * share),
      pct_of_assets: finiteOrNull((100 * loss.totalUsd) / company.totalAssetsUsd),
      score,
      rating: ratingOf(score),
      low: finiteOrNull(100 * range.low),
      high: finiteOrNull(100 * range.high),
      measured_by: company.ebitdaUsd > 0 ? "ebitda" : "16_pct_of_revenue",
      ...(range.isAlwaysCapped ? { note: WHOLE_EBITDA_LOST } : {}),
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
      before: ebitdaUsd > 0 ? finiteOrNull(totalDebtUsd / ebitdaUsd) : null,
      after: ebitdaUsd > 0 && leftUsd > 0 ? finiteOrNull(totalDebtUsd / leftUsd) : null,
    },
    interest_coverage: {
      before: totalDebtUsd > 0 ? finiteOrNull(ebitdaUsd / interestUsd) : null,
      after: totalDebtUsd > 0 ? finiteOrNull(leftUsd / interestUsd) : null,
    },
  };
}

function valuationResultOf({ company, exposure, inputs }: ScenarioAssessment): CompanyValuation {
  const { uncappedUsd, lossesUsd, valueAtRisk, assetsAfterUsd } = valuationOf(exposure, inputs);
  const liabilities = liabilitiesUsd({ ...company, exposure });
  const defaultProbability = (assetsUsd: number): number | null =>
    liabilities === undefined ? null : fiveYearDefaultProbability(exposure, { assetsUsd, liabilitiesUsd: liabilities });
  return {
    scenario: inputs.scenario.id,
    npv_of_losses: lossesUsd,
    npv_uncapped: uncappedUsd,
    value_at_risk_pct: valueAtRisk === undefined ? null : finiteOrNull(100 * valueAtRisk),
    asset_value_after: assetsAfterUsd,
    pd_5y_before: defaultProbability(company.totalAssetsUsd),
    pd_5y_after: defaultProbability(assetsAfterUsd),
  };
}

function headlineOf(results: readonly CompanyResult[]): CompanyHeadline {
  const [first] = results;
  if (first === undefined) throw new Error("The assessment has no results.");
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
    mean: { score: scores / results.length, pct_of_ebitda: finiteOrNull(percents / results.length) },
  };
}

/** Returns null for numbers that JSON cannot represent, such as ratios with a denominator close to 0. */
function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
