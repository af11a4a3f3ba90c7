import { Fault } from "../errors.ts";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  type AlignmentRule,
  computeAlignment,
  EMISSIONS_MAX,
} from "../kernel/alignment.ts";
import type { AlignedColumns, EntityColumns } from "../kernel/alignmentColumns.ts";
import {
  type AlignmentTables,
  GROWTH_REGION_COUNT,
  makeAlignmentTables,
  PATHWAY_COUNT,
} from "../kernel/alignmentTables.ts";
import { Kernel } from "../kernel/instance.ts";
import { type Benchmark, tabulateByYear } from "./benchmark.ts";

/**
 * Computes temperatures in the kernel.
 *
 * @param options.into arrays for the results, allocated if absent
 * @throws Fault `invalid_request` with the column and index of a value that the kernel rejects
 */
export function runKernel(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  { rule, into }: { readonly rule: AlignmentRule; readonly into?: AlignedColumns | undefined },
): AlignedColumns {
  const outcome = computeAlignment(kernel, tables, columns, rule, into);
  if (outcome.kind === "refused") throw explainKernelRefusal(columns, outcome);
  const { temperaturesC, flags } = outcome;
  return { temperaturesC, flags };
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

/** Finds the value that the kernel rejected. */
function explainKernelRefusal(
  columns: EntityColumns,
  { entity, row }: { readonly entity: number; readonly row: number | undefined },
): Fault {
  const baselineYear = columns.baselineYears[entity] ?? NaN;
  const suspects =
    row === undefined
      ? [
          { column: "baselineYears", value: baselineYear, min: ALIGNMENT_YEAR_MIN, max: ALIGNMENT_YEAR_MAX },
          { column: "pathways", value: columns.pathways[entity], min: 0, max: PATHWAY_COUNT - 1 },
          { column: "regions", value: columns.regions[entity], min: 0, max: GROWTH_REGION_COUNT - 1 },
          { column: "baselineScope1", value: columns.baselineScope1[entity] },
          { column: "baselineScope2", value: columns.baselineScope2[entity] },
          { column: "baselineScope3", value: columns.baselineScope3[entity] },
        ]
      : [
          { column: "years", value: columns.years[row], min: baselineYear + 1, max: ALIGNMENT_YEAR_MAX },
          { column: "scope1", value: columns.scope1[row] },
          { column: "scope2", value: columns.scope2[row] },
          { column: "scope3", value: columns.scope3[row] },
        ];
  for (const { column, value = NaN, min = -EMISSIONS_MAX, max = EMISSIONS_MAX } of suspects) {
    if (!(value < min || value > max)) continue;
    return columnFault(
      `/${column}/${row ?? entity}`,
      `${column}[${row ?? entity}] must be between ${min} and ${max} (got ${value}).`,
    );
  }
  throw new Error(`The kernel rejected entity ${entity}, row ${row}, but none of its values is out of range.`);
}

export function columnFault(pointer: string, detail: string): Fault {
  return new Fault("invalid_request", detail, { items: [{ pointer, code: "out_of_range", detail }] });
}
