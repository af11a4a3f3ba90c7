import { describe, expect, test } from "vitest";
import { scoreArrays, type ScoreGroup, scoreShapeOf } from "../../../src/hazard/scoring/scoreRequest.ts";
import { groupStatuses, placeResults } from "../../../src/places/scores/placeResult.ts";

const group = (metrics: ScoreGroup["metrics"], threshold?: number): ScoreGroup => ({
  hazard: "riverine_floods",
  scenario: "rcp8p5",
  analysisYear: 2050,
  metrics,
  threshold,
});

describe("groupStatuses", () => {
  test.each([
    // value = 0, zero = 1, no_data = 2, outside_coverage = 3
    [["intensity", "depth_meters", "probability"], [0, 1, 0], 1],
    [["intensity", "depth_meters", "probability"], [0, 2, 0], 2],
    [["intensity", "depth_meters", "probability"], [3, 0, 3], 0],
    [["intensity", "probability"], [1, 1], 1],
    [["intensity", "probability"], [1, 0], 0],
    [["intensity", "probability"], [3, 1], 1],
    [["intensity", "probability"], [3, 2], 3],
  ] as const)("of %j with the statuses %j is %i", (metrics, statuses, expected) => {
    const groups = [group(["depth_meters"]), group(metrics)];
    const scores = scoreArrays(scoreShapeOf(groups), 2);
    scores.statuses.set([2, ...statuses.map(() => 2), 2, ...statuses]);
    expect(groupStatuses(groups)(scores, 1, 1)).toBe(expected);
    expect(groupStatuses(groups)(scores, 0, 1)).toBe(2);
  });
});

describe("placeResults", () => {
  test("returns bounds and exceedances, and a bound of total_hazard only if it has a value", () => {
    const groups = [group(["probability", "total_hazard"], 0.5), group(["probability", "total_hazard"])];
    const scores = scoreArrays(scoreShapeOf(groups), 1);
    scores.values.set([0, 0, 0.2, NaN]);
    scores.statuses.set([1, 1, 0, 2]);
    scores.bounds.set([2, 1]);
    scores.probabilityLimits.set([0.001, 0.5]);
    scores.totalHazardLimits.set([0.0004, NaN]);
    scores.exceedanceProbabilities.set([0.25, NaN]);
    scores.exceedanceBounds.set([1, 0]);
    scores.exceedanceLimits.set([0.25, NaN]);
    const shared = { hazard: "riverine_floods", scenario: "rcp8p5", analysis_year: 2050 };
    expect(placeResults(groups)(scores, 0)).toStrictEqual([
      {
        ...shared,
        status: "zero",
        metrics: { probability: 0, total_hazard: 0 },
        bounds: { probability: { bound: "at_most", limit: 0.001 }, total_hazard: { bound: "at_most", limit: 0.0004 } },
        exceedance: { threshold: 0.5, probability: 0.25, return_period: 4, bound: "at_least", limit: 0.25 },
      },
      {
        ...shared,
        status: "value",
        metrics: { probability: 0.2, total_hazard: null },
        bounds: { probability: { bound: "at_least", limit: 0.5 } },
      },
    ]);
  });
});
