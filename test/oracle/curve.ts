/**
 * Reference implementation of curveMetrics: builds the entire curve as a list of points, then searches it. Shares
 * nothing with the kernel except the formulas of the two variates.
 */

export interface OracleRule {
  readonly family: "gumbel" | "log";
  readonly returnPeriods: readonly number[];
  readonly unitFactor: number;
  readonly designReturnPeriodYears: number;
  readonly threshold: number;
}

export function curveByDefinition(
  values: readonly number[],
  rule: OracleRule,
): { readonly design: number; readonly probability: number } {
  if (values.some((value) => Number.isNaN(value))) return { design: NaN, probability: NaN };
  const variateOf = rule.family === "gumbel" ? (years: number) => -Math.log(-Math.log(1 - 1 / years)) : Math.log;
  const exceedanceOf =
    rule.family === "gumbel" ? (y: number) => 1 - Math.exp(-Math.exp(-y)) : (y: number) => Math.exp(-y);
  const points = rule.returnPeriods.map((years, i) => ({
    years,
    y: variateOf(years),
    value: Math.max(...values.slice(0, i + 1)) * rule.unitFactor,
  }));
  return { design: designOf(), probability: probabilityOf() };

  function designOf(): number {
    const at = variateOf(rule.designReturnPeriodYears);
    const [first] = points;
    const last = points.at(-1);
    if (first === undefined || last === undefined) return NaN;
    if (at <= first.y) return first.value;
    if (at >= last.y) return last.value;
    const right = points.findIndex(({ y }) => y >= at);
    const [a, b] = [points[right - 1], points[right]];
    if (a === undefined || b === undefined) return NaN;
    const share = (at - a.y) / (b.y - a.y);
    return a.value * (1 - share) + b.value * share;
  }

  function probabilityOf(): number {
    const reached = points.findIndex(({ value }) => value >= rule.threshold);
    if (reached < 0) return 0;
    const [before, point] = [points[reached - 1], points[reached]];
    if (point === undefined) return NaN;
    if (before === undefined) return 1 / point.years;
    // Bisection for the threshold on the line between two points.
    let [low, high] = [0, 1];
    for (let i = 0; i < 200; i++) {
      const middle = (low + high) / 2;
      if (before.value + (point.value - before.value) * middle < rule.threshold) low = middle;
      else high = middle;
    }
    return exceedanceOf(before.y + (point.y - before.y) * high);
  }
}
