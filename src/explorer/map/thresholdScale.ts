/** The threshold slider: its positions are those of the color scale, so that small values can be set as finely as large ones. */
import type { ColorScale } from "../../tiles/colorScales.ts";

/** Positions of the slider between two stops of the scale. */
const POSITIONS_PER_STOP = 20;
const SIGNIFICANT_DIGITS = 2;

/** Returns the largest position; the smallest is 0, at which everything is drawn. */
export function thresholdPositionMax(scale: ColorScale): number {
  return (sizesOf(scale).length - 1) * POSITIONS_PER_STOP;
}

/** Returns the threshold at a position, rounded to two significant digits between the stops of the scale; undefined at 0. */
export function thresholdAt(scale: ColorScale, position: number): number | undefined {
  if (position <= 0) return undefined;
  const sizes = sizesOf(scale);
  const lower = Math.min(Math.floor(position / POSITIONS_PER_STOP), sizes.length - 2);
  const [from, to] = [sizes[lower] ?? 0, sizes[lower + 1] ?? 0];
  const value = from + (to - from) * (position / POSITIONS_PER_STOP - lower);
  // The last stop is the end of the scale, such as 366 days.
  if (value === to) return to;
  return Math.min(to, Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

/** Returns the position that is closest to a threshold. */
export function positionOfThreshold(scale: ColorScale, threshold: number | undefined): number {
  if (threshold === undefined || threshold <= 0) return 0;
  const sizes = sizesOf(scale);
  const last = sizes.length - 1;
  const upper = sizes.findIndex((size) => threshold <= size);
  if (upper < 0) return last * POSITIONS_PER_STOP;
  const [from, to] = [sizes[upper - 1] ?? 0, sizes[upper] ?? 0];
  return Math.max(1, Math.round((upper - 1 + (threshold - from) / (to - from)) * POSITIONS_PER_STOP));
}

/** Sizes of the scale's values from 0 up; a scale of differences has each size twice. */
function sizesOf({ stops }: ColorScale): readonly number[] {
  return stops.map(({ value }) => value).filter((value) => value >= 0);
}
