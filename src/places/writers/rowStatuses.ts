import { SCORE_STATUSES, type ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import { groupStatuses } from "../scores/groupStatus.ts";
import type { ScoredBlock } from "../scores/placeBlock.ts";

/** Statuses of groups and rows in an output file, by number. */
export const ROW_STATUSES = [...SCORE_STATUSES, "invalid_row"] as const;

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
 * Returns the status of every place: that of its groups which comes first in ROW_STATUSES, such as `value` if any group has
 * a value other than 0. The order of the groups has no effect.
 */
export function placeStatuses(statuses: Uint8Array, groupCount: number): Uint8Array {
  const ofPlaces = new Uint8Array(statuses.length / groupCount);
  for (let place = 0; place < ofPlaces.length; place++) {
    const start = place * groupCount;
    let status = statuses[start] as number;
    for (let group = start + 1; group < start + groupCount; group++)
      status = Math.min(status, statuses[group] as number);
    ofPlaces[place] = status;
  }
  return ofPlaces;
}
