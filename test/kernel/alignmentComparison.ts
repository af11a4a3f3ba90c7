/** Compares results of the alignment kernel with those of the reference implementation. */
import type { AlignmentRule } from "../../src/kernel/alignment.ts";
import type { AlignedColumns } from "../../src/kernel/alignmentColumns.ts";
import { ENTITY_FLAGS, YEAR_FLAGS } from "../oracle/alignment2/flags.ts";
import type { Reference } from "../oracle/alignment2/reference.ts";
import { type OracleEntity, scoreOracleEntity } from "./alignmentOracle.ts";

export const TOLERANCE = 1e-9;

export interface Comparison {
  /** Largest difference of a temperature, degrees C. */
  readonly largestC: number;
  readonly rowCount: number;
  /** Mask of the flags that were raised at least once. */
  readonly flags: number;
  /** Rows without a value. */
  readonly emptyCount: number;
}

/**
 * Compares every result of every row.
 *
 * @throws Error with the first row that differs by more than TOLERANCE, or in a flag
 */
export function compareWithOracle(
  reference: Reference,
  entities: readonly OracleEntity[],
  results: AlignedColumns,
  { rule, budget }: { readonly rule: AlignmentRule; readonly budget: number },
): Comparison {
  let largestC = 0;
  let row = 0;
  let flags = 0;
  let emptyCount = 0;
  for (const entity of entities) {
    for (const [index, expected] of scoreOracleEntity(reference, entity).entries()) {
      const budgetOf = expected.budget?.[budget];
      const sizeT = Math.max(1, Math.abs(budgetOf?.projected ?? 0), Math.abs(expected.budget?.[3]?.allowed ?? 0));
      const figures = [
        ["temperature", results.temperaturesC[row], expected.temperature, 1],
        ["range low", results.rangeLowC[row], expected.range?.low, 1],
        ["range high", results.rangeHighC[row], expected.range?.high, 1],
        ["climate low", results.climateLowC?.[row], expected.climateRange?.low, 1],
        ["climate high", results.climateHighC?.[row], expected.climateRange?.high, 1],
        ["scopes 1 and 2", results.s1s2C?.[row], expected.byScope.s1s2, 1],
        ["scope 3", results.s3C?.[row], expected.byScope.s3, 1],
        ["coverage", results.coverage[row], expected.coverage, 1],
        ["projected budget", results.budgetProjected?.[row], budgetOf?.projected, sizeT],
        ["allowed budget", results.budgetAllowed?.[row], budgetOf?.allowed, sizeT],
        ["anchor spread", results.anchorSpread?.[row], Math.sqrt(expected.weight), 1],
      ] as const;
      for (const [name, got, wanted, size] of figures) {
        const difference = differenceOf(got, wanted ?? NaN) / size;
        if (!(difference <= TOLERANCE)) {
          throw new Error(
            `${name}: ${got}, expected ${wanted}: ${JSON.stringify({ rule, index, row, entity: entity.rows[index] })}`,
          );
        }
        if (size === 1) largestC = Math.max(largestC, difference);
      }
      const mask = results.flags[row] ?? NaN;
      if (mask !== expected.mask) {
        throw new Error(
          `flags: ${namesOf(mask)}, expected ${namesOf(expected.mask)}: ` +
            JSON.stringify({ rule, index, temperature: expected.temperature, entity: entity.rows[index] }),
        );
      }
      flags |= mask;
      if (expected.temperature === null) emptyCount++;
      row++;
    }
  }
  return { largestC, rowCount: row, flags, emptyCount };
}

/** Returns the names of the flags in a mask. */
export function namesOf(mask: number): string {
  return [...ENTITY_FLAGS, ...YEAR_FLAGS].filter((_, bit) => ((mask >> bit) & 1) === 1).join(" ");
}

/** Returns the difference of two numbers; 0 if both are NaN or undefined. */
function differenceOf(got: number | undefined, wanted: number): number {
  if (Number.isNaN(got ?? NaN) && Number.isNaN(wanted)) return 0;
  return Math.abs((got ?? NaN) - wanted);
}
