/** Decides whether the coordinate system that a file describes is WGS84 degrees. */
import type { RasterOptions } from "../../raster.ts";
import { type Attributes, numbersOf, textOf } from "./arrayFile.ts";

const ACCEPTED = "WGS84 degrees (EPSG:4326) are accepted; convert the map with gdalwarp -t_srs EPSG:4326 -of GTiff.";
const WGS84 = { semiMajorM: 6_378_137, inverseFlattening: 298.257223563 } as const;

/** A statement of the coordinate system, or the absence of one. */
export type CrsStatement =
  | { readonly kind: "wgs84"; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "other"; readonly text: string };

/**
 * Returns the description of the coordinate system for the provenance.
 * @throws Error naming the coordinate system that is not accepted
 */
export function acceptedCrs(statement: CrsStatement, { assumeWgs84 }: Pick<RasterOptions, "assumeWgs84">): string {
  if (statement.kind === "wgs84") return statement.text;
  if (statement.kind === "other") throw new Error(`is in the coordinate system ${statement.text}. ${ACCEPTED}`);
  if (assumeWgs84 === true) return "none stated; read as EPSG:4326 on request";
  throw new Error(
    `has latitudes and longitudes in degrees without a datum. ${ACCEPTED} If they are WGS84, pass --assume-wgs84.`,
  );
}

/** Reads a text: an authority code such as EPSG:4326, or well-known text. */
export function crsOfText(text: string): CrsStatement {
  const trimmed = text.trim();
  const code = /^(?:urn:ogc:def:crs:)?(EPSG|OGC):(?:[\d.]*:)?(\w+)$/i.exec(trimmed);
  if (code !== null) {
    const name = `${code[1]?.toUpperCase()}:${code[2]?.toUpperCase()}`;
    const isWgs84 = ["EPSG:4326", "EPSG:4979", "OGC:CRS84"].includes(name);
    return isWgs84 ? { kind: "wgs84", text: name } : { kind: "other", text: name };
  }
  return crsOfWkt(trimmed);
}

/** Reads well-known text, version 1 or 2, as far as WGS84 degrees require. */
function crsOfWkt(wkt: string): CrsStatement {
  const name = /^(\w+)\s*\[\s*"([^"]*)"/.exec(wkt);
  if (name === null) return { kind: "other", text: JSON.stringify(wkt.slice(0, 80)) };
  const [, keyword = "", title = ""] = name;
  const other: CrsStatement = { kind: "other", text: JSON.stringify(title) };
  if (!/^(GEOGCS|GEOGCRS|GEODCRS|GEOGRAPHICCRS|GEODETICCRS)$/i.test(keyword)) return other;
  const numberPattern = String.raw`([-+\d.eE]+)`;
  const match = (pattern: string): readonly string[] | undefined => new RegExp(pattern, "i").exec(wkt) ?? undefined;
  const ellipsoid = match(
    String.raw`(?:SPHEROID|ELLIPSOID)\s*\[\s*"[^"]*"\s*,\s*${numberPattern}\s*,\s*${numberPattern}`,
  );
  const meridian = match(String.raw`PRIMEM\s*\[\s*"[^"]*"\s*,\s*${numberPattern}`);
  const units = [...wkt.matchAll(new RegExp(String.raw`(?:ANGLEUNIT|\bUNIT)\s*\[\s*"([^"]*)"`, "gi"))].map(
    ([, unit = ""]) => unit.toLowerCase(),
  );
  const isWgs84 =
    ellipsoid !== undefined &&
    Number(ellipsoid[1]) === WGS84.semiMajorM &&
    Math.abs(Number(ellipsoid[2]) - WGS84.inverseFlattening) < 1e-6 &&
    (meridian === undefined || Number(meridian[1]) === 0) &&
    units.every((unit) => /^(degree|degrees|metre|meter)$/.test(unit)) &&
    !/TOWGS84\s*\[\s*(?!\s*[-+]?0(?:\.0*)?\s*(?:,\s*[-+]?0(?:\.0*)?\s*)*\])/i.test(wkt);
  return isWgs84 ? { kind: "wgs84", text: title === "" ? "WGS84 ellipsoid" : title } : other;
}

/** Reads the attributes of a CF grid mapping variable. */
export function crsOfGridMapping(attributes: Attributes): CrsStatement {
  const mapping = textOf(attributes, "grid_mapping_name");
  if (mapping !== undefined && mapping !== "latitude_longitude") return { kind: "other", text: mapping };
  const wkt = textOf(attributes, "crs_wkt") ?? textOf(attributes, "spatial_ref");
  if (wkt !== undefined && wkt.trim() !== "") return crsOfText(wkt);
  const epsg = textOf(attributes, "epsg_code");
  if (epsg !== undefined) return crsOfText(/^\d+$/.test(epsg) ? `EPSG:${epsg}` : epsg);
  const one = (name: string): number | undefined => numbersOf(attributes, name)?.[0];
  const [semiMajorM, flattening, semiMinorM] = ["semi_major_axis", "inverse_flattening", "semi_minor_axis"].map(one);
  const radiusM = one("earth_radius");
  if (radiusM !== undefined)
    return { kind: "other", text: `latitude_longitude on a sphere with a radius of ${radiusM} m` };
  if (semiMajorM === undefined) return { kind: "none" };
  const meridianDeg = one("longitude_of_prime_meridian") ?? 0;
  const hasFlattening = flattening !== undefined && Math.abs(flattening - WGS84.inverseFlattening) < 1e-6;
  const hasMinorAxis =
    semiMinorM !== undefined && Math.abs(semiMinorM - WGS84.semiMajorM * (1 - 1 / WGS84.inverseFlattening)) < 1e-3;
  if (
    semiMajorM === WGS84.semiMajorM &&
    (hasFlattening || (flattening === undefined && hasMinorAxis)) &&
    meridianDeg === 0
  )
    return { kind: "wgs84", text: "latitude_longitude on the WGS84 ellipsoid" };
  const shape =
    flattening === undefined
      ? semiMinorM === undefined
        ? ""
        : `, semi-minor axis ${semiMinorM} m`
      : `, inverse flattening ${flattening}`;
  return {
    kind: "other",
    text: `latitude_longitude with semi-major axis ${semiMajorM} m${shape}, prime meridian ${meridianDeg}`,
  };
}
