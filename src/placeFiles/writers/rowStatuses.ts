import { SCORE_STATUSES, type ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import { groupStatuses } from "../../places/groupStatus.ts";
import type { ScoredBlock } from "../../places/placeBlock.ts";

/** Statuses of groups and rows in an output file, by number. */
export const ROW_STATUSES = [...SCORE_STATUSES, "invalid_row"] as const;

const VALUE = ROW_STATUSES.indexOf("value");
const ZERO = ROW_STATUSES.indexOf("zero");
const INVALID_ROW = ROW_STATUSES.indexOf("invalid_row");

/** Returns the statuses of a block: u8[place][group], indices into ROW_STATUSES. */
export function blockStatuses({ places, scores }: ScoredBlock, groups: readonly ScoreGroup[]): Uint8Array {
  const statusOf = groupStatuses(groups);
  const groupCount = groups.length;
  const statuses = new Uint8Array(places.rowCount * groupCount);
  let next = 0;
  for (let place = 0; place < places.rowCount; place++) {
    for (let group = 0; group < groupCount; group++) statuses[next++] = statusOf(scores, place, group);
  }
  for (const place of places.errors.keys()) {
    statuses.fill(INVALID_ROW, place * groupCount, (place + 1) * groupCount);
  }
  return statuses;
}

/**
 * Returns the status of every place: `invalid_row`, `value` if a group has a value other than 0, `zero` if a group has the
 * value 0, or the status of the first group.
 */
export function placeStatuses(statuses: Uint8Array, groupCount: number): Uint8Array {
  const ofPlaces = new Uint8Array(statuses.length / groupCount);
  for (let place = 0; place < ofPlaces.length; place++) {
    const start = place * groupCount;
    let status = statuses[start] as number;
    for (let group = start + 1; group < start + groupCount && status !== VALUE; group++) {
      const other = statuses[group] as number;
      if (other === VALUE || other === ZERO) status = other;
    }
    ofPlaces[place] = status;
  }
  return ofPlaces;
}
