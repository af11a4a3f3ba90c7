/**
 * What curveMetrics promises, said slowly: the whole curve is drawn as corner points, then looked at. Nothing is shared
 * with the kernel but the formulas of the two papers it is drawn on.
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
  const paper = rule.family === "gumbel" ? (years: number) => -Math.log(-Math.log(1 - 1 / years)) : Math.log;
  const chance = rule.family === "gumbel" ? (y: number) => 1 - Math.exp(-Math.exp(-y)) : (y: number) => Math.exp(-y);
  const corners = rule.returnPeriods.map((years, i) => ({
    years,
    y: paper(years),
    value: Math.max(...values.slice(0, i + 1)) * rule.unitFactor,
  }));
  return { design: designOf(), probability: probabilityOf() };

  function designOf(): number {
    const at = paper(rule.designReturnPeriodYears);
    const [first] = corners;
    const last = corners.at(-1);
    if (first === undefined || last === undefined) return NaN;
    if (at <= first.y) return first.value;
    if (at >= last.y) return last.value;
    const right = corners.findIndex(({ y }) => y >= at);
    const [a, b] = [corners[right - 1], corners[right]];
    if (a === undefined || b === undefined) return NaN;
    const share = (at - a.y) / (b.y - a.y);
    return a.value * (1 - share) + b.value * share;
  }

  function probabilityOf(): number {
    const reached = corners.findIndex(({ value }) => value >= rule.threshold);
    if (reached < 0) return 0;
    const [before, corner] = [corners[reached - 1], corners[reached]];
    if (corner === undefined) return NaN;
    if (before === undefined) return 1 / corner.years;
    // Bisection: where on the straight line between two corners is the threshold?
    let [low, high] = [0, 1];
    for (let i = 0; i < 200; i++) {
      const middle = (low + high) / 2;
      if (before.value + (corner.value - before.value) * middle < rule.threshold) low = middle;
      else high = middle;
    }
    return chance(before.y + (corner.y - before.y) * high);
  }
}
