/** Computes the annual probability of reaching thresholds from return-period curves, as `curve` does for a single place. */
import type { Sampler } from "../../atlas/sampler.ts";
import { exceedanceOf, type ReturnPeriodCurve } from "../../kernel/returnPeriodCurve.ts";
import { type CurvePlan, curvePlanOf } from "../curvePlan.ts";
import { curveValuesOf } from "../curvePlan.ts";
import { layerOf } from "../hazards.ts";
import type { ScoreTarget } from "./scoreArrays.ts";
import { SCORE_BOUNDS, type ScoreGroup } from "./scoreRequest.ts";
import type { StepMatrix } from "./stepMatrix.ts";

const EXACT = SCORE_BOUNDS.indexOf("exact");

/** The groups whose exceedance is computed from the same curve. */
export interface PlannedExceedances {
  /** Undefined if the atlas does not have the curve, or the groups have no threshold. */
  readonly plan: CurvePlan | undefined;
  readonly groups: readonly { readonly index: number; readonly threshold: number }[];
}

/** Plans the exceedances of all groups of a request, which includes those without a threshold. */
export function planExceedances(sampler: Sampler, groups: readonly ScoreGroup[]): readonly PlannedExceedances[] {
  const byCurve = new Map<string, { plan: CurvePlan | undefined; groups: { index: number; threshold: number }[] }>();
  for (const [index, { hazard, scenario, analysisYear, threshold }] of groups.entries()) {
    const stored = layerOf(scenario, analysisYear);
    const name = threshold === undefined ? "" : `${hazard} ${stored.scenario} ${stored.year}`;
    let planned = byCurve.get(name);
    if (planned === undefined) {
      planned = { plan: threshold === undefined ? undefined : curvePlanOf(sampler, hazard, stored), groups: [] };
      byCurve.set(name, planned);
    }
    planned.groups.push({ index, threshold: threshold ?? NaN });
  }
  return [...byCurve.values()];
}

/** Writes the exceedances of groups for rows of a matrix with the steps of their curve. */
export function writeExceedances(
  { plan, groups }: PlannedExceedances,
  { matrix, from, to }: { readonly matrix: StepMatrix; readonly from: number; readonly to: number },
  { out, shape }: ScoreTarget,
): void {
  for (let row = from; row < to; row++) {
    matrix.select(row);
    const values = plan === undefined ? undefined : curveValuesOf(plan, matrix);
    // A missing curve has a reason instead of values.
    const curve = plan === undefined || typeof values !== "object" ? undefined : curveOf(plan, values);
    const first = (matrix.places[row] ?? 0) * shape.thresholdCount;
    for (const { index, threshold } of groups) {
      const exceedance = curve && exceedanceOf(curve, threshold);
      const bound = exceedance?.bound;
      out.exceedanceProbabilities[first + index] = exceedance?.probability ?? NaN;
      out.exceedanceBounds[first + index] = bound === undefined ? EXACT : SCORE_BOUNDS.indexOf(bound.kind);
      out.exceedanceLimits[first + index] = bound?.limit ?? NaN;
    }
  }
}

/** Lists the members, because a spread takes longer than the exceedance. */
function curveOf({ variate, returnPeriodsYears }: CurvePlan, values: readonly number[]): ReturnPeriodCurve {
  return { variate, returnPeriodsYears, values };
}
