/** Section 7: the report under the names of the response, with figures that are not rounded. */
import type { CompanyReport } from "./report.ts";
import { COUNTRY_NUMBERS, type Country, INDUSTRY_NUMBERS, type Industry } from "./tables.ts";

/** Columns of `industries.csv` that sections 1 to 6 name. */
const INDUSTRY_COLUMNS = [
  ...INDUSTRY_NUMBERS,
  "archetype",
  "s1_scaling",
  "product_channel",
  "factor_quality",
] as const satisfies readonly (keyof Industry)[];

/** Columns of `countries.csv` that sections 1 to 6 name. */
const COUNTRY_COLUMNS = [
  ...COUNTRY_NUMBERS,
  "aal_flood",
  "aal_wind",
  "aal_surge",
  "ngfs_r5",
] as const satisfies readonly (keyof Country)[];

/** The members of the response that the text defines; `units`, `data_quality` and `sources` are texts and left out. */
export function responseOf(report: CompanyReport) {
  const { request, figures, emissions, results, valuation, headline } = report;
  const { country, assumptions } = request;
  const { industry, matchedOn } = request.industryMatch;
  return {
    company: {
      name: request.name,
      country: { iso3: country.iso3, name: country.name, tier: country.tier },
      industry: { id: industry.id, name: industry.name, matched_on: matchedOn },
      figures: {
        revenue: figures.revenue,
        total_assets: figures.totalAssets,
        ebitda: figures.ebitda,
        total_debt: figures.totalDebt,
        normalized_ebitda: figures.normalizedEbitda,
        estimated: figures.estimated,
      },
    },
    assumptions: {
      discount_rate: assumptions.discountRate,
      shock_year: assumptions.shockYear,
      pass_through: assumptions.passThrough ?? null,
      lgd: request.lgd,
      damage_function: assumptions.damageFunction,
      iam: assumptions.iam,
    },
    parameters: {
      industry: Object.fromEntries(INDUSTRY_COLUMNS.map((column) => [column, industry[column]])),
      country: Object.fromEntries(COUNTRY_COLUMNS.map((column) => [column, country[column]])),
    },
    emissions: {
      scope1: emissions.scope1,
      scope2: emissions.scope2,
      scope3_upstream: emissions.upstream,
      scope3_downstream: emissions.downstream,
      financed: emissions.financed,
    },
    results: results.map(({ total: { lost_share: _lost, value_share: _value, ...total }, ...result }) => ({
      ...result,
      total,
    })),
    valuation,
    headline: {
      max: { scenario: headline.max.scenario, year: headline.max.year },
      mean: headline.mean,
    },
    warnings: report.warnings,
  };
}
