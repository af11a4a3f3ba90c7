import { Fault } from "../errors.ts";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  type AlignmentRule,
  computeAlignment,
  EMISSIONS_MAX,
} from "../kernel/alignment.ts";
import {
  type AlignedColumns,
  type IncludedColumns,
  type EntityColumns,
  NO_GROWTH_SERIES,
} from "../kernel/alignmentColumns.ts";
import { type AlignmentTables, makeAlignmentTables, PATHWAY_COUNT, seriesCountOf } from "../kernel/alignmentTables.ts";
import { Kernel } from "../kernel/instance.ts";
import { type Benchmark, tabulateByYear } from "./benchmark.ts";

/**
 * Computes temperatures in the kernel.
 *
 * @param options.include further results
 * @param options.into arrays for the results, allocated if absent
 * @throws Fault `invalid_request` with the column and index of a value that the kernel rejects
 */
export function runKernel(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  {
    rule,
    include,
    into,
  }: {
    readonly rule: AlignmentRule;
    readonly include?: IncludedColumns | undefined;
    readonly into?: AlignedColumns | undefined;
  },
): AlignedColumns {
  const outcome = computeAlignment(kernel, tables, columns, rule, include, into);
  if (outcome.kind === "refused") throw explainKernelRefusal(tables, columns, outcome);
  const { kind: _, ...results } = outcome;
  return results;
}

// A single instance is enough: its memory is scratch space between calls, and calls never overlap.
let loading: Promise<Kernel> | undefined;

export function sharedKernel(): Promise<Kernel> {
  loading ??= Kernel.load();
  return loading;
}

const tablesOfBenchmarks = new WeakMap<Benchmark, AlignmentTables>();

/** Returns the kernel tables of a benchmark, built once per benchmark object. */
export function tablesOf(benchmark: Benchmark): AlignmentTables {
  const tables = tablesOfBenchmarks.get(benchmark) ?? makeAlignmentTables(tabulateByYear(benchmark));
  tablesOfBenchmarks.set(benchmark, tables);
  return tables;
}

/** Returns the fault for the value that the kernel rejected. */
function explainKernelRefusal(
  tables: AlignmentTables,
  columns: EntityColumns,
  { entity, row }: { readonly entity: number; readonly row: number | undefined },
): Fault {
  const baselineYear = columns.baselineYears[entity] ?? NaN;
  const series = columns.growthSeries[entity];
  const suspects =
    row === undefined
      ? [
          { column: "baselineYears", value: baselineYear, min: ALIGNMENT_YEAR_MIN, max: ALIGNMENT_YEAR_MAX },
          { column: "pathways", value: columns.pathways[entity], min: 0, max: PATHWAY_COUNT - 1 },
          {
            column: "growthSeries",
            value: series === NO_GROWTH_SERIES ? 0 : series,
            min: 0,
            max: seriesCountOf(tables) - 1,
            accepted: ` or ${NO_GROWTH_SERIES}`,
          },
          { column: "baselineScope1", value: columns.baselineScope1[entity] },
          { column: "baselineScope2", value: columns.baselineScope2[entity] },
          { column: "baselineScope3", value: columns.baselineScope3[entity] },
          { column: "baselineRevenues", value: columns.baselineRevenues?.[entity] },
        ]
      : [
          { column: "years", value: columns.years[row], min: baselineYear + 1, max: ALIGNMENT_YEAR_MAX },
          { column: "scope1", value: columns.scope1[row] },
          { column: "scope2", value: columns.scope2[row] },
          { column: "scope3", value: columns.scope3[row] },
          { column: "projectedRevenues", value: columns.projectedRevenues?.[row] },
          { column: "labels", value: columns.labels?.[row], min: 0, max: rowCountOf(columns, entity) - 1 },
        ];
  for (const { column, value = NaN, min = -EMISSIONS_MAX, max = EMISSIONS_MAX, accepted = "" } of suspects) {
    if (!(value < min || value > max)) continue;
    return columnFault(
      `/${column}/${row ?? entity}`,
      `${column}[${row ?? entity}] must be between ${min} and ${max}${accepted} (got ${value}).`,
    );
  }
  throw new Error(`The kernel rejected entity ${entity}, row ${row}, but none of its values is out of range.`);
}

function rowCountOf({ starts }: EntityColumns, entity: number): number {
  return (starts[entity + 1] ?? 0) - (starts[entity] ?? 0);
}

export function columnFault(pointer: string, detail: string): Fault {
  return new Fault("invalid_request", detail, { items: [{ pointer, code: "out_of_range", detail }] });
}
