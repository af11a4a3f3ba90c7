/** Reads the coordinate system that a file describes: WGS84 degrees, or one from which maps can be reprojected. */
import type { RasterOptions } from "../../raster.ts";
import { crsOfText } from "../../reprojection/crsText.ts";
import type { ParsedCrs } from "../../crsDefinition.ts";
import { crsOfGridMapping as projectionOfGridMapping } from "../../reprojection/gridMapping.ts";
import { type Attributes, numbersOf, textOf } from "./arrayFile.ts";

const ACCEPTED = "WGS84 degrees (EPSG:4326) are accepted; convert the map with gdalwarp -t_srs EPSG:4326 -of GTiff.";
const WGS84 = { semiMajorM: 6_378_137, inverseFlattening: 298.257223563 } as const;

/** A statement of the coordinate system, or the absence of one. */
export type CrsStatement =
  | { readonly kind: "wgs84"; readonly text: string }
  | { readonly kind: "none" }
  | {
      readonly kind: "other";
      readonly text: string;
      /** Reads the definition; undefined if the description is not one that maps can be reprojected from. */
      readonly definition?: (assumeWgs84: boolean) => ParsedCrs;
    };

/** A coordinate system in which coordinates are used as WGS84 degrees, or must be reprojected. */
export interface AcceptedCrs {
  /** As in the provenance. */
  readonly text: string;
  /** How another datum is brought to WGS84, if nothing has to be computed. */
  readonly datum?: string;
  readonly projected?: ParsedCrs;
}

/**
 * Returns the coordinate system of a map.
 *
 * @param isPlane whether the coordinates of the map are x and y, instead of latitude and longitude; undefined if unknown
 * @throws Error naming the coordinate system that is not accepted
 */
export function acceptedCrs(
  statement: CrsStatement,
  { assumeWgs84 = false, crs }: Pick<RasterOptions, "assumeWgs84" | "crs">,
  isPlane: boolean | undefined,
): AcceptedCrs {
  if (statement.kind !== "none" && crs !== undefined)
    throw new Error("states its coordinate system; crs is only for files that state none. Remove crs");
  if (statement.kind === "none") {
    if (crs !== undefined) {
      const accepted = placed(crsOfText(crs, { assumeWgs84 }), isPlane);
      return { ...accepted, text: `none stated; read as ${accepted.text} on request` };
    }
    if (isPlane === true)
      throw new Error(
        "has coordinates x and y without a grid mapping; state the coordinate system with crs in the layer",
      );
    if (assumeWgs84) return { text: "none stated; read as EPSG:4326 on request" };
    throw new Error(
      `has latitudes and longitudes in degrees without a datum. ${ACCEPTED} If they are WGS84, pass --assume-wgs84.`,
    );
  }
  if (statement.kind === "wgs84") {
    if (isPlane === true) throw new Error(`has coordinates x and y, but its coordinate system is ${statement.text}`);
    return { text: statement.text };
  }
  const parsed = attempt(() => statement.definition?.(assumeWgs84));
  if (parsed instanceof Error)
    throw new Error(
      `is in the coordinate system ${statement.text}: it ${parsed.message.replace(/\.$/, "")}. ${ACCEPTED}`,
    );
  if (parsed === undefined) throw new Error(`is in the coordinate system ${statement.text}. ${ACCEPTED}`);
  return placed(parsed, isPlane);
}

function placed(parsed: ParsedCrs, isPlaneOrUnknown: boolean | undefined): AcceptedCrs {
  const { crs } = parsed;
  const isPlane = isPlaneOrUnknown ?? crs.method !== "longlat";
  if ((crs.method !== "longlat") !== isPlane) {
    const coordinates = isPlane ? "x and y" : "latitude and longitude";
    throw new Error(`has coordinates ${coordinates}, but its coordinate system is ${crs.name}`);
  }
  if (isPlane || crs.datum.kind === "helmert") return { text: crs.name, projected: parsed };
  return { text: crs.name, datum: crs.datum.description };
}

function attempt<T>(act: () => T): T | Error {
  try {
    return act();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Reads a text: an authority code such as EPSG:4326, or well-known text. */
export function statementOfText(text: string): CrsStatement {
  const statement = wgs84OrOther(text);
  if (statement.kind !== "other") return statement;
  return { ...statement, definition: (assumeWgs84) => crsOfText(text, { assumeWgs84 }) };
}

function wgs84OrOther(text: string): CrsStatement {
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
export function statementOfGridMapping(attributes: Attributes): CrsStatement {
  const mapping = textOf(attributes, "grid_mapping_name");
  const wkt = textOf(attributes, "crs_wkt") ?? textOf(attributes, "spatial_ref");
  if (wkt !== undefined && wkt.trim() !== "") return statementOfText(wkt);
  const epsg = textOf(attributes, "epsg_code");
  if (epsg !== undefined) return statementOfText(/^\d+$/.test(epsg) ? `EPSG:${epsg}` : epsg);
  if (mapping !== undefined && mapping !== "latitude_longitude") {
    const reader = {
      text: (name: string) => textOf(attributes, name),
      numbers: (name: string) => numbersOf(attributes, name),
      names: [...attributes.keys()],
    };
    return {
      kind: "other",
      text: mapping,
      definition: (assumeWgs84) => ({ crs: projectionOfGridMapping(reader, { assumeWgs84 }), unitM: 1 }),
    };
  }
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
