import { Fault } from "../errors.ts";
import { findUnknownMembers } from "../schemaErrors.ts";
import { type AlignedColumns, type EntityColumns, findInvalidColumn } from "../kernel/alignmentColumns.ts";
import { DEFAULT_BENCHMARK } from "./benchmark.ts";
import { type AlignColumnsOptions, readColumnsOptions } from "./options.ts";
import { columnFault, runKernel, sharedKernel, tablesOf } from "./sharedKernel.ts";

/**
 * Computes the implied temperature rise from columns, for millions of entities without an object for each.
 *
 * - `starts` u32[entityCount + 1]: entity i has the rows `starts[i]` to `starts[i + 1] - 1`
 * - per entity: `baselineYears` i32, `pathways` u8 (`PATHWAY_INDEX`), `regions` u8 (index into the benchmark's `growth`,
 *   0 for an unknown country), `baselineScope1` to `3` f64, and optionally `revenues` f64
 * - per row: `years` i32, `scope1` to `3` f64
 * - emissions in any unit, the same within an entity, from -1e15 to 1e15; NaN = not given
 * - the convergence needs `revenues` (million USD of 2022) and `references` (f64 per scope, t CO2e per million USD of
 *   the entity's industry, NaN = unknown)
 *
 * @returns `temperaturesC` f64[row], degrees C, NaN = none; `flags` u16[row], bit i is `ALIGNMENT_FLAGS[i]`; the first
 *   three concern names and are never set here
 * @throws Fault `invalid_request` with the column and index of the first invalid value, or with every invalid option
 */
export async function alignColumns(columns: EntityColumns, options: AlignColumnsOptions = {}): Promise<AlignedColumns> {
  const rule = readColumnsOptions(options);
  checkColumnNames(columns);
  const invalid = findInvalidColumn(columns);
  if (invalid !== undefined) throw columnFault(`/${invalid.name}`, invalid.detail);
  if (rule.gamma > 0 && (columns.revenues === undefined || columns.references === undefined)) {
    throw columnFault("/references", "convergence requires the columns revenues and references.");
  }
  const { into } = options;
  const rowCount = columns.years.length;
  if (into !== undefined && !isValidOutput(into, rowCount)) {
    throw columnFault(
      "/into",
      `into must hold a Float64Array temperaturesC and a Uint16Array flags of ${rowCount} elements each.`,
    );
  }
  return runKernel(await sharedKernel(), tablesOf(options.benchmark ?? DEFAULT_BENCHMARK), columns, { rule, into });
}

function isValidOutput({ temperaturesC, flags }: AlignedColumns, rowCount: number): boolean {
  if (!(temperaturesC instanceof Float64Array && flags instanceof Uint16Array)) return false;
  return temperaturesC.length === rowCount && flags.length === rowCount;
}

const COLUMN_NAMES = [
  "starts",
  "baselineYears",
  "pathways",
  "regions",
  "baselineScope1",
  "baselineScope2",
  "baselineScope3",
  "years",
  "scope1",
  "scope2",
  "scope3",
  "revenues",
  "references",
] as const satisfies readonly (keyof EntityColumns)[];

/** @throws Fault `invalid_request` listing unknown and missing columns */
function checkColumnNames(columns: EntityColumns): void {
  if (typeof columns !== "object" || columns === null) {
    throw columnFault("", `columns must be an object with the members ${COLUMN_NAMES.join(", ")}.`);
  }
  const items = findUnknownMembers(columns, { known: COLUMN_NAMES });
  const [first] = items;
  if (first !== undefined) throw new Fault("invalid_request", first.detail, { items });
}
