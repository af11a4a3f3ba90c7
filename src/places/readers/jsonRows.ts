import { isFault } from "../../errors.ts";
import { parseJson, positionAfter } from "../../text/json/json.ts";
import type { RowError } from "../scores/placeBlock.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { INVALID_UTF8, INVALID_UTF8_MARK } from "../../text/utf8Text.ts";
import { exactMembers, isObject, mayLoseDigits, type Members } from "./jsonMembers.ts";
import { type JsonRecord, memberTexts } from "./jsonRecords.ts";

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
