/** Layout of the arrays of a ScoreResult, which are views of one buffer. */
import type { HazardName, MetricName, Scenario } from "../hazards.ts";

/** Values of one hazard, scenario and analysis year that are computed for every place. */
export interface ScoreGroup {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysisYear: number;
  /** At least one, in the order of HAZARDS. */
  readonly metrics: readonly MetricName[];
  /** Value whose annual exceedance probability is computed from the atlas's curves; undefined if none is. */
  readonly threshold?: number | undefined;
}

/** Requests the values of groups at many places, as single queries would answer them. */
export interface ScoreRequest {
  readonly groups: readonly ScoreGroup[];
  /** Degrees, -90 to 90. A place with NaN is outside the coverage of every layer. */
  readonly latitudes: Float64Array;
  /** Degrees, -180 to 180; same length as `latitudes`. */
  readonly longitudes: Float64Array;
  /** Kilometers, 0 to 100; same length as `latitudes`. 0 samples the cell at the place. */
  readonly radiiKm: Float64Array;
  /** Aggregation over circles. */
  readonly method: "max" | "mean";
  /** Whether values are changes since the baseline. */
  readonly anthropogenic: boolean;
  /**
   * Output arrays, see `scoreArrays`, which become the result; in shared memory if the atlas has workers. Their content is
   * undefined if the promise is rejected.
   */
  readonly into?: ScoreResult | undefined;
  /** Cancels the request: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the milliseconds for which a thread computed, several times per request. */
  readonly onBusy?: ((busyMs: number) => void) | undefined;
}

/** A part of a request, which another thread computes. */
export interface PartialScoreRequest extends ScoreRequest {
  /** Row of the output arrays that each place is written to. Default: rows are in the order of the places. */
  readonly rows?: Uint32Array | undefined;
}

/** Meanings of the numbers in `statuses`, by number. Only the first two have a value. */
export const SCORE_STATUSES = ["value", "zero", "no_data", "outside_coverage", "layer_missing"] as const;
export type ScoreStatus = (typeof SCORE_STATUSES)[number];

/** Meanings of the numbers in `bounds`, by number. */
export { BOUND_KINDS as SCORE_BOUNDS } from "../bounds.ts";

/**
 * Columns are the metrics of all groups, group by group in the order of the request. NaN means that there is no value or
 * no limit.
 */
export interface ScoreResult {
  /** f64[place][column]. */
  readonly values: Float64Array;
  /** u8[place][column]: index into SCORE_STATUSES. */
  readonly statuses: Uint8Array;
  /**
   * u8[place][group]: index into SCORE_BOUNDS; how probability and total_hazard of the group are bounded. 0 if the group has
   * neither metric.
   */
  readonly bounds: Uint8Array;
  /** f64[place][group]: limit of the probability. */
  readonly probabilityLimits: Float64Array;
  /** f64[place][group]: limit of total_hazard; empty if no group has that metric. */
  readonly totalHazardLimits: Float64Array;
  /** f64[place][group]: annual probability of reaching the group's threshold; empty if no group has a threshold. */
  readonly exceedanceProbabilities: Float64Array;
  /** u8[place][group]: index into SCORE_BOUNDS; empty if no group has a threshold. */
  readonly exceedanceBounds: Uint8Array;
  /** f64[place][group]: limit of the exceedance probability; empty if no group has a threshold. */
  readonly exceedanceLimits: Float64Array;
}

/** An atlas that scores many places at once, as `openAtlas` returns. */
export interface ScoringAtlas {
  /** @throws Fault `atlas_unavailable`; the signal's reason when aborted */
  score(request: ScoreRequest): Promise<ScoreResult>;
}

/** Number of elements per place of the arrays of a result. */
export interface ScoreShape {
  readonly columnCount: number;
  readonly groupCount: number;
  /** `groupCount` if a group has total_hazard, otherwise 0. */
  readonly totalCount: number;
  /** `groupCount` if a group has a threshold, otherwise 0. */
  readonly thresholdCount: number;
}

