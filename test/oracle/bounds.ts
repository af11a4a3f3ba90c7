/**
 * Reference implementation of bounds on probabilities, computed from the curves and not from stored steps: each value is
 * an interval, and a change is a difference of intervals.
 */
import { curveByDefinition, type OracleRule } from "./curve.ts";

export type OracleKind = "at_least" | "at_most" | "exact";

export interface OracleCurveCell {
  readonly own: number;
  readonly probability: number;
  /** For all models together; exact if they differ. */
  readonly kind: OracleKind;
  readonly models: readonly { readonly probability: number; readonly kind: OracleKind }[];
}

/** Evaluates one cell with a curve per model; undefined if fewer than half of the models have data. */
export function cellByDefinition(
  curves: readonly (readonly number[])[],
  rule: OracleRule,
): OracleCurveCell | undefined {
  const whole = curves.filter((values) => values.every((value) => !Number.isNaN(value)));
  if (whole.length === 0 || whole.length * 2 < curves.length) return undefined;
  const models = whole.map((values) => ({ ...curveByDefinition(values, rule), kind: kindOfCurve(values, rule) }));
  const meanOf = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  return {
    own: meanOf(models.map(({ design }) => design)),
    probability: meanOf(models.map(({ probability }) => probability)),
    kind: sameKind(models.map(({ kind }) => kind)),
    models,
  };
}

function kindOfCurve(values: readonly number[], { threshold, unitFactor }: OracleRule): OracleKind {
  const isReached = values.map((value) => value * unitFactor >= threshold);
  if (isReached[0] === true) return "at_least";
  return isReached.includes(true) ? "exact" : "at_most";
}

export function sameKind(kinds: readonly OracleKind[]): OracleKind {
  return kinds.every((kind) => kind === kinds[0]) ? (kinds[0] ?? "exact") : "exact";
}

/** Returns the kind of a maximum: `at_least` if any cell is, `at_most` only if every cell is. */
export function kindOfMaximum(kinds: readonly OracleKind[]): OracleKind {
  if (kinds.includes("at_least")) return "at_least";
  return kinds.every((kind) => kind === "at_most") ? "at_most" : "exact";
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export function intervalOf(
  kind: OracleKind,
  { value, atLeast, atMost }: { readonly value: number; readonly atLeast: number; readonly atMost: number },
): Interval {
  if (kind === "at_least") return { low: atLeast, high: Infinity };
  return kind === "at_most" ? { low: -Infinity, high: atMost } : { low: value, high: value };
}

export function minus(a: Interval, b: Interval): Interval {
  return { low: a.low - b.high, high: a.high - b.low };
}

/** Returns the bound reported for an interval; undefined if it is a single number. */
export function boundOf({ low, high }: Interval): { readonly bound: string; readonly limit?: number } | undefined {
  if (low === high) return undefined;
  if (!Number.isFinite(low) && !Number.isFinite(high)) return { bound: "indeterminate" };
  return Number.isFinite(low) ? { bound: "at_least", limit: low } : { bound: "at_most", limit: high };
}
