import type { Contribution } from "../contract/wireTypes.ts";
import type { Aggregate } from "./aggregate.ts";
import type { ResultBuffers } from "./resultBuffers.ts";

/**
 * Computes, for every holding in a temperature, what it contributes and what the temperature would be without it.
 *
 * @param aggregate an aggregate with a temperature
 * @param goalC adds the contribution above this temperature, degrees C
 */
export function contributionsOf(
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
