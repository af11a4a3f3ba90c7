import { FAULT_ITEM_COUNT_MAX, Fault, type FaultCode, type FaultDescription, type FaultItem } from "./errors.ts";

/**
 * The part of JSON Schema that requests and options are described with. Options also have the types `function` and
 * `signal` (an AbortSignal).
 */
export interface ValueSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: ValueSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[] | undefined;
  /** `false`: a member that is not described is a fault; else it is nobody's business. */
  readonly additionalProperties?: unknown;
}

/** A finding inside an object or list that was handed in. */
export type SchemaError = FaultDescription & { readonly pointer: string };

/** Text this long is no slip of the pen, and comparing it costs its length squared. */
const SUGGESTION_LENGTH_MAX = 64;
const QUOTE_LENGTH_MAX = 60;

/**
 * Everything that keeps a value from having the shape, at most 100 items, each with a JSON pointer.
 * This is the slow road, taken only when the compiled check has said no; a member that is `undefined` is absent, as
 * there.
 *
 * @param whole how a sentence calls the value, where it stands, and which of its members somebody else has found fault
 *   with already
 */
export function findSchemaErrors(
  shape: ValueSchema,
  value: unknown,
  whole: { readonly name: string; readonly pointer?: string; readonly skip?: ReadonlySet<string> },
): SchemaError[] {
  const items: SchemaError[] = [];
  collectErrors(items, { shape, value, pointer: "", skip: new Set(), ...whole });
  return items.slice(0, FAULT_ITEM_COUNT_MAX);
}

interface Place {
  readonly shape: ValueSchema;
  readonly value: unknown;
  readonly pointer: string;
  /** How a sentence calls it. */
  readonly name: string;
  readonly skip?: ReadonlySet<string>;
}

function collectErrors(items: SchemaError[], place: Place): void {
  if (place.shape.enum !== undefined) collectChoiceErrors(items, place);
  else if (place.shape.type === "object") collectObjectErrors(items, place);
  else if (place.shape.type === "array") collectListErrors(items, place);
  else if (place.shape.type === "boolean") {
    if (typeof place.value !== "boolean") items.push(wrongType(place));
  } else if (place.shape.type === "string") {
    if (typeof place.value !== "string") items.push(wrongType(place));
  } else if (place.shape.type === "function") {
    if (typeof place.value !== "function") items.push(wrongType(place));
  } else if (place.shape.type === "signal") {
    if (!isAbortSignal(place.value)) items.push(wrongType(place));
  } else collectNumberErrors(items, place);
}

/** Whether a value is an AbortSignal, of this realm or of another. */
export function isAbortSignal(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "aborted" in value &&
    "addEventListener" in value &&
    "throwIfAborted" in value
  );
}

function collectObjectErrors(items: SchemaError[], place: Place): void {
  const { shape, value, pointer, skip } = place;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    items.push(wrongType(place));
    return;
  }
  const members = shape.properties ?? {};
  const given = value as Readonly<Record<string, unknown>>;
  for (const [name, member] of Object.entries(members)) {
    if (skip?.has(name)) continue;
    const at = `${pointer}/${pointerToken(name)}`;
    // As the compiled check sees it: inherited members count, `undefined` ones do not.
    if (given[name] !== undefined) collectErrors(items, { shape: member, value: given[name], pointer: at, name });
    else if (shape.required?.includes(name)) {
      items.push({ pointer: at, code: "missing", detail: `${name} is missing; give ${expected(member)}.` });
    }
  }
  if (shape.additionalProperties !== false) return;
  for (const item of findUnknownMembers(given, {
    known: Object.keys(members),
    pointer,
    ...(skip === undefined ? {} : { skip }),
  })) {
    if (items.length >= FAULT_ITEM_COUNT_MAX) return;
    items.push(item);
  }
}

/**
 * Finds the members of an object that are not among the known ones.
 *
 * @param aliases known members by other names for them, which no distance between letters would find
 */
