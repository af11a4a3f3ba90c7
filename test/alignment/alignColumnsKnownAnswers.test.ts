/** Known answers for single rows, through alignColumns. */
import { expect, test } from "vitest";
import { alignColumns } from "../../src/alignment/alignColumns.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { growthSeriesOf } from "../../src/alignment/benchmark.ts";
import { type EntityColumns, PATHWAY_INDEX } from "../../src/kernel/alignmentColumns.ts";
import { LISTED_COUNTRIES } from "../../src/reference/countryNames.ts";
import { namesOf } from "../kernel/alignmentComparison.ts";
import { KNOWN_CASES, pointsOf, type RowInputs } from "../oracle/alignment2/knownCases.ts";
import { describeWithSharedMethod } from "../oracle/alignment2/sharedMethod.ts";

describeWithSharedMethod("known answers for rows", () => {
  test("are 48", () => {
    expect(KNOWN_CASES.cases).toHaveLength(48);
  });

  test.each(KNOWN_CASES.cases)("$name", async ({ inputs, expected }) => {
    const { basis, gamma, w3 } = inputs;
    const points = pointsOf(inputs);
    const row = points.findIndex(({ year }) => year === inputs.year);
    for (const budget of [0, 1, 2, 3]) {
      const results = await alignColumns(columnsOfCase(inputs, points), {
        basis,
        scope3Weight: w3,
        convergence: gamma,
        include: { climateRange: true, budget, overall: true },
      });
      const anchors = expected.benchmark_ratio_at_anchors;
      const pairs = [
        [results.temperaturesC[row], expected.temperature_alignment],
        [results.rangeLowC[row], expected.range?.low],
        [results.rangeHighC[row], expected.range?.high],
        [results.climateLowC?.[row], expected.climate_range?.low],
        [results.climateHighC?.[row], expected.climate_range?.high],
        [results.coverage[row], expected.coverage],
        [results.anchorSpread?.[row], anchors === undefined ? 0 : (anchors[3] ?? NaN) - (anchors[0] ?? NaN)],
        [results.budgetProjected?.[row], expected.budget?.[budget]?.projected],
        [results.budgetAllowed?.[row], expected.budget?.[budget]?.allowed],
      ] as const;
      for (const [index, [got, wanted]] of pairs.entries()) {
        if (wanted === null || wanted === undefined) expect(got).toBeNaN();
        else {
          const size = index < 7 ? 1 : Math.max(1, Math.abs(wanted));
          expect(Math.abs((got ?? NaN) - wanted) / size, `figure ${index}`).toBeLessThanOrEqual(1e-6);
        }
      }
      // Flags of the entity are not part of the answers for rows.
      const ofYear = namesOf((results.flags[row] ?? 0) & ~0x3f);
      expect(ofYear).toBe(expected.flags.join(" "));
    }
  });
});

function columnsOfCase(inputs: RowInputs, points: NonNullable<RowInputs["points"]>): EntityColumns {
  const { base_year, e0, sector = "economy", country, revenue, revenue_projected, kappa, w3 = 1 } = inputs;
  const listed = LISTED_COUNTRIES.find(({ iso3 }) => iso3 === country);
  const baselineOf = (scope: number): Float64Array => Float64Array.of(e0[scope] ?? NaN);
  const projectedOf = (scope: number): Float64Array => Float64Array.from(points, ({ e }) => e[scope] ?? NaN);
  // With a revenue of 1 and a reference of E(b) / kappa in one scope, kappa is the given one.
  const baseline = [0, 1, 2].reduce((sum, i) => sum + (i === 2 ? w3 : 1) * (e0[i] ?? 0), 0);
  return {
    baselineYears: Int32Array.of(base_year),
    pathways: Uint8Array.of(PATHWAY_INDEX[sector]),
    growthSeries: Uint8Array.of(growthSeriesOf(NGFS_PHASE5, listed)),
    baselineScope1: baselineOf(0),
    baselineScope2: baselineOf(1),
    baselineScope3: baselineOf(2),
    starts: Uint32Array.of(0, points.length),
    years: Int32Array.from(points, ({ year }) => year),
    scope1: projectedOf(0),
    scope2: projectedOf(1),
    scope3: projectedOf(2),
    baselineRevenues: Float64Array.of(revenue ?? NaN),
    projectedRevenues: new Float64Array(points.length).fill(revenue_projected ?? NaN),
    convergenceRevenues: Float64Array.of(kappa === undefined ? NaN : 1),
    references: {
      scope1: Float64Array.of(baseline / (kappa ?? NaN)),
      scope2: Float64Array.of(0),
      scope3: Float64Array.of(0),
    },
  };
}
