import { Fault } from "../errors.ts";
import { unknownMembers } from "../explain.ts";
import { type AlignedColumns, type EntityColumns, findInvalidColumn } from "../kernel/alignmentColumns.ts";
import { NGFS_PHASE5 } from "./benchmark.ts";
import { type AlignColumnsOptions, readColumnsOptions } from "./options.ts";
import { columnFault, runKernel, sharedKernel, tablesOf } from "./sharedKernel.ts";

/**
 * The same for columns: a million entities without an object for each.
 *
 * - `starts` u32[entities + 1]: entity i has the rows `starts[i]` up to, not with, `starts[i + 1]`
 * - an entity: `baselineYears` i32, `pathways` u8 (`PATHWAY_INDEX`), `regions` u8 (index into the benchmark's `growth`,
 *   0 where the country is not known), `baselineScope1` to `3` f64, and, if wanted, `revenues` f64
 * - a row: `years` i32, `scope1` to `3` f64
 * - emissions in any one unit, at most 1e15 in size; NaN = not given
 * - the convergence needs `revenues` (million USD of 2022) and `references`, t CO2e per million USD of the entity's
 *   industry, f64 by scope, NaN = not known
 *
 * @returns `temperaturesC` f64[row], degrees C, NaN = none; `flags` u16[row], bit i is `ALIGNMENT_FLAGS[i]`; the first
 *   three, which are about names, are the caller's
 * @throws Fault `invalid_request` naming the column and the place of the first value that cannot be, or with every
 *   option that is wrong
 */
export async function alignColumns(columns: EntityColumns, options: AlignColumnsOptions = {}): Promise<AlignedColumns> {
  const rule = readColumnsOptions(options);
  checkColumnNames(columns);
  const invalid = findInvalidColumn(columns);
  if (invalid !== undefined) throw columnFault(`/${invalid.name}`, invalid.detail);
  if (rule.gamma > 0 && (columns.revenues === undefined || columns.references === undefined)) {
    throw columnFault("/references", "The convergence needs the columns revenues and references.");
  }
  const { into } = options;
  const rowCount = columns.years.length;
  if (into !== undefined && !isValidOutput(into, rowCount)) {
    throw columnFault(
      "/into",
      `into must have a Float64Array temperaturesC and a Uint16Array flags of ${rowCount} elements.`,
    );
  }
  return runKernel(await sharedKernel(), tablesOf(options.benchmark ?? NGFS_PHASE5), columns, { rule, into });
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

/** @throws Fault `invalid_request` for columns that do not exist, and for those that are missing */
function checkColumnNames(columns: EntityColumns): void {
  if (typeof columns !== "object" || columns === null) {
    throw columnFault("", `The columns must be an object with ${COLUMN_NAMES.join(", ")}.`);
  }
  const items = unknownMembers(columns, { known: COLUMN_NAMES });
  const [first] = items;
  if (first !== undefined) throw new Fault("invalid_request", first.detail, { items });
}
