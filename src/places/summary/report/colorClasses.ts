import { niceTicks } from "./chartScale.ts";
import { formatValue } from "./reportNumbers.ts";

/** Number of colors of the scale in the style sheet. */
const COLOR_COUNT = 7;

/** Values that a map shows in one color. */
interface ColorClass {
  /** Class of the style sheet. */
  readonly style: string;
  readonly label: string;
}

/** Divides values into ranges with a color each. */
export interface ColorClasses {
  /** In ascending order of the values; the last class has no value. */
  readonly classes: readonly ColorClass[];
  /** Returns the index of the class of a value; NaN has no value. */
  indexOf(value: number): number;
}

/**
 * Returns classes with round limits. If no value is negative, 0 has its own class. The last range has no upper limit, so
 * that few extreme values do not make all others look the same.
 *
 * @param values values of the places, which may be NaN
 * @param high a large value that is not extreme, such as the quantile 0.99
 */
export function colorClasses(
  values: readonly number[],
  { high, unit }: { readonly high: number; readonly unit: string },
): ColorClasses {
  const present = values.filter((value) => !Number.isNaN(value));
  const minimum = present.reduce((least, value) => Math.min(least, value), Infinity);
  const suffix = unit === "1" ? "" : ` ${unit}`;
  const none = { style: "none", label: "no value" };
  const hasZeroClass = minimum >= 0;
  const low = hasZeroClass ? 0 : minimum;
  const limits = high > low ? niceTicks(low, high, COLOR_COUNT - 1).slice(1, -1) : [];
  const ranges = Array.from({ length: limits.length + 1 }, (_, i) =>
    rangeLabel(limits[i - 1], limits[i], hasZeroClass),
  );
  const colored = ranges.map((label, i) => ({
    style: `c${Math.round((i / Math.max(1, limits.length)) * (COLOR_COUNT - 1))}`,
    label: `${label}${suffix}`,
  }));
  const zero = hasZeroClass ? [{ style: "zero", label: `0${suffix}` }] : [];
  const classes = [...zero, ...colored, none];
  return {
    classes,
    indexOf(value) {
      if (Number.isNaN(value)) return classes.length - 1;
      if (hasZeroClass && value === 0) return 0;
      return zero.length + limits.filter((limit) => value >= limit).length;
    },
  };
}

function rangeLabel(from: number | undefined, to: number | undefined, isPositive: boolean): string {
  if (from === undefined && to === undefined) return isPositive ? "above 0" : "all values";
  if (from === undefined) return `${isPositive ? "above 0, " : ""}below ${formatValue(to ?? NaN)}`;
  return to === undefined ? `${formatValue(from)} or more` : `${formatValue(from)} to ${formatValue(to)}`;
}
