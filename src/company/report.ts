import type {
  CompanyAnswer,
  CompanyEcho,
  CompanyHeadline,
  CompanyRequest,
  CompanyResult,
  CompanyValuation,
  EmissionsAnswer,
  EmissionsFigures,
  EmissionsRequest,
  EmitterEcho,
} from "../contract/wireTypes.ts";
import { centralVariant, priceShocksOf } from "./carbonPrices.ts";
import { companyQuality, dataSourcesOf, EMISSION_DATA_SOURCES, emissionsQuality } from "./dataQuality.ts";
import { discountingAt, type Exposure, type ScenarioInputs } from "./loss.ts";
import { type CompanyEmissions, companyEmissions, tonnesOf } from "./emissions.ts";
import { METHOD_VERSION } from "./methodConstants.ts";
import { companyRemarks, emissionsRemarks } from "./remarks.ts";
import { type Company, type Emitter, readCompanyRequest, readEmissionsRequest } from "./request.ts";
import { companyValuationOf, resultOf } from "./result.ts";
import { warmingOf } from "./yearlySeries.ts";

const RESULT_UNITS = { money: "USD 2025 real per year", emissions: "t CO2e per year" } as const;

/**
 * Estimates the annual emissions of a company, t CO2e by scope: as reported, or modeled from its industry, country and
 * revenue (USD of 2025). Formulas: docs/methods/company.md.
 *
 * @throws Fault listing up to 100 errors, each with a JSON pointer: `country_unknown` or `industry_unknown` (the first that
 *   applies) if there are no other errors, else `invalid_request`
 */
export function estimateEmissions(request: EmissionsRequest): EmissionsAnswer {
  const emitter = readEmissionsRequest(request);
  const emissions = emissionsOf(emitter);
  return {
    company: emitterEcho(emitter),
    units: RESULT_UNITS,
    emissions: emissionsFiguresOf(emissions),
    data_quality: emissionsQuality(emitter, emissions),
    warnings: emissionsRemarks(emitter, emissions),
    sources: EMISSION_DATA_SOURCES,
    method_version: METHOD_VERSION,
  };
}

/**
 * Computes the annual losses of a company from transition and physical risk in each requested scenario and year, in real USD
 * of 2025, with their components, range, effects on value and credit, and warnings. Formulas: docs/methods/company.md.
 *
 * @throws Fault listing up to 100 errors, each with a JSON pointer: `country_unknown`, `industry_unknown`,
 *   `scenario_unknown` or `combination_unavailable` (the first that applies) if there are no other errors, else
 *   `invalid_request`
 */
export function totalClimateRisk(request: CompanyRequest): CompanyAnswer {
  return assess(readCompanyRequest(request));
}

/** Computes the answer to a validated request. */
export function assess(company: Company): CompanyAnswer {
  const { assumptions, country } = company;
  const { industry } = company.industry;
  const emissions = emissionsOf(company);
  const exposure: Exposure = {
    industry,
    country,
    revenueUsd: company.revenueUsd,
    totalAssetsUsd: company.totalAssetsUsd,
    ebitdaUsd: company.normalizedEbitdaUsd,
    emissions: tonnesOf(emissions),
  };
  const results: CompanyResult[] = [];
  const valuation: CompanyValuation[] = [];
  for (const inputs of scenarioInputsOf(company)) {
    const assessment = { company, exposure, scope1: emissions.scope1, inputs };
    for (const year of company.years) results.push(resultOf(year, assessment));
    valuation.push(companyValuationOf(assessment));
  }
  return {
    company: companyEcho(company),
    units: RESULT_UNITS,
    assumptions: {
      discount_rate: assumptions.discountRate,
      shock_year: assumptions.shockYear,
      pass_through: assumptions.passThrough ?? null,
      lgd: assumptions.lossGivenDefault,
      damage_function: assumptions.damageFunction,
      iam: assumptions.iam,
    },
    parameters: { industry: industry.parameters, country: country.parameters },
    emissions: emissionsFiguresOf(emissions),
    results,
    valuation,
    headline: headlineOf(results),
    data_quality: companyQuality(company, emissions),
    warnings: companyRemarks(company, emissions),
    sources: dataSourcesOf(assumptions),
    method_version: METHOD_VERSION,
  };
}

function scenarioInputsOf({ scenarios, country, assumptions }: Company): readonly ScenarioInputs[] {
  const { damageFunction, shockYear, passThrough } = assumptions;
  const discounting = discountingAt(assumptions.discountRate);
  return scenarios.map((scenario) => {
    const variant = centralVariant(scenario, assumptions.iam);
    const prices = priceShocksOf(scenario.pricePath, { variant, region: country.region });
    if (prices === undefined) throw new Error(`The request was accepted, but ${scenario.id} has no prices.`);
    const warmingC = warmingOf(scenario.temperaturePath);
    return { scenario, prices, warmingC, damageFunction, shockYear, passThrough, discounting };
  });
}

function emissionsOf(emitter: Emitter): CompanyEmissions {
  return companyEmissions({ ...emitter, industry: emitter.industry.industry });
}

function emitterEcho({ name, country, industry: { industry, on } }: Emitter): EmitterEcho {
  return {
    name: name ?? null,
    country: { iso3: country.iso3, name: country.name, tier: country.tier },
    industry: { id: industry.id, name: industry.name, matched_on: on },
  };
}

function companyEcho(company: Company): CompanyEcho {
  return {
    ...emitterEcho(company),
    figures: {
      revenue: company.revenueUsd,
      total_assets: company.totalAssetsUsd,
      ebitda: company.ebitdaUsd,
      total_debt: company.totalDebtUsd,
      normalized_ebitda: company.normalizedEbitdaUsd,
      estimated: company.estimated,
    },
  };
}

function emissionsFiguresOf(emissions: CompanyEmissions): EmissionsFigures {
  return {
    scope1: emissions.scope1,
    scope2: emissions.scope2,
    scope3_upstream: emissions.scope3Upstream,
    scope3_downstream: emissions.scope3Downstream,
    financed: emissions.financed,
  };
}

function headlineOf(results: readonly CompanyResult[]): CompanyHeadline {
  const [first] = results;
  if (first === undefined) throw new Error("The assessment has no results.");
  let worst = first;
  let [scores, ratios, percents] = [0, 0, 0];
  for (const result of results) {
    const { score, loss_ratio, pct_of_ebitda } = result.total;
    if (loss_ratio > worst.total.loss_ratio) worst = result;
    scores += score;
    ratios += loss_ratio;
    percents += pct_of_ebitda;
  }
  const { score, loss_ratio, pct_of_ebitda } = worst.total;
  const count = results.length;
  return {
    max: { scenario: worst.scenario, year: worst.year, score, loss_ratio, pct_of_ebitda },
    mean: { score: scores / count, loss_ratio: ratios / count, pct_of_ebitda: percents / count },
  };
}
