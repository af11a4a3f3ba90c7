import { SCORE_BOUNDS, SCORE_STATUSES, type ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import { groupStatuses } from "../scores/placeResult.ts";
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
function placeStatuses(statuses: Uint8Array, groupCount: number): Uint8Array {
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

/** Numbers by place, with `stride` numbers per place. NaN means that there is none. */
interface NumberArray {
  readonly values: Float64Array;
  readonly stride: number;
}

/** Indices into CODE_TEXTS by place, with `stride` indices per place. */
interface CodeArray {
  readonly values: Uint8Array;
  readonly stride: number;
}

export type NumberKind = "metric" | "probabilityLimit" | "totalHazardLimit" | "exceedance" | "exceedanceLimit";
export type CodeKind = "bound" | "exceedanceBound" | "status" | "rowStatus";

/** The arrays of a block from which the columns of an output file are written. */
export interface BlockArrays {
  readonly numbers: Readonly<Record<NumberKind, NumberArray>>;
  readonly codes: Readonly<Record<CodeKind, CodeArray>>;
}

const BOUND_TEXTS = SCORE_BOUNDS.map((bound) => (bound === "exact" ? null : bound));

/** Texts of the codes; null is a missing value. */
export const CODE_TEXTS: Readonly<Record<CodeKind, readonly (string | null)[]>> = {
  bound: BOUND_TEXTS,
  exceedanceBound: BOUND_TEXTS,
  status: ROW_STATUSES,
  rowStatus: ROW_STATUSES,
};

export function blockArraysOf(block: ScoredBlock, groups: readonly ScoreGroup[]): BlockArrays {
  const { scores } = block;
  const stride = groups.length;
  const columnCount = groups.reduce((count, { metrics }) => count + metrics.length, 0);
  const statuses = blockStatuses(block, groups);
  return {
    numbers: {
      metric: { values: scores.values, stride: columnCount },
      probabilityLimit: { values: scores.probabilityLimits, stride },
      totalHazardLimit: { values: scores.totalHazardLimits, stride },
      exceedance: { values: scores.exceedanceProbabilities, stride },
      exceedanceLimit: { values: scores.exceedanceLimits, stride },
    },
    codes: {
      bound: { values: scores.bounds, stride },
      exceedanceBound: { values: scores.exceedanceBounds, stride },
      status: { values: statuses, stride },
      rowStatus: { values: placeStatuses(statuses, stride), stride: 1 },
    },
  };
}
