/** Sections 1, 3 and 5: warnings. */
import type { Emission, Emissions } from "./emissions.ts";
import { isCarbonIntensityHeld } from "./emissions.ts";
import { CURRENT_POLICIES, findSeries, modelOf, priceInversions, type PriceInversion } from "./prices.ts";
import type { CheckedRequest } from "./request.ts";
import type { Tables } from "./tables.ts";

export interface Warning {
  readonly code: string;
  /** Scenario that the warning is about. */
  readonly scenario?: string;
  /** Fallback of the country. */
  readonly fallback?: string;
  /** B, for `ebitda_below_normal`. */
  readonly normalized_ebitda?: number;
  /** For `price_inversion`: the other paths, with the years. */
  readonly inversions?: readonly PriceInversion[];
}

/** All warnings of a request. The order has no meaning. */
export function warningsOf(tables: Tables, request: CheckedRequest, emissions: Emissions): Warning[] {
  return [
    ...figureWarnings(request),
    ...emissionWarnings(request, emissions),
    ...creditWarnings(request),
    ...scenarioWarnings(tables, request),
    ...countryWarnings(request),
  ];
}

function when(condition: boolean, code: string, details: Omit<Warning, "code"> = {}): Warning[] {
  return condition ? [{ code, ...details }] : [];
}

function figureWarnings({ figures, industryMatch: { industry } }: CheckedRequest): Warning[] {
  const { revenue, totalAssets, ebitda, totalDebt, normalizedEbitda: B, estimated } = figures;
  return [
    ...estimated.map((member) => ({ code: `${member}_estimated` })),
    ...when(ebitda < B, "ebitda_below_normal", { normalized_ebitda: B }),
    ...when(ebitda > revenue, "ebitda_above_revenue"),
    ...when(totalDebt > totalAssets, "debt_above_assets"),
    ...when(revenue / totalAssets < 0.02, "revenue_small"),
    ...when(revenue / totalAssets > 20, "revenue_large"),
    ...when(industry.archetype === "insurance", "no_underwriting"),
  ];
}

/** Above 3 times the high end, or below a third of the low end, of the modeled range. */
function isFarFromModel(value: number, modelled: number, range: number): boolean {
  return value > 3 * modelled * range || value < modelled / range / 3;
}

function emissionWarnings(request: CheckedRequest, emissions: Emissions): Warning[] {
  const { figures, country } = request;
  const { industry } = request.industryMatch;
  const { scope1, scope2, upstream, downstream } = emissions;
  const isSent = (emission: Emission): boolean => emission.method !== "modelled";
  const scope3 = upstream.value + downstream.value;
  const modeledScope3 = upstream.modelled + downstream.modelled;
  const isScope3Sent = isSent(upstream) || isSent(downstream);
  const reportedSum = [scope1, scope2, upstream, downstream].filter(isSent).reduce((sum, { value }) => sum + value, 0);
  return [
    ...when(
      isSent(scope1) && isFarFromModel(scope1.value, scope1.modelled, industry.s1_range),
      "scope1_far_from_model",
    ),
    ...when(
      isSent(scope2) && isFarFromModel(scope2.value, scope2.modelled, industry.s2_range),
      "scope2_far_from_model",
    ),
    ...when(isScope3Sent && isFarFromModel(scope3, modeledScope3, industry.s3_range), "scope3_far_from_model"),
    ...when(reportedSum > 0.1 * figures.revenue, "emissions_implausible"),
    ...when(upstream.method === "split" || downstream.method === "split", "scope3_split"),
    ...when(isCarbonIntensityHeld(industry, country), "carbon_intensity_held"),
  ];
}

function creditWarnings({ industryMatch: { industry }, totalLiabilities, ownPd }: CheckedRequest): Warning[] {
  const isFinancial = ["banks", "insurance"].includes(industry.archetype);
  return [
    ...when(isFinancial && totalLiabilities === undefined && ownPd === undefined, "total_liabilities_missing"),
    ...when(!isFinancial && totalLiabilities !== undefined, "total_liabilities_unused"),
  ];
}

function scenarioWarnings(tables: Tables, request: CheckedRequest): Warning[] {
  const { scenarios, assumptions, country, years } = request;
  const perScenario = scenarios.flatMap((scenario): Warning[] => {
    const model = modelOf(scenario, assumptions.iam);
    const world = findSeries(tables, scenario.price_path, model, "World");
    const inversions = priceInversions(tables, scenario, model, country, years);
    const about = { scenario: scenario.scenario_id };
    return [
      ...when(model === "ar6", "world_price", about),
      ...when(model === "ar6" && world?.isConstructed === true, "substitute_price", about),
      ...when(scenario.price_path === CURRENT_POLICIES, "no_shock", about),
      ...when(inversions.length > 0, "price_inversion", { ...about, inversions }),
    ];
  });
  return [
    ...perScenario,
    ...when(assumptions.iam !== "remind" && scenarios.some(({ family }) => family === "IPCC"), "iam_unused"),
    ...when(assumptions.damageFunction === "ngfs5_kotz", "damages_retracted"),
  ];
}

function countryWarnings({ country }: CheckedRequest): Warning[] {
  return [
    ...country.fallbacks.map((fallback) => ({ code: "country_fallback", fallback })),
    ...when(country.aal_flood === 0, "river_flood_not_shown"),
  ];
}
