import { describe, expect, test } from "vitest";
import { tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { computeAlignment } from "../../src/kernel/alignment.ts";
import { alignDetail } from "../../src/kernel/alignmentDetail.ts";
import { makeAlignmentTables } from "../../src/kernel/alignmentTables.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { restrictedTo } from "../oracle/alignment2/row.ts";
import { RULES } from "./alignmentComparison.ts";
import { columnsOfEntities, oracleReference, randomOracleEntity, scoreOracleEntity } from "./alignmentOracle.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(tabulateByYear(NGFS_PHASE5));
const reference = oracleReference();
/** Flags of bits 4 and 18 concern several rows; the kernel adds them to columns only. */
const ROW_FLAGS = ~((1 << 4) | (1 << 18));

describe.each(RULES)("alignDetail: $basis, scope 3 x $scope3Weight, gamma $gamma", (rule) => {
  const entities = Array.from({ length: 150 }, (_, i) => randomOracleEntity(reference, rule, 5000 + i));
  const columns = columnsOfEntities(entities);
  const details = entities.map((_, entity) => alignDetail(kernel, tables, columns, { ...rule, entity }));

  test("returns the bits of computeAlignment on every basis", () => {
    const include = { climateRange: true, byScope: true, overall: true, budget: 3 };
    for (const basis of ["intensity", "emissions", "cumulative"] as const) {
      for (const callInclude of [{}, include]) {
        const outcome = computeAlignment(kernel, tables, columns, { ...rule, basis }, callInclude);
        if (outcome.kind === "refused") throw new Error("refused");
        const figures = details.flat().map((row) => row[basis]);
        expect(Float64Array.from(figures, ({ temperatureC }) => temperatureC)).toEqual(outcome.temperaturesC);
        expect(Float64Array.from(figures, ({ rangeLowC }) => rangeLowC)).toEqual(outcome.rangeLowC);
        expect(Float64Array.from(figures, ({ rangeHighC }) => rangeHighC)).toEqual(outcome.rangeHighC);
        expect(Float64Array.from(figures, ({ coverage }) => coverage)).toEqual(outcome.coverage);
        expect(Uint32Array.from(figures, ({ flags }) => flags & ROW_FLAGS)).toEqual(
          outcome.flags.map((mask) => mask & ROW_FLAGS),
        );
        if (callInclude === include) {
          expect(Float64Array.from(figures, ({ climateLowC }) => climateLowC)).toEqual(outcome.climateLowC);
          expect(Float64Array.from(figures, ({ climateHighC }) => climateHighC)).toEqual(outcome.climateHighC);
        }
      }
    }
  });

  test("returns the figures of the reference implementation", () => {
    let comparedCount = 0;
    for (const [index, entity] of entities.entries()) {
      for (const [i, expected] of scoreOracleEntity(reference, entity).entries()) {
        const row = details[index]?.[i];
        const figures = row?.[rule.basis];
        if (row === undefined || figures === undefined) throw new Error("no row");
        expectClose(figures.ratioQ, expected.ratio, Math.max(1, expected.ratio ?? 0));
        expect(figures.evaluatedYear).toBe(expected.evaluatedYear);
        for (const anchor of [0, 1, 2, 3] as const) {
          expectClose(figures.anchors[anchor], expected.anchors?.[anchor]);
          expectClose(figures.rawAnchors[anchor], expected.rawAnchors?.[anchor]);
          const allowed = expected.budget?.[anchor]?.allowed;
          const projected = expected.budget?.[anchor]?.projected;
          const size = Math.max(1, Math.abs(projected ?? 0), Math.abs(expected.budget?.[3]?.allowed ?? 0));
          expectClose(row.budget.allowed[anchor], allowed, size);
          expectClose(row.budget.projected, projected, size);
        }
        expectClose(figures.kappa, expected.kappa);
        expectClose(row.scopes12.temperatureC, expected.byScope.s1s2);
        for (const scope of [0, 1, 2] as const) {
          const oracleRow = entity.rows[i];
          if (oracleRow === undefined) throw new Error("no row");
          expectClose(row.byScope[scope]?.temperatureC, restrictedTo(reference, oracleRow, [scope]).temperature);
        }
        if (expected.anchors === null) continue;
        comparedCount++;
        if (rule.basis === "intensity") {
          expectClose(figures.growthFactor, expected.growth?.factor);
          expect(figures.growthSource).toBe(expected.growth?.source);
        } else {
          expect([figures.growthFactor, figures.growthSource]).toEqual([1, undefined]);
        }
        expect(figures.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
        const { segment, weight } = figures;
        const { lowerBoundC, baseYearC } = NGFS_PHASE5.warming.p50;
        const steps = [lowerBoundC, ...NGFS_PHASE5.anchors.map(({ temperature_2100_c }) => temperature_2100_c)];
        const from = steps[segment] ?? NaN;
        const rise = (steps[segment + 1] ?? 2 * from - baseYearC) - from;
        expectClose(Math.min(6, from + weight * rise), expected.temperature);
      }
    }
    expect(comparedCount).toBeGreaterThan(250);
  });
});

function expectClose(got: number | undefined, expected: number | null | undefined, size = 1): void {
  if (got !== undefined && Number.isNaN(got) && (expected === null || expected === undefined)) return;
  if (!(Math.abs((got ?? NaN) - (expected ?? NaN)) <= 1e-9 * size)) expect(got).toBe(expected);
}

test("alignDetail extrapolates a ratio to its horizon with an error below 1e-15", () => {
  const random = randomFrom(7);
  let worst = 0;
  for (let round = 0; round < 2000; round++) {
    const baselineYear = random.pick([1900, 1990, 2020, 2025, 2050]);
    const year = baselineYear + 1 + random.below(4);
    const ratio = random.pick([
      random.between({ min: 0.3, max: 1.5 }),
      10 ** random.between({ min: -14, max: 1 }),
      1 + random.between({ min: -1e-6, max: 1e-6 }),
      2 ** -random.below(60),
    ]);
    const columns = {
      baselineYears: Int32Array.of(baselineYear),
      pathways: Uint8Array.of(0),
      growthSeries: Uint8Array.of(0),
      baselineScope1: Float64Array.of(1),
      baselineScope2: Float64Array.of(NaN),
      baselineScope3: Float64Array.of(NaN),
      starts: Uint32Array.of(0, 1),
      years: Int32Array.of(year),
      scope1: Float64Array.of(ratio),
      scope2: Float64Array.of(NaN),
      scope3: Float64Array.of(NaN),
    };
    const [row] = alignDetail(kernel, tables, columns, { basis: "emissions", scope3Weight: 1, gamma: 0, entity: 0 });
    const exponent = (Math.max(year, baselineYear + 5, 2030) - baselineYear) / (year - baselineYear);
    const expected = Math.min(ratio ** exponent, 10);
    const difference = Math.abs((row?.emissions.ratioQ ?? NaN) - expected);
    // Subnormal results may be 0; this does not affect any temperature.
    const error = difference < 1e-300 ? 0 : difference / expected / (2 + Math.abs(Math.log2(expected)));
    expect(error, `${ratio} ** ${exponent}`).toBeLessThan(1e-15);
    worst = Math.max(worst, error);
  }
  console.info(`powers: largest relative error ${worst} x (2 + |log2 of the result|)`);
});
