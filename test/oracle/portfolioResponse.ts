/** Results of the reference implementation of portfolios in the shape of the response. */
import type { Aggregate } from "./portfolio.ts";
import type { Financed } from "./portfolioFinanced.ts";

/** Returns the result of one method and scope. Without group keys, `groups` is absent. */
export function portfolioElement({
  method,
  scope,
  coverage,
  uncovered,
  temperature,
  bounds,
  groups,
  figures,
}: Aggregate) {
  const common = {
    method,
    scope,
    coverage,
    uncovered,
    temperature,
    ...(bounds === null ? {} : { bounds }),
    ...(Object.keys(groups).length === 0 ? {} : { groups }),
  };
  if (figures === null) return { ...common, reason: "no_weight" };
  return {
    ...common,
    ...(figures.defaultShare === null ? {} : { default_share: figures.defaultShare }),
    range: figures.range,
    range_independent: figures.rangeIndependent,
    range_coverage: figures.rangeCoverage,
    contributions: figures.contributions.map(({ aboveGoal, ...contribution }) => ({
      ...contribution,
      ...(aboveGoal === null ? {} : { above_goal: aboveGoal }),
    })),
  };
}

/** Returns the financed emissions of a portfolio. */
export function financedElement(financed: Financed) {
  return {
    holdings: financed.holdings.map(({ id, attribution, isAboveOne, emissions: { s1s2, s3 } }) => ({
      id,
      attribution,
      ...(isAboveOne ? { flags: ["attribution_above_one"] } : {}),
      ...(s1s2 === null ? {} : { s1s2 }),
      ...(s3 === null ? {} : { s3 }),
    })),
    uncovered: financed.uncovered,
    financed_emissions: financed.emissions,
    coverage: financed.coverage,
    intensity_per_million: financed.intensityPerMillion,
    data_quality: financed.dataQuality,
    data_quality_coverage: financed.dataQualityCoverage,
    waci_per_million: financed.waciPerMillion,
    waci_coverage: financed.waciCoverage,
    budget: financed.budget === null ? null : budgetElement(financed.budget),
  };
}

function budgetElement({ overshootPct, ...budget }: NonNullable<Financed["budget"]>) {
  return { ...budget, overshoot_pct: overshootPct };
}
