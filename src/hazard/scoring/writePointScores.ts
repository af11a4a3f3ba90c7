/** Computes the scores of points from stored steps with the kernel, with the same results as `writeScores`. */
import type { Kernel } from "../../kernel/instance.ts";
import { type BoundedGroup, type ScoreLayout, scoreLayout, withScores } from "../../kernel/scores.ts";
import type { HazardPlan, PlannedGroup } from "./writeScores.ts";
import type { ScoreShape, ScoreTarget } from "./scoreRequest.ts";

/** How the kernel computes the groups of a request. */
export interface PointPlan {
  readonly kernel: Kernel;
  /** One per hazard, in the order of the columns of the request. */
  readonly layouts: readonly ScoreLayout[];
}

/**
 * Plans the scores of a request at points.
 * @returns undefined if values or limits depend on the steps of several layers, or if the groups of a hazard are
 *   not consecutive
 */
export function planPointScores(
  plans: readonly HazardPlan[],
  { shape, isChange }: { readonly shape: ScoreShape; readonly isChange: boolean },
): PointPlan | undefined {
  const kernel = plans.find(({ set }) => set !== undefined)?.set?.cachedField.field.grid.kernel;
  const groups = plans.flatMap((plan) => plan.groups);
  const isInOrder = groups.every(({ index }, i) => index === i);
  if (kernel === undefined || isChange || shape.totalCount > 0 || !isInOrder) return undefined;
  return { kernel, layouts: plans.map(layoutOf) };
}

function layoutOf({ groups }: HazardPlan): ScoreLayout {
  const columns = groups.flatMap((group) => group.columns);
  return scoreLayout(
    columns.map(({ own }) => ({
      lane: own?.position,
      stepsPerUnit: own?.entry.steps_per_unit ?? 1,
      offset: own?.entry.offset ?? 0,
    })),
    groups.map(boundedGroupOf),
  );
}

function boundedGroupOf({ bounds }: PlannedGroup): BoundedGroup {
  const limits = bounds?.own.limits;
  if (bounds === undefined || limits === undefined) {
    return { lane: undefined, firstSteps: 0, atLeast: NaN, atMost: NaN };
  }
  return {
    lane: bounds.own.probability.position,
    firstSteps: limits.firstSteps,
    atLeast: limits.atLeast.probability.limit ?? NaN,
    atMost: limits.atMost.probability.limit ?? NaN,
  };
}

/** Stored steps of one hazard at every point, u16[row][laneCount]. */
export interface PointSteps {
  readonly steps: Uint16Array;
  readonly laneCount: number;
}

/** Writes the values, statuses and bounds of all groups for some of the rows. */
export function writePointScores(
  { kernel, layouts }: PointPlan,
  hazards: readonly PointSteps[],
  { places, from, to }: { readonly places: Uint32Array; readonly from: number; readonly to: number },
  { out, shape: { columnCount, groupCount } }: ScoreTarget,
): void {
  const parts = layouts.map((layout, i) => {
    const { steps, laneCount } = hazards[i] as PointSteps;
    return { steps: steps.subarray(from * laneCount, to * laneCount), laneCount, layout };
  });
  withScores(kernel, to - from, parts, ({ values, statuses, bounds, boundLimits }) => {
    /** Copies consecutive rows of consecutive places. */
    const copy = (first: number, end: number, place: number): void => {
      out.values.set(values.subarray(first * columnCount, end * columnCount), place * columnCount);
      out.statuses.set(statuses.subarray(first * columnCount, end * columnCount), place * columnCount);
      out.bounds.set(bounds.subarray(first * groupCount, end * groupCount), place * groupCount);
      out.probabilityLimits.set(boundLimits.subarray(first * groupCount, end * groupCount), place * groupCount);
    };
    let first = from;
    for (let row = from + 1; row <= to; row++) {
      const place = places[first] as number;
      if (row < to && places[row] === place + row - first) continue;
      copy(first - from, row - from, place);
      first = row;
    }
  });
}
