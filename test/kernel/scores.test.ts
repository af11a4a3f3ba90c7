import { beforeAll, describe, expect, test } from "vitest";
import { SCORE_BOUNDS, SCORE_STATUSES } from "../../src/hazard/scoring/scoreRequest.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import {
  BOUND_AT_LEAST,
  BOUND_AT_MOST,
  BOUND_EXACT,
  BOUND_INDETERMINATE,
  SCORE_LAYER_MISSING,
  SCORE_NO_DATA,
  SCORE_OUTSIDE,
  SCORE_VALUE,
  SCORE_ZERO,
  STEPS_MAX,
  STEPS_NODATA,
  STEPS_OUTSIDE,
} from "../../src/kernel/kernel.generated.ts";
import { type BoundedGroup, type ScoredColumn, scoreLayout, withScores } from "../../src/kernel/scores.ts";
import { boundByDefinition, valueByDefinition } from "../oracle/scores.ts";
import { expectSameBytes } from "../sameBytes.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";

const ENCODINGS = [
  { stepsPerUnit: 1000, offset: 0 },
  { stepsPerUnit: 60_000, offset: 0 },
  { stepsPerUnit: 10, offset: -40 }, // 400 steps are 0
  { stepsPerUnit: 0.3, offset: 1e6 },
  { stepsPerUnit: 7, offset: -0 },
] as const;
const FIRST_STEPS = [0, 1, 30_000] as const;
const ROW_COUNT = 150;

interface MadePart {
  readonly steps: Uint16Array;
  readonly laneCount: number;
  readonly columns: readonly ScoredColumn[];
  readonly groups: readonly BoundedGroup[];
}

/** Returns a part with random steps. Lanes are in order, so that runs of eight exist, or shuffled with missing layers. */
function madePart(random: SeededRandom, columnCount: number): MadePart {
  const laneCount = columnCount + random.below(3);
  const lanes = [...Array(laneCount).keys()];
  const isInOrder = random.chance(0.5);
  const order = isInOrder ? lanes : shuffled(random, lanes);
  const columns = Array.from({ length: columnCount }, (_, i) => ({
    lane: !isInOrder && random.chance(0.2) ? undefined : order[i],
    ...random.pick(ENCODINGS),
  }));
  const groups = Array.from({ length: random.below(5) }, () => ({
    lane: random.chance(0.2) ? undefined : random.below(laneCount),
    firstSteps: random.pick(FIRST_STEPS),
    atLeast: random.next(),
    atMost: random.next(),
  }));
  const steps = new Uint16Array(ROW_COUNT * laneCount);
  for (let row = 0; row < ROW_COUNT; row++) {
    const kind = random.below(4); // cells that are 0 in every layer take the fast path
    for (let lane = 0; lane < laneCount; lane++) {
      const others = [0, 1, 400, 30_000, STEPS_MAX, STEPS_OUTSIDE, STEPS_NODATA, random.below(STEPS_MAX)];
      steps[row * laneCount + lane] = kind === 0 ? 0 : random.pick(others);
    }
  }
  return { steps, laneCount, columns, groups };
}

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

describe("withScores", () => {
  test.each([
    { columnCounts: [1] },
    { columnCounts: [7] },
    { columnCounts: [8] },
    { columnCounts: [9] },
    { columnCounts: [23] },
    { columnCounts: [42] },
    { columnCounts: [8, 8] },
    { columnCounts: [3, 16, 0, 21] },
  ])("computes values, statuses and bounds bit for bit with parts of $columnCounts columns", ({ columnCounts }) => {
    const random = randomFrom(columnCounts.reduce((sum, count) => sum * 31 + count, 7));
    const parts = columnCounts.map((count) => madePart(random, count));
    const expected = { values: [], statuses: [], bounds: [], boundLimits: [] } as Record<string, number[]>;
    for (let row = 0; row < ROW_COUNT; row++) {
      for (const { steps, laneCount, columns, groups } of parts) {
        const cell = steps.subarray(row * laneCount, (row + 1) * laneCount);
        for (const column of columns) {
          const { value, status } = valueByDefinition(cell, column);
          expected["values"]?.push(value);
          expected["statuses"]?.push(status);
        }
        for (const group of groups) {
          const { bound, limit } = boundByDefinition(cell, group);
          expected["bounds"]?.push(bound);
          expected["boundLimits"]?.push(limit);
        }
      }
    }
    const rows = parts.map(({ steps, laneCount, columns, groups }) => ({
      steps,
      laneCount,
      layout: scoreLayout(columns, groups),
    }));
    withScores(kernel, ROW_COUNT, rows, ({ values, statuses, bounds, boundLimits }) => {
      expectSameBytes(values, Float64Array.from(expected["values"] ?? []));
      expectSameBytes(statuses, Uint8Array.from(expected["statuses"] ?? []));
      expectSameBytes(bounds, Uint8Array.from(expected["bounds"] ?? []));
      expectSameBytes(boundLimits, Float64Array.from(expected["boundLimits"] ?? []));
    });
  });

  test("numbers statuses and bounds as the scores of places do", () => {
    const statuses = [SCORE_VALUE, SCORE_ZERO, SCORE_NO_DATA, SCORE_OUTSIDE, SCORE_LAYER_MISSING];
    expect(statuses.map((status) => SCORE_STATUSES[status])).toEqual([
      "value",
      "zero",
      "no_data",
      "outside_coverage",
      "layer_missing",
    ]);
    const bounds = [BOUND_EXACT, BOUND_AT_LEAST, BOUND_AT_MOST, BOUND_INDETERMINATE];
    expect(bounds.map((bound) => SCORE_BOUNDS[bound])).toEqual(["exact", "at_least", "at_most", "indeterminate"]);
  });
});
