/** Reads a coordinate system from text in any supported notation. */
import { crsOfEpsg } from "./epsg.ts";
import { SUPPORTED_PROJECTIONS } from "./methods.ts";
import { crsOfProjString, type ParsedCrs } from "./projString.ts";
import { crsOfWkt } from "./wkt.ts";

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