export function findUnknownMembers(
  given: object,
  rule: {
    readonly known: readonly string[];
    readonly pointer?: string;
    readonly skip?: ReadonlySet<string>;
    readonly aliases?: Readonly<Record<string, string>>;
  },
): SchemaError[] {
  const { known, pointer = "", skip, aliases = {} } = rule;
  return Object.getOwnPropertyNames(given)
    .filter((name) => !known.includes(name) && skip?.has(name) !== true)
    .map((name) => {
      const meant = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
      const where = { pointer: `${pointer}/${pointerToken(name)}` };
      return unknownNameItem(where, { name, known, ...(meant === undefined ? {} : { meant }) });
    });
}

/**
 * Checks the options of a function: members that do not exist, and values of the wrong type or out of range.
 *
 * @param name how a sentence calls them
 * @throws Fault of the code, with every fault at once
 */
export function checkOptions(
  options: unknown,
  shape: ValueSchema,
  { code, name = "The options", items: others = [] }: OptionCheck = { code: "invalid_request" },
): void {
  const items = [...others, ...findSchemaErrors(shape, options, { name })].slice(0, FAULT_ITEM_COUNT_MAX);
  if (items.length > 0) throw new Fault(code, summarizeItems(items, "the options"), { items });
}

interface OptionCheck {
  readonly code: FaultCode;
  readonly name?: string;
  /** Faults that were found elsewhere. */
  readonly items?: readonly FaultItem[];
}

/** The first fault of several, and how many there are. */
export function summarizeItems(items: readonly FaultItem[], what: string): string {
  const first = items[0]?.detail ?? "";
  if (items.length === 1) return first;
  const count = items.length === FAULT_ITEM_COUNT_MAX ? `At least ${items.length}` : String(items.length);
  return `${count} things are wrong with ${what}. The first: ${first}`;
}

function collectListErrors(items: SchemaError[], place: Place): void {
  const { shape, value, pointer, name } = place;
  if (!Array.isArray(value)) {
    items.push(wrongType(place));
    return;
  }
  if (value.length < (shape.minItems ?? 0)) {
    items.push({ pointer, code: "empty", detail: `${name} is an empty list; give ${expected(shape)}.` });
  }
  if (value.length > (shape.maxItems ?? Infinity)) {
    const detail = `${name} has ${value.length} items; ${shape.maxItems} are allowed: give ${expected(shape)}.`;
    items.push({ pointer, code: "too_many", detail });
  }
  const seen = new Set<unknown>();
  for (let index = 0; index < value.length && items.length < FAULT_ITEM_COUNT_MAX; index++) {
    const item: unknown = value[index];
    const at = `${pointer}/${index}`;
    if (shape.uniqueItems === true && seen.has(item)) {
      const detail = `${name} names ${quote(item)} more than once; give each item once.`;
      items.push({ pointer: at, code: "duplicate", detail });
      continue;
    }
    seen.add(item);
    if (shape.items !== undefined) collectErrors(items, { shape: shape.items, value: item, pointer: at, name });
  }
}

function collectChoiceErrors(items: SchemaError[], place: Place): void {
  const { shape, value, pointer, name } = place;
  const allowed = shape.enum ?? [];
  if ((allowed as readonly unknown[]).includes(value)) return;
  const meant = typeof value === "string" ? closestMatch(value, allowed.map(String)) : undefined;
  items.push({
    pointer,
    code: typeof value === "string" ? "not_allowed" : "wrong_type",
    detail: `${name}: ${quote(value)} is not one of ${allowed.join(", ")}${meantClause(meant)}`,
    allowed,
    ...(meant === undefined ? {} : { did_you_mean: meant }),
  });
}

function collectNumberErrors(items: SchemaError[], place: Place): void {
  const { shape, value, pointer, name } = place;
  if (typeof value !== "number") items.push(wrongType(place));
  else if (!Number.isFinite(value)) {
    items.push({ pointer, code: "not_finite", detail: `${name} must be ${expected(shape)}, not ${value}.` });
  } else if (shape.type === "integer" && !Number.isInteger(value)) items.push(wrongType(place));
  else if (!isInRange(shape, value)) {
    items.push({ pointer, code: "out_of_range", detail: `${name} must be ${expected(shape)}, not ${value}.` });
  }
}

