import { alignDetail } from "../kernel/alignmentDetail.ts";
import { type AlignedYear, type AlignmentAnswer, type EntityEcho, flagBit } from "./answer.ts";
import { NGFS_PHASE5 } from "./benchmark.ts";
import { classifyEntity } from "./classification.ts";
import { detailBasis, detailOf } from "./detail.ts";
import { type Entity, readEntities } from "./entity.ts";
import { columnsOf } from "./entityColumns.ts";
import { type AlignTemperatureOptions, readOptions } from "./options.ts";
import { runKernel, sharedKernel, tablesOf } from "./sharedKernel.ts";

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
  const benchmark = options.benchmark ?? NGFS_PHASE5;
  const tables = tablesOf(benchmark);
  const classifications = read.map((entity) => classifyEntity(entity, benchmark));
  const columns = columnsOf(read, classifications);
  const kernel = await sharedKernel();
  const { temperaturesC, flags } = runKernel(kernel, tables, columns, { rule });

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
        ...valueOf(temperaturesC[firstRow + i] ?? NaN, rowFlags),
        ...(row === undefined
          ? {}
          : { detail: detailOf(row, { rule, benchmark, entity, classification, year, rowFlags }) }),
      };
    });
    return { entity_info: echoOf(entity), data };
  });
  return { results };
}

function echoOf({ entity_info }: Entity): EntityEcho {
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

function valueOf(temperatureC: number, flags: number): Pick<AlignedYear, "temperature_alignment" | "reason"> {
  if (!Number.isNaN(temperatureC)) return { temperature_alignment: temperatureC };
  const hasNoScope = (flags & flagBit("no_usable_scope")) !== 0;
  return { temperature_alignment: null, reason: hasNoScope ? "no_usable_scope" : "zero_baseline" };
}
