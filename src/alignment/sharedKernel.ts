import { Fault } from "../errors.ts";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  type AlignmentRule,
  alignColumns as alignColumnsInKernel,
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

export function runKernel(
  kernel: Kernel,
  tables: AlignmentTables,
  columns: EntityColumns,
  { rule, into }: { readonly rule: AlignmentRule; readonly into?: AlignedColumns | undefined },
): AlignedColumns {
  const outcome = alignColumnsInKernel(kernel, tables, columns, rule, into);
  if (outcome.kind === "refused") throw explainKernelRefusal(columns, outcome);
  const { temperaturesC, flags } = outcome;
  return { temperaturesC, flags };
}

// One kernel for all: its memory is scratch between calls, and calls never overlap.
let loading: Promise<Kernel> | undefined;

export function sharedKernel(): Promise<Kernel> {
  loading ??= Kernel.load();
  return loading;
}

const tablesOfBenchmarks = new WeakMap<Benchmark, AlignmentTables>();

export function tablesOf(benchmark: Benchmark): AlignmentTables {
  const tables = tablesOfBenchmarks.get(benchmark) ?? makeAlignmentTables(tabulateByYear(benchmark));
  tablesOfBenchmarks.set(benchmark, tables);
  return tables;
}

/** Which value it is that the kernel has refused. */
function explainKernelRefusal(
  columns: EntityColumns,
  { entity, row }: { readonly entity: number; readonly row: number | undefined },
): Fault {
  const baselineYear = columns.baselineYears[entity] ?? NaN;
  const suspects =
    row === undefined
      ? [
          { column: "baselineYears", value: baselineYear, least: ALIGNMENT_YEAR_MIN, most: ALIGNMENT_YEAR_MAX },
          { column: "pathways", value: columns.pathways[entity], least: 0, most: PATHWAY_COUNT - 1 },
          { column: "regions", value: columns.regions[entity], least: 0, most: GROWTH_REGION_COUNT - 1 },
          { column: "baselineScope1", value: columns.baselineScope1[entity] },
          { column: "baselineScope2", value: columns.baselineScope2[entity] },
          { column: "baselineScope3", value: columns.baselineScope3[entity] },
        ]
      : [
          { column: "years", value: columns.years[row], least: baselineYear + 1, most: ALIGNMENT_YEAR_MAX },
          { column: "scope1", value: columns.scope1[row] },
          { column: "scope2", value: columns.scope2[row] },
          { column: "scope3", value: columns.scope3[row] },
        ];
  for (const { column, value = NaN, least = -EMISSIONS_MAX, most = EMISSIONS_MAX } of suspects) {
    if (!(value < least || value > most)) continue;
    return columnFault(
      `/${column}/${row ?? entity}`,
      `${column}[${row ?? entity}] must be from ${least} to ${most}, not ${value}.`,
    );
  }
  throw new Error(`The kernel refused entity ${entity}, row ${row}, which is right.`);
}

export function columnFault(pointer: string, detail: string): Fault {
  return new Fault("invalid_request", detail, { items: [{ pointer, code: "out_of_range", detail }] });
}
