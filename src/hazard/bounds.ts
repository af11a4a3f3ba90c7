/**
 * When a probability is only a bound. Return-period maps know probabilities between 1/Tn and 1/T1: where the first map
 * reaches the threshold already, the stored value 1/T1 is a lower bound; where none does, the stored 0 stands for
 * "at most 1/Tn". Which it is follows from the stored step.
 */
import type { SampledLayers } from "./sampledLayers.ts";
import type { PlannedLayer } from "./plan.ts";
import type { Bound, Bounds } from "./result.ts";

/** How far a layer of probabilities reaches. */
export interface ProbabilityLimits {
  /** The step that 1/T1 is stored as. */
  readonly firstSteps: number;
  /** 1/T1 and 1/Tn in steps, not rounded. */
  readonly atLeastSteps: number;
  readonly atMostSteps: number;
  /** The bounds of a year without total_hazard, which need no more than these. */
  readonly atLeast: Bounds;
  readonly atMost: Bounds;
}

/** One side of a change, or the value itself where no change is asked for. */
export interface PlannedSide {
  readonly probability: PlannedLayer;
  /** Undefined where its values are not bounded: the source states probabilities itself. */
  readonly limits: ProbabilityLimits | undefined;
  /** The probability is a mean over several climate models. */
  readonly isModelMean: boolean;
  readonly intensity: PlannedLayer | undefined;
  /** Undefined where total_hazard is not asked for. */
  readonly total: PlannedLayer | undefined;
}

/** What the bounds of an analysis year follow from. */
export interface PlannedBounds {
  readonly own: PlannedSide;
  /** What the change is counted from; undefined where no change is asked for. */
  readonly reference: PlannedSide | undefined;
}

type BoundKind = Bound["bound"];

/** A mean of equal steps is a quotient of two sums; one cell of another step in a circle of 100 km is further off. */
const EQUAL_SHARE = 1e-11;

/**
 * Returns how far the layer of probabilities reaches that was derived from maps of these return periods.
 *
 * @param layer whose probabilities they are
 * @param returnPeriodsYears ascending; undefined where the layer was not derived from return-period maps
 */
