import { closestMatch } from "./closestMatch.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultCode, type FaultDescription, type FaultItem } from "../errors.ts";

/**
 * The subset of JSON Schema that describes requests and options, extended by the types `function` and `signal` (an
 * AbortSignal) for options.
 */
export interface ValueSchema {
  /** A list contains two accepted types, one of which is `null`. */
  readonly type?: string | readonly string[];
  /** Alternatives of different types. */
  readonly anyOf?: readonly ValueSchema[];
  readonly const?: string | number | boolean;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  /** Lengths of a string in characters (code points). */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Values shown in messages about the pattern. */
  readonly examples?: readonly string[];
  readonly items?: ValueSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[] | undefined;
  /** The schema of all members, as the only entry, for objects without `properties`. */
  readonly patternProperties?: Readonly<Record<string, ValueSchema>>;
  /** `false` rejects members that are not in `properties`; any other value ignores them. */
  readonly additionalProperties?: unknown;
}

/** An error at a JSON pointer of a validated value. */
export type SchemaError = FaultDescription & { readonly pointer: string };

const QUOTE_LENGTH_MAX = 60;

/** Number of the first errors of a value for which a suggestion is searched; each search takes tens of microseconds. */
const SUGGESTION_COUNT_MAX = 10;

/**
 * Returns the schema violations of a value, at most 100, each with a JSON pointer. Slower than a compiled validator, so
 * callers use it only for values that the validator rejected. Both treat members that are `undefined` as absent.
 *
 * @param name name of the value in messages
 * @param pointer location of the value
 * @param skip members that already have an error and are not checked again
 */
export function findSchemaErrors(
  schema: ValueSchema,
  value: unknown,
  root: { readonly name: string; readonly pointer?: string; readonly skip?: ReadonlySet<string> },
): SchemaError[] {
  const items: SchemaError[] = [];
  collectErrors(items, { schema, value, pointer: "", skip: new Set(), ...root });
  return items.slice(0, FAULT_ITEM_COUNT_MAX);
}

interface ValueAtPointer {
  readonly schema: ValueSchema;
  readonly value: unknown;
  readonly pointer: string;
  /** Name of the value in messages. */
  readonly name: string;
  readonly skip?: ReadonlySet<string>;
}

function collectErrors(items: SchemaError[], target: ValueAtPointer): void {
  if (target.schema.anyOf !== undefined || Array.isArray(target.schema.type)) collectUnionErrors(items, target);
  else if (target.schema.enum !== undefined) collectChoiceErrors(items, target);
  else if (target.schema.type === "object") collectObjectErrors(items, target);
  else if (target.schema.type === "array") collectListErrors(items, target);
  else if (target.schema.type === "boolean") {
    if (typeof target.value !== "boolean") items.push(wrongType(target));
  } else if (target.schema.type === "string") {
    collectTextErrors(items, target);
  } else if (target.schema.type === "function") {
    if (typeof target.value !== "function") items.push(wrongType(target));
  } else if (target.schema.type === "signal") {
    if (!isAbortSignal(target.value)) items.push(wrongType(target));
  } else collectNumberErrors(items, target);
}

/** Reports the errors of the alternative that has the type of the value. */
function collectUnionErrors(items: SchemaError[], target: ValueAtPointer): void {
  const { schema, value, pointer, name } = target;
  const alternative = alternativesOf(schema).find((candidate) => hasTypeOf(candidate, value));
  if (alternative === undefined) items.push(wrongType(target));
  else if (alternative.const === undefined) {
    if (alternative.type !== "null") collectErrors(items, { ...target, schema: alternative });
  } else if (alternative.const !== value) {
    const detail = `${name} must be ${expected(schema)} (got ${quote(value)}).`;
    items.push({ pointer, code: "not_allowed", detail });
  }
}

function alternativesOf(schema: ValueSchema): readonly ValueSchema[] {
  const { anyOf, type } = schema;
  return anyOf ?? (Array.isArray(type) ? type.map((each: string) => ({ ...schema, type: each })) : [schema]);
}

