/** Reads a coordinate system from text in any supported notation. */
import type { CrsDefinition, ParsedCrs } from "../crsDefinition.ts";
import { crsOfEpsg } from "./epsg.ts";
import { SUPPORTED_PROJECTIONS } from "./methods.ts";
import { crsOfProjString } from "./projString.ts";
import { crsOfWkt, northAxisIsFirst } from "./wkt.ts";

/**
 * Reads an EPSG code (`EPSG:32633`), a PROJ string or well-known text.
 *
 * @param options `assumeWgs84`: uses coordinates without a datum as WGS84 coordinates
 * @throws Error, a predicate about the text, naming what is not supported
 */
export function crsOfText(text: string, options: { readonly assumeWgs84: boolean }): ParsedCrs {
  const trimmed = text.trim();
  const code = /^(?:urn:ogc:def:crs:)?(EPSG|OGC):(?:[\d.]*:)?(\w+)$/i.exec(trimmed);
  if (code !== null) {
    const [, authority = "", name = ""] = code;
    if (authority.toUpperCase() === "EPSG" && /^\d{4,6}$/.test(name)) return { crs: epsgCrs(Number(name)), unitM: 1 };
    if (authority.toUpperCase() === "OGC" && name.toUpperCase() === "CRS84") return { crs: epsgCrs(4326), unitM: 1 };
    throw new Error(`is in the coordinate system ${trimmed.slice(0, 80)}, which is not known`);
  }
  if (trimmed.startsWith("+")) return crsOfProjString(trimmed, options);
  if (/^[A-Za-z_]\w*\s*[[(]/.test(trimmed)) return crsOfWkt(trimmed, options);
  throw new Error(
    `has the coordinate system ${JSON.stringify(trimmed.slice(0, 80))}; an EPSG code, a PROJ string or well-known text is expected`,
  );
}

/**
 * Returns the coordinate system with an EPSG code.
 * @throws Error if the code is not in the tables
 */
export function epsgCrs(code: number): ParsedCrs["crs"] {
  const crs = crsOfEpsg(code);
  if (crs !== undefined) return crs;
  throw new Error(
    `is in the coordinate system EPSG:${code}, which is not among the supported codes (UTM and about 300 others). ` +
      `Describe it by its parameters, with gdal_edit.py -a_srs and a PROJ string, or convert the map with gdalwarp -t_srs EPSG:4326. ` +
      SUPPORTED_PROJECTIONS,
  );
}

/**
 * Returns the order of axes with which GDAL maps x and y of a map to the axes of a coordinate system: "2,1" if its first axis is
 * to the north, otherwise "1,2". An EPSG code of a projected coordinate system does not state its axes: undefined.
 */
export function axisOrderOf(text: string): "1,2" | "2,1" | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith("+")) return "1,2";
  if (/^[A-Za-z_]\w*\s*[[(]/.test(trimmed)) return northAxisIsFirst(trimmed) ? "2,1" : "1,2";
  const code = Number(/^EPSG:(\d{4,6})$/i.exec(trimmed)?.[1]);
  return crsOfEpsg(code)?.method === "longlat" ? "2,1" : undefined;
}

/** Largest relative difference of two parameters that are written with different precision. */
const PARAMETER_TOLERANCE = 1e-9;

/** Returns whether two definitions place cells equally, whatever their names are. */
export function isSameCrs(a: ParsedCrs, b: ParsedCrs): boolean {
  const isNear = (first: number, second: number): boolean =>
    Math.abs(first - second) <= PARAMETER_TOLERANCE * Math.max(1, Math.abs(first), Math.abs(second));
  const numbersOf = ({ parameters, ellipsoid, datum }: CrsDefinition): Readonly<Record<string, number>> => ({
    ...parameters,
    k_0: parameters.k_0 ?? 1,
    semiMajorM: ellipsoid.semiMajorM,
    inverseFlattening: ellipsoid.inverseFlattening,
    ...(datum.kind === "helmert"
      ? Object.fromEntries(datum.toWgs84.map((value, index) => [`toWgs84 ${index}`, value]))
      : {}),
  });
  const [first, second] = [numbersOf(a.crs), numbersOf(b.crs)];
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return (
    a.crs.method === b.crs.method &&
    a.crs.datum.kind === b.crs.datum.kind &&
    isNear(a.unitM, b.unitM) &&
    [...names].every((name) => isNear(first[name] ?? 0, second[name] ?? 0))
  );
}
