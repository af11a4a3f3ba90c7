/**
 * Determines when a probability is only a bound. Return-period maps give probabilities between 1/Tn and 1/T1: if the
 * first map already reaches the threshold, the stored value 1/T1 is a lower bound; if no map does, the stored 0 means
 * "at most 1/Tn". The stored step distinguishes the cases.
 */
import type { SampledSteps } from "./sampledLayers.ts";
import type { PlannedLayer } from "./sampledLayers.ts";
import type { Bound, Bounds } from "../contract/wireTypes.ts";

/** Smallest and largest probability that a layer can express. */
export interface ProbabilityLimits {
  /** Stored step of 1/T1. */
  readonly firstSteps: number;
  /** 1/T1 and 1/Tn in steps, not rounded. */
  readonly atLeastSteps: number;
  readonly atMostSteps: number;
  /** Bounds without total_hazard; all years without total_hazard share these objects. */
  readonly atLeast: Bounds;
  readonly atMost: Bounds;
}

/** One side of a change, or the value itself if the query does not request a change. */
export interface PlannedSide {
  readonly probability: PlannedLayer;
  /** Undefined if the source has maps of probability, whose values are never bounds. */
  readonly limits: ProbabilityLimits | undefined;
  /** Whether the probability is a mean over several climate models. */
  readonly isModelMean: boolean;
  readonly intensity: PlannedLayer | undefined;
  /** Undefined if the query does not request total_hazard. */
  readonly total: PlannedLayer | undefined;
}

/** The layers that determine the bounds of an analysis year. */
export interface PlannedBounds {
  readonly own: PlannedSide;
  /** The baseline that is subtracted; undefined if the query does not request a change. */
  readonly reference: PlannedSide | undefined;
}

type BoundKind = Bound["bound"];

/** Kinds of bounds, by the number that `boundCodeOf` returns. */
export const BOUND_KINDS = ["exact", "at_least", "at_most", "indeterminate"] as const satisfies readonly (
  BoundKind | "exact"
)[];
const EXACT = BOUND_KINDS.indexOf("exact");
const AT_LEAST = BOUND_KINDS.indexOf("at_least");
const AT_MOST = BOUND_KINDS.indexOf("at_most");
const INDETERMINATE = BOUND_KINDS.indexOf("indeterminate");

/**
 * Relative tolerance within which a mean is treated as the mean of equal steps. A mean is the quotient of two sums, so
 * rounding can change it; a single cell with another step in a circle of 100 km changes it by more.
 */
const MEAN_RELATIVE_TOLERANCE = 1e-11;

/**
 * Returns the limits of a probability layer that was derived from maps of these return periods.
 *
 * @param layer the probability layer
 * @param returnPeriodsYears ascending; undefined if the layer was not derived from return-period maps
 */
export function probabilityLimitsOf(
  { entry: { steps_per_unit, offset } }: PlannedLayer,
  returnPeriodsYears: readonly number[] | undefined,
): ProbabilityLimits | undefined {
  const first = returnPeriodsYears?.[0];
  const last = returnPeriodsYears?.at(-1);
  if (first === undefined || last === undefined || offset !== 0) return undefined;
  return {
    firstSteps: Math.floor((1 / first) * steps_per_unit + 0.5),
    atLeastSteps: steps_per_unit / first,
    atMostSteps: steps_per_unit / last,
    atLeast: frozen({ probability: { bound: "at_least", limit: 1 / first } }),
    atMost: frozen({ probability: { bound: "at_most", limit: 1 / last } }),
  };
}

/** Freezes bounds that are shared by many results. */
function frozen(bounds: Bounds): Bounds {
  for (const bound of Object.values(bounds)) Object.freeze(bound);
  return Object.freeze(bounds);
}

const UNKNOWN = frozen({ probability: { bound: "indeterminate" } });

/**
 * Returns the values of a year that are only bounds; undefined, without allocating, if there are none.
 *
 * @param isMean whether the values are means over a circle
 */
