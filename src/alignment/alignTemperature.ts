import { alignDetail } from "../kernel/alignmentDetail.ts";
import type { AlignmentRule } from "../kernel/alignment.ts";
import type { Kernel } from "../kernel/instance.ts";
import { flagBit } from "./answer.ts";
import { type Benchmark, DEFAULT_BENCHMARK } from "./benchmark.ts";
import { classifyEntity } from "./classification.ts";
import { detailBasis, alignmentDetailOf } from "./detail.ts";
import { readEntities } from "./entity.ts";
import { entityColumnsOf } from "./entityColumns.ts";
import { type AlignTemperatureOptions, readOptions } from "./options.ts";
import { runKernel, sharedKernel, tablesOf } from "./sharedKernel.ts";
import type { AlignedYear, AlignmentAnswer, AlignmentReason, Entity, EntityEcho } from "../contract/wireTypes.ts";

/**
 * Computes the implied temperature rise of entities from their emissions in each projected year, by the method of
 * docs/methods/alignment.md.
 *
 * @returns unrounded temperatures; `roundTemperatures` rounds them as on the wire
 * @throws Fault `asset_type_unsupported` or `invalid_request` listing every error; `invalid_request` for an option out
 *   of range
 */
export async function alignTemperature(
  entities: readonly Entity[],
  options: AlignTemperatureOptions = {},
): Promise<AlignmentAnswer> {
  const rule = readOptions(options);
  const read = readEntities(entities);
  const benchmark = options.benchmark ?? DEFAULT_BENCHMARK;
  const tables = tablesOf(benchmark);
  const kernel = await sharedKernel();
  const { classifications, columns, temperaturesC, flags } = alignEntities(kernel, read, { rule, benchmark });

  const results = read.map((entity, index) => {
    const firstRow = columns.starts[index] ?? 0;
    const classification = classifications[index];
    if (classification === undefined) throw new Error(`Entity ${index} has no classification.`);
    const details =
      options.detail === true
        ? alignDetail(kernel, tables, columns, { ...rule, basis: detailBasis(rule), entity: index })
        : [];
    const data = entity.projected_emissions.map(({ year }, i): AlignedYear => {
      const rowFlags = (flags[firstRow + i] ?? 0) | classification.flags;
      const row = details[i];
      return {
        year,
        ...temperatureValue(temperaturesC[firstRow + i] ?? NaN, rowFlags),
        ...(row === undefined
          ? {}
          : { detail: alignmentDetailOf(row, { rule, benchmark, entity, classification, year, rowFlags }) }),
      };
    });
    return { entity_info: entityEcho(entity), data };
  });
  return { results };
}

/** Temperatures of entities in columns, without an object per year. */
export interface AlignedEntities {
  /** Entity i has the rows `starts[i]` to `starts[i + 1] - 1`, one per projected year. */
  readonly starts: Uint32Array;
  /** Degrees C, unrounded; NaN where there is none. */
  readonly temperaturesC: Float64Array;
  /** Returns why a row has no temperature. */
  reasonOf(row: number): AlignmentReason;
}

/**
 * Computes what `alignTemperature` does, for entities and options that have been validated.
 *
 * @param entities as `readEntities` returns them
 */
export async function alignValidEntities(
  entities: readonly Entity[],
  options: Pick<AlignTemperatureOptions, "basis"> = {},
): Promise<AlignedEntities> {
  const kernel = await sharedKernel();
  const { columns, temperaturesC, flags } = alignEntities(kernel, entities, {
    rule: readOptions(options),
    benchmark: DEFAULT_BENCHMARK,
  });
  return { starts: columns.starts, temperaturesC, reasonOf: (row) => reasonOf(flags[row] ?? 0) };
}

function alignEntities(
  kernel: Kernel,
  entities: readonly Entity[],
  { rule, benchmark }: { readonly rule: AlignmentRule; readonly benchmark: Benchmark },
) {
  const classifications = entities.map((entity) => classifyEntity(entity, benchmark));
  const columns = entityColumnsOf(entities, classifications);
  return { classifications, columns, ...runKernel(kernel, tablesOf(benchmark), columns, { rule }) };
}

/** Returns the description of an entity that a result contains. */
export function entityEcho({ entity_info }: Entity): EntityEcho {
  const { name, asset_type, country, industry_classification_system, industry, sector } = entity_info;
  return {
    name,
    asset_type,
    ...(country === undefined ? {} : { country }),
    ...(industry_classification_system === undefined ? {} : { industry_classification_system }),
    ...(industry === undefined ? {} : { industry }),
    ...(sector === undefined ? {} : { sector }),
  };
}

function temperatureValue(temperatureC: number, flags: number): Pick<AlignedYear, "temperature_alignment" | "reason"> {
  if (!Number.isNaN(temperatureC)) return { temperature_alignment: temperatureC };
  return { temperature_alignment: null, reason: reasonOf(flags) };
}

function reasonOf(flags: number): AlignmentReason {
  return (flags & flagBit("no_usable_scope")) !== 0 ? "no_usable_scope" : "zero_baseline";
}