function hasTypeOf({ type, const: constant, enum: choices }: ValueSchema, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "integer") return typeof value === "number";
  return typeof value === (type ?? typeof (constant ?? choices?.[0]));
}

/** Returns whether a value is an AbortSignal, from any realm. */
export function isAbortSignal(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "aborted" in value &&
    "addEventListener" in value &&
    "throwIfAborted" in value
  );
}

function collectObjectErrors(items: SchemaError[], target: ValueAtPointer): void {
  const { schema, value, pointer, skip } = target;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    items.push(wrongType(target));
    return;
  }
  const given = value as Readonly<Record<string, unknown>>;
  const [anyMember] = Object.values(schema.patternProperties ?? {});
  const members =
    anyMember === undefined
      ? (schema.properties ?? {})
      : Object.fromEntries(Object.keys(given).map((name) => [name, anyMember]));
  for (const [name, member] of Object.entries(members)) {
    if (skip?.has(name)) continue;
    const memberPointer = `${pointer}/${pointerToken(name)}`;
    // As in the compiled validator, inherited members are present and `undefined` ones are absent.
    if (given[name] !== undefined)
      collectErrors(items, { schema: member, value: given[name], pointer: memberPointer, name });
    else if (schema.required?.includes(name)) {
      items.push({
        pointer: memberPointer,
        code: "missing",
        detail: `${name} is required and must be ${expected(member)}.`,
      });
    }
  }
  if (schema.additionalProperties !== false) return;
  const rule = { known: Object.keys(members), pointer, errorCount: items.length };
  items.push(...findUnknownMembers(given, skip === undefined ? rule : { ...rule, skip }));
}

/**
 * Returns an error for each own member of an object whose name is not known, as long as the value has no more than
 * `FAULT_ITEM_COUNT_MAX` errors.
 *
 * @param aliases maps names that callers may use by mistake to the known members, if the spelling is too different for
 *   `closestMatch`
 */
export function findUnknownMembers(
  given: object,
  rule: {
    readonly known: readonly string[];
    readonly pointer?: string;
    readonly skip?: ReadonlySet<string>;
    readonly aliases?: Readonly<Record<string, string>>;
    /** Errors of the value that have been found before. */
    readonly errorCount?: number;
  },
): SchemaError[] {
  const { known, pointer = "", skip, aliases = {}, errorCount = 0 } = rule;
  return Object.getOwnPropertyNames(given)
    .filter((name) => !known.includes(name) && skip?.has(name) !== true)
    .slice(0, Math.max(0, FAULT_ITEM_COUNT_MAX - errorCount))
    .map((name, index) => {
      const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
      const location = { pointer: `${pointer}/${pointerToken(name)}` };
      return unknownNameItem(location, { name, known, alias, errorCount: errorCount + index });
    });
}

/**
 * Rejects options with unknown members, or with values of the wrong type or out of range.
 *
 * @param name name of the options in messages
 * @throws Fault of the code, with all errors
 */
export function checkOptions(
  options: unknown,
  schema: ValueSchema,
  { code, name = "The options", items: others = [] }: OptionCheck = { code: "invalid_request" },
): void {
  const items = [...others, ...findSchemaErrors(schema, options, { name })].slice(0, FAULT_ITEM_COUNT_MAX);
  if (items.length > 0) throw new Fault(code, summarizeItems(items, "the options"), { items });
}

interface OptionCheck {
  readonly code: FaultCode;
  readonly name?: string;
  /** Errors that the caller found, listed first. */
  readonly items?: readonly FaultItem[];
}

/** Returns the first error, preceded by the number of errors if there are several. */
export function summarizeItems(items: readonly FaultItem[], subject: string): string {
  const first = items[0]?.detail ?? "";
  if (items.length === 1) return first;
  const count = items.length === FAULT_ITEM_COUNT_MAX ? `At least ${items.length}` : String(items.length);
  return `${count} errors in ${subject}. The first: ${first}`;
}

