import { NO_WEIGHT, UNASSIGNED_GROUP } from "../contract/names.ts";
import type { Holding, PortfolioGroup } from "../contract/wireTypes.ts";
import { type Aggregate, shareOf } from "./aggregate.ts";
import { type HoldingWeights, reasonOf } from "./weights.ts";

/** Groups of the holdings under one key. */
export interface HoldingGroups {
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
