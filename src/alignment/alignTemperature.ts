import { ALIGNMENT_METHOD } from "../contract/names.ts";
import { alignValidEntities } from "./alignEntities.ts";
import { readEntities } from "./entity.ts";
import { type AlignTemperatureOptions, checkTemperatureOptions } from "./options.ts";
import { resultOf } from "./result.ts";
import type { AlignmentAnswer, Entity } from "../contract/wireTypes.ts";

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