function collectListErrors(items: SchemaError[], target: ValueAtPointer): void {
  const { schema, value, pointer, name } = target;
  if (!Array.isArray(value)) {
    items.push(wrongType(target));
    return;
  }
  if (value.length < (schema.minItems ?? 0)) {
    items.push(
      value.length === 0
        ? { pointer, code: "empty", detail: `${name} must not be empty; it must be ${expected(schema)}.` }
        : { pointer, code: "out_of_range", detail: `${name} must be ${expected(schema)} (got ${value.length}).` },
    );
  }
  if (value.length > (schema.maxItems ?? Infinity)) {
    const detail = `${name} must be ${expected(schema)} (got ${value.length} items).`;
    items.push({ pointer, code: "too_many", detail });
  }
  const seen = new Set<unknown>();
  for (let index = 0; index < value.length && items.length < FAULT_ITEM_COUNT_MAX; index++) {
    const item: unknown = value[index];
    const itemPointer = `${pointer}/${index}`;
    if (schema.uniqueItems === true && seen.has(item)) {
      const detail = `${name} must not contain ${quote(item)} more than once.`;
      items.push({ pointer: itemPointer, code: "duplicate", detail });
      continue;
    }
    seen.add(item);
    if (schema.items !== undefined)
      collectErrors(items, { schema: schema.items, value: item, pointer: itemPointer, name });
  }
}

function collectChoiceErrors(items: SchemaError[], target: ValueAtPointer): void {
  const { schema, value, pointer, name } = target;
  const allowed = schema.enum ?? [];
  if ((allowed as readonly unknown[]).includes(value)) return;
  const isCompared = typeof value === "string" && items.length < SUGGESTION_COUNT_MAX;
  const suggestion = isCompared ? closestMatch(value, allowed.map(String)) : undefined;
  items.push({
    pointer,
    code: typeof value === "string" ? "not_allowed" : "wrong_type",
    detail: `${name} must be ${oneOf(allowed)} (got ${quote(value)})${suggestionClause(suggestion)}`,
    allowed,
    ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
  });
}

function collectTextErrors(items: SchemaError[], target: ValueAtPointer): void {
  const { schema, value, pointer, name } = target;
  if (typeof value !== "string") {
    items.push(wrongType(target));
    return;
  }
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  const { length } = Array.from(value); // code points
  if (length < minLength || length > maxLength) {
    const detail = `${name} must be ${expected(schema)} (got ${length} characters).`;
    items.push({ pointer, code: "out_of_range", detail });
  } else if (pattern !== undefined && !new RegExp(pattern, "u").test(value)) {
    items.push({ pointer, code: "malformed", detail: `${name} must be ${expected(schema)} (got ${quote(value)}).` });
  }
}

function collectNumberErrors(items: SchemaError[], target: ValueAtPointer): void {
  const { schema, value, pointer, name } = target;
  if (typeof value !== "number") items.push(wrongType(target));
  else if (!Number.isFinite(value)) {
    items.push({ pointer, code: "not_finite", detail: `${name} must be ${expected(schema)} (got ${value}).` });
  } else if (schema.type === "integer" && !Number.isInteger(value)) items.push(wrongType(target));
  else if (!isInRange(schema, value)) {
    items.push({ pointer, code: "out_of_range", detail: `${name} must be ${expectedRange(schema)} (got ${value}).` });
  }
}

function isInRange({ minimum = -Infinity, exclusiveMinimum, maximum = Infinity }: ValueSchema, value: number): boolean {
  return value >= minimum && value <= maximum && (exclusiveMinimum === undefined || value > exclusiveMinimum);
}

function wrongType({ schema, value, pointer, name }: ValueAtPointer): SchemaError {
  return { pointer, code: "wrong_type", detail: `${name} must be ${expected(schema)} (got ${quote(value)}).` };
}

/**
 * Returns the error for an unknown member or parameter, with a suggestion if exactly one known name is similar.
 *
 * @param options `alias`: the suggestion, if it is known; `errorCount`: errors of the value that have been found before
 */
