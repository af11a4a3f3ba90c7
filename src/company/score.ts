import type { CompanyResult } from "../contract/wireTypes.ts";
import { HALF_SCORE_RATIO, LOST_SHARE_MAX } from "./methodConstants.ts";
import { expm1 } from "../numerics/elementaryFunctions.ts";

/**
 * Returns the share of EBITDA lost at a loss ratio. Plants whose earnings are below their loss close and lose no more than
 * they earned; with exponentially distributed earnings, a loss spread evenly leaves exp(-x).
 */
export function lostShareOf(lossRatio: number): number {
  return Math.min(-expm1(-lossRatio), LOST_SHARE_MAX);
}

/** Returns the score of a loss ratio: 0 for no loss, 50 for 25%, approaching 100 for larger ones. */
export function scoreOf(lossRatio: number): number {
  return (100 * lossRatio) / (lossRatio + HALF_SCORE_RATIO);
}

export type Rating = CompanyResult["total"]["rating"];

/** Upper bounds of the scores of each rating but the last: loss ratios of 2.8%, 8.3%, 25% and 75%. */
const RATING_SCORES_MAX: readonly (readonly [Rating, number])[] = [
  ["A", 10],
  ["B", 25],
  ["C", 50],
  ["D", 75],
];

/** Returns the rating of a score. The bands are our own, not those of a rating agency. */
export function ratingOf(score: number): Rating {
  return RATING_SCORES_MAX.find(([, scoreMax]) => score <= scoreMax)?.[0] ?? "E";
}
