/** The probability of reaching a threshold, at 100,000 random cells of curves of all shapes. */
import { expect, test } from "vitest";
import type { CurveYearResult } from "../../src/contract/wireTypes.ts";
import { exceedanceOf, type ReturnPeriodCurve } from "../../src/kernel/returnPeriodCurve.ts";
import { STEPS_MAX, STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { FLOODS, GRID, type StoredCurve, useCurveAtlas, WINDS } from "./curveAtlas.ts";

const CELL_COUNT = 100_000;
const SCENARIO = "rcp8p5";
const YEAR = 2050;

/** Returns the steps of a curve: rising evenly or by single steps, level over some return periods, dry, or at the limit. */
function randomSteps(random: SeededRandom, count: number): readonly number[] {
  const largestRise = random.pick([1, 2, 3, 40, 900, 6000]);
  const levelShare = random.pick([0, 0.3, 0.8]);
  const dryCount = random.chance(0.5) ? 0 : random.below(count + 2);
  let steps = random.chance(0.5) ? 0 : random.below(2000);
  return Array.from({ length: count }, (_, period) => {
    if (period < dryCount) return 0;
    if (!random.chance(levelShare)) steps = Math.min(STEPS_MAX, steps + random.below(largestRise + 1));
    return steps;
  });
}

function storedCurve(curve: typeof FLOODS | typeof WINDS, seed: number): StoredCurve {
  const random = randomFrom(seed);
  const count = curve.returnPeriodsYears.length;
  const steps = new Uint16Array(GRID.rowCount * GRID.columnCount * count);
  for (let first = 0; first < steps.length; first += count) {
    if (random.chance(0.05)) steps.fill(STEPS_NODATA, first, first + count);
    else steps.set(randomSteps(random, count), first);
  }
  return { ...curve, scenario: SCENARIO, year: YEAR, steps };
}

const CURVES = [storedCurve(FLOODS, 31), storedCurve(WINDS, 32)];
const opened = useCurveAtlas(CURVES);

/** Returns ascending thresholds above 0: those of the curve, the nearest numbers on both sides of them, and random ones. */
function thresholdsOf(random: SeededRandom, values: readonly number[]): readonly number[] {
  const highest = 1.1 * (values.at(-1) ?? NaN) + 0.01;
  const ofCurve = values.flatMap((value) => [value * (1 - Number.EPSILON), value, value * (1 + Number.EPSILON)]);
  const others = Array.from({ length: 10 }, () => highest * random.next());
  // Close together, so that rounding is large compared with the difference of their probabilities.
  const start = highest * random.next();
  const close = Array.from({ length: 6 }, (_, i) => start * (1 + i * Number.EPSILON));
  return [...ofCurve, ...others, ...close].filter((threshold) => threshold > 0).toSorted((a, b) => a - b);
}

test("never rises with the threshold, and is that of the kernel", { timeout: 300_000 }, async () => {
  const { atlas } = opened();
  const random = randomFrom(33);
  const yearAt = async (
    query: { readonly row: number; readonly column: number; readonly stored: StoredCurve },
    threshold: number,
  ) => {
    const { results } = await atlas.curve({
      latitude: 89.5 - query.row,
      longitude: query.column - 179.5,
      hazards: [query.stored.hazard],
      analysis_years: [YEAR],
      scenarios: [SCENARIO],
      threshold,
    });
    return results[0]?.scenarios[0]?.analysis_years[0] as CurveYearResult;
  };
  let [curveCount, risingCount, differingCount] = [0, 0, 0];
  for (let i = 0; i < CELL_COUNT; i++) {
    const stored = random.pick(CURVES);
    const place = { row: random.below(GRID.rowCount), column: random.below(GRID.columnCount), stored };
    const { curve } = await yearAt(place, 1);
    if (curve === null) continue;
    curveCount++;
    const values = curve.map(({ value }) => value);
    const { variate, returnPeriodsYears } = stored;
    const ofKernel: ReturnPeriodCurve = { variate, returnPeriodsYears, values };
    const thresholds = thresholdsOf(random, values);
    const probabilities = thresholds.map((threshold) => exceedanceOf(ofKernel, threshold).probability);
    if (probabilities.some((probability, k) => probability > (probabilities[k - 1] ?? 1))) risingCount++;
    const k = random.below(thresholds.length);
    const answered = await yearAt(place, thresholds[k] ?? NaN);
    if (answered.exceedance?.probability !== probabilities[k]) differingCount++;
  }
  expect({ risingCount, differingCount }).toEqual({ risingCount: 0, differingCount: 0 });
  expect(curveCount).toBeGreaterThan(0.9 * CELL_COUNT);
});