/** A result that is being written. */
export interface ScoreTarget {
  readonly out: ScoreResult;
  readonly shape: ScoreShape;
}

export function scoreShapeOf(groups: readonly ScoreGroup[]): ScoreShape {
  const groupCount = groups.length;
  return {
    columnCount: groups.reduce((count, { metrics }) => count + metrics.length, 0),
    groupCount,
    totalCount: groups.some(({ metrics }) => metrics.includes("total_hazard")) ? groupCount : 0,
    thresholdCount: groups.some(({ threshold }) => threshold !== undefined) ? groupCount : 0,
  };
}

/** Returns the first column of each group, and the number of columns as the last element. */
export function firstColumnsOf(groups: readonly ScoreGroup[]): Uint32Array {
  const firsts = new Uint32Array(groups.length + 1);
  for (const [i, { metrics }] of groups.entries()) firsts[i + 1] = (firsts[i] ?? 0) + metrics.length;
  return firsts;
}

/** Returns the size of the arrays per place, bytes. */
export function scoreBytesPerPlace(shape: ScoreShape): number {
  return 8 * numberCount(shape) + shape.columnCount + shape.groupCount + shape.thresholdCount;
}

function numberCount({ columnCount, groupCount, totalCount, thresholdCount }: ScoreShape): number {
  return columnCount + groupCount + totalCount + 2 * thresholdCount;
}

/**
 * Returns the arrays of a result.
 * @param at buffer and offset in bytes, a multiple of 8; default: a new buffer
 */
export function scoreArrays(
  shape: ScoreShape,
  placeCount: number,
  at: { readonly buffer: ArrayBufferLike; readonly offset: number } = {
    buffer: new ArrayBuffer(placeCount * scoreBytesPerPlace(shape)),
    offset: 0,
  },
): ScoreResult {
  const { columnCount, groupCount, totalCount, thresholdCount } = shape;
  let { offset } = at;
  const take = <Kind extends Float64Array | Uint8Array>(
    Kind: (new (buffer: ArrayBufferLike, byteOffset: number, length: number) => Kind) & {
      readonly BYTES_PER_ELEMENT: number;
    },
    width: number,
  ): Kind => {
    const array = new Kind(at.buffer, offset, placeCount * width);
    offset += placeCount * width * Kind.BYTES_PER_ELEMENT;
    return array;
  };
  return {
    values: take(Float64Array, columnCount),
    probabilityLimits: take(Float64Array, groupCount),
    totalHazardLimits: take(Float64Array, totalCount),
    exceedanceProbabilities: take(Float64Array, thresholdCount),
    exceedanceLimits: take(Float64Array, thresholdCount),
    statuses: take(Uint8Array, columnCount),
    bounds: take(Uint8Array, groupCount),
    exceedanceBounds: take(Uint8Array, thresholdCount),
  };
}

/** Returns views of the rows of some consecutive places. */
export function scoresOfRows(
  scores: ScoreResult,
  { columnCount, groupCount, totalCount, thresholdCount }: ScoreShape,
  { from, to }: { readonly from: number; readonly to: number },
): ScoreResult {
  return {
    values: scores.values.subarray(from * columnCount, to * columnCount),
    probabilityLimits: scores.probabilityLimits.subarray(from * groupCount, to * groupCount),
    totalHazardLimits: scores.totalHazardLimits.subarray(from * totalCount, to * totalCount),
    exceedanceProbabilities: scores.exceedanceProbabilities.subarray(from * thresholdCount, to * thresholdCount),
    exceedanceLimits: scores.exceedanceLimits.subarray(from * thresholdCount, to * thresholdCount),
    statuses: scores.statuses.subarray(from * columnCount, to * columnCount),
    bounds: scores.bounds.subarray(from * groupCount, to * groupCount),
    exceedanceBounds: scores.exceedanceBounds.subarray(from * thresholdCount, to * thresholdCount),
  };
}
