import { MISSING_SCORE_C } from "../contract/names.ts";
import type {
  Contribution,
  Financed,
  FinancedHolding,
  PortfolioOptions,
  PortfolioResult,
  PortfolioScope,
  UnattributedReason,
} from "../contract/wireTypes.ts";
import { type Aggregate, aggregateHoldings, groupHoldings, groupResults, shareOf } from "./aggregate.ts";
import {
  createResultBuffers,
  emissionsOf,
  type HoldingColumns,
  type ResultBuffers,
  weighHoldings,
} from "./mergedHoldings.ts";

/**
 * Computes the temperature of a portfolio for each requested method and scope, yielding one result at a time so that
 * callers can pause in between.
 *
 * @param columns holdings with their scores
 * @returns unrounded results in the requested order of methods and, within a method, of scopes
 */
export function* portfolioResults(
  columns: HoldingColumns,
  options: PortfolioOptions = {},
): Generator<PortfolioResult, void, undefined> {
  const { methods = ["WATS"], scopes = ["s1s2s3"], goal: goalC, group_by: keys } = options;
  const missing = {
    lowC: options.missing_low ?? MISSING_SCORE_C.low,
    highC: options.missing_high ?? MISSING_SCORE_C.high,
    defaultC: options.default_score,
  };
  const groups = keys?.map((key) => groupHoldings(columns.lines, key));
  const buffers = createResultBuffers(columns.count);
  const emissionsTCO2e = new Map<PortfolioScope, Float64Array>();
  for (const method of methods) {
    for (const scope of scopes) {
      const emissions = emissionsTCO2e.get(scope) ?? emissionsOf(columns, scope);
      emissionsTCO2e.set(scope, emissions);
      const weights = weighHoldings(columns, method, emissions, buffers);
      const aggregate = aggregateHoldings(columns, columns.scores[scope], weights, missing, buffers);
      const holdings = { values: columns.values, weights: weights.weights };
      yield {
        method,
        scope,
        ...aggregate.figures,
        ...(aggregate.figures.temperature === null
          ? {}
          : { contributions: contributionsOf(columns.ids, aggregate, goalC, buffers) }),
        ...(groups === undefined
          ? {}
          : {
              groups: Object.fromEntries(groups.map((group) => [group.key, groupResults(group, holdings, aggregate)])),
            }),
      };
    }
  }
}

/**
 * Computes, for every holding in a temperature, what it contributes and what the temperature would be without it.
 *
 * @param aggregate an aggregate with a temperature
 * @param goalC adds the contribution above this temperature, degrees C
 */
function contributionsOf(
  ids: readonly string[],
  aggregate: Aggregate,
  goalC: number | undefined,
  { laterWeights, laterScores }: ResultBuffers,
): readonly Contribution[] {
  const { usedWeights, usedScoresC, totalWeight, temperatureC } = aggregate;
  const count = ids.length;
  computeLaterSums(usedWeights, usedScoresC, { laterWeights, laterScores });
  const contributions: Contribution[] = [];
  let earlierWeight = 0;
  let earlierScore = 0;
  for (let i = 0; i < count; i++) {
    const scoreC = usedScoresC[i] as number;
    if (Number.isNaN(scoreC)) continue;
    const usedWeight = usedWeights[i] as number;
    const weight = usedWeight / totalWeight;
    const contributionC = weight * scoreC;
    const otherWeight = earlierWeight + (laterWeights[i + 1] as number);
    const otherScore = earlierScore + (laterScores[i + 1] as number);
    const contribution: Contribution = {
      id: ids[i] as string,
      weight,
      temperature: scoreC,
      contribution: contributionC,
      share: contributionC / temperatureC,
      without: otherWeight === 0 ? null : otherScore / otherWeight,
    };
    // One shape of object or the other, because spreading an optional member takes longer than the rest.
    contributions.push(goalC === undefined ? contribution : { ...contribution, above_goal: weight * (scoreC - goalC) });
    earlierWeight += usedWeight;
    earlierScore += usedWeight * scoreC;
  }
  return contributions;
}

/**
 * Computes the sums of the weights and of weight times score from each holding to the last. Adding the sums on both sides
 * of a holding is accurate if the holding dominates; subtracting it from the total would leave rounding errors.
 */
function computeLaterSums(
  weights: Float64Array,
  scoresC: Float64Array,
  { laterWeights, laterScores }: Pick<ResultBuffers, "laterWeights" | "laterScores">,
): void {
  const count = weights.length;
  laterWeights[count] = 0;
  laterScores[count] = 0;
  for (let i = count - 1; i >= 0; i--) {
    const weight = weights[i] as number;
    const score = weight === 0 ? 0 : weight * (scoresC[i] as number);
    laterWeights[i] = (laterWeights[i + 1] as number) + weight;
    laterScores[i] = (laterScores[i + 1] as number) + score;
  }
}