export function unknownNameItem<Where extends { readonly pointer: string } | { readonly parameter: string }>(
  location: Where,
  {
    name,
    known,
    alias,
    errorCount,
  }: {
    readonly name: string;
    readonly known: readonly string[];
    readonly alias?: string | undefined;
    readonly errorCount: number;
  },
): Where & FaultDescription {
  const suggestion = alias ?? (errorCount < SUGGESTION_COUNT_MAX ? closestMatch(name, known) : undefined);
  const kind = "pointer" in location ? "member" : "parameter";
  return {
    ...location,
    code: "unknown",
    detail: `Unknown ${kind} ${quote(name)} (known: ${known.join(", ")})${suggestionClause(suggestion)}`,
    allowed: known,
    ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
  };
}

/** Returns a phrase for the accepted values, to follow "must be". */
function expected(schema: ValueSchema): string {
  if (schema.const !== undefined) return String(schema.const);
  if (schema.anyOf !== undefined || Array.isArray(schema.type)) {
    const nonNullAlternatives = alternativesOf(schema).filter(({ type }) => type !== "null");
    return nonNullAlternatives.map(expected).join(", or ");
  }
  if (schema.enum !== undefined) return oneOf(schema.enum);
  switch (schema.type) {
    case "object":
      return Object.keys(schema.properties ?? {}).length === 0
        ? "an object"
        : `an object with ${Object.keys(schema.properties ?? {}).join(", ")}`;
    case "array":
      return expectedList(schema);
    case "boolean":
      return "true or false";
    case "string":
      return expectedText(schema);
    case "function":
      return "a function";
    case "signal":
      return "an AbortSignal";
    default:
      return expectedNumber(schema);
  }
}

function oneOf(values: readonly (string | number)[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(", ")}`;
}

function expectedText({ minLength, maxLength, pattern, examples: [example] = [] }: ValueSchema): string {
  if (pattern !== undefined) {
    return `text that matches ${pattern}${example === undefined ? "" : `, such as ${example}`}`;
  }
  if (maxLength !== undefined) return `text of ${minLength ?? 0} to ${maxLength} characters`;
  return minLength === 1 ? "text that is not empty" : "text";
}

function expectedList({ minItems, maxItems, items = {} }: ValueSchema): string {
  if (minItems === 1 && maxItems === 1) return `an array with exactly one item, ${expected(items)}`;
  if (minItems !== undefined && minItems > 1 && maxItems !== undefined) {
    return `an array of ${minItems} to ${maxItems} items, each ${expected(items)}`;
  }
  return maxItems === undefined
    ? `an array, each item ${expected(items)}`
    : `an array of at most ${maxItems} items, each ${expected(items)}`;
}

function expectedNumber(schema: ValueSchema): string {
  const range = expectedRange(schema);
  const kind = schema.type === "integer" ? "an integer" : "a number";
  if (range === "") return kind;
  return range.startsWith("at ") ? `${kind} of ${range}` : `${kind} ${range}`;
}

function expectedRange({ minimum, exclusiveMinimum, maximum }: ValueSchema): string {
  if (exclusiveMinimum !== undefined) {
    return `greater than ${exclusiveMinimum}${maximum === undefined ? "" : ` and at most ${maximum}`}`;
  }
  if (minimum !== undefined && maximum !== undefined) return `between ${minimum} and ${maximum}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  return maximum === undefined ? "" : `at most ${maximum}`;
}

/** Formats a value for a message: short, on one line, and with strings in quotes. */
export function quote(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > QUOTE_LENGTH_MAX ? `${value.slice(0, QUOTE_LENGTH_MAX)}...` : value);
  }
  if (Array.isArray(value)) return "an array";
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function suggestionClause(suggestion: string | undefined): string {
  return suggestion === undefined ? "." : `; did you mean ${suggestion}?`;
}

/** Escapes a name for a JSON pointer (RFC 6901): `~` becomes `~0` and `/` becomes `~1`. */
export function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
