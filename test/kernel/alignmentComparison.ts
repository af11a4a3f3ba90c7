/** Compares results of the alignment kernel with those of the reference implementation. */
import type { AlignmentRule, AlignOutcome } from "../../src/kernel/alignment.ts";
import type { AlignedColumns, IncludedColumns, ResultColumn } from "../../src/kernel/alignmentColumns.ts";
import { resultColumnsOf } from "../../src/kernel/alignmentColumns.ts";
import { ENTITY_FLAGS, YEAR_FLAGS } from "../oracle/alignment2/flags.ts";
import type { Reference } from "../oracle/alignment2/reference.ts";
import type { ScoredRow } from "../oracle/alignment2/row.ts";
import { type OracleEntity, scoreOracleEntity } from "./alignmentOracle.ts";

const TOLERANCE = 1e-9;

export const RULES: readonly AlignmentRule[] = [
  { basis: "intensity", scope3Weight: 1, gamma: 0 },
  { basis: "emissions", scope3Weight: 1, gamma: 0 },
  { basis: "cumulative", scope3Weight: 1, gamma: 0 },
  { basis: "intensity", scope3Weight: 1, gamma: 0.5 },
  { basis: "emissions", scope3Weight: 0.3, gamma: 1 },
  { basis: "intensity", scope3Weight: 0, gamma: 0 },
  { basis: "cumulative", scope3Weight: 0.5, gamma: 0.5 },
];

/** The default results, results that the fast path of the kernel can also compute, and all results. */
export const INCLUDES: readonly IncludedColumns[] = [
  {},
  { climateRange: true, overall: true },
  { climateRange: true, byScope: true, budget: 0, overall: true },
];

interface Comparison {
  /** Largest difference of a temperature, a coverage or an anchor spread. */
  readonly largest: number;
  readonly rowCount: number;
  /** Mask of the flags that were raised at least once. */
  readonly flags: number;
  /** Rows without a value. */
  readonly emptyCount: number;
}

/**
 * Compares every result of every row of several calls for the same entities.
 *
 * @throws Error with the first row that differs by more than TOLERANCE, or in a flag
 */
export function compareWithOracle(
  reference: Reference,
  entities: readonly OracleEntity[],
  {
    rule,
    include,
    outcomes,
  }: {
    readonly rule: AlignmentRule;
    readonly include: readonly IncludedColumns[];
    readonly outcomes: readonly AlignOutcome[];
  },
): Comparison {
  const comparison = { largest: 0, rowCount: 0, flags: 0, emptyCount: 0 };
  for (const entity of entities) {
    for (const [index, expected] of scoreOracleEntity(reference, entity).entries()) {
      for (const [call, outcome] of outcomes.entries()) {
        if (outcome.kind === "refused") throw new Error(`refused: ${JSON.stringify({ rule, outcome })}`);
        const callInclude = include[call] ?? {};
        try {
          const difference = compareRow(expected, outcome, comparison.rowCount, callInclude);
          comparison.largest = Math.max(comparison.largest, difference);
        } catch (error) {
          throw new Error(JSON.stringify({ rule, callInclude, index, entity: entity.rows[index] }), { cause: error });
        }
      }
      comparison.flags |= expected.mask;
      if (expected.temperature === null) comparison.emptyCount++;
      comparison.rowCount++;
    }
  }
  return comparison;
}

/** Returns the largest difference of a figure other than a budget. */
function compareRow(
  expected: ScoredRow & { readonly mask: number },
  results: AlignedColumns,
  row: number,
  include: IncludedColumns,
): number {
  const budget = expected.budget?.[include.budget ?? 0];
  const budgetSize = Math.max(
    1,
    ...(expected.budget ?? []).flatMap(({ projected, allowed }) => [projected, Math.abs(allowed)]),
  );
  const expectedFigures: Readonly<Record<Exclude<ResultColumn, "flags">, number | null | undefined>> = {
    temperaturesC: expected.temperature,
    rangeLowC: expected.range?.low,
    rangeHighC: expected.range?.high,
    coverage: expected.coverage,
    climateLowC: expected.climateRange?.low,
    climateHighC: expected.climateRange?.high,
    s1s2C: expected.byScope.s1s2,
    s3C: expected.byScope.s3,
    budgetProjected: budget?.projected,
    budgetAllowed: budget?.allowed,
    anchorSpread: Math.sqrt(expected.weight),
  };
  let largest = 0;
  for (const name of resultColumnsOf(include)) {
    if (name === "flags") continue;
    const isBudget = name.startsWith("budget");
    const difference = differenceOf(results[name]?.[row], expectedFigures[name] ?? NaN) / (isBudget ? budgetSize : 1);
    if (!(difference <= TOLERANCE))
      throw new Error(`${name}: ${results[name]?.[row]}, expected ${expectedFigures[name]}`);
    if (!isBudget) largest = Math.max(largest, difference);
  }
  const mask = results.flags[row] ?? NaN;
  if (mask !== expected.mask) throw new Error(`flags: ${namesOf(mask)}, expected ${namesOf(expected.mask)}`);
  return largest;
}

/** Returns the names of the flags in a mask. */
export function namesOf(mask: number): string {
  return [...ENTITY_FLAGS, ...YEAR_FLAGS].filter((_, bit) => ((mask >> bit) & 1) === 1).join(" ");
}

/** Returns the difference of two numbers; 0 if both are NaN. */
function differenceOf(got: number | undefined, expected: number): number {
  if (got !== undefined && Number.isNaN(got) && Number.isNaN(expected)) return 0;
  return Math.abs((got ?? NaN) - expected);
}
