/** Builds the result of an entity as objects, unrounded. */
import { ALIGNMENT_METHOD } from "../contract/names.ts";
import {
  type AlignedEntities,
  alignValidEntities,
  entityFlagsOf,
  firstRowOf,
  reasonOf,
  yearFlagsOf,
} from "./alignEntities.ts";
import { type ProjectionRecord, readEntities } from "./entity.ts";
import { type AlignTemperatureOptions, checkTemperatureOptions } from "./options.ts";
import type {
  AlignedYear,
  AlignmentAnswer,
  AlignmentDetail,
  AlignmentResult,
  EmissionsBudget,
  Entity,
  EntityEcho,
  ScopeTemperatures,
  TemperatureRange,
} from "../contract/wireTypes.ts";
import { flagsOfMask } from "./answer.ts";
import { alignmentDetailsOf, budgetOf } from "./detail.ts";
import { blendedOf, overallOf } from "./summaries.ts";

/**
 * Computes the implied temperature rise of entities from their emissions in each projected year, by the method of
 * docs/methods/alignment.md. Emissions can have any unit that is the same in all years of an entity.
 *
 * @returns one result per entity, in order: degrees C in 2100 above 1850-1900, unrounded; `roundTemperatures` rounds them as
 *   the HTTP service does
 * @throws Fault `asset_type_unsupported` or `invalid_request` listing up to 100 errors; `invalid_request` for an option
 *   out of range
 */
export async function alignTemperature(
  entities: readonly Entity[],
  options: AlignTemperatureOptions = {},
): Promise<AlignmentAnswer> {
  checkTemperatureOptions(options);
  const read = readEntities(entities);
  const aligned = await alignValidEntities(read, options);
  return {
    method: ALIGNMENT_METHOD,
    benchmark: aligned.benchmark.id,
    results: read.map((_, index) => resultOf(aligned, index)),
  };
}

/** Returns the result of one entity. */
export function resultOf(aligned: AlignedEntities, index: number): AlignmentResult {
  const { entities, classifications, included } = aligned;
  const entity = entities[index];
  const classification = classifications[index];
  if (entity === undefined || classification === undefined) throw new Error(`There is no entity ${index}.`);
  const { didYouMean } = classification;
  const flags = flagsOfMask(entityFlagsOf(aligned, index));
  const details = included.detail ? alignmentDetailsOf(aligned, index) : undefined;
  const blended = blendedOf(aligned, index);
  const firstRow = firstRowOf(aligned, index);
  return {
    entity_info: entityEcho(entity),
    ...(flags.length === 0 ? {} : { flags }),
    ...(didYouMean === undefined ? {} : { did_you_mean: didYouMean }),
    data: entity.projected_emissions.map((record, i) => yearOf(aligned, firstRow + i, record, details?.[i])),
    ...(included.overall ? { overall: overallOf(aligned, index) } : {}),
    ...(blended.length === 0 ? {} : { blended }),
  };
}

function yearOf(
  aligned: AlignedEntities,
  row: number,
  { year, label }: ProjectionRecord,
  detail: AlignmentDetail | undefined,
): AlignedYear {
  const { rows, included } = aligned;
  const temperature = numberAt(rows.temperaturesC, row);
  const range = rangeAt(rows.rangeLowC, rows.rangeHighC, row);
  const climateRange = included.climateRange ? rangeAt(rows.climateLowC, rows.climateHighC, row) : null;
  const budget = budgetAt(aligned, row);
  const coverage = numberAt(rows.coverage, row);
  const flags = flagsOfMask(yearFlagsOf(aligned, row));
  return {
    year,
    temperature_alignment: temperature,
    ...(temperature === null ? { reason: reasonOf(aligned, row) } : {}),
    ...(label === undefined ? {} : { label }),
    ...(range === null ? {} : { range }),
    ...(climateRange === null ? {} : { climate_range: climateRange }),
    ...(included.byScope ? { by_scope: scopesAt(aligned, row) } : {}),
    ...(budget === null ? {} : { budget }),
    ...(coverage === null ? {} : { coverage }),
    ...(flags.length === 0 ? {} : { flags }),
    ...(detail === undefined ? {} : { detail }),
  };
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

/** Returns the budget of a row; null if it has none or budgets are not included. */
export function budgetAt({ rows, included, benchmark }: AlignedEntities, row: number): EmissionsBudget | null {
  if (included.budgetAnchor === undefined) return null;
  const allowed = numberAt(rows.budgetAllowed, row);
  const projected = numberAt(rows.budgetProjected, row);
  if (allowed === null || projected === null) return null;
  return budgetOf(benchmark.anchors[included.budgetAnchor]?.scenario ?? "", { allowed, projected });
}

/** Returns the temperature of scopes 1 and 2 together, and of scope 3 alone, at a row. */
export function scopesAt({ rows }: AlignedEntities, row: number): ScopeTemperatures {
  return { s1s2: numberAt(rows.s1s2C, row), s3: numberAt(rows.s3C, row) };
}

/** Returns the bounds at a row; null if there are none. */
export function rangeAt(
  lows: Float64Array | undefined,
  highs: Float64Array | undefined,
  row: number,
): TemperatureRange | null {
  const low = numberAt(lows, row);
  const high = numberAt(highs, row);
  return low === null || high === null ? null : { low, high };
}

/** Returns the value at a row; null if it is NaN or the column is absent. */
function numberAt(column: Float64Array | undefined, row: number): number | null {
  const value = column?.[row] ?? NaN;
  return Number.isNaN(value) ? null : value;
}
