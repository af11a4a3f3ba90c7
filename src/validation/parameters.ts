import { FAULT_ITEM_COUNT_MAX, type FaultItem } from "../errors.ts";
import { type SchemaError, quote, type ValueSchema, unknownNameItem } from "./schemaErrors.ts";

/**
 * The decoded query string of a URL: one parameter per member, lists separated by commas, numbers as
 * `[-]digits[.digits][e[+|-]digits]`, booleans as `true` or `false`.
 *
 * A plus sign is literal, not a space as in HTML forms: no accepted value contains a space, and `1e+1` is a number.
 */
export interface DecodedParameters {
  /** Unvalidated input. Text that cannot be parsed as the type of its member is kept as a string. */
  readonly input: Readonly<Record<string, unknown>>;
  /**
   * Errors of the query string itself: invalid encoding, unknown and repeated names. After `FAULT_ITEM_COUNT_MAX` errors,
   * the rest of the query string is not decoded.
   */
  readonly items: readonly FaultItem[];
  /** Known members that have an error in `items`; validation skips them. */
  readonly refused: ReadonlySet<string>;
}

/**
 * Decodes a query string without validating the values.
 *
 * @param queryText the part after the question mark, percent-encoded
 * @param members schema of each accepted parameter, by name
 */
export function decodeParameters(queryText: string, members: Readonly<Record<string, ValueSchema>>): DecodedParameters {
  const input: Record<string, unknown> = {};
  const items: FaultItem[] = [];
  const refused = new Set<string>();
  const seen = new Set<string>();

  for (const pair of queryText.split("&")) {
    if (items.length === FAULT_ITEM_COUNT_MAX) break;
    if (pair === "") continue;
    const equalsIndex = pair.indexOf("=");
    const nameText = equalsIndex < 0 ? pair : pair.slice(0, equalsIndex);
    const name = decodePercent(nameText);
    if (name === undefined) {
      items.push(malformedParameter(nameText));
      continue;
    }
    const schema = Object.hasOwn(members, name) ? members[name] : undefined;
    if (seen.has(name)) {
      // One error per parameter, regardless of how often it is repeated.
      if (schema !== undefined && !refused.has(name)) {
        const advice = schema.type === "array" ? "; separate its items with commas" : "";
        items.push({ parameter: name, code: "repeated", detail: `${name} must not be given more than once${advice}.` });
        refused.add(name);
        delete input[name];
      }
      continue;
    }
    seen.add(name);
    if (schema === undefined) {
      const errorCount = items.length;
      items.push(unknownNameItem({ parameter: name }, { name, known: Object.keys(members), errorCount }));
      continue;
    }
    const text = decodePercent(equalsIndex < 0 ? "" : pair.slice(equalsIndex + 1));
    if (text === undefined) {
      items.push(malformedParameter(name));
      refused.add(name);
    } else input[name] = parseText(schema, text);
  }
  return { input, items, refused };
}

/** Returns the first value of a parameter, without decoding the others; undefined if it is absent, empty or malformed. */
export function findParameter(queryText: string, name: string): string | undefined {
  const prefix = `${name}=`;
  const pair = queryText.split("&").find((each) => each.startsWith(prefix));
  return pair === undefined ? undefined : decodePercent(pair.slice(prefix.length)) || undefined;
}

/** Converts an error in the decoded object to one of the parameter, which is the first segment of the pointer. */
export function toParameterItem({ pointer, ...error }: SchemaError): FaultItem {
  return { parameter: pointer.split("/")[1] ?? "", ...error };
}

/** A number in a query string, as the source of a regular expression. */
export const NUMBER_PATTERN = String.raw`-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?`;
const NUMBER_PARAMETER = new RegExp(`^${NUMBER_PATTERN}$`);

/** Parses a number; returns text that is not a number unchanged, for the validation to reject. */
export function parseNumber(text: string): number | string {
  return NUMBER_PARAMETER.test(text) ? Number(text) : text;
}

function parseText(schema: ValueSchema, text: string): unknown {
  if (schema.type === "array") {
    return text === "" ? [] : text.split(",").map((itemText) => parseText(schema.items ?? {}, itemText));
  }
  // Text that looks like a number, such as "007", must not be converted if a string is expected.
  if (schema.enum !== undefined || schema.type === "string") return text;
  if (schema.type === "boolean") return text === "true" || text === "false" ? text === "true" : text;
  return parseNumber(text);
}

function malformedParameter(name: string): FaultItem {
  const detail = `${quote(name)} is not valid percent-encoded UTF-8; encode a literal percent sign as %25.`;
  return { parameter: name, code: "malformed", detail };
}

function decodePercent(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
