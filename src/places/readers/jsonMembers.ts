import { Fault, isFault } from "../../errors.ts";
import type { KeptColumn, KeptValue, RowError } from "../scores/placeBlock.ts";
import { type JsonRecord, memberTexts } from "./jsonRecords.ts";
import { parseJson, positionAfter } from "../../text/json/json.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { INVALID_UTF8, INVALID_UTF8_MARK } from "../../text/utf8Text.ts";

export type Members = Readonly<Record<string, unknown>>;

/** `long` are integers beyond 2^53, within 64 bits. */
type MemberType = Exclude<KeptColumn["type"], `timestamp${string}`> | "long";

const COLUMN_COUNT_MAX = 5000;
const INT64_MAX = 2n ** 63n - 1n;

/** Finds integers that a number may not represent, also in texts. */
const LONG_INTEGER = /[:,[\s-]\d{16}/;

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns the members of a JSON object without loss: integers beyond 2^53 become bigint, and objects and lists become
 * their text if it may contain such integers.
 *
 * @param text the text of the object
 */
function exactMembers(text: string, members: Members): Members {
  if (!mayLoseDigits(members) || !LONG_INTEGER.test(text)) return members;
  const exact = Object.create(null) as Record<string, unknown>;
  for (const [name, memberText] of memberTexts(text)) {
    const value = members[name];
    if (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(memberText)) {
      exact[name] = BigInt(memberText);
    } else exact[name] = typeof value === "object" && value !== null ? memberText : value;
  }
  return exact;
}

/** Returns whether the value of a member may differ from its text: a large integer, or a list or object with one. */
function mayLoseDigits(members: Members): boolean {
  for (const name of Object.keys(members)) {
    const value = members[name];
    if (typeof value === "number" ? !Number.isSafeInteger(value) && Number.isInteger(value) : isComposite(value)) {
      return true;
    }
  }
  return false;
}

function isComposite(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** The union of the members of the places of a file, with a type for all values of each. */
export class MemberColumns {
  readonly #types = new Map<string, MemberType | undefined>();

  /** @throws Fault `invalid_request` if there are too many different names */
  add(members: Members): void {
    for (const name of Object.keys(members)) {
      const type = typeOf(members[name]);
      const known = this.#types.get(name);
      if (known === undefined) {
        this.#types.set(name, type);
        if (this.#types.size <= COLUMN_COUNT_MAX) continue;
        const message = `The places have more than ${COLUMN_COUNT_MAX} different members; each becomes a column.`;
        throw new Fault("invalid_request", message);
      }
      if (type !== undefined && type !== known) this.#types.set(name, commonType(known, type));
    }
  }

  /** Columns in the order in which the members first occur. Members that are always null are text. */
  get columns(): readonly KeptColumn[] {
    return [...this.#types].map(([name, type]) => ({ name, type: type === "long" ? "integer" : (type ?? "text") }));
  }
}

function typeOf(value: unknown): MemberType | undefined {
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return Number.isSafeInteger(value) ? "integer" : "number";
    case "bigint":
      return value <= INT64_MAX && value >= -INT64_MAX - 1n ? "long" : "text";
    default:
      return value === null ? undefined : "text";
  }
}

function commonType(one: MemberType, other: MemberType): MemberType {
  const types = [one, other];
  if (!types.includes("integer")) return "text";
  return types.find((type) => type === "long" || type === "number") ?? "text";
}

/** Converts a member to the type of its column. Values without a simpler type become JSON text. */
export function keptValueOf(value: unknown, type: KeptColumn["type"]): KeptValue {
  if (value === null || value === undefined) return null;
  if (type !== "text" || typeof value === "string") return value as KeptValue;
  return typeof value === "bigint" ? String(value) : JSON.stringify(value);
}

/** A place as read from JSON, or why it cannot be read. */
export type JsonRow =
  | {
      readonly members: Members;
      /** Only features have them. */
      readonly id?: unknown;
      readonly geometry?: unknown;
      readonly error?: never;
    }
  | { readonly error: RowError };

/** Returns whether a record is a GeoJSON feature. */
export function isFeature(record: JsonRecord): boolean {
  try {
    const value = parseJson(record.text);
    return isObject(value) && value["type"] === "Feature" && "geometry" in value;
  } catch {
    return false;
  }
}

/** Reads a place. @param isChecked whether it was read before without an error, which saves checks */
export type ReadRow = (record: JsonRecord, isChecked: boolean) => JsonRow;

/** Reads an object whose members are columns. Text that is not JSON or not UTF-8 is the error of its row. */
export function readObject(record: JsonRecord, isChecked: boolean): JsonRow {
  if (!isChecked && INVALID_UTF8_MARK.test(record.text)) return invalidTextError(record);
  let value: unknown;
  try {
    value = parseRecord(record, isChecked);
  } catch (error) {
    if (!isFault(error)) throw error;
    return rowError(error.message.replace(/\.$/, ""));
  }
  return isObject(value)
    ? { members: exactMembers(record.text, value) }
    : rowError(`the row must be a JSON object (got ${quote(value)})`);
}

/**
 * Reads a GeoJSON feature, whose properties are columns. Text that is not UTF-8 is the error of its row.
 * @throws Fault `json_malformed` with line and column if the text is not JSON
 */
export function readFeature(record: JsonRecord, isChecked: boolean): JsonRow {
  if (!isChecked && INVALID_UTF8_MARK.test(record.text)) return invalidTextError(record);
  const value = parseRecord(record, isChecked);
  if (!isObject(value)) return rowError(`the feature must be an object (got ${quote(value)})`);
  const { type, properties = null, geometry } = value;
  if (type !== "Feature") return rowError(`the type must be "Feature" (got ${quote(type)})`);
  if (properties !== null && !isObject(properties)) {
    return rowError(`the properties must be an object (got ${quote(properties)})`);
  }
  const hasExactValues = !mayLoseDigits({ id: value["id"] }) && !mayLoseDigits(properties ?? {});
  const exact = hasExactValues ? value : exactMembers(record.text, value);
  const { id } = exact;
  if (properties === null || exact === value) return { members: properties ?? {}, id, geometry };
  const propertiesText = memberTexts(record.text).get("properties") ?? "{}";
  return { members: exactMembers(propertiesText, properties), id, geometry };
}

function parseRecord(record: JsonRecord, isChecked: boolean): unknown {
  try {
    return isChecked ? (JSON.parse(record.text) as unknown) : parseJson(record.text);
  } catch (error) {
    if (!isFault(error) && !(error instanceof SyntaxError)) throw error;
    return parseJson(record.text, record.position()); // throws with the position in the file, which takes time to find
  }
}

function invalidTextError(record: JsonRecord): JsonRow {
  const validText = record.text.split(INVALID_UTF8_MARK, 1)[0] ?? "";
  const { line, column } = positionAfter(validText, record.position());
  return rowError(`Line ${line}, column ${column}: ${INVALID_UTF8}`);
}

function rowError(message: string): JsonRow {
  return { error: { reason: "row_invalid", message } };
}

/** Coordinates of a geometry in degrees, or why it has none. */
export type GeometryPoint = { readonly latitude: number; readonly longitude: number } | { readonly error: RowError };

const POINT_RULE = "it must be a GeoJSON Point";

/** Reads the geometry of a feature. Only points are accepted. */
export function readPoint(geometry: unknown): GeometryPoint {
  if (geometry === null || geometry === undefined) {
    return { error: { reason: "geometry_missing", message: `the geometry is missing; ${POINT_RULE}` } };
  }
  if (!isObject(geometry)) return invalid(`the geometry is ${quote(geometry)}; ${POINT_RULE}`);
  const { type, coordinates } = geometry;
  if (type !== "Point") return invalid(`the geometry is of the type ${quote(type)}; ${POINT_RULE}`);
  if (!Array.isArray(coordinates) || coordinates.length < 2) {
    return invalid("the coordinates of the geometry must be an array of longitude and latitude");
  }
  const [longitude, latitude] = coordinates as readonly unknown[];
  if (typeof longitude !== "number" || typeof latitude !== "number") {
    return invalid("the coordinates of the geometry must be numbers");
  }
  return { latitude, longitude };
}

function invalid(message: string): GeometryPoint {
  return { error: { reason: "geometry_invalid", message } };
}

/** Names of the coordinate reference systems with longitude and latitude on WGS84. */
const WGS84 = /(?:^|[:/])(?:OGC(?::|\/)+(?:1\.3|0)?(?::|\/)*CRS84h?|EPSG(?::|\/)+[\d.]*(?::|\/)*4326|CRS84)$/i;

/** Returns whether a coordinate reference system, by its name or identifier, is WGS84 in degrees. */
export function isWgs84(name: string): boolean {
  return WGS84.test(name.trim());
}

/**
 * Checks the document around the features.
 * @throws Fault `invalid_request` if it is not a FeatureCollection in WGS84
 */
export function checkFeatureCollection(document: unknown): void {
  if (!isObject(document)) {
    throw new Fault(
      "invalid_request",
      "The file must be a GeoJSON FeatureCollection; an array of objects can be NDJSON.",
    );
  }
  const { type, features, crs } = document;
  if (type !== "FeatureCollection") {
    throw new Fault("invalid_request", `The file must be a GeoJSON FeatureCollection (got the type ${quote(type)}).`);
  }
  if (!Array.isArray(features)) {
    throw new Fault("invalid_request", `features must be an array (got ${quote(features)}).`);
  }
  if (crs === undefined || crs === null) return;
  // GeoJSON of 2008; RFC 7946 always means WGS84.
  const properties = isObject(crs) ? crs["properties"] : undefined;
  const name = isObject(properties) ? properties["name"] : undefined;
  if (typeof name === "string" && isWgs84(name)) return;
  const got = typeof name === "string" ? quote(name) : "a system without a name";
  throw new Fault(
    "invalid_request",
    `The coordinate reference system must be OGC:CRS84 or EPSG:4326 (got ${got}); reproject the file.`,
  );
}
