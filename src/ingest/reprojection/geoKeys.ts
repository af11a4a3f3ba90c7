/** Reads coordinate systems from GeoKeys (OGC GeoTIFF 1.1), by EPSG code or by their parameters. */
import type { CrsDefinition, Ellipsoid, ParsedCrs } from "../crsDefinition.ts";
import { epsgCrs } from "./crsText.ts";
import { datumOf, datumOfGeographicCode, utmParameters } from "./epsg.ts";
import { crsDefinition, crsOfNamedProjection, type NamedParameters, SUPPORTED_PROJECTIONS } from "./methods.ts";
import { crsOfWkt } from "./wkt.ts";

/** GeoKeys by name; values come from the file and are not trusted. */
export type GeoKeys = Readonly<Record<string, unknown>>;

const USER_DEFINED = 32_767;
const MODEL_PROJECTED = 1;
const MODEL_GEOGRAPHIC = 2;

/** Projections by their code in GeoTIFF. */
const PROJECTIONS: Readonly<Record<number, string>> = {
  1: "transverse_mercator",
  7: "mercator",
  8: "lambert_conformal_conic_2sp",
  9: "lambert_conformal_conic_1sp",
  10: "lambert_azimuthal_equal_area",
  11: "albers_conic_equal_area",
  15: "polar_stereographic",
  16: "oblique_stereographic",
  24: "sinusoidal",
  28: "cylindrical_equal_area",
};

/** Meters per linear unit, and degrees per angular unit, by EPSG code. */
const LENGTH_UNITS: Readonly<Record<number, number>> = { 9001: 1, 9002: 0.3048, 9003: 1200 / 3937, 9036: 1000 };
const ANGLE_UNITS: Readonly<Record<number, number>> = { 9101: 180 / Math.PI, 9102: 1, 9105: 0.9, 9122: 1 };

/**
 * Reads the coordinate system of GeoKeys.
 * @throws Error naming what is missing or not supported
 */
export function crsOfGeoKeys(keys: GeoKeys, { assumeWgs84 }: { readonly assumeWgs84: boolean }): ParsedCrs {
  const model = keys["GTModelTypeGeoKey"] ?? MODEL_GEOGRAPHIC;
  if (model === MODEL_GEOGRAPHIC) return { crs: geographicCrs(keys, assumeWgs84), unitM: 1 };
  const esri = esriText(keys);
  if (model !== MODEL_PROJECTED) {
    // GDAL writes a user-defined model beside Esri's well-known text.
    if (model === USER_DEFINED && esri !== undefined) return crsOfWkt(esri, { assumeWgs84 });
    throw new Error(
      `has coordinates of the model type ${JSON.stringify(model)}; projected and geographic coordinates are supported`,
    );
  }
  const unitM = lengthUnitOf(keys);
  const code = keys["ProjectedCSTypeGeoKey"];
  if (typeof code === "number" && code !== USER_DEFINED && code !== 0) {
    // All codes of the tables are in meters.
    if (unitM !== 1) throw new Error(`states EPSG:${code}, which is in meters, and a linear unit of ${unitM} m`);
    return { crs: epsgCrs(code), unitM };
  }
  if (esri !== undefined) return crsOfWkt(esri, { assumeWgs84 });
  return { crs: userDefinedCrs(keys, assumeWgs84, unitM), unitM };
}

/** Esri's well-known text, which GDAL and Esri write for projections without a code in GeoTIFF. */
function esriText(keys: GeoKeys): string | undefined {
  for (const key of ["PCSCitationGeoKey", "GTCitationGeoKey"]) {
    const text = keys[key];
    const match = typeof text === "string" ? /ESRI PE String = (PROJCS\[.*\])/s.exec(text) : null;
    if (match !== null) return match[1];
  }
  return undefined;
}

function numberOf(keys: GeoKeys, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = keys[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new Error(`has the GeoKey ${name} = ${JSON.stringify(value)}; a number is expected`);
    return value;
  }
  return undefined;
}

