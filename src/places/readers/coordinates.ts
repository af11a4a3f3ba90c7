import { RADIUS_KM_MAX } from "../../contract/ranges.ts";
import type { KeptValue, RowError } from "../scores/placeBlock.ts";
import { quote } from "../../validation/schemaErrors.ts";

/** A numeric column of places: what it means, and the values that are accepted. */
export interface CoordinateColumn {
  readonly name: string;
  readonly kind: "latitude" | "longitude" | "radius";
}

export const LIMITS = { latitude: 90, longitude: 180, radius: RADIUS_KM_MAX } as const;

/** A number in the notation of CSV and JSON files. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const NINE = 0x39;
const PLUS = 0x2b;

/** Returns the number that a value holds, also as text; NaN if it holds none. */
export function numberIn(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string") return NaN;
  const first = value.charCodeAt(0);
  // Number() also accepts spaces, the empty text and prefixes such as 0x, so that only plain texts go to it unchecked.
  if (first >= PLUS && first <= NINE && !(value.charCodeAt(1) > NINE)) return Number(value);
  const text = value.trim();
  return NUMBER.test(text) ? Number(text) : NaN;
}

/** Returns whether a number is accepted as a value of a column. NaN is not. */
export function isInLimits(kind: CoordinateColumn["kind"], number: number): boolean {
  return number <= LIMITS[kind] && number >= (kind === "radius" ? 0 : -LIMITS[kind]);
}

/** Returns why a value is not accepted. */
export function coordinateError({ name, kind }: CoordinateColumn, value: KeptValue): RowError {
  const unit = kind === "radius" ? "kilometers" : "degrees";
  const range = `${kind === "radius" ? 0 : -LIMITS[kind]} and ${LIMITS[kind]} ${unit}`;
  const subject = `${kind} in column ${quote(name)}`;
  const number = numberIn(value);
  if (isMissing(value)) {
    const reason = kind === "radius" ? "radius_invalid" : (`${kind}_missing` as const);
    return { reason, message: `${subject} is missing; it must be between ${range}` };
  }
  const reason = `${kind}_invalid` as const;
  const got = `(got ${shown(value)})`;
  if (!Number.isNaN(number)) {
    const hint =
      kind === "longitude" && number > 180 && number <= 360 ? "; subtract 360 from longitudes above 180" : "";
    return { reason, message: `${subject} must be between ${range} ${got}${hint}` };
  }
  return { reason, message: `${subject} must be a number between ${range} ${got}${notationHint(value)}` };
}

function isMissing(value: KeptValue): boolean {
  return value === null || (typeof value === "string" && value.trim() === "");
}

function shown(value: KeptValue): string {
  return typeof value === "bigint" ? String(value) : quote(value);
}

function notationHint(value: KeptValue): string {
  if (typeof value !== "string") return "";
  const text = value.trim();
  if (/^[+-]?\d+,\d+$/.test(text)) return `; write ${text.replace(",", ".")} with a decimal point`;
  if (/^[+-]?\d[\d\s.,]*[°º'’′"”″:]|^[NSEWO]?\s*[+-]?\d[\d\s.,°º'’′"”″:]*[NSEWO]?$/i.test(text)) {
    return "; write decimal degrees such as -33.8568 instead of degrees, minutes or compass directions";
  }
  return "";
}
