import type { CompanyResult } from "../contract/wireTypes.ts";

/** Loss as a share of EBITDA that scores 50. */
const HALF_SCALE_SHARE = 0.25;

/** Returns the score of a loss relative to EBITDA: 0 for no loss, 50 for 25%, approaching 100 for larger losses. */
export function scoreOf(share: number): number {
  return share === Infinity ? 100 : 100 * (share / (share + HALF_SCALE_SHARE));
}

export type Rating = CompanyResult["total"]["rating"];

/** Upper bounds of the scores of each rating but the last: 2.8%, 8.3%, 25% and 75% of EBITDA. */
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