function lengthUnitOf(keys: GeoKeys): number {
  const size = numberOf(keys, "ProjLinearUnitSizeGeoKey");
  const code = numberOf(keys, "ProjLinearUnitsGeoKey");
  if (code === undefined) return 1;
  if (code === USER_DEFINED) {
    if (size !== undefined && size > 0) return size;
    throw new Error("has a user-defined linear unit without a size (ProjLinearUnitSizeGeoKey)");
  }
  const unit = LENGTH_UNITS[code];
  if (unit === undefined) throw new Error(`has the linear unit EPSG:${code}; meters and feet are supported`);
  return unit;
}

function angleUnitOf(keys: GeoKeys): number {
  const code = numberOf(keys, "GeogAngularUnitsGeoKey");
  if (code === undefined) return 1;
  const unit = ANGLE_UNITS[code];
  if (unit === undefined) throw new Error(`has the angular unit EPSG:${code}; degrees are expected`);
  return unit;
}

function citationOf(keys: GeoKeys): string {
  const name = keys["PCSCitationGeoKey"] ?? keys["GTCitationGeoKey"] ?? keys["GeogCitationGeoKey"];
  return typeof name === "string" && name !== ""
    ? JSON.stringify(name.replace(/\|$/, "").slice(0, 100))
    : "user-defined";
}

function geographicCrs(keys: GeoKeys, assumeWgs84: boolean): CrsDefinition {
  const code = keys["GeographicTypeGeoKey"];
  if (angleUnitOf(keys) !== 1) throw new Error("has geographic coordinates in another unit than degrees");
  const { ellipsoid, datum } = readDatum(keys, assumeWgs84);
  const name = typeof code === "number" && code !== USER_DEFINED ? `EPSG:${code}` : citationOf(keys);
  return crsDefinition({ name, method: "longlat", given: {}, ellipsoid, datum });
}

function userDefinedCrs(keys: GeoKeys, assumeWgs84: boolean, unitM: number): CrsDefinition {
  const utm = utmZoneOf(numberOf(keys, "ProjectionGeoKey"));
  if (utm !== undefined) {
    const datum = readDatum(keys, assumeWgs84);
    return crsDefinition({ name: citationOf(keys), method: "tmerc", given: utmParameters(utm), ...datum });
  }
  const transformation = numberOf(keys, "ProjCoordTransGeoKey");
  const projection = PROJECTIONS[transformation ?? -1];
  const name = citationOf(keys);
  if (projection === undefined) {
    const which = transformation === undefined ? "no projection" : `the GeoTIFF projection ${transformation}`;
    throw new Error(`is in the projected coordinate system ${name} with ${which}; ${SUPPORTED_PROJECTIONS}`);
  }
  const angleDeg = angleUnitOf(keys);
  const angle = (...names: readonly string[]): number | undefined => scaled(numberOf(keys, ...names), angleDeg);
  const length = (...names: readonly string[]): number | undefined => scaled(numberOf(keys, ...names), unitM);
  const given: NamedParameters = {
    origin_lat: angle("ProjNatOriginLatGeoKey", "ProjFalseOriginLatGeoKey", "ProjCenterLatGeoKey"),
    origin_lon: angle(
      "ProjNatOriginLongGeoKey",
      "ProjFalseOriginLongGeoKey",
      "ProjCenterLongGeoKey",
      "ProjStraightVertPoleLongGeoKey",
    ),
    parallel_1: angle("ProjStdParallel1GeoKey"),
    parallel_2: angle("ProjStdParallel2GeoKey"),
    scale: numberOf(keys, "ProjScaleAtNatOriginGeoKey", "ProjScaleAtCenterGeoKey"),
    easting: length("ProjFalseEastingGeoKey", "ProjFalseOriginEastingGeoKey", "ProjCenterEastingGeoKey"),
    northing: length("ProjFalseNorthingGeoKey", "ProjFalseOriginNorthingGeoKey", "ProjCenterNorthingGeoKey"),
  };
  return crsOfNamedProjection({ name, projection, given, ...readDatum(keys, assumeWgs84) });
}

