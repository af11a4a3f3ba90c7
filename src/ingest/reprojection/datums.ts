/**
 * Datums whose coordinates are used as WGS84 coordinates, because EPSG transforms them to WGS84 with parameters of 0 (to the
 * stated accuracy), and the rule for all others.
 *
 * ../data/datums.csv lists them with the accuracy of that transformation (EPSG Geodetic Parameter Dataset, epsg.org).
 */
import type { Datum, Ellipsoid } from "../crsDefinition.ts";
import { DATUM_ROWS, type DatumRow } from "../data/datums.generated.ts";
import { normalizedName } from "./methods.ts";

/** How a description of a coordinate system identifies its datum. */
export interface StatedDatum {
  /** As in messages; undefined if no datum is named. */
  readonly name: string | undefined;
  /** EPSG code of the geographic coordinate system. */
  readonly geographicCode?: number | undefined;
  /** EPSG code of the datum. */
  readonly datumCode?: number | undefined;
  /** Parameters of a Helmert transformation to WGS84. */
  readonly toWgs84?: readonly number[] | undefined;
  /** Names of grid files, which are not supported. */
  readonly gridFile?: string | undefined;
}

const byGeographicCode = new Map(DATUM_ROWS.map((row) => [row.geographic_code, row]));
const byDatumCode = new Map(DATUM_ROWS.map((row) => [row.datum_code, row]));
const byName = new Map(
  DATUM_ROWS.flatMap((row) =>
    [row.name, row.datum_name, ...row.aliases].map((name) => [normalizedName(name), row] as const),
  ),
);

/** Returns the row of a geographic coordinate system by its EPSG code. */
export function datumOfGeographicCode(code: number): DatumRow | undefined {
  // EPSG:4979 is WGS84 in three dimensions.
  return byGeographicCode.get(code === 4979 ? 4326 : code);
}

function namedRow(name: string): DatumRow | undefined {
  const normalized = normalizedName(name);
  // Esri prefixes names of datums with D_, and those of geographic systems with GCS_.
  return byName.get(normalized) ?? byName.get(normalized.replace(/^(gcs|d)(?=\w)/, ""));
}

/** Names that state the absence of a datum. */
const UNSPECIFIED =
  /^(d?unknown|dunknown|unnamed|d?unspecified|notspecified|undefined|none|unknownbasedon|dsphere|sphere)/;

/** Relative difference of ellipsoids that are taken as the same. */
const isSameEllipsoid = (a: Ellipsoid, inverseFlattening: number): boolean =>
  Math.abs(a.semiMajorM - 6_378_137) < 1 && Math.abs(a.inverseFlattening - inverseFlattening) < 0.01;

/** Returns how coordinates on a datum of the table become WGS84 coordinates. */
export function unchangedDatum({ name, tolerance_m }: DatumRow): Datum {
  const accuracy = tolerance_m === 0 ? "" : `; to within ${tolerance_m} m`;
  const description = name === "WGS 84" ? "WGS 84" : `${name}, used as WGS 84 (EPSG: all parameters 0${accuracy})`;
  return { kind: "unchanged", description };
}

/**
 * Returns how coordinates on a datum become WGS84 coordinates.
 *
 * @param options `assumeWgs84`: uses coordinates without a datum as WGS84 coordinates
 * @throws Error naming the datum if it is none of the table and no transformation is given
 */
export function datumOf(
  stated: StatedDatum,
  { ellipsoid, assumeWgs84 }: { readonly ellipsoid: Ellipsoid; readonly assumeWgs84: boolean },
): Datum {
  const { name, geographicCode, datumCode, toWgs84, gridFile } = stated;
  if (gridFile !== undefined)
    throw new Error(`needs the datum grid file ${gridFile}, which is not supported. ${CONVERT_DATUM}`);
  if (toWgs84 !== undefined && toWgs84.some((value) => value !== 0)) return helmertDatum(toWgs84);
  const row =
    (geographicCode === undefined ? undefined : datumOfGeographicCode(geographicCode)) ??
    (datumCode === undefined ? undefined : byDatumCode.get(datumCode)) ??
    (name === undefined ? undefined : namedRow(name));
  if (row !== undefined) {
    if (!isSameEllipsoid(ellipsoid, row.inverse_flattening)) {
      throw new Error(
        `states the datum ${row.name} with an ellipsoid of ${ellipsoid.semiMajorM} m and inverse flattening ` +
          `${ellipsoid.inverseFlattening}, which is not that of ${row.name} (${row.inverse_flattening})`,
      );
    }
    return unchangedDatum(row);
  }
  if (toWgs84 !== undefined)
    return {
      kind: "unchanged",
      description: `${name ?? "a datum"} with the given transformation to WGS 84, which is 0`,
    };
  const code = geographicCode ?? datumCode;
  const isUnspecified = code === undefined && (name === undefined || UNSPECIFIED.test(normalizedName(name)));
  const shape =
    ellipsoid.inverseFlattening === 0
      ? `a sphere with a radius of ${ellipsoid.semiMajorM} m`
      : `an ellipsoid of ${ellipsoid.semiMajorM} m, inverse flattening ${ellipsoid.inverseFlattening}`;
  if (isUnspecified) {
    if (assumeWgs84) return { kind: "unchanged", description: `none stated (${shape}); used as WGS 84 on request` };
    throw new Error(
      `has no datum (${shape}). If its latitudes and longitudes are to be used as WGS84, pass --assume-wgs84`,
    );
  }
  const label = name ?? (geographicCode === undefined ? `EPSG:${datumCode}` : `EPSG:${geographicCode}`);
  throw new Error(`is on the datum ${label}, whose transformation to WGS84 is not known here. ${CONVERT_DATUM}`);
}

const CONVERT_DATUM = "Convert the map with gdalwarp -t_srs EPSG:4326, which has grid files and transformations";

function helmertDatum(toWgs84: readonly number[]): Datum {
  if ((toWgs84.length !== 3 && toWgs84.length !== 7) || !toWgs84.every(Number.isFinite))
    throw new Error(`has a transformation to WGS84 with ${toWgs84.length} parameters; 3 or 7 numbers are expected`);
  return { kind: "helmert", toWgs84 };
}
