/**
 * Formulas of return-period curves: value at a return period, annual probability of reaching a threshold, and expected
 * annual values. assembly/curve.ts computes the first two for whole maps, with the same formulas.
 *
 * A curve gives the value at several return periods of T years, which is reached with an annual probability of 1/T.
 * Between two of them it is linear in a variate of T; outside them it is unknown, and results are bounds.
 */
import { exp, expm1, log, log1p } from "../numerics/elementaryFunctions.ts";

/** Variate in which a curve is linear: the Gumbel variate -ln(-ln(1 - 1/T)), for depths, or ln T, for winds. */
type CurveVariate = "gumbel" | "log";

export interface ReturnPeriodCurve {
  readonly variate: CurveVariate;
  /** Years, ascending, at least one; each above 1 (`log`: above 0). */
  readonly returnPeriodsYears: readonly number[];
  /** One value per return period, not decreasing. */
  readonly values: readonly number[];
}

export interface BoundedValue {
  readonly value: number;
  /** Present if the true value is not known exactly: it is at least, or at most, `value`. */
  readonly bound?: "at_least" | "at_most";
}

/** Annual probability of reaching a threshold. */
export interface Exceedance {
  /** 0 if no value of the curve reaches the threshold. */
  readonly probability: number;
  /** Present if the probability is not known exactly: it is at least, or at most, `limit`. */
  readonly bound?: { readonly kind: "at_least" | "at_most"; readonly limit: number };
}

/** Expected value of a year. */
export interface ExpectedAnnual {
  /** Includes `tail`, but nothing for return periods below the shortest of the curve. */
  readonly value: number;
  /** Share of `value` for return periods above the longest; a lower bound, because values there may be larger. */
  readonly tail: number;
}

/** A point of a damage curve. */
export interface DamagePoint {
  readonly value: number;
  /** 0 to 1. */
  readonly damageShare: number;
}

/** Returns the variate of a return period. */
function variateOf(returnPeriodYears: number, variate: CurveVariate): number {
  return variate === "gumbel" ? -log(-log1p(-1 / returnPeriodYears)) : log(returnPeriodYears);
}

/** Returns the annual probability that belongs to a variate. */
function probabilityOf(y: number, variate: CurveVariate): number {
  return variate === "gumbel" ? -expm1(-exp(-y)) : exp(-y);
}

/**
 * Returns the value at a return period. Below the shortest return period it is at most the first value, above the longest
 * at least the last.
 */
export function valueAtReturnPeriod(curve: ReturnPeriodCurve, returnPeriodYears: number): BoundedValue {
  const { returnPeriodsYears: periods, values, variate } = curve;
  const next = periods.findIndex((period) => period >= returnPeriodYears);
  if (next < 0) return { value: at(values, values.length - 1), bound: "at_least" };
  const upper = at(values, next);
  if (at(periods, next) === returnPeriodYears) return { value: upper };
  if (next === 0) return { value: upper, bound: "at_most" };
  const lower = at(values, next - 1);
  const from = variateOf(at(periods, next - 1), variate);
  const share = (variateOf(returnPeriodYears, variate) - from) / (variateOf(at(periods, next), variate) - from);
  // Rounding may exceed the value of the next return period.
  return { value: Math.min(upper, lower + (upper - lower) * share) };
}

/**
 * Returns the annual probability of reaching a threshold: that of the first point of the curve that reaches it. At least
 * 1/T of the shortest return period if its value does; 0, and at most 1/T of the longest, if no value does.
 */
export function exceedanceOf(curve: ReturnPeriodCurve, threshold: number): Exceedance {
  const { returnPeriodsYears: periods, values, variate } = curve;
  const reached = values.findIndex((value) => value >= threshold);
  if (reached < 0) return { probability: 0, bound: { kind: "at_most", limit: 1 / at(periods, periods.length - 1) } };
  const probability = 1 / at(periods, reached);
  if (reached === 0) return { probability, bound: { kind: "at_least", limit: probability } };
  const upper = at(values, reached);
  if (upper === threshold) return { probability };
  const lower = at(values, reached - 1);
  const from = variateOf(at(periods, reached - 1), variate);
  const to = variateOf(at(periods, reached), variate);
  const between = probabilityOf(from + (to - from) * ((threshold - lower) / (upper - lower)), variate);
  // Rounding may leave the range between the two return periods.
  return { probability: Math.min(1 / at(periods, reached - 1), Math.max(probability, between)) };
}

/**
 * Returns the expected annual value of a function of the curve's value: the integral over the annual probability, by the
 * trapezoidal rule between the return periods, plus the last term divided by the longest return period for the tail.
 *
 * @param amountOf not decreasing, such as `amountAbove` or `damageShareAt`
 */
export function expectedAnnual(curve: ReturnPeriodCurve, amountOf: (value: number) => number): ExpectedAnnual {
  const { returnPeriodsYears: periods, values } = curve;
  const last = periods.length - 1;
  let amount = amountOf(at(values, last));
  let probability = 1 / at(periods, last);
  const tail = amount * probability;
  let value = tail;
  for (let i = last - 1; i >= 0; i--) {
    const nextAmount = amountOf(at(values, i));
    const nextProbability = 1 / at(periods, i);
    value += ((nextProbability - probability) * (amount + nextAmount)) / 2;
    amount = nextAmount;
    probability = nextProbability;
  }
  return { value, tail };
}

/** Returns the function that gives the part of a value above a floor. */
export function amountAbove(floor: number): (value: number) => number {
  return (value) => Math.max(0, value - floor);
}

/**
 * Returns the damage share at a value, linear between the points: that of the first point below it, and that of the last
 * point above it.
 *
 * @param points at least one, with ascending values
 */
export function damageShareAt(points: readonly DamagePoint[], value: number): number {
  const next = points.findIndex((point) => point.value >= value);
  const right = points[next < 0 ? points.length - 1 : next];
  if (right === undefined) throw new RangeError("a damage curve must have at least one point");
  const left = points[next - 1];
  if (left === undefined || right.value === value) return right.damageShare;
  const share = (value - left.value) / (right.value - left.value);
  return left.damageShare + (right.damageShare - left.damageShare) * share;
}

function at(numbers: readonly number[], index: number): number {
  const number = numbers[index];
  if (number === undefined)
    throw new RangeError(`a curve must have a number at index ${index} (has ${numbers.length})`);
  return number;
}
