/** Reads projections from the grid mappings of the CF conventions (CF 1.11, appendix F). */
import type { CrsDefinition, Ellipsoid } from "../crsDefinition.ts";
import { datumOf } from "./epsg.ts";
import { crsOfNamedProjection, type NamedParameter, parameterNamed } from "./methods.ts";
import { ellipsoidOfAxes } from "./projString.ts";

/** Attributes of a grid mapping variable. */
export interface GridMappingAttributes {
  text(name: string): string | undefined;
  numbers(name: string): readonly number[] | undefined;
  readonly names: readonly string[];
}

/**
 * Reads a grid mapping other than `latitude_longitude`. Lengths are in meters; the unit of the coordinates is that of the
 * coordinate variables.
 * @throws Error naming what is missing or not supported
 */
export function crsOfGridMapping(
  mapping: GridMappingAttributes,
  { assumeWgs84 }: { readonly assumeWgs84: boolean },
): CrsDefinition {
  const projection = mapping.text("grid_mapping_name") ?? "";
  const ellipsoid = readEllipsoid(mapping);
  const one = (name: string): number | undefined => mapping.numbers(name)?.[0];
  const meridian = one("longitude_of_prime_meridian") ?? 0;
  if (meridian !== 0) throw new Error(`has a prime meridian at ${meridian}, not at Greenwich, which is not supported`);
  const given: Partial<Record<NamedParameter, number>> = {};
  for (const name of mapping.names) {
    if (name === "standard_parallel") continue;
    const parameter = parameterNamed(name);
    const value = one(name);
    if (parameter === undefined || value === undefined) continue;
    if (given[parameter] !== undefined && given[parameter] !== value)
      throw new Error(`has a grid mapping that states two values for the same parameter (${name} = ${value})`);
    given[parameter] = value;
  }
  const parallels = mapping.numbers("standard_parallel") ?? [];
  if (parallels.length > 2) throw new Error(`has ${parallels.length} standard parallels; one or two are expected`);
  const [parallel_1, parallel_2] = parallels;
  const toWgs84 = mapping.numbers("towgs84");
  const datum = datumOf(
    { name: mapping.text("horizontal_datum_name") ?? mapping.text("geographic_crs_name"), toWgs84 },
    { ellipsoid, assumeWgs84: assumeWgs84 || isWgs84(ellipsoid) },
  );
  return crsOfNamedProjection({
    name: projection,
    projection,
    given: { ...given, parallel_1, parallel_2 },
    ellipsoid,
    datum,
  });
}

/** As for latitudes and longitudes, a grid mapping on the WGS84 ellipsoid without a datum name is WGS84. */
function isWgs84({ semiMajorM, inverseFlattening }: Ellipsoid): boolean {
  return semiMajorM === 6_378_137 && Math.abs(inverseFlattening - 298.257223563) < 1e-6;
}

function readEllipsoid(mapping: GridMappingAttributes): Ellipsoid {
  const one = (name: string): number | undefined => mapping.numbers(name)?.[0];
  const radiusM = one("earth_radius");
  if (radiusM !== undefined) return { semiMajorM: radiusM, inverseFlattening: 0 };
  const semiMajorM = one("semi_major_axis");
  if (semiMajorM === undefined)
    throw new Error("has a grid mapping without an ellipsoid (semi_major_axis or earth_radius)");
  const inverseFlattening = one("inverse_flattening");
  if (inverseFlattening !== undefined) return { semiMajorM, inverseFlattening };
  const semiMinorM = one("semi_minor_axis");
  if (semiMinorM === undefined)
    throw new Error("has a grid mapping with semi_major_axis, but neither inverse_flattening nor semi_minor_axis");
  return ellipsoidOfAxes(semiMajorM, semiMinorM);
}
