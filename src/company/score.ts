/** At this share of EBITDA half of the scale is reached. */
const HALF_SCALE_SHARE = 0.25;

/** 0 for no loss, 50 for a quarter of EBITDA, towards 100 for more than all of it. */
export function scoreOf(share: number): number {
  return share === Infinity ? 100 : 100 * (share / (share + HALF_SCALE_SHARE));
}

export const RATINGS = ["A", "B", "C", "D", "E"] as const;
export type Rating = (typeof RATINGS)[number];

/** Scores up to which each rating but the last goes: 2.8%, 8.3%, 25% and 75% of EBITDA. */
const RATING_SCORES_MAX: readonly (readonly [Rating, number])[] = [
  ["A", 10],
  ["B", 25],
  ["C", 50],
  ["D", 75],
];

/** In bands of our own, not those of an agency. */
export function ratingOf(score: number): Rating {
  return RATING_SCORES_MAX.find(([, most]) => score <= most)?.[0] ?? "E";
}