export function boundsOf(
  { own, reference }: PlannedBounds,
  sampled: SampledSteps,
  isMean: boolean,
): Bounds | undefined {
  const kind = kindOf(own, sampled);
  if (reference === undefined) return kind === undefined ? undefined : boundsOfValue(own, kind, sampled);
  const before = kindOf(reference, sampled);
  if (kind === undefined && before === undefined) return undefined;
  return boundsOfChange({ side: own, kind }, { side: reference, kind: before }, { sampled, isMean });
}

/** Returns whether a value is between its limits, so that a mean may include cells or models that are only bounds. */
export function mayHideBounds({ own, reference }: PlannedBounds, sampled: SampledSteps): boolean {
  const sides = reference === undefined ? [own] : [own, reference];
  if (sides.some(({ probability }) => sampled.stepsOf(probability.position) === undefined)) return false;
  return sides.some((side) => side.limits !== undefined && kindOf(side, sampled) === undefined);
}

function kindOf({ probability, limits }: PlannedSide, sampled: SampledSteps): BoundKind | undefined {
  if (limits === undefined) return undefined;
  const steps = sampled.stepsOf(probability.position);
  const kind = steps === undefined ? "exact" : BOUND_KINDS[boundCodeOf(steps, limits)];
  return kind === "exact" ? undefined : kind;
}

/** Returns how the steps of a probability are bounded, as an index into BOUND_KINDS. */
export function boundCodeOf(steps: number, { firstSteps }: ProbabilityLimits): number {
  // If T1 is above 120,000 years, 1/T1 is stored as 0 too and the two cases cannot be distinguished.
  if (steps === 0) return firstSteps === 0 ? INDETERMINATE : AT_MOST;
  return Math.abs(steps - firstSteps) <= firstSteps * MEAN_RELATIVE_TOLERANCE ? AT_LEAST : EXACT;
}

/**
 * Returns the bounds of a value. The lower bound of total_hazard is the value itself, because in a maximum the cell with
 * the largest product need not be the cell with the bounded probability.
 */
function boundsOfValue(side: PlannedSide, kind: BoundKind, sampled: SampledSteps): Bounds {
  const { limits, total } = side;
  const plain = (kind === "at_least" ? limits?.atLeast : kind === "at_most" ? limits?.atMost : undefined) ?? UNKNOWN;
  const steps = total === undefined ? undefined : sampled.stepsOf(total.position);
  if (total === undefined || limits === undefined || steps === undefined) return plain;
  if (kind === "indeterminate") return { probability: plain.probability, total_hazard: { bound: kind } };
  const limitSteps = kind === "at_least" ? steps : totalAtMostSteps(side, limits, sampled);
  return {
    probability: plain.probability,
    total_hazard: totalBound(kind, limitSteps / total.entry.steps_per_unit),
  };
}

/** Returns the bound of total_hazard, whose limit is unknown (NaN) where the atlas has no intensity. */
function totalBound(bound: Exclude<BoundKind, "indeterminate">, limit: number): Bound {
  return Number.isNaN(limit) ? { bound: "indeterminate" } : { bound, limit };
}

/** Range that contains one side of a change, in the steps of its layers. An open end has no limit. */
interface Range {
  readonly isOpenAbove: boolean;
  readonly isOpenBelow: boolean;
  readonly low: number;
  readonly high: number;
  readonly totalLow: number;
  readonly totalHigh: number;
}

