import type {
  AnalysisYearResult,
  Bound,
  Bounds,
  Exceedance,
  HazardName,
  MetricName,
  Scenario,
} from "../../contract/wireTypes.ts";
import { toExceedance } from "../../hazard/curveAnswer.ts";
import {
  firstColumnsOf,
  SCORE_BOUNDS,
  SCORE_STATUSES,
  type ScoreGroup,
  type ScoreResult,
  type ScoreStatus,
} from "../../hazard/scoring/scoreRequest.ts";
import { HAZARDS } from "../../hazard/hazards.ts";

/** Values of a place for one hazard, scenario and year. */
export interface PlaceResult extends Pick<AnalysisYearResult, "analysis_year" | "metrics" | "bounds"> {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  /** `value`, or `zero` if the hazard's own metric is 0; otherwise why that metric has no value. */
  readonly status: ScoreStatus;
  /**
   * Annual probability of reaching the hazard's threshold, null if the place has no curve; present if the options contain a
   * threshold of the hazard.
   */
  readonly exceedance?: Exceedance | null;
}

/** Returns a function that gives the results of a place, one per group. */
export function placeResults(
  groups: readonly ScoreGroup[],
): (scores: ScoreResult, place: number) => readonly PlaceResult[] {
  const firsts = firstColumnsOf(groups);
  const columnCount = firsts.at(-1) ?? 0;
  const statusOf = groupStatuses(groups);
  return (scores, place) =>
    groups.map(({ hazard, scenario, analysisYear, metrics, threshold }, group): PlaceResult => {
      const first = place * columnCount + (firsts[group] ?? 0);
      const values: Partial<Record<MetricName, number | null>> = {};
      for (const [i, metric] of metrics.entries()) values[metric] = numberOrNull(scores.values[first + i]);
      const at = place * groups.length + group;
      const bounds = boundsAt(scores, at, { hasTotal: typeof values.total_hazard === "number" });
      return {
        hazard,
        scenario,
        analysis_year: analysisYear,
        status: SCORE_STATUSES[statusOf(scores, place, group)] as ScoreStatus,
        metrics: values,
        ...(bounds && { bounds }),
        ...(threshold === undefined ? {} : { exceedance: exceedanceAt(scores, at, threshold) }),
      };
    });
}

function boundsAt(
  { bounds, probabilityLimits, totalHazardLimits }: ScoreResult,
  at: number,
  { hasTotal }: { readonly hasTotal: boolean },
): Bounds | undefined {
  const kind = SCORE_BOUNDS[bounds[at] ?? 0] ?? "exact";
  if (kind === "exact") return undefined;
  const boundOf = (limit: number | undefined): Bound =>
    kind === "indeterminate" ? { bound: kind } : { bound: kind, limit: limit ?? NaN };
  const probability = boundOf(probabilityLimits[at]);
  return hasTotal ? { probability, total_hazard: boundOf(totalHazardLimits[at]) } : { probability };
}

function exceedanceAt(
  { exceedanceProbabilities, exceedanceBounds, exceedanceLimits }: ScoreResult,
  at: number,
  threshold: number,
): Exceedance | null {
  const probability = exceedanceProbabilities[at] ?? NaN;
  if (Number.isNaN(probability)) return null;
  const kind = SCORE_BOUNDS[exceedanceBounds[at] ?? 0];
  if (kind !== "at_least" && kind !== "at_most") return toExceedance(threshold, { probability });
  return toExceedance(threshold, { probability, bound: { kind, limit: exceedanceLimits[at] ?? NaN } });
}

function numberOrNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

const [VALUE, ZERO] = [SCORE_STATUSES.indexOf("value"), SCORE_STATUSES.indexOf("zero")];

/**
 * Returns a function that gives the status of a group at a place, as an index into SCORE_STATUSES: that of the hazard's own
 * metric; if it is not computed, the best of the computed metrics: a value, zero, or the first reason.
 */
export function groupStatuses(
  groups: readonly ScoreGroup[],
): (scores: ScoreResult, place: number, group: number) => number {
  const firsts = firstColumnsOf(groups);
  const columnCount = firsts.at(-1) ?? 0;
  /** Column of each group's own metric; -1 if it is not computed. */
  const ownColumns = Int32Array.from(groups, ({ hazard, metrics }, group) => {
    const own = metrics.indexOf(HAZARDS[hazard].ownMetric);
    return own < 0 ? -1 : (firsts[group] ?? 0) + own;
  });
  return ({ statuses }, place, group) => {
    const row = place * columnCount;
    const own = ownColumns[group] ?? -1;
    if (own >= 0) return statuses[row + own] ?? 0;
    const first = row + (firsts[group] ?? 0);
    const end = row + (firsts[group + 1] ?? 0);
    let best = statuses[first] ?? 0;
    for (let column = first + 1; column < end; column++) {
      const status = statuses[column] ?? 0;
      if (status === VALUE || (status === ZERO && best !== VALUE)) best = status;
    }
    return best;
  };
}
