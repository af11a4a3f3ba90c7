/** Layout of the arrays of a ScoreResult, which are views of one buffer. */
import type { ScoreGroup, ScoreResult } from "./scoreRequest.ts";

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
