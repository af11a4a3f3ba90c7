/**
 * Coordinate systems by EPSG code: UTM zones and about 300 national and continental projections (../data/epsgCodes.csv,
 * ../data/utmCodes.csv), taken from the EPSG Geodetic Parameter Dataset (epsg.org).
 */
import { type CrsDefinition, WGS84_ELLIPSOID } from "../crsDefinition.ts";
import { EPSG_CODE_ROWS } from "../data/epsgCodes.generated.ts";
import { UTM_CODE_ROWS } from "../data/utmCodes.generated.ts";
import { datumOfGeographicCode, unchangedDatum } from "./datums.ts";
import { crsDefinition, type GivenParameters, isProjectionMethod, webMercator } from "./methods.ts";

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