const PER_MILLION = 1e6;

/**
 * Computes financed emissions according to the PCAF standard, Part A ("Financed emissions" in
 * docs/methods/portfolio.md).
 */
export function financedEmissions(columns: HoldingColumns): Financed {
  const { count, ids, values, revenues, qualities, allowedTCO2e, projectedTCO2e } = columns;
  const emissions = { s1s2: emissionsOf(columns, "s1s2"), s3: emissionsOf(columns, "s3") };
  const sums = { s1s2: new ScopeSums(), s3: new ScopeSums() };
  const holdings: FinancedHolding[] = [];
  const uncovered: { readonly id: string; readonly reason: UnattributedReason }[] = [];
  let value = 0;
  let waciValue = 0;
  let waci = 0;
  let budgetValue = 0;
  let budgetCount = 0;
  let allowed = 0;
  let projected = 0;
  for (let i = 0; i < count; i++) {
    const id = ids[i] as string;
    const held = values[i] as number;
    value += held;
    const scopes1And2 = emissions.s1s2[i] as number;
    const revenue = revenues[i] as number;
    if (!Number.isNaN(scopes1And2) && revenue > 0) {
      waciValue += held;
      waci += held * (scopes1And2 / revenue);
    }
    const denominator = attributionDenominator(columns, i);
    if (!(denominator > 0)) {
      uncovered.push({ id, reason: Number.isNaN(denominator) ? "denominator_missing" : "denominator_not_positive" });
      continue;
    }
    const attribution = held / denominator;
    const s1s2 = sums.s1s2.add(held, attribution, scopes1And2, qualities.s1s2[i] as number);
    const s3 = sums.s3.add(held, attribution, emissions.s3[i] as number, qualities.s3[i] as number);
    holdings.push({
      id,
      attribution,
      ...(attribution > 1 ? { flags: ["attribution_above_one"] } : {}),
      ...(s1s2 === undefined ? {} : { s1s2 }),
      ...(s3 === undefined ? {} : { s3 }),
    });
    if (Number.isNaN(allowedTCO2e[i])) continue;
    budgetCount++;
    budgetValue += held;
    allowed += attribution * (allowedTCO2e[i] as number);
    projected += attribution * (projectedTCO2e[i] as number);
  }
  const perScope = <Figure>(figure: (scope: ScopeSums) => Figure) => ({
    s1s2: figure(sums.s1s2),
    s3: figure(sums.s3),
  });
  return {
    holdings,
    uncovered,
    financed_emissions: perScope(({ financed }) => financed),
    coverage: perScope((scope) => shareOf(scope.value, value)),
    intensity_per_million: perScope((scope) =>
      scope.value === 0 ? null : (PER_MILLION * scope.financed) / scope.value,
    ),
    data_quality: perScope((scope) => (scope.qualityValue === 0 ? null : scope.quality / scope.qualityValue)),
    data_quality_coverage: perScope((scope) => shareOf(scope.qualityValue, value)),
    waci_per_million: waciValue === 0 ? null : (PER_MILLION * waci) / waciValue,
    waci_coverage: shareOf(waciValue, value),
    budget: budgetCount === 0 ? null : financedBudget(allowed, projected),
    budget_coverage: shareOf(budgetValue, value),
  };
}

/** Sums of the holdings with an attribution factor and emissions in a scope. */
class ScopeSums {
  /** t CO2e. */
  financed = 0;
  value = 0;
  /** Data quality scores times value, and the value that has one. */
  quality = 0;
  qualityValue = 0;

  /** @returns the financed emissions of the holding, t CO2e; undefined if the emissions are NaN */
  add(value: number, attribution: number, emissionsTCO2e: number, quality: number): number | undefined {
    if (Number.isNaN(emissionsTCO2e)) return undefined;
    const financed = attribution * emissionsTCO2e;
    this.financed += financed;
    this.value += value;
    if (!Number.isNaN(quality)) {
      this.quality += value * quality;
      this.qualityValue += value;
    }
    return financed;
  }
}

/** Returns enterprise value including cash or, if that is not given, equity plus debt; NaN if neither is. */
function attributionDenominator({ evics, capitals }: HoldingColumns, index: number): number {
  const evic = evics[index] as number;
  return Number.isNaN(evic) ? (capitals[index] as number) : evic;
}

function financedBudget(allowed: number, projected: number): NonNullable<Financed["budget"]> {
  return {
    allowed,
    projected,
    overshoot: projected - allowed,
    overshoot_pct: allowed > 0 ? 100 * (projected / allowed - 1) : null,
  };
}
