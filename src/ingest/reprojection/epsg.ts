/**
 * Coordinate systems by EPSG code: UTM zones and about 300 national and continental projections (../data/epsgCodes.csv,
 * ../data/utmCodes.csv), taken from the EPSG Geodetic Parameter Dataset (epsg.org).
 */
import { type CrsDefinition, type Datum, type Ellipsoid, WGS84_ELLIPSOID } from "../crsDefinition.ts";
import { EPSG_CODE_ROWS } from "../data/epsgCodes.generated.ts";
import { UTM_CODE_ROWS } from "../data/utmCodes.generated.ts";
import { crsDefinition, type GivenParameters, isProjectionMethod, normalizedName, webMercator } from "./methods.ts";
import { DATUM_ROWS, type DatumRow } from "../data/datums.generated.ts";

const rowsByCode = new Map(EPSG_CODE_ROWS.map((row) => [row.code, row]));

/** Returns the parameters of a UTM zone. */
export function utmParameters({
  zone,
  isSouth,
}: {
  readonly zone: number;
  readonly isSouth: boolean;
}): GivenParameters {
  return { lat_0: 0, lon_0: 6 * zone - 183, k_0: 0.9996, x_0: 500_000, y_0: isSouth ? 10_000_000 : 0 };
}

/** Returns the coordinate system with an EPSG code, or undefined if it is not in the tables. */
export function crsOfEpsg(code: number): CrsDefinition | undefined {
  const utm = UTM_CODE_ROWS.find(({ first_code, last_code }) => first_code <= code && code <= last_code);
  const row = rowsByCode.get(code);
  const datumRow = datumOfGeographicCode(utm?.geographic_code ?? row?.geographic_code ?? code);
  if (datumRow === undefined) return undefined;
  const datum = unchangedDatum(datumRow);
  const ellipsoid = { ...WGS84_ELLIPSOID, inverseFlattening: datumRow.inverse_flattening };
  if (utm !== undefined) {
    const zone = utm.first_zone + code - utm.first_code;
    const isSouth = utm.is_south === 1;
    const name = `EPSG:${code} (${datumRow.name} / UTM zone ${zone}${isSouth ? "S" : "N"})`;
    return crsDefinition({ name, method: "tmerc", given: utmParameters({ zone, isSouth }), ellipsoid, datum });
  }
  if (row === undefined) {
    const name = `EPSG:${code} (${datumRow.name})`;
    return crsDefinition({ name, method: "longlat", given: {}, ellipsoid, datum });
  }
  const name = `EPSG:${code} (${row.name})`;
  const members = new Map(row.definition.split(" ").map((part) => part.split("=") as [string, string]));
  const projection = members.get("proj") ?? "";
  if (projection === "webmerc") return webMercator(name, {}, datum);
  if (!isProjectionMethod(projection)) throw new Error(`The table of EPSG codes has the projection ${projection}.`);
  members.delete("proj");
  const given = Object.fromEntries([...members].map(([key, value]) => [key, Number(value)]));
  // Lambert conformal conic with one standard parallel.
  const conic = projection === "lcc" && given["lat_2"] === undefined ? { ...given, lat_2: given["lat_1"] } : given;
  return crsDefinition({ name, method: projection, given: conic, ellipsoid, datum });
}

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
function unchangedDatum({ name, tolerance_m }: DatumRow): Datum {
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
