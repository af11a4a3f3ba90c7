import { BUDGET_SCENARIOS } from "../contract/names.ts";
import type { AlignedColumns, IncludedColumns, EntityColumns } from "../kernel/alignmentColumns.ts";
import type { AlignmentRule } from "../kernel/alignment.ts";
import type { Kernel } from "../kernel/instance.ts";
import { ENTITY_FLAG_MASK, flagBit } from "./answer.ts";
import type { Benchmark } from "./benchmark.ts";
import { DEFAULT_BENCHMARK } from "./benchmarkNgfsPhase5.ts";
import { classifyEntity, type EntityClassification } from "./classification.ts";
import { entityColumnsOf } from "./entityColumns.ts";
import { type AlignTemperatureOptions, ruleOf } from "./options.ts";
import { runKernel, sharedKernel, tablesOf } from "./sharedKernel.ts";
import type { AlignmentReason, Entity } from "../contract/wireTypes.ts";

/** Temperatures of entities in columns, without an object per year. */
export interface AlignedEntities {
  readonly kernel: Kernel;
  readonly entities: readonly Entity[];
  readonly benchmark: Benchmark;
  readonly rule: AlignmentRule;
  /** One element per entity. */
  readonly classifications: readonly EntityClassification[];
  /** Entity i has the rows `columns.starts[i]` to `columns.starts[i + 1] - 1`, one per projection record. */
  readonly columns: EntityColumns;
  /** Results of the kernel; those that only some members need are absent unless these members are requested. */
  readonly rows: AlignedColumns;
  readonly included: IncludedMembers;
}

/** Members that the results have in addition to the default ones. */
interface IncludedMembers {
  readonly byScope: boolean;
  readonly climateRange: boolean;
  readonly overall: boolean;
  /** Index of the benchmark's anchor that `budget` compares with; undefined without that member. */
  readonly budgetAnchor: number | undefined;
  readonly detail: boolean;
}

/**
 * Computes what `alignTemperature` returns, for entities and options that have been validated.
 *
 * @param entities as `readEntities` returns them
 */
export async function alignValidEntities(
  entities: readonly Entity[],
  options: AlignTemperatureOptions = {},
): Promise<AlignedEntities> {
  const kernel = await sharedKernel();
  const benchmark = options.benchmark ?? DEFAULT_BENCHMARK;
  const rule = ruleOf(options);
  const included = includedMembersOf(options);
  const classifications = entities.map((entity) => classifyEntity(entity, benchmark));
  const columns = entityColumnsOf(entities, classifications, { hasConvergence: rule.gamma > 0 });
  const include: IncludedColumns = {
    climateRange: included.climateRange,
    byScope: included.byScope,
    overall: included.overall,
    ...(included.budgetAnchor === undefined ? {} : { budget: included.budgetAnchor }),
  };
  const rows = runKernel(kernel, tablesOf(benchmark), columns, { rule, include });
  return { kernel, entities, benchmark, rule, classifications, columns, rows, included };
}

function includedMembersOf({ include = [], budgetScenario, detail = false }: AlignTemperatureOptions): IncludedMembers {
  const isIncluded = (member: (typeof include)[number]): boolean => detail || include.includes(member);
  return {
    byScope: isIncluded("by_scope"),
    climateRange: isIncluded("climate_range"),
    overall: isIncluded("overall"),
    // Naming a scenario requests the budget.
    budgetAnchor:
      isIncluded("budget") || budgetScenario !== undefined
        ? BUDGET_SCENARIOS.indexOf(budgetScenario ?? "net_zero_2050")
        : undefined,
    detail,
  };
}

/** Returns the first row of an entity. */
export function firstRowOf({ columns }: AlignedEntities, index: number): number {
  return columns.starts[index] ?? 0;
}

/** Returns the bits of the flags of an entity. */
export function entityFlagsOf(aligned: AlignedEntities, index: number): number {
  const kernelFlags = (aligned.rows.flags[firstRowOf(aligned, index)] ?? 0) & ENTITY_FLAG_MASK;
  return kernelFlags | (aligned.classifications[index]?.flags ?? 0);
}

/** Returns the bits of the flags of a row, without those of its entity. */
export function yearFlagsOf({ rows }: AlignedEntities, row: number): number {
  return (rows.flags[row] ?? 0) & ~ENTITY_FLAG_MASK;
}

/** Returns why a row has no temperature. */
export function reasonOf({ rows }: AlignedEntities, row: number): AlignmentReason {
  return ((rows.flags[row] ?? 0) & flagBit("no_usable_scope")) !== 0 ? "no_usable_scope" : "zero_baseline";
}
