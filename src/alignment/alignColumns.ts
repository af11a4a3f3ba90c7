/** Options of `alignColumns` and their validation. */
import { checkOptions, findUnknownMembers, type ValueSchema } from "../validation/schemaErrors.ts";
import type { AlignmentRule } from "../kernel/alignment.ts";
import {
  type AlignedColumns,
  type EntityColumns,
  findInvalidColumn,
  type IncludedColumns,
  RESULT_COLUMNS,
  resultColumnsOf,
} from "../kernel/alignmentColumns.ts";
import { ANCHOR_COUNT } from "../kernel/alignmentTables.ts";
import { ALIGNMENT_OPTIONS, type AlignmentOptions, ruleOf } from "./options.ts";
import { Fault } from "../errors.ts";
import { DEFAULT_BENCHMARK } from "./benchmarkNgfsPhase5.ts";
import { columnFault, runKernel, sharedKernel, tablesOf } from "./sharedKernel.ts";

/** Convergence needs the columns `convergenceRevenues` and `references`. */
export interface AlignColumnsOptions extends AlignmentOptions {
  /** Results to compute in addition to those that are always computed. */
  readonly include?: IncludedColumns | undefined;
  /**
   * Arrays for the results, one element per row, such as those of a previous answer: allocating memory for millions of
   * rows takes about as long as computing them.
   */
  readonly into?: AlignedColumns | undefined;
}

const SHAPE: ValueSchema = {
  type: "object",
  properties: {
    ...ALIGNMENT_OPTIONS,
    include: {
      type: "object",
      properties: {
        climateRange: { type: "boolean" },
        byScope: { type: "boolean" },
        budget: { type: "integer", minimum: 0, maximum: ANCHOR_COUNT - 1 },
        overall: { type: "boolean" },
      },
      additionalProperties: false,
    },
    into: {
      type: "object",
      properties: Object.fromEntries(RESULT_COLUMNS.map((name) => [name, { type: "object" }])),
      required: ["temperaturesC", "rangeLowC", "rangeHighC", "flags", "coverage"],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

/** @throws Fault `invalid_request` listing every invalid option of `alignColumns` */
function readColumnsOptions(options: AlignColumnsOptions): AlignmentRule {
  checkOptions(options, SHAPE, { code: "invalid_request" });
  return ruleOf(options);
}

/**
 * Computes the implied temperature rise from columns, for millions of entities without an object for each.
 *
 * - `starts` u32[entityCount + 1]: entity i has the rows `starts[i]` to `starts[i + 1] - 1`
 * - per entity: `baselineYears` i32, `pathways` u8 (`PATHWAY_INDEX`), `growthSeries` u8 (index into the benchmark's
 *   `growth`, 255 for an unknown country), `baselineScope1` to `3` f64, and optionally `baselineRevenues` f64
 * - per row: `years` i32, `scope1` to `3` f64, and optionally `projectedRevenues` f64 and `labels` u16: the index of the
 *   projection among those of the entity, such as a target and a trajectory
 * - emissions in any unit and revenues in any currency, the same within an entity, from -1e15 to 1e15; NaN = not given
 * - convergence needs `convergenceRevenues` (million USD of 2022, NaN = unusable) and `references` (f64 per scope,
 *   t CO2e per million USD of the entity's industry, NaN = unknown)
 *
 * @returns one element per row: `temperaturesC`, `rangeLowC` and `rangeHighC` f64, degrees C, NaN = none; `flags` u32,
 *   bit i is `ALIGNMENT_FLAGS[i]`; the first four concern names and are never set here; `coverage` f64; and what
 *   `include` asks for
 * @throws Fault `invalid_request` with the column and index of the first invalid value, or with every invalid option
 */
export async function alignColumns(columns: EntityColumns, options: AlignColumnsOptions = {}): Promise<AlignedColumns> {
  const rule = readColumnsOptions(options);
  checkColumnNames(columns);
  const invalid = findInvalidColumn(columns);
  if (invalid !== undefined) throw columnFault(`/${invalid.name}`, invalid.detail);
  for (const name of ["convergenceRevenues", "references"] as const) {
    if (rule.gamma > 0 && columns[name] === undefined) {
      throw columnFault(`/${name}`, "convergence requires the columns convergenceRevenues and references.");
    }
  }
  const { into, include = {}, benchmark = DEFAULT_BENCHMARK } = options;
  if (into !== undefined) checkOutput(into, columns.years.length, include);
  return runKernel(await sharedKernel(), tablesOf(benchmark), columns, { rule, include, into });
}

/** @throws Fault `invalid_request` naming the first array for results that is missing or of the wrong type or length */
function checkOutput(into: AlignedColumns, rowCount: number, include: IncludedColumns): void {
  for (const name of resultColumnsOf(include)) {
    const kind = name === "flags" ? Uint32Array : Float64Array;
    const column = into[name];
    if (column instanceof kind && column.length === rowCount) continue;
    throw columnFault(`/into/${name}`, `into.${name} must be a ${kind.name} of ${rowCount} elements.`);
  }
}

const COLUMN_NAMES = [
  "starts",
  "baselineYears",
  "pathways",
  "growthSeries",
  "baselineScope1",
  "baselineScope2",
  "baselineScope3",
  "years",
  "scope1",
  "scope2",
  "scope3",
  "baselineRevenues",
  "projectedRevenues",
  "convergenceRevenues",
  "references",
  "labels",
] as const satisfies readonly (keyof EntityColumns)[];

/** @throws Fault `invalid_request` if `columns` is not an object, or listing its unknown columns */
function checkColumnNames(columns: EntityColumns): void {
  if (typeof columns !== "object" || columns === null) {
    throw columnFault("", `columns must be an object with the members ${COLUMN_NAMES.join(", ")}.`);
  }
  const items = findUnknownMembers(columns, { known: COLUMN_NAMES });
  const [first] = items;
  if (first !== undefined) throw new Fault("invalid_request", first.detail, { items });
}
