/** Section 6: share of EBITDA lost, score and rating. */
import { HALF, LOST_MAX } from "./constants.ts";

/** l = min(1 - exp(-x), 1 - 1e-12). */
export function lostShare(x: number): number {
  return Math.min(-Math.expm1(-x), LOST_MAX);
}

/** score = 100 x / (x + 0.25). */
export function scoreOf(x: number): number {
  return (100 * x) / (x + HALF);
}

/** A up to 10, B up to 25, C up to 50, D up to 75, E above. */
export function ratingOf(score: number): "A" | "B" | "C" | "D" | "E" {
  if (score <= 10) return "A";
  if (score <= 25) return "B";
  if (score <= 50) return "C";
  if (score <= 75) return "D";
  return "E";
}
