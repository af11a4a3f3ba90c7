import type { FileMetaData } from "hyparquet";
import { Fault } from "../../errors.ts";
import type { RowError } from "../scores/placeBlock.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { type GeometryPoint, isObject, isWgs84, type Members } from "./jsonMembers.ts";

/** The column of a Parquet file whose geometries locate the places. */
export interface GeometryColumn {
  readonly name: string;
  /** Other columns of geometries, which are kept in hexadecimal. */
  readonly otherNames: readonly string[];
  /** Columns that repeat the extent of geometries and are not kept. */
  readonly coveringNames: readonly string[];
  /** @throws Fault `invalid_request` naming an encoding or a coordinate reference system that is not supported */
  check(): void;
}

/** Finds the primary geometry by the key `geo` (GeoParquet), or the only column of the Parquet type GEOMETRY. */
export function findGeometryColumn({ key_value_metadata: entries, schema }: FileMetaData): GeometryColumn | undefined {
  const geo = entries?.find(({ key }) => key === "geo")?.value;
  if (geo !== undefined) return fromGeoKey(geo);
  const columns = schema.filter(({ logical_type: logical }) => logical?.type === "GEOMETRY");
  const [column] = columns;
  if (column === undefined || columns.length > 1) return undefined;
  const { name, logical_type: logical } = column;
  return {
    name,
    otherNames: [],
    coveringNames: [],
    check: () => checkCrs(name, logical !== undefined && "crs" in logical ? logical.crs : undefined),
  };
}

function fromGeoKey(text: string): GeometryColumn {
  let geo: unknown;
  try {
    geo = JSON.parse(text);
  } catch (cause) {
    throw new Fault("invalid_request", "The key geo of the GeoParquet file is not valid JSON.", { cause });
  }
  const columns = isObject(geo) && isObject(geo["columns"]) ? geo["columns"] : {};
  const primary = isObject(geo) ? geo["primary_column"] : undefined;
  const column = typeof primary === "string" && Object.hasOwn(columns, primary) ? columns[primary] : undefined;
  if (typeof primary !== "string" || !isObject(column)) {
    throw new Fault("invalid_request", "The key geo of the GeoParquet file does not describe its primary_column.");
  }
  return {
    name: primary,
    otherNames: Object.keys(columns).filter((name) => name !== primary),
    coveringNames: coveringNamesOf(Object.values(columns)),
    check: () => checkColumn(primary, column),
  };
}

function coveringNamesOf(columns: readonly unknown[]): readonly string[] {
  return columns.flatMap((column) => {
    const covering = isObject(column) && isObject(column["covering"]) ? column["covering"]["bbox"] : undefined;
    const paths = isObject(covering) ? Object.values(covering) : [];
    return paths.flatMap((path) => (Array.isArray(path) && typeof path[0] === "string" ? [path[0]] : []));
  });
}

function checkColumn(name: string, { encoding, crs }: Members): void {
  if (encoding !== "WKB") {
    const message = `The geometry in column ${quote(name)} must be encoded as WKB (got ${quote(encoding)}).`;
    throw new Fault("invalid_request", message);
  }
  checkCrs(name, crs);
}

/** @param crs PROJJSON or a name; undefined means OGC:CRS84, and null an unknown system */
function checkCrs(columnName: string, crs: unknown): void {
  if (crs === undefined) return;
  const name = crsName(crs);
  if (name !== undefined && isWgs84(name)) return;
  const got =
    name === undefined ? (crs === null ? "an unknown system" : "a system without an identifier") : quote(name);
  throw new Fault(
    "invalid_request",
    `The coordinate reference system of column ${quote(columnName)} must be OGC:CRS84 or EPSG:4326 (got ${got}); reproject the file, or use columns with latitude and longitude.`,
  );
}

function crsName(crs: unknown): string | undefined {
  if (typeof crs === "string") return crs;
  if (!isObject(crs)) return undefined;
  const { id, name } = crs;
  if (isObject(id)) return `${String(id["authority"])}:${String(id["code"])}`;
  return typeof name === "string" ? name : undefined;
}

const GEOMETRY_TYPES = [
  "Geometry",
  "Point",
  "LineString",
  "Polygon",
  "MultiPoint",
  "MultiLineString",
  "MultiPolygon",
  "GeometryCollection",
];
const RULE = "it must be a WKB point";

/** Reads a point in WKB (ISO or extended), without its height and measure. */
export function readWkbPoint(bytes: Uint8Array | null): GeometryPoint {
  if (bytes === null) return failed("geometry_missing", `the geometry is missing; ${RULE}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const order = bytes[0];
  if (bytes.length < 5 || order === undefined || order > 1)
    return failed("geometry_invalid", `the WKB is damaged; ${RULE}`);
  const isLittleEndian = order === 1;
  const code = view.getUint32(1, isLittleEndian);
  const type = (code & 0x0fffffff) % 1000;
  if (type !== 1) {
    const name = GEOMETRY_TYPES[type] ?? `number ${type}`;
    return failed("geometry_invalid", `the geometry is of the type ${name}; ${RULE}`);
  }
  const hasSrid = (code & 0x20000000) !== 0;
  const start = hasSrid ? 9 : 5;
  if (bytes.length < start + 16) return failed("geometry_invalid", `the WKB is damaged; ${RULE}`);
  if (hasSrid && ![0, 4326].includes(view.getUint32(5, isLittleEndian))) {
    const srid = view.getUint32(5, isLittleEndian);
    return failed("geometry_invalid", `the geometry is in the system ${srid}; it must be 4326`);
  }
  const longitude = view.getFloat64(start, isLittleEndian);
  const latitude = view.getFloat64(start + 8, isLittleEndian);
  if (Number.isNaN(longitude) && Number.isNaN(latitude)) return failed("geometry_missing", "the point is empty");
  return { latitude, longitude };
}

function failed(reason: RowError["reason"], message: string): GeometryPoint {
  return { error: { reason, message } };
}
