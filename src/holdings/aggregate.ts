import { NO_WEIGHT, UNASSIGNED_GROUP } from "../contract/names.ts";
import type { Holding, PortfolioGroup, PortfolioResult, TemperatureRange } from "../contract/wireTypes.ts";
import {
  type HoldingColumns,
  type HoldingWeights,
  reasonNumberOf,
  reasonOf,
  type ResultBuffers,
  type ScoreColumns,
} from "./mergedHoldings.ts";

/** Temperatures that are used in place of missing scores, degrees C. */
interface MissingScores {
  /** Bounds of the missing scores. */
  readonly lowC: number;
  readonly highC: number;
  /** Used as the score of a holding that has none; undefined if no score is assumed. */
  readonly defaultC: number | undefined;
}

/** Temperature of holdings by one method and scope. */
export interface Aggregate {
  /** Weight of the holdings in `temperatureC`. */
  readonly totalWeight: number;
  /** Degrees C; NaN if `totalWeight` is 0. */
  readonly temperatureC: number;
  /** Weight of each holding in `temperatureC`, 0 for the others. */
  readonly usedWeights: Float64Array;
  /** Score of each holding in `temperatureC`, with the default score where it is used; NaN for the others. */
  readonly usedScoresC: Float64Array;
  /** As in `HoldingWeights`, and `score_missing`. */
  readonly reasonNumbers: Uint8Array;
  /** Members of the result except `method`, `scope`, `contributions` and `groups`. */
  readonly figures: Pick<
    PortfolioResult,
    | "temperature"
    | "reason"
    | "range"
    | "range_independent"
    | "range_coverage"
    | "coverage"
    | "bounds"
    | "default_share"
    | "uncovered"
  >;
}

const SCORE_MISSING = reasonNumberOf("score_missing");

/**
 * Computes the figures of "Temperature, coverage and ranges" in docs/methods/portfolio.md.
 *
 * @param buffers hold the columns of the result until the next call
 */
export function aggregateHoldings(
  { count, ids, values }: HoldingColumns,
  { temperaturesC, lowsC, highsC }: ScoreColumns,
  { weights, reasonNumbers: weightReasonNumbers }: HoldingWeights,
  missing: MissingScores,
  { usedWeights, usedScoresC, reasonNumbers }: ResultBuffers,
): Aggregate {
  usedWeights.fill(0);
  usedScoresC.fill(NaN);
  reasonNumbers.set(weightReasonNumbers);
  const real = new WeightedSums();
  const used = new WeightedSums();
  let value = 0;
  let coveredValue = 0;
  let coveredCount = 0;
  let missingWeight = 0;
  let intervalWeight = 0;
  let isComplete = true;
  for (let i = 0; i < count; i++) {
    value += values[i] as number;
    const weight = weights[i] as number;
    if (reasonNumbers[i] !== 0) {
      isComplete = false;
      continue;
    }
    const scoreC = temperaturesC[i] as number;
    if (Number.isNaN(scoreC)) {
      reasonNumbers[i] = SCORE_MISSING;
      missingWeight += weight;
      if (missing.defaultC === undefined) continue;
      usedWeights[i] = weight;
      usedScoresC[i] = missing.defaultC;
      used.add(weight, missing.defaultC, missing.defaultC, missing.defaultC);
      continue;
    }
    const hasInterval = !Number.isNaN(lowsC[i]);
    const lowC = hasInterval ? (lowsC[i] as number) : scoreC;
    const highC = hasInterval ? (highsC[i] as number) : scoreC;
    usedWeights[i] = weight;
    usedScoresC[i] = scoreC;
    coveredValue += values[i] as number;
    coveredCount++;
    if (hasInterval) intervalWeight += weight;
    real.add(weight, scoreC, lowC, highC);
    used.add(weight, scoreC, lowC, highC);
  }
  const coverage = {
    holdings: coveredCount / count,
    value: shareOf(coveredValue, value),
    weight: shareOf(real.weight, real.weight + missingWeight),
  };
  const uncovered = uncoveredHoldings(ids, reasonNumbers);
  const totalWeight = used.weight;
  const common = { totalWeight, usedWeights, usedScoresC, reasonNumbers };
  const bounds =
    real.weight + missingWeight === 0
      ? {}
      : { bounds: { ...boundsOf(real, missingWeight, missing), complete: isComplete } };
  if (totalWeight === 0) {
    return {
      ...common,
      temperatureC: NaN,
      figures: { temperature: null, reason: NO_WEIGHT, coverage, ...bounds, uncovered },
    };
  }
  const temperatureC = used.meanC();
  const halfWidthC = independentHalfWidth({ usedWeights, totalWeight, lowsC, highsC, reasonNumbers });
  return {
    ...common,
    temperatureC,
    figures: {
      temperature: temperatureC,
      range: {
        low: Math.min(used.low / totalWeight, temperatureC),
        high: Math.max(used.high / totalWeight, temperatureC),
      },
      range_independent: { low: temperatureC - halfWidthC, high: temperatureC + halfWidthC },
      range_coverage: intervalWeight / totalWeight,
      coverage,
      ...bounds,
      ...(missing.defaultC === undefined ? {} : { default_share: missingWeight / totalWeight }),
      uncovered,
    },
  };
}