function isInRange({ minimum = -Infinity, exclusiveMinimum, maximum = Infinity }: ValueSchema, value: number): boolean {
  return value >= minimum && value <= maximum && (exclusiveMinimum === undefined || value > exclusiveMinimum);
}

function wrongType({ shape, value, pointer, name }: Place): SchemaError {
  return { pointer, code: "wrong_type", detail: `${name} must be ${expected(shape)}, not ${quote(value)}.` };
}

/** A name that we do not know, with the one that may have been meant. */
export function unknownNameItem<Where extends { readonly pointer: string } | { readonly parameter: string }>(
  place: Where,
  {
    name,
    known,
    meant = closestMatch(name, known),
  }: { readonly name: string; readonly known: readonly string[]; readonly meant?: string | undefined },
): Where & FaultDescription {
  const what = "pointer" in place ? "member" : "parameter";
  return {
    ...place,
    code: "unknown",
    detail: `There is no ${what} ${quote(name)}; known are ${known.join(", ")}${meantClause(meant)}`,
    allowed: known,
    ...(meant === undefined ? {} : { did_you_mean: meant }),
  };
}

/** What would be right, as it reads after "must be" and "give". */
function expected(shape: ValueSchema): string {
  if (shape.enum !== undefined) return `one of ${shape.enum.join(", ")}`;
  switch (shape.type) {
    case "object":
      return shape.properties === undefined
        ? "an object"
        : `an object with ${Object.keys(shape.properties).join(", ")}`;
    case "array":
      return shape.minItems === 1 && shape.maxItems === 1
        ? `a list with exactly one item, ${expected(shape.items ?? {})}`
        : `a list, each item ${expected(shape.items ?? {})}`;
    case "boolean":
      return "true or false";
    case "string":
      return "text";
    case "function":
      return "a function";
    case "signal":
      return "an AbortSignal";
    default:
      return expectedNumber(shape);
  }
}

function expectedNumber({ type, minimum, exclusiveMinimum, maximum }: ValueSchema): string {
  const kind = type === "integer" ? "a whole number" : "a number";
  if (exclusiveMinimum !== undefined) {
    return `${kind} above ${exclusiveMinimum}${maximum === undefined ? "" : `, at most ${maximum}`}`;
  }
  if (minimum === undefined) return kind;
  return maximum === undefined ? `${kind} of ${minimum} or more` : `${kind} from ${minimum} to ${maximum}`;
}

/** A value as a message may show it: short, on one line, its kind plain to see. */
export function quote(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > QUOTE_LENGTH_MAX ? `${value.slice(0, QUOTE_LENGTH_MAX)}...` : value);
  }
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function meantClause(meant: string | undefined): string {
  return meant === undefined ? "." : `; did you mean ${meant}?`;
}

/** RFC 6901: `~` and `/` inside a name are written `~0` and `~1`. */
function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/**
 * The one candidate that `given` is a slip or an abbreviation of, if there is exactly one nearest. Case and
 * the choice between `-`, `.`, space and `_` do not count; at most a third of the letters may be wrong.
 */
export function closestMatch(given: string, candidates: readonly string[]): string | undefined {
  if (given.length > SUGGESTION_LENGTH_MAX) return undefined;
  const plain = folded(given);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(plain, folded(candidate)) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(plain.length / 3)))
    .toSorted((one, other) => one.distance - other.distance);
  const [best, second] = ranked;
  if (best !== undefined) return best.distance === second?.distance ? undefined : best.candidate;
  const longer = candidates.filter((candidate) => plain.length >= 3 && folded(candidate).startsWith(plain));
  return longer.length === 1 ? longer[0] : undefined;
}

function folded(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[-. ]/g, "_");
}

/** Fewest insertions, deletions, replacements and swaps of neighbours (Damerau's distance, each letter touched once). */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
