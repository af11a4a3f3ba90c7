/** Tests of the properties in docs/methods/alignment.md on many random rows. */
import { describe, expect, test } from "vitest";
import { tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { type AlignmentRule, BASES, computeAlignment } from "../../src/kernel/alignment.ts";
import { type AlignedColumns, type EntityColumns, SCOPES } from "../../src/kernel/alignmentColumns.ts";
import { makeAlignmentTables } from "../../src/kernel/alignmentTables.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { lawColumns, raisedColumns, scaledColumns } from "./alignmentLawColumns.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(tabulateByYear(NGFS_PHASE5));
const ROW_COUNT = Number(process.env["ISOTHERM_ALIGNMENT_LAW_ROWS"] ?? 200_000);
const BASIS_NAMES = Object.keys(BASES) as readonly (keyof typeof BASES)[];
/** Rounding of values of order 1. */
const ROUNDING_C = 1e-12;

function align(columns: EntityColumns, basis: AlignmentRule["basis"]): AlignedColumns {
  const rule = { basis, scope3Weight: 1, gamma: 0 };
  const outcome = computeAlignment(kernel, tables, columns, rule, { climateRange: true, overall: true });
  if (outcome.kind === "refused") throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome;
}

/** Returns the largest decrease from one column to another and the number of rows with a value in both. */
function largestDecrease(before: Float64Array, after: Float64Array) {
  let decrease = -Infinity;
  let pairCount = 0;
  for (const [row, value] of before.entries()) {
    const difference = value - (after[row] ?? NaN);
    if (Number.isNaN(difference)) continue;
    pairCount++;
    decrease = Math.max(decrease, difference);
  }
  return { decrease, pairCount };
}

/** Returns the baseline of each row, summed over the scopes that both the row and the baseline report. */
function baselineSumsOf(columns: EntityColumns): Float64Array {
  const sums = new Float64Array(columns.years.length);
  for (let entity = 0; entity < columns.starts.length - 1; entity++) {
    for (let row = columns.starts[entity] ?? 0; row < (columns.starts[entity + 1] ?? 0); row++) {
      const reported = [
        [columns.scope1[row], columns.baselineScope1[entity]],
        [columns.scope2[row], columns.baselineScope2[entity]],
        [columns.scope3[row], columns.baselineScope3[entity]],
      ].filter((pair) => pair.every((value) => !Number.isNaN(value)));
      sums[row] = reported.reduce((sum, [, before = 0]) => sum + before, 0);
    }
  }
  return sums;
}

/** Returns the overall temperature of each entity, or NaN without weights. */
function overallOf({ starts }: EntityColumns, { temperaturesC, anchorSpread }: AlignedColumns): Float64Array {
  return Float64Array.from({ length: starts.length - 1 }, (_, entity) => {
    let weights = 0;
    let sum = 0;
    for (let row = starts[entity] ?? 0; row < (starts[entity + 1] ?? 0); row++) {
      const weight = (anchorSpread?.[row] ?? NaN) ** 2;
      if (Number.isNaN(temperaturesC[row])) continue;
      weights += weight;
      sum += weight * (temperaturesC[row] ?? NaN);
    }
    return sum / weights;
  });
}

describe.each([{ hasRemovals: false }, { hasRemovals: true }])("with removals: $hasRemovals", ({ hasRemovals }) => {
  const columns = lawColumns(ROW_COUNT, { hasRemovals });
  const baselineSums = baselineSumsOf(columns);

  test.each(BASIS_NAMES)(
    "more emissions in a projected scope never lower a value or the overall value: %s",
    (basis) => {
      const before = align(columns, basis);
      const overall = overallOf(columns, before);
      const random = randomFrom(3);
      let pairCount = 0;
      for (const scope of SCOPES) {
        const after = align(raisedColumns(columns, scope, { part: () => random.next() ** 4, ofZero: 1 }), basis);
        const ofRows = largestDecrease(before.temperaturesC, after.temperaturesC);
        expect(ofRows.decrease).toBeLessThanOrEqual(ROUNDING_C);
        pairCount += ofRows.pairCount;
        // With a zero baseline, a row may lose its value, which changes the years in the overall value.
        const ofEntities = largestDecrease(overall, overallOf(columns, after));
        expect(ofEntities.decrease).toBeLessThanOrEqual(ROUNDING_C);
      }
      expect(pairCount).toBeGreaterThan(ROW_COUNT * 2);
      console.info(`${basis}: ${pairCount} pairs`);
    },
  );

  test.each(BASIS_NAMES)("the unit of emissions changes no value: %s", (basis) => {
    const { temperaturesC } = align(columns, basis);
    for (const factor of [0.001, 1000]) {
      const after = align(scaledColumns(columns, factor), basis).temperaturesC;
      const up = largestDecrease(temperaturesC, after);
      const down = largestDecrease(after, temperaturesC);
      console.info(`${basis} x ${factor}: at most ${Math.max(up.decrease, down.decrease)} degrees C`);
      expect(Math.max(up.decrease, down.decrease)).toBeLessThanOrEqual(hasRemovals ? 1e-9 : ROUNDING_C);
    }
  });

  test.each(BASIS_NAMES)(
    "emissions that are higher by 1e-9 change a value by less than 1e-6 degrees C: %s",
    (basis) => {
      const { temperaturesC } = align(columns, basis);
      // Relative to the baseline where removals make it smaller than the scope.
      const part = (scope: (typeof SCOPES)[number]) => (row: number) =>
        1e-9 * Math.min(1, (baselineSums[row] ?? NaN) / Math.abs(columns[scope][row] ?? NaN));
      const steps = SCOPES.map((scope) => {
        const after = align(raisedColumns(columns, scope, { part: part(scope) }), basis).temperaturesC;
        return largestDecrease(after, temperaturesC).decrease;
      });
      console.info(`${basis}: at most ${Math.max(...steps)} degrees C`);
      expect(Math.max(...steps)).toBeLessThan(1e-6);
    },
  );

  test.each(BASIS_NAMES)("values are from 1.3 to 6 and in both of their intervals: %s", (basis) => {
    const { temperaturesC, rangeLowC, rangeHighC, climateLowC, climateHighC } = align(columns, basis);
    let valueCount = 0;
    for (const [row, value] of temperaturesC.entries()) {
      const bounds = [1.3, 6, rangeLowC[row], rangeHighC[row], climateLowC?.[row], climateHighC?.[row]];
      if (Number.isNaN(value)) {
        expect(bounds.slice(2).every(Number.isNaN)).toBe(true);
        continue;
      }
      valueCount++;
      const [low = NaN, high = NaN, rangeLow = NaN, rangeHigh = NaN, climateLow = NaN, climateHigh = NaN] = bounds;
      const isInside =
        value >= low &&
        value <= high &&
        rangeLow <= value &&
        value <= rangeHigh &&
        climateLow <= value &&
        value <= climateHigh;
      if (!isInside) expect.fail(`row ${row}: ${value} is not in ${bounds.join(", ")}`);
    }
    expect(valueCount).toBeGreaterThan(ROW_COUNT * 0.7);
  });

  test.each(["emissions", "cumulative"] as const)("country and revenue change no value: %s", (basis) => {
    const random = randomFrom(5);
    const elsewhere = {
      ...columns,
      growthSeries: columns.growthSeries.map(() => random.below(NGFS_PHASE5.growth.length)),
      baselineRevenues: Float64Array.from(columns.growthSeries, () => random.next()),
      projectedRevenues: Float64Array.from(columns.years, () => random.next()),
    };
    expect(align(elsewhere, basis).temperaturesC).toEqual(align(columns, basis).temperaturesC);
  });

  test.each(["emissions", "cumulative"] as const)(
    "a higher baseline rarely raises a value, and then by little: %s",
    (basis) => {
      const { temperaturesC } = align(columns, basis);
      const random = randomFrom(6);
      const baselineScope1 = columns.baselineScope1.map((value) => value + Math.abs(value) * 0.3 * random.next());
      const after = align({ ...columns, baselineScope1 }, basis).temperaturesC;
      let raisedCount = 0;
      for (const [row, value] of after.entries()) if (value - (temperaturesC[row] ?? NaN) > 1e-9) raisedCount++;
      const { decrease: largestRise } = largestDecrease(after, temperaturesC);
      console.info(`${basis}: ${raisedCount} of ${temperaturesC.length} values are raised, by at most ${largestRise}`);
      expect(raisedCount).toBeLessThan(0.04 * temperaturesC.length);
      expect(largestRise).toBeLessThan(hasRemovals ? 1 : 0.08);
    },
  );
});
