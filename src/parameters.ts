import type { FaultItem } from "./errors.ts";
import { type SchemaError, quote, type ValueSchema, unknownNameItem } from "./schemaErrors.ts";

/**
 * The query part of an address: one parameter a member, lists separated by commas, numbers written
 * `-?digits[.digits][e[+-]digits]`, `true` or `false`.
 *
 * A plus sign stands for itself, not for a space as in HTML forms: no value of ours has a space in it, and `1e+1` is a
 * number.
 */
export interface DecodedParameters {
  /** To be checked like any other input: what does not read as its member's kind has stayed text. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What cannot even be checked: broken encoding, unknown and repeated names. */
  readonly items: readonly FaultItem[];
  /** The members that `items` speaks of: they are not missing. */
  readonly refused: ReadonlySet<string>;
}

/**
 * @param queryText what follows the question mark, still percent-encoded
 * @param members every parameter there is, with what it holds
 */
export function decodeParameters(queryText: string, members: Readonly<Record<string, ValueSchema>>): DecodedParameters {
  const input: Record<string, unknown> = {};
  const items: FaultItem[] = [];
  const refused = new Set<string>();
  const seen = new Set<string>();

  for (const pair of queryText.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const nameText = equals < 0 ? pair : pair.slice(0, equals);
    const name = percentDecoded(nameText);
    if (name === undefined) {
      items.push(malformed(nameText));
      continue;
    }
    const shape = Object.hasOwn(members, name) ? members[name] : undefined;
    if (seen.has(name)) {
      // Once said is enough, however often it comes.
      if (shape !== undefined && !refused.has(name)) {
        const how = shape.type === "array" ? "give its items separated by commas" : "give it once";
        items.push({ parameter: name, code: "repeated", detail: `${name} is given more than once; ${how}.` });
        refused.add(name);
        delete input[name];
      }
      continue;
    }
    seen.add(name);
    if (shape === undefined) {
      items.push(unknownNameItem({ parameter: name }, { name, known: Object.keys(members) }));
      continue;
    }
    const text = percentDecoded(equals < 0 ? "" : pair.slice(equals + 1));
    if (text === undefined) {
      items.push(malformed(name));
      refused.add(name);
    } else input[name] = readText(shape, text);
  }
  return { input, items, refused };
}

/** What was found in the decoded object, as the caller sees it: the first step of the pointer is the parameter. */
export function toParameterItem({ pointer, ...finding }: SchemaError): FaultItem {
  return { parameter: pointer.split("/")[1] ?? "", ...finding };
}

const NUMBER = /^-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$/;

/** The number that a text stands for. What does not read as one stays text, which a check then refuses. */
export function parseNumber(text: string): number | string {
  return NUMBER.test(text) ? Number(text) : text;
}

function readText(shape: ValueSchema, text: string): unknown {
  if (shape.type === "array") {
    return text === "" ? [] : text.split(",").map((itemText) => readText(shape.items ?? {}, itemText));
  }
  // "007" is no number where text belongs.
  if (shape.enum !== undefined || shape.type === "string") return text;
  if (shape.type === "boolean") return text === "true" || text === "false" ? text === "true" : text;
  return parseNumber(text);
}

function malformed(name: string): FaultItem {
  const detail = `${quote(name)} holds percent signs that do not stand for UTF-8; write a percent sign itself as %25.`;
  return { parameter: name, code: "malformed", detail };
}

function percentDecoded(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
