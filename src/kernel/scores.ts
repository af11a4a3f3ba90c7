import type { Kernel } from "./instance.ts";

/** How a column is decoded. */
export interface ScoredColumn {
  /** Position of its layer in each row of steps; undefined if the layer is missing. */
  readonly lane: number | undefined;
  readonly stepsPerUnit: number;
  readonly offset: number;
}

/** How the probability of a group is bounded. */
export interface BoundedGroup {
  /** Position of the probability in each row of steps; undefined if it is always exact. */
  readonly lane: number | undefined;
  /** Steps of the probability of the first return period. */
  readonly firstSteps: number;
  /** The probabilities of the first and the last return period. */
  readonly atLeast: number;
  readonly atMost: number;
}

/** Columns and groups in the kernel's memory layout. */
export interface ScoreLayout {
  readonly lanes: Int32Array;
  readonly runs: Int32Array;
  readonly encodings: Float64Array;
  readonly boundLanes: Int32Array;
  readonly firstSteps: Int32Array;
  readonly limits: Float64Array;
}

/** Scores of rows, as views of the kernel's memory. */
export interface ScoredRows {
  /** f64[row][column], NaN where missing. */
  readonly values: Float64Array;
  /** u8[row][column]: SCORE_*. */
  readonly statuses: Uint8Array;
  /** u8[row][group]: BOUND_*. */
  readonly bounds: Uint8Array;
  /** f64[row][group], NaN where there is no limit. */
  readonly boundLimits: Float64Array;
}

const ZERO_STEPS = 0;
const MISSING_LANE = -1;
/** Columns that the kernel decodes together if their lanes are consecutive. */
const RUN_LENGTH = 8;

export function scoreLayout(columns: readonly ScoredColumn[], groups: readonly BoundedGroup[]): ScoreLayout {
  const lanes = Int32Array.from(columns, ({ lane = MISSING_LANE }) => lane);
  const count = columns.length;
  const encodings = new Float64Array(3 * count);
  for (const [i, { stepsPerUnit, offset }] of columns.entries()) {
    encodings[i] = stepsPerUnit;
    encodings[count + i] = offset;
    encodings[2 * count + i] = ZERO_STEPS / stepsPerUnit + offset;
  }
  const runs = Int32Array.from({ length: Math.floor(count / RUN_LENGTH) }, (_, run) => {
    const ofRun = lanes.subarray(run * RUN_LENGTH, (run + 1) * RUN_LENGTH);
    const first = ofRun[0] ?? MISSING_LANE;
    return first >= 0 && ofRun.every((lane, i) => lane === first + i) ? first : MISSING_LANE;
  });
  return {
    lanes,
    runs,
    encodings,
    boundLanes: Int32Array.from(groups, ({ lane = MISSING_LANE }) => lane),
    firstSteps: Int32Array.from(groups, ({ firstSteps }) => firstSteps),
    limits: Float64Array.from(groups.flatMap(({ atLeast, atMost }) => [atLeast, atMost])),
  };
}

/** Stored steps of rows, and how their scores are computed. */
export interface StepRows {
  /** u16[row][laneCount]. */
  readonly steps: Uint16Array;
  readonly laneCount: number;
  readonly layout: ScoreLayout;
}

/**
 * Scores rows of stored steps, which are divided into parts with consecutive columns and groups.
 *
 * @param parts in the order of their columns
 * @param use called with the scores, which are overwritten after it returns
 */
export function withScores(
  kernel: Kernel,
  rowCount: number,
  parts: readonly StepRows[],
  use: (scores: ScoredRows) => void,
): void {
  const columnCount = parts.reduce((count, { layout }) => count + layout.lanes.length, 0);
  const groupCount = parts.reduce((count, { layout }) => count + layout.boundLanes.length, 0);
  kernel.withScratch((scratch) => {
    const values = scratch.reserve(rowCount * columnCount * 8);
    const statuses = scratch.reserve(rowCount * columnCount);
    const bounds = scratch.reserve(rowCount * groupCount);
    const boundLimits = scratch.reserve(rowCount * groupCount * 8);
    let [column, group] = [0, 0];
    for (const { steps, laneCount, layout } of parts) {
      const cells = scratch.copyIn(steps);
      kernel.exports.scoreColumns(
        cells.pointer,
        laneCount,
        rowCount,
        scratch.copyIn(layout.lanes).pointer,
        scratch.copyIn(layout.runs).pointer,
        scratch.copyIn(layout.encodings).pointer,
        layout.lanes.length,
        columnCount,
        values.pointer + column * 8,
        statuses.pointer + column,
      );
      kernel.exports.scoreBounds(
        cells.pointer,
        laneCount,
        rowCount,
        scratch.copyIn(layout.boundLanes).pointer,
        scratch.copyIn(layout.firstSteps).pointer,
        scratch.copyIn(layout.limits).pointer,
        layout.boundLanes.length,
        groupCount,
        bounds.pointer + group,
        boundLimits.pointer + group * 8,
      );
      column += layout.lanes.length;
      group += layout.boundLanes.length;
    }
    use({
      values: kernel.f64(values),
      statuses: kernel.bytes(statuses),
      bounds: kernel.bytes(bounds),
      boundLimits: kernel.f64(boundLimits),
    });
  });
}
