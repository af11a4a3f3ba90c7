import { HAZARDS } from "../../hazard/hazards.ts";
import {
  firstColumnsOf,
  SCORE_STATUSES,
  type ScoreGroup,
  type ScoreResult,
} from "../../hazard/scoring/scoreRequest.ts";

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
