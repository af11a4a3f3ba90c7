import { SCORE_BOUNDS, type ScoreGroup } from "../../hazard/scoring/scoreRequest.ts";
import type { ScoredBlock } from "../scores/placeBlock.ts";
import { blockStatuses, placeStatuses, ROW_STATUSES } from "./rowStatuses.ts";

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