function boundsOfChange(
  { side: own, kind }: { readonly side: PlannedSide; readonly kind: BoundKind | undefined },
  { side: before, kind: kindBefore }: { readonly side: PlannedSide; readonly kind: BoundKind | undefined },
  { sampled, isMean }: { readonly sampled: SampledSteps; readonly isMean: boolean },
): Bounds | undefined {
  // The baseline minus itself is exactly 0.
  if (own.probability.position === before.probability.position) return undefined;
  if (!hasValue(own.probability, sampled) || !hasValue(before.probability, sampled)) return undefined;
  const ownRange = rangeOf(own, kind, { sampled, isMean });
  const baselineRange = rangeOf(before, kindBefore, { sampled, isMean });
  const [total, totalBefore] = [own.total, before.total];
  const hasTotal =
    total !== undefined && totalBefore !== undefined && hasValue(total, sampled) && hasValue(totalBefore, sampled);
  const isOpenAbove = ownRange.isOpenAbove || baselineRange.isOpenBelow;
  const isOpenBelow = ownRange.isOpenBelow || baselineRange.isOpenAbove;
  if (isOpenAbove && isOpenBelow) {
    return hasTotal ? { probability: UNKNOWN.probability, total_hazard: { bound: "indeterminate" } } : UNKNOWN;
  }
  const bound = isOpenAbove ? "at_least" : "at_most";
  const limit = isOpenAbove
    ? difference(ownRange.low, own.probability, baselineRange.high, before.probability)
    : difference(ownRange.high, own.probability, baselineRange.low, before.probability);
  if (!hasTotal) return { probability: { bound, limit } };
  const totalLimit = isOpenAbove
    ? difference(ownRange.totalLow, total, baselineRange.totalHigh, totalBefore)
    : difference(ownRange.totalHigh, total, baselineRange.totalLow, totalBefore);
  return { probability: { bound, limit }, total_hazard: totalBound(bound, totalLimit) };
}

/**
 * Returns the range of one side. Bounded cells and models contribute their lowest possible value, so a mean between
 * its limits is a lower bound of the true mean.
 */
function rangeOf(
  side: PlannedSide,
  kind: BoundKind | undefined,
  { sampled, isMean }: { readonly sampled: SampledSteps; readonly isMean: boolean },
): Range {
  const { probability, limits, total } = side;
  const steps = sampled.stepsOf(probability.position) ?? NaN;
  const totalSteps = total === undefined ? NaN : (sampled.stepsOf(total.position) ?? NaN);
  const totalAtMost = limits === undefined ? NaN : totalAtMostSteps(side, limits, sampled);
  const isMixed = kind === undefined && limits !== undefined && (isMean || side.isModelMean);
  return {
    isOpenAbove: isMixed || kind === "at_least" || kind === "indeterminate",
    isOpenBelow: kind === "at_most" || kind === "indeterminate",
    low: kind === "at_least" && limits !== undefined ? limits.atLeastSteps : steps,
    high: kind === "at_most" && limits !== undefined ? limits.atMostSteps : steps,
    totalLow: totalSteps,
    // In a maximum, a cell with a higher intensity and a probability of up to 1/Tn may exceed the stored largest product.
    totalHigh: kind === "at_most" ? totalAtMost : limits === undefined ? totalSteps : Math.max(totalSteps, totalAtMost),
  };
}

/** Returns the difference of two values. Subtracts steps if the step sizes are equal, which gives exact differences. */
function difference(
  steps: number,
  { entry }: PlannedLayer,
  before: number,
  { entry: entryBefore }: PlannedLayer,
): number {
  const hasEqualSteps = entry.steps_per_unit === entryBefore.steps_per_unit;
  if (hasEqualSteps) return (steps - before) / entry.steps_per_unit;
  return steps / entry.steps_per_unit - before / entryBefore.steps_per_unit;
}

/** Returns the largest possible total_hazard, in its steps, if no probability is above 1/Tn: intensity x 1/Tn. */
function totalAtMostSteps(
  { probability, intensity, total }: PlannedSide,
  { atMostSteps }: ProbabilityLimits,
  sampled: SampledSteps,
): number {
  if (total === undefined || intensity === undefined) return NaN;
  const { steps_per_unit, offset } = intensity.entry;
  const value = (sampled.stepsOf(intensity.position) ?? NaN) / steps_per_unit + offset;
  return value * (atMostSteps / probability.entry.steps_per_unit) * total.entry.steps_per_unit;
}

function hasValue({ position }: PlannedLayer, sampled: SampledSteps): boolean {
  return sampled.stepsOf(position) !== undefined;
}
