/** Plans scores and computes values, statuses, bounds and exceedances from steps, column by column, as `hazardRisk` does for a single place. */
import { STEPS_MAX, STEPS_OUTSIDE } from "../../kernel/kernel.generated.ts";
import { boundCodeOf, boundsOf, type PlannedBounds, type PlannedSide, type ProbabilityLimits } from "../bounds.ts";
import { changeOfSteps, valueOfSteps } from "../sampledLayers.ts";
import {
  firstColumnsOf,
  SCORE_BOUNDS,
  SCORE_STATUSES,
  type ScoreGroup,
  type ScoreRequest,
  type ScoreTarget,
} from "./scoreRequest.ts";
import type { StepMatrix } from "./sampledPlaces.ts";
import type { LayerSet } from "../../atlas/layerSet.ts";
import type { Sampler } from "../../atlas/sampler.ts";
import { HazardPlanner, type PlannedMetric } from "../plan.ts";
import { exceedanceOf, type ReturnPeriodCurve } from "../../kernel/returnPeriodCurve.ts";
import { type CurvePlan, curvePlanOf, curveValuesOf } from "../curvePlan.ts";
import { type HazardName, HAZARDS, layerOf, type MetricName } from "../hazards.ts";

/** How the groups of one hazard are computed from the steps of a set of layers. */
export interface HazardPlan {
  readonly hazard: HazardName;
  /** Undefined if the atlas has none of the layers. */
  readonly set: LayerSet | undefined;
  readonly groups: readonly PlannedGroup[];
}

export interface PlannedGroup {
  /** Index in the request. */
  readonly index: number;
  readonly group: ScoreGroup;
  readonly columns: readonly PlannedColumn[];
  /** Undefined if the group has no bounded metric, or if no probability can be only a bound. */
  readonly bounds: PlannedBounds | undefined;
}

interface PlannedColumn extends PlannedMetric {
  /** Index among the columns of the request. */
  readonly column: number;
}

/** Plans the groups of a request, hazard by hazard. */
export function planHazards(
  sampler: Sampler,
  { groups, anthropogenic }: Pick<ScoreRequest, "groups" | "anthropogenic">,
): readonly HazardPlan[] {
  const firsts = firstColumnsOf(groups);
  return [...new Set(groups.map(({ hazard }) => hazard))].map((hazard) => {
    const planner = new HazardPlanner(sampler, hazard);
    const planned = groups.flatMap((group, index): readonly PlannedGroup[] => {
      if (group.hazard !== hazard) return [];
      const { scenario, analysisYear: year, metrics } = group;
      const plannedYear = planner.plan({ scenario, year }, sampledMetrics(hazard, metrics), {
        isChange: anthropogenic,
      });
      const columns = metrics.map((metric, i) => ({
        ...(plannedYear.metrics.find((each) => each.metric === metric) as PlannedMetric),
        column: (firsts[index] ?? 0) + i,
      }));
      return [{ index, group, columns, bounds: plannedYear.bounds }];
    });
    return { hazard, set: planner.set, groups: planned };
  });
}

/** Returns the metrics of which values or bounds of the requested metrics are computed. */
function sampledMetrics(hazard: HazardName, metrics: readonly MetricName[]): readonly MetricName[] {
  const needed = new Set(metrics);
  if (needed.has("total_hazard")) needed.add("intensity").add("probability");
  return HAZARDS[hazard].metrics.map(({ metric }) => metric).filter((metric) => needed.has(metric));
}

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

/** The groups whose exceedance is computed from the same curve. */
interface PlannedExceedances {
  /** Undefined if the atlas does not have the curve, or the groups have no threshold. */
  readonly plan: CurvePlan | undefined;
  readonly groups: readonly { readonly index: number; readonly threshold: number }[];
}

/** Plans the exceedances of all groups of a request, which includes those without a threshold. */
export function planExceedances(sampler: Sampler, groups: readonly ScoreGroup[]): readonly PlannedExceedances[] {
  const byCurve = new Map<string, { plan: CurvePlan | undefined; groups: { index: number; threshold: number }[] }>();
  for (const [index, { hazard, scenario, analysisYear, threshold }] of groups.entries()) {
    const stored = layerOf(scenario, analysisYear);
    const name = threshold === undefined ? "" : `${hazard} ${stored.scenario} ${stored.year}`;
    let planned = byCurve.get(name);
    if (planned === undefined) {
      planned = { plan: threshold === undefined ? undefined : curvePlanOf(sampler, hazard, stored), groups: [] };
      byCurve.set(name, planned);
    }
    planned.groups.push({ index, threshold: threshold ?? NaN });
  }
  return [...byCurve.values()];
}

/** Writes the exceedances of groups for rows of a matrix with the steps of their curve. */
export function writeExceedances(
  { plan, groups }: PlannedExceedances,
  { matrix, from, to }: { readonly matrix: StepMatrix; readonly from: number; readonly to: number },
  { out, shape }: ScoreTarget,
): void {
  for (let row = from; row < to; row++) {
    matrix.select(row);
    const values = plan === undefined ? undefined : curveValuesOf(plan, matrix);
    // A missing curve has a reason instead of values.
    const curve = plan === undefined || typeof values !== "object" ? undefined : curveOf(plan, values);
    const first = (matrix.places[row] ?? 0) * shape.thresholdCount;
    for (const { index, threshold } of groups) {
      const exceedance = curve && exceedanceOf(curve, threshold);
      const bound = exceedance?.bound;
      out.exceedanceProbabilities[first + index] = exceedance?.probability ?? NaN;
      out.exceedanceBounds[first + index] = bound === undefined ? EXACT : SCORE_BOUNDS.indexOf(bound.kind);
      out.exceedanceLimits[first + index] = bound?.limit ?? NaN;
    }
  }
}

/** Lists the members, because a spread takes longer than the exceedance. */
function curveOf({ variate, returnPeriodsYears }: CurvePlan, values: readonly number[]): ReturnPeriodCurve {
  return { variate, returnPeriodsYears, values };
}