export function limitsOf(
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

/** The same object is in many answers, so nobody may change it. */
function frozen(bounds: Bounds): Bounds {
  for (const bound of Object.values(bounds)) Object.freeze(bound);
  return Object.freeze(bounds);
}

const UNKNOWN = frozen({ probability: { bound: "indeterminate" } });

/**
 * Returns which of a year's values are only bounds; undefined, without an allocation, where none is.
 *
 * @param isMean the values are means over a circle
 */
export function boundsOf(
  { own, reference }: PlannedBounds,
  sampled: SampledLayers,
  isMean: boolean,
): Bounds | undefined {
  const kind = kindOf(own, sampled);
  if (reference === undefined) return kind === undefined ? undefined : boundsOfValue(own, kind, sampled);
  const before = kindOf(reference, sampled);
  if (kind === undefined && before === undefined) return undefined;
  return boundsOfChange({ side: own, kind }, { side: reference, kind: before }, { sampled, isMean });
}

/** Tells whether a value lies between its limits, so that a mean may hide cells or models that are only bounds. */
export function mayHideBounds({ own, reference }: PlannedBounds, sampled: SampledLayers): boolean {
  const sides = reference === undefined ? [own] : [own, reference];
  if (sides.some(({ probability }) => sampled.stepsOf(probability.position) === undefined)) return false;
  return sides.some((side) => side.limits !== undefined && kindOf(side, sampled) === undefined);
}

function kindOf({ probability, limits }: PlannedSide, sampled: SampledLayers): BoundKind | undefined {
  if (limits === undefined) return undefined;
  const steps = sampled.stepsOf(probability.position);
  if (steps === undefined) return undefined;
  const { firstSteps } = limits;
  // Beyond 120,000 years 1/T1 is stored as 0 too, and the step tells nothing.
  if (steps === 0) return firstSteps === 0 ? "indeterminate" : "at_most";
  return Math.abs(steps - firstSteps) <= firstSteps * EQUAL_SHARE ? "at_least" : undefined;
}

/**
 * A lower bound of total_hazard is the value itself: of a maximum the cell with the largest product need not be the one
 * whose probability is bounded.
 */
function boundsOfValue(side: PlannedSide, kind: BoundKind, sampled: SampledLayers): Bounds {
  const { limits, total } = side;
  const plain = (kind === "at_least" ? limits?.atLeast : kind === "at_most" ? limits?.atMost : undefined) ?? UNKNOWN;
  const steps = total === undefined ? undefined : sampled.stepsOf(total.position);
  if (total === undefined || limits === undefined || steps === undefined) return plain;
  if (kind === "indeterminate") return { probability: plain.probability, total_hazard: { bound: kind } };
  const limitSteps = kind === "at_least" ? steps : totalAtMostSteps(side, limits, sampled);
  return {
    probability: plain.probability,
    total_hazard: { bound: kind, limit: limitSteps / total.entry.steps_per_unit },
  };
}

/** What a side of a change may be, in the steps of its layers: from the low ends up, from the high ends down. */
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
  { sampled, isMean }: { readonly sampled: SampledLayers; readonly isMean: boolean },
): Bounds | undefined {
  // The baseline less itself is 0, whatever it is.
  if (own.probability.position === before.probability.position) return undefined;
  if (!hasValue(own.probability, sampled) || !hasValue(before.probability, sampled)) return undefined;
  const now = rangeOf(own, kind, { sampled, isMean });
  const then = rangeOf(before, kindBefore, { sampled, isMean });
  const [total, totalBefore] = [own.total, before.total];
  const hasTotal =
    total !== undefined && totalBefore !== undefined && hasValue(total, sampled) && hasValue(totalBefore, sampled);
  const isOpenAbove = now.isOpenAbove || then.isOpenBelow;
  const isOpenBelow = now.isOpenBelow || then.isOpenAbove;
  if (isOpenAbove && isOpenBelow) {
    return hasTotal ? { probability: UNKNOWN.probability, total_hazard: { bound: "indeterminate" } } : UNKNOWN;
  }
  const bound = isOpenAbove ? "at_least" : "at_most";
  const limit = isOpenAbove
    ? difference(now.low, own.probability, then.high, before.probability)
    : difference(now.high, own.probability, then.low, before.probability);
  if (!hasTotal) return { probability: { bound, limit } };
  const totalLimit = isOpenAbove
    ? difference(now.totalLow, total, then.totalHigh, totalBefore)
    : difference(now.totalHigh, total, then.totalLow, totalBefore);
  return { probability: { bound, limit }, total_hazard: { bound, limit: totalLimit } };
}

/**
 * Returns what a side may be. Cells and models count with the least that they may be, so that a mean between its limits,
 * which may hide bounds, is no less than it says.
 */
function rangeOf(
  side: PlannedSide,
  kind: BoundKind | undefined,
  { sampled, isMean }: { readonly sampled: SampledLayers; readonly isMean: boolean },
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
    // Beside the cell with the largest product a maximum may have one that is more intense, and at most as likely.
    totalHigh: kind === "at_most" ? totalAtMost : limits === undefined ? totalSteps : Math.max(totalSteps, totalAtMost),
  };
}

/** Steps of one size are subtracted, as in the value itself, so that limit and value agree to the bit. */
function difference(
  steps: number,
  { entry }: PlannedLayer,
  before: number,
  { entry: entryBefore }: PlannedLayer,
): number {
  const isSame = entry.steps_per_unit === entryBefore.steps_per_unit;
  if (isSame) return (steps - before) / entry.steps_per_unit;
  return steps / entry.steps_per_unit - before / entryBefore.steps_per_unit;
}

/** Returns the most that total_hazard can be, in its steps, where no probability is above 1/Tn: intensity x 1/Tn. */
function totalAtMostSteps(
  { probability, intensity, total }: PlannedSide,
  { atMostSteps }: ProbabilityLimits,
  sampled: SampledLayers,
): number {
  if (total === undefined || intensity === undefined) return NaN;
  const { steps_per_unit, offset } = intensity.entry;
  const value = (sampled.stepsOf(intensity.position) ?? NaN) / steps_per_unit + offset;
  return value * (atMostSteps / probability.entry.steps_per_unit) * total.entry.steps_per_unit;
}

function hasValue({ position }: PlannedLayer, sampled: SampledLayers): boolean {
  return sampled.stepsOf(position) !== undefined;
}