/** Returns the UTM zone with an EPSG code of a projection: 16001 to 16060 north, 16101 to 16160 south. */
function utmZoneOf(code: number | undefined): { readonly zone: number; readonly isSouth: boolean } | undefined {
  if (code === undefined || !((code >= 16_001 && code <= 16_060) || (code >= 16_101 && code <= 16_160)))
    return undefined;
  return { zone: code % 100, isSouth: code > 16_100 };
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

function readDatum(keys: GeoKeys, assumeWgs84: boolean): Pick<CrsDefinition, "ellipsoid" | "datum"> {
  const meridianDeg = numberOf(keys, "GeogPrimeMeridianLongGeoKey") ?? 0;
  const meridian = numberOf(keys, "GeogPrimeMeridianGeoKey") ?? 8901;
  if (meridianDeg !== 0 || (meridian !== 8901 && meridian !== USER_DEFINED))
    throw new Error("has a prime meridian other than Greenwich, which is not supported");
  const isCode = (code: number | undefined): code is number =>
    code !== undefined && code !== USER_DEFINED && code !== 0;
  const geographicCode = numberOf(keys, "GeographicTypeGeoKey");
  const datumCode = numberOf(keys, "GeogGeodeticDatumGeoKey");
  const toWgs84 = keys["GeogTOWGS84GeoKey"];
  const ellipsoid = readEllipsoid(keys, isCode(geographicCode) ? geographicCode : undefined);
  const citation = keys["GeogCitationGeoKey"];
  const stated = {
    name: isCode(geographicCode) || isCode(datumCode) ? undefined : datumNameOf(citation),
    geographicCode: isCode(geographicCode) ? geographicCode : undefined,
    datumCode: isCode(datumCode) ? datumCode : undefined,
    toWgs84: toWgs84 === undefined || toWgs84 === null ? undefined : Array.from(toWgs84 as ArrayLike<number>, Number),
  };
  return { ellipsoid, datum: datumOf(stated, { ellipsoid, assumeWgs84 }) };
}

/** GDAL writes `GCS Name = ...|Datum = ...|Ellipsoid = ...`; others write the name of the system. */
function datumNameOf(citation: unknown): string | undefined {
  if (typeof citation !== "string") return undefined;
  const datum = /(?:^|\|)Datum = ([^|]*)/.exec(citation)?.[1];
  return (datum ?? citation).replaceAll("|", "").slice(0, 100);
}

const ELLIPSOID_CODES: Readonly<Record<number, Ellipsoid>> = {
  7030: { semiMajorM: 6_378_137, inverseFlattening: 298.257223563 },
  7019: { semiMajorM: 6_378_137, inverseFlattening: 298.257222101 },
};

function readEllipsoid(keys: GeoKeys, geographicCode: number | undefined): Ellipsoid {
  const row = geographicCode === undefined ? undefined : datumOfGeographicCode(geographicCode);
  if (row !== undefined) return { semiMajorM: 6_378_137, inverseFlattening: row.inverse_flattening };
  const semiMajorM = numberOf(keys, "GeogSemiMajorAxisGeoKey");
  const inverseFlattening = numberOf(keys, "GeogInvFlatteningGeoKey");
  const semiMinorM = numberOf(keys, "GeogSemiMinorAxisGeoKey");
  if (semiMajorM !== undefined && inverseFlattening !== undefined) return { semiMajorM, inverseFlattening };
  if (semiMajorM !== undefined && semiMinorM !== undefined) {
    const difference = semiMajorM - semiMinorM;
    return { semiMajorM, inverseFlattening: difference === 0 ? 0 : semiMajorM / difference };
  }
  const known = ELLIPSOID_CODES[numberOf(keys, "GeogEllipsoidGeoKey") ?? -1];
  if (known !== undefined) return known;
  if (geographicCode !== undefined) {
    throw new Error(
      `is on the geographic coordinate system EPSG:${geographicCode}, whose transformation to WGS84 is not known here. ` +
        "Convert the map with gdalwarp -t_srs EPSG:4326, which has grid files and transformations",
    );
  }
  const datumCode = numberOf(keys, "GeogGeodeticDatumGeoKey");
  if (datumCode === 6326) return ELLIPSOID_CODES[7030] as Ellipsoid;
  throw new Error("has a user-defined datum without an ellipsoid");
}
