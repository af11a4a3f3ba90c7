/** Computes values, statuses and bounds from steps, column by column, as `hazardRisk` does for a single place. */
import { STEPS_MAX, STEPS_OUTSIDE } from "../../kernel/kernel.generated.ts";
import { boundCodeOf, boundsOf, type PlannedBounds, type PlannedSide, type ProbabilityLimits } from "../bounds.ts";
import { changeOfSteps, valueOfSteps } from "../sampledLayers.ts";
import type { HazardPlan, PlannedGroup } from "./hazardPlan.ts";
import type { ScoreTarget } from "./scoreArrays.ts";
import { SCORE_BOUNDS, SCORE_STATUSES } from "./scoreRequest.ts";
import type { StepMatrix } from "./stepMatrix.ts";

const VALUE = SCORE_STATUSES.indexOf("value");
const ZERO = SCORE_STATUSES.indexOf("zero");
const NO_DATA = SCORE_STATUSES.indexOf("no_data");
const OUTSIDE_COVERAGE = SCORE_STATUSES.indexOf("outside_coverage");
const LAYER_MISSING = SCORE_STATUSES.indexOf("layer_missing");
const EXACT = SCORE_BOUNDS.indexOf("exact");

/** Rows whose columns are computed together: few enough that their steps and values stay in the processor's caches. */
const ROWS_PER_PASS = 64;

/** Rows of a matrix. */
interface Rows {
  readonly matrix: StepMatrix;
  readonly from: number;
  readonly to: number;
}

/** Writes the values, statuses and bounds of the groups of a hazard for rows of a matrix. */
export function writeScores(
  plan: HazardPlan,
  { matrix, from, to }: Rows,
  isChange: boolean,
  target: ScoreTarget,
): void {
  for (let first = from; first < to; first += ROWS_PER_PASS) {
    const rows = { matrix, from: first, to: Math.min(to, first + ROWS_PER_PASS) };
    for (const group of plan.groups) {
      for (const column of group.columns) {
        if (isChange) writeChanges(column, rows, target);
        else writeValues(column, rows, target);
      }
      writeBounds(group, rows, target);
    }
  }
}

type Column = PlannedGroup["columns"][number];

function writeValues({ own, column }: Column, rows: Rows, target: ScoreTarget): void {
  if (own === undefined) {
    writeMissing(column, rows, target);
    return;
  }
  const { from, to } = rows;
  const { steps, layerCount, places } = rows.matrix;
  const { values, statuses } = target.out;
  const { columnCount } = target.shape;
  const { entry, position } = own;
  for (let row = from; row < to; row++) {
    const at = (places[row] ?? 0) * columnCount + column;
    const stored = steps[row * layerCount + position] ?? STEPS_OUTSIDE;
    if (stored <= STEPS_MAX) {
      const value = valueOfSteps(stored, entry);
      values[at] = value;
      statuses[at] = value === 0 ? ZERO : VALUE;
    } else {
      values[at] = NaN;
      statuses[at] = stored === STEPS_OUTSIDE ? OUTSIDE_COVERAGE : NO_DATA;
    }
  }
}

function writeChanges({ own, reference, column }: Column, rows: Rows, target: ScoreTarget): void {
  if (own === undefined) {
    writeMissing(column, rows, target);
    return;
  }
  const { from, to } = rows;
  const { steps, layerCount, places } = rows.matrix;
  const { values, statuses } = target.out;
  const { columnCount } = target.shape;
  for (let row = from; row < to; row++) {
    const at = (places[row] ?? 0) * columnCount + column;
    const first = row * layerCount;
    const stored = steps[first + own.position] ?? STEPS_OUTSIDE;
    const baseline = reference === undefined ? NaN : (steps[first + reference.position] ?? STEPS_OUTSIDE);
    if (stored <= STEPS_MAX && reference !== undefined && baseline <= STEPS_MAX) {
      const value = changeOfSteps(stored, own.entry, baseline, reference.entry);
      values[at] = value;
      statuses[at] = value === 0 ? ZERO : VALUE;
    } else {
      // The reason of the value takes precedence over that of the baseline.
      const missing = stored <= STEPS_MAX ? baseline : stored;
      values[at] = NaN;
      statuses[at] = Number.isNaN(missing) ? LAYER_MISSING : missing === STEPS_OUTSIDE ? OUTSIDE_COVERAGE : NO_DATA;
    }
  }
}

function writeMissing(column: number, { matrix: { places }, from, to }: Rows, { out, shape }: ScoreTarget): void {
  for (let row = from; row < to; row++) {
    const at = (places[row] ?? 0) * shape.columnCount + column;
    out.values[at] = NaN;
    out.statuses[at] = LAYER_MISSING;
  }
}

function writeBounds({ index, bounds }: PlannedGroup, rows: Rows, target: ScoreTarget): void {
  const limits = bounds?.own.limits;
  if (bounds !== undefined && (bounds.reference !== undefined || bounds.own.total !== undefined)) {
    writeComputedBounds(index, bounds, rows, target);
  } else if (bounds !== undefined && limits !== undefined) {
    writePlainBounds(index, { ...bounds.own, limits }, rows, target);
  } else writeExact(index, rows, target);
}

function writeExact(index: number, { matrix: { places }, from, to }: Rows, { out, shape }: ScoreTarget): void {
  const { groupCount, totalCount } = shape;
  for (let row = from; row < to; row++) {
    const at = (places[row] ?? 0) * groupCount + index;
    out.bounds[at] = EXACT;
    out.probabilityLimits[at] = NaN;
    if (totalCount > 0) out.totalHazardLimits[at] = NaN;
  }
}

/** Writes bounds whose limits are the same at all places. */
function writePlainBounds(
  index: number,
  { limits, probability: { position } }: PlannedSide & { readonly limits: ProbabilityLimits },
  { matrix: { steps, layerCount, places }, from, to }: Rows,
  { out, shape: { groupCount, totalCount } }: ScoreTarget,
): void {
  const atLeast = SCORE_BOUNDS.indexOf("at_least");
  const atMost = SCORE_BOUNDS.indexOf("at_most");
  const atLeastLimit = limits.atLeast.probability.limit ?? NaN;
  const atMostLimit = limits.atMost.probability.limit ?? NaN;
  for (let row = from; row < to; row++) {
    const at = (places[row] ?? 0) * groupCount + index;
    const stored = steps[row * layerCount + position] ?? STEPS_OUTSIDE;
    const code = stored <= STEPS_MAX ? boundCodeOf(stored, limits) : EXACT;
    out.bounds[at] = code;
    out.probabilityLimits[at] = code === atLeast ? atLeastLimit : code === atMost ? atMostLimit : NaN;
    if (totalCount > 0) out.totalHazardLimits[at] = NaN;
  }
}

/** Writes bounds of changes and of total_hazard, whose limits depend on the place. */
function writeComputedBounds(
  index: number,
  planned: PlannedBounds,
  { matrix, from, to }: Rows,
  { out, shape: { groupCount, totalCount } }: ScoreTarget,
): void {
  for (let row = from; row < to; row++) {
    matrix.select(row);
    const bounds = boundsOf(planned, matrix, matrix.isMean);
    const at = (matrix.places[row] ?? 0) * groupCount + index;
    out.bounds[at] = bounds === undefined ? EXACT : SCORE_BOUNDS.indexOf(bounds.probability.bound);
    out.probabilityLimits[at] = bounds?.probability.limit ?? NaN;
    if (totalCount > 0) out.totalHazardLimits[at] = bounds?.total_hazard?.limit ?? NaN;
  }
}