/** Weighted sums of scores. */
class WeightedSums {
  weight = 0;
  /** Sums of weight times score, degrees C. */
  score = 0;
  low = 0;
  high = 0;
  #lowestC = Infinity;
  #highestC = -Infinity;

  add(weight: number, scoreC: number, lowC: number, highC: number): void {
    this.weight += weight;
    this.score += weight * scoreC;
    this.low += weight * lowC;
    this.high += weight * highC;
    if (weight > 0) {
      this.#lowestC = Math.min(this.#lowestC, scoreC);
      this.#highestC = Math.max(this.#highestC, scoreC);
    }
  }

  /** Returns the weighted mean of the scores; rounding never moves it outside of their range. */
  meanC(): number {
    return Math.min(Math.max(this.score / this.weight, this.#lowestC), this.#highestC);
  }
}

/** Computes `bounds`: the temperature if all missing scores were `lowC`, and if all were `highC`. */
function boundsOf(real: WeightedSums, missingWeight: number, { lowC, highC }: MissingScores): TemperatureRange {
  if (missingWeight === 0) return { low: real.meanC(), high: real.meanC() };
  const weight = real.weight + missingWeight;
  return {
    low: (real.score + missingWeight * lowC) / weight,
    high: (real.score + missingWeight * highC) / weight,
  };
}

/** Computes the half width of `range_independent`. The weights are divided first, because the square of a tiny one is 0. */
function independentHalfWidth(columns: {
  readonly usedWeights: Float64Array;
  readonly totalWeight: number;
  readonly lowsC: Float64Array;
  readonly highsC: Float64Array;
  readonly reasonNumbers: Uint8Array;
}): number {
  const { usedWeights, totalWeight, lowsC, highsC, reasonNumbers } = columns;
  let sum = 0;
  for (let i = 0; i < usedWeights.length; i++) {
    const widthC = (highsC[i] as number) - (lowsC[i] as number);
    if (reasonNumbers[i] !== 0 || Number.isNaN(widthC)) continue;
    const halfWidthC = (((usedWeights[i] as number) / totalWeight) * widthC) / 2;
    sum += halfWidthC * halfWidthC;
  }
  return Math.sqrt(sum);
}

function uncoveredHoldings(ids: readonly string[], reasonNumbers: Uint8Array): PortfolioResult["uncovered"] {
  const uncovered = [];
  for (let i = 0; i < reasonNumbers.length; i++) {
    const reasonNumber = reasonNumbers[i] as number;
    if (reasonNumber !== 0) uncovered.push({ id: ids[i] as string, reason: reasonOf(reasonNumber) });
  }
  return uncovered;
}

/** Returns the share of a part in a whole; 0 if the whole is 0. */
export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Groups of the holdings under one key. */
interface HoldingGroups {
  readonly key: string;
  /** In order of first appearance. */
  readonly names: readonly string[];
  /** Index in `names` of the group of each holding. */
  readonly indices: Uint32Array;
}

/** Finds the groups of the holdings under a key of `groups`. */
export function groupHoldings(lines: readonly Holding[], key: string): HoldingGroups {
  const indexOfName = new Map<string, number>();
  const indices = Uint32Array.from(lines, ({ groups }) => {
    // Object.hasOwn, because a key may be the name of a member that every object inherits.
    const isGiven = groups !== undefined && groups !== null && Object.hasOwn(groups, key);
    const name = (isGiven ? groups[key] : null) ?? UNASSIGNED_GROUP;
    const index = indexOfName.get(name) ?? indexOfName.size;
    indexOfName.set(name, index);
    return index;
  });
  return { key, names: [...indexOfName.keys()], indices };
}

/** Sums of a group. `used` includes default scores; `covered` and `missing` count holdings with and without a score of their own. */
interface GroupSums {
  count: number;
  value: number;
  usedWeight: number;
  usedScore: number;
  coveredCount: number;
  coveredValue: number;
  coveredWeight: number;
  missingWeight: number;
  /** Number of the reason that all holdings so far have in common (0: none is uncovered); undefined if they differ. */
  reasonNumber: number | undefined;
}

/** Computes the temperature, coverage and contribution of each group. */
export function groupResults(
  { names, indices }: HoldingGroups,
  { values, weights }: { readonly values: Float64Array } & Pick<HoldingWeights, "weights">,
  { usedWeights, usedScoresC, reasonNumbers, totalWeight }: Aggregate,
): readonly PortfolioGroup[] {
  const groups = names.map((): GroupSums => ({
    count: 0,
    value: 0,
    usedWeight: 0,
    usedScore: 0,
    coveredCount: 0,
    coveredValue: 0,
    coveredWeight: 0,
    missingWeight: 0,
    reasonNumber: 0,
  }));
  for (let i = 0; i < indices.length; i++) {
    const group = groups[indices[i] as number] as GroupSums;
    const reasonNumber = reasonNumbers[i] as number;
    if (group.count === 0) group.reasonNumber = reasonNumber;
    else if (group.reasonNumber !== reasonNumber) group.reasonNumber = undefined;
    group.count++;
    group.value += values[i] as number;
    const scoreC = usedScoresC[i] as number;
    if (!Number.isNaN(scoreC)) {
      group.usedWeight += usedWeights[i] as number;
      group.usedScore += (usedWeights[i] as number) * scoreC;
    }
    if (reasonNumber === 0) {
      group.coveredCount++;
      group.coveredValue += values[i] as number;
      group.coveredWeight += weights[i] as number;
    } else if (!Number.isNaN(weights[i])) group.missingWeight += weights[i] as number;
  }
  return names.map((name, index) => {
    const group = groups[index] as GroupSums;
    const weight = shareOf(group.usedWeight, totalWeight);
    const temperature = group.usedWeight === 0 ? null : group.usedScore / group.usedWeight;
    return {
      group: name,
      temperature,
      coverage: {
        holdings: group.coveredCount / group.count,
        value: shareOf(group.coveredValue, group.value),
        weight: shareOf(group.coveredWeight, group.coveredWeight + group.missingWeight),
      },
      weight,
      contribution: temperature === null ? 0 : weight * temperature,
      ...(totalWeight === 0 ? { reason: noTemperatureReasonOf(group) } : {}),
    };
  });
}

/** Returns the reason that all holdings of a group share if they are uncovered, else `no_weight`. */
function noTemperatureReasonOf({ reasonNumber }: GroupSums): NonNullable<PortfolioGroup["reason"]> {
  return reasonNumber === undefined || reasonNumber === 0 ? NO_WEIGHT : reasonOf(reasonNumber);
}
