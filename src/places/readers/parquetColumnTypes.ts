import type { SchemaElement } from "hyparquet";
import { Fault } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { KeptColumn, KeptValue } from "../scores/placeBlock.ts";
import { timestampText, timestampType } from "../timestamps.ts";
import { check } from "./parquetFile.ts";

/** How the stored values of a column are kept. */
export interface ColumnType {
  readonly type: KeptColumn["type"];
  /**
   * Undefined if values are kept as stored.
   * @throws ParquetDamage if a stored value is impossible
   */
  readonly convert?: (stored: unknown) => KeptValue;
}

const DAY_MS = 86_400_000;
/** The last day that Date represents, on both sides of 1970. */
const DATE_DAYS_MAX = 100_000_000;
/** Decimals with more digits are kept as text, because a number would round them. */
const DECIMAL_DIGITS_MAX = 15;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Binary values, such as geometries that do not locate the places. */
export const HEXADECIMAL: ColumnType = { type: "text", convert: (stored) => hexadecimal(stored as Uint8Array) };

/** Returns how a column is kept; undefined if its type is not supported. */
export function columnTypeOf(element: SchemaElement): ColumnType | undefined {
  const { type, converted_type: converted, logical_type: logical, scale = 0, precision = 0 } = element;
  if (logical?.type === "DECIMAL") return decimalType(logical.scale, logical.precision);
  if (converted === "DECIMAL") return decimalType(scale, precision);
  if (logical?.type === "DATE" || converted === "DATE") return { type: "text", convert: dateText };
  if (logical?.type === "TIMESTAMP") return timestampColumn(logical.unit, logical.isAdjustedToUTC);
  if (converted === "TIMESTAMP_MILLIS") return timestampColumn("MILLIS", true);
  if (converted === "TIMESTAMP_MICROS") return timestampColumn("MICROS", true);
  if (logical?.type === "TIME") return timeType(logical.unit);
  if (converted === "TIME_MILLIS") return timeType("MILLIS");
  if (converted === "TIME_MICROS") return timeType("MICROS");
  if (converted === "BSON" || converted === "INTERVAL" || logical?.type === "VARIANT") return undefined;
  const isUnsigned = (logical?.type === "INTEGER" && !logical.isSigned) || converted?.startsWith("UINT_") === true;
  switch (type) {
    case "BOOLEAN":
      return { type: "boolean" };
    case "INT32":
      return isUnsigned ? { type: "integer", convert: (stored) => Number(stored) >>> 0 } : { type: "integer" };
    case "INT64":
      // Unsigned integers of 64 bits may exceed the largest signed one.
      return isUnsigned
        ? { type: "text", convert: (stored) => String(BigInt.asUintN(64, stored as bigint)) }
        : { type: "integer" };
    case "INT96":
      // It has nanoseconds also in years that an integer of 64 bits cannot hold.
      return { type: "text", convert: (stored) => timestampText(stored as bigint, INT96_TIMESTAMP) };
    case "FLOAT":
    case "DOUBLE":
      return { type: "number" };
    case "FIXED_LEN_BYTE_ARRAY":
      if (logical?.type === "UUID") return { type: "text", convert: (stored) => uuidText(stored as Uint8Array) };
      if (logical?.type === "FLOAT16") return { type: "number", convert: (stored) => float16(stored as Uint8Array) };
      return HEXADECIMAL;
    case "BYTE_ARRAY":
      return logical?.type === "GEOMETRY" || logical?.type === "GEOGRAPHY"
        ? HEXADECIMAL
        : { type: "text", convert: (stored) => textOf(stored as Uint8Array, element) };
    default:
      return undefined;
  }
}

/** Columns without a type may have text, as those of older programs, or binary values. */
function textOf(bytes: Uint8Array, { name, converted_type: converted, logical_type: logical }: SchemaElement): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    check(converted === undefined && logical === undefined, "a text that is not UTF-8");
    const message = `The column ${quote(name)} has binary values, which are not text; leave it out of the file.`;
    throw new Fault("invalid_request", message, { details: { column: name }, cause });
  }
}

function hexadecimal(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function uuidText(bytes: Uint8Array): string {
  return hexadecimal(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function float16(bytes: Uint8Array): number {
  const bits = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8);
  const sign = bits >> 15 === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * 2 ** -14 * (fraction / 1024);
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}

function decimalType(scale: number, precision: number): ColumnType | undefined {
  if (!(scale >= 0 && scale <= 1000 && precision >= 0)) return undefined;
  if (precision > DECIMAL_DIGITS_MAX) return { type: "text", convert: (stored) => decimalText(stored, scale) };
  // Division rounds correctly, because both numbers are exact.
  return { type: "number", convert: (stored) => Number(unscaled(stored)) / 10 ** scale };
}

function unscaled(stored: unknown): bigint {
  if (!(stored instanceof Uint8Array)) return BigInt(stored as number | bigint);
  return stored.length === 0 ? 0n : BigInt.asIntN(stored.length * 8, BigInt(`0x${hexadecimal(stored)}`));
}

function decimalText(stored: unknown, scale: number): string {
  const value = unscaled(stored);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0");
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return value < 0n ? `-${text}` : text;
}

function dateText(stored: unknown): string {
  const days = Number(stored);
  check(Math.abs(days) <= DATE_DAYS_MAX, "a date that is out of range");
  return new Date(days * DAY_MS).toISOString().replace("T00:00:00.000Z", "");
}

const INT96_TIMESTAMP = { digits: 9, isUtc: false };

function timestampColumn(unit: "MILLIS" | "MICROS" | "NANOS", isUtc: boolean): ColumnType {
  return { type: timestampType(unit, isUtc), convert: (stored) => BigInt(stored as number | bigint) };
}

/** Times of the day are kept as text. */
function timeType(unit: "MILLIS" | "MICROS" | "NANOS"): ColumnType {
  const digits = { MILLIS: 3, MICROS: 6, NANOS: 9 }[unit];
  return {
    type: "text",
    convert(stored) {
      const value = BigInt(stored as number | bigint);
      const seconds = value / 10n ** BigInt(digits);
      check(value >= 0n && seconds < 86_400n, "a time that is out of range");
      const [hour, minute, second] = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n];
      const clock = [hour, minute, second].map((part) => String(part).padStart(2, "0")).join(":");
      return `${clock}.${String(value % 10n ** BigInt(digits)).padStart(digits, "0")}`;
    },
  };
}
