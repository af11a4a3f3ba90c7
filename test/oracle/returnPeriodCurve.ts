/**
 * Reference implementation of src/kernel/returnPeriodCurve.ts: evaluates curves by search and by dense sums instead of
 * formulas, and shares only the definition of the two variates.
 */

export interface OracleCurve {
  readonly variate: "gumbel" | "log";
  readonly returnPeriodsYears: readonly number[];
  readonly values: readonly number[];
}

/** Returns the value at a return period within the curve, as a weighted mean of its neighbors. */
export function oracleValueAt({ variate, returnPeriodsYears, values }: OracleCurve, years: number): number {
  const variateOf = variate === "gumbel" ? (period: number) => -Math.log(-Math.log(1 - 1 / period)) : Math.log;
  let result = NaN;
  for (let i = 1; i < values.length; i++) {
    const [left = NaN, right = NaN] = [returnPeriodsYears[i - 1], returnPeriodsYears[i]];
    if (years < left || years > right) continue;
    const width = variateOf(right) - variateOf(left);
    const weightLeft = (variateOf(right) - variateOf(years)) / width;
    const weightRight = (variateOf(years) - variateOf(left)) / width;
    result = weightLeft * (values[i - 1] ?? NaN) + weightRight * (values[i] ?? NaN);
  }
  return result;
}

/** Returns the smallest return period, within the curve, whose value reaches the threshold, found by bisection. */
export function oracleReturnPeriodOf(curve: OracleCurve, threshold: number): number {
  let low = curve.returnPeriodsYears[0] ?? NaN;
  let high = curve.returnPeriodsYears.at(-1) ?? NaN;
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (oracleValueAt(curve, middle) >= threshold) high = middle;
    else low = middle;
  }
  return high;
}

/** Panels of each interval between two return periods. */
const PANEL_COUNT = 2000;

/** Returns the expected annual amount as a sum of many narrow rectangles under the line through the amounts. */
export function oracleExpectedAnnual(
  { returnPeriodsYears, values }: OracleCurve,
  amountOf: (value: number) => number,
): number {
  const points = values.map((value, i) => ({
    probability: 1 / (returnPeriodsYears[i] ?? NaN),
    amount: amountOf(value),
  }));
  const last = points.at(-1);
  let sum = (last?.probability ?? NaN) * (last?.amount ?? NaN);
  for (let i = 1; i < points.length; i++) {
    const [left, right] = [points[i - 1], points[i]];
    if (left === undefined || right === undefined) return NaN;
    const width = (left.probability - right.probability) / PANEL_COUNT;
    for (let panel = 0; panel < PANEL_COUNT; panel++) {
      const share = (panel + 0.5) / PANEL_COUNT;
      sum += width * (left.amount * (1 - share) + right.amount * share);
    }
  }
  return sum;
}

/** Returns the damage share at a value as the area of overlapping ramps, one per pair of points. */
export function oracleDamageShare(
  points: readonly { readonly value: number; readonly damageShare: number }[],
  value: number,
): number {
  let share = points[0]?.damageShare ?? NaN;
  for (let i = 1; i < points.length; i++) {
    const [left, right] = [points[i - 1], points[i]];
    if (left === undefined || right === undefined) return NaN;
    const ramp = Math.min(1, Math.max(0, (value - left.value) / (right.value - left.value)));
    share += ramp * (right.damageShare - left.damageShare);
  }
  return share;
}
