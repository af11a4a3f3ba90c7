import type { SeededRandom } from "../../seededRandom.ts";
import { type GeneratedRequest, queryParametersOf, encodeRequest } from "./requests.ts";
import { type JsonSchema, resolveReference } from "./publishedDocument.ts";

/** A request made invalid by one mutation, and the location of the mutation. */
export interface MutatedRequest {
  readonly what: string;
  readonly target: string;
  readonly body: string | undefined;
  readonly location: { readonly parameter: string } | { readonly pointer: string };
}

interface Mutation {
  readonly what: string;
  readonly pointer: string;
  /** The whole value with the mutation in it. */
  readonly value: unknown;
}

/** Returns mutations that make a valid value invalid, here or at any depth. */
function mutationsOf(random: SeededRandom, schema: JsonSchema, value: unknown): Mutation[] {
  const shape = resolveReference(schema);
  const here = (what: string, invalid: unknown): Mutation => ({ what, pointer: "", value: invalid });
  const below = (name: string | number, mutation: Mutation, whole: (member: unknown) => unknown): Mutation => ({
    what: mutation.what,
    pointer: `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}${mutation.pointer}`,
    value: whole(mutation.value),
  });
  if (shape.enum !== undefined)
    return [here("unknown choice", "unknown choice"), here("null", null), here("a list", [])];
  if (shape.anyOf !== undefined) {
    const alternatives = shape.anyOf.map(resolveReference);
    const isAccepted = (type: string): boolean => alternatives.some((alternative) => alternative.type === type);
    return [
      ...(isAccepted("null") ? [] : [here("null", null)]),
      here("a list", []),
      ...(isAccepted("object") ? [] : [here("an object", {})]),
      here("not a number", "1,000"),
      here("empty", ""),
    ];
  }
  if (typeof shape.type === "object") {
    // Of the types of a value that may be null, null is the only one without mutations of its own.
    const type = shape.type.find((each) => each !== "null");
    if (value === null || type === undefined) return [here("a list", [])];
    return mutationsOf(random, { ...shape, type }, value).filter((mutation) => mutation.value !== null);
  }
  switch (shape.type) {
    case "object": {
      const { properties = {}, required = [], additionalProperties } = shape;
      const members = value as Readonly<Record<string, unknown>>;
      const mutations = [here("text", "text"), here("null", null), here("a list", []), here("a number", 7)];
      for (const name of required) {
        const { [name]: _omitted, ...rest } = members;
        mutations.push({ what: "omitted", pointer: `/${name}`, value: rest });
      }
      if (additionalProperties === false) {
        const name = random.pick(["zzz", "a/b~c", "latitude2"]);
        mutations.push(below(name, here("unknown", 1), (member) => ({ ...members, [name]: member })));
      }
      for (const [name, member] of Object.entries(members)) {
        const described = properties[name];
        if (described === undefined) continue;
        for (const mutation of mutationsOf(random, described, member)) {
          mutations.push(below(name, mutation, (invalid) => ({ ...members, [name]: invalid })));
        }
      }
      return mutations;
    }
    case "array": {
      const { items = {}, minItems = 0, maxItems, uniqueItems } = shape;
      const list = value as readonly unknown[];
      const mutations = [here("text", "text"), here("null", null), here("an object", {})];
      if (minItems > 0) mutations.push(here("emptied", []));
      if (maxItems === 1) mutations.push(here("doubled", [...list, ...list]));
      if (uniqueItems === true) {
        mutations.push(below(list.length, here("duplicated", list[0]), (again) => [...list, again]));
      }
      const index = random.below(list.length);
      if (list.length > 0) {
        for (const mutation of mutationsOf(random, items, list[index])) {
          mutations.push(below(index, mutation, (invalid) => list.with(index, invalid)));
        }
      }
      return mutations;
    }
    case "boolean":
      return [here("text", "yes"), here("a number", 1), here("null", null)];
    case "integer":
    case "number": {
      const mutations = [
        here("text", "many"),
        here("null", null),
        here("true", true),
        here("a list", [1]),
        here("an object", {}),
      ];
      if (shape.minimum !== undefined) mutations.push(here("too small", shape.minimum - marginOf(shape.minimum)));
      if (shape.maximum !== undefined) mutations.push(here("too large", shape.maximum + marginOf(shape.maximum)));
      if (shape.type === "integer") mutations.push(here("a fraction", (value as number) + 0.5));
      return mutations;
    }
    default: {
      const mutations = [here("a number", 7), here("null", null), here("an object", {}), here("true", false)];
      if (shape.minLength !== undefined) mutations.push(here("empty", ""));
      if (shape.maxLength !== undefined) mutations.push(here("too long", "x".repeat(shape.maxLength + 1)));
      if (shape.pattern !== undefined) mutations.push(here("a control character", "a\u0007"));
      return mutations;
    }
  }
}

/** Returns a difference that changes a bound of any size: 1 is lost in the rounding of 1e18. */
function marginOf(bound: number): number {
  return Math.max(1, Math.abs(bound) / 1000);
}

/** Returns texts that are invalid for a parameter. */
function invalidTexts(schema: JsonSchema, value: unknown): readonly (readonly [what: string, text: string])[] {
  const shape = resolveReference(schema);
  if (shape.enum !== undefined)
    return [
      ["unknown choice", "nothing"],
      ["empty", ""],
    ];
  switch (shape.type) {
    case "array": {
      const list = (value ?? []) as readonly unknown[];
      return [
        ["emptied", ""],
        ["an empty item", `${String(list)},`],
        ["unknown item", "nothing"],
        ["duplicated", `${String(list)},${String(list[0])}`],
      ];
    }
    case "boolean":
      return [
        ["a number", "1"],
        ["capitals", "TRUE"],
        ["empty", ""],
      ];
    case "integer":
    case "number":
      return [
        ["text", "many"],
        ["empty", ""],
        ["hexadecimal", "0x10"],
        ["infinite", "1e999"],
        ...(shape.minimum === undefined ? [] : [["too small", String(shape.minimum - 1)] as const]),
        ...(shape.maximum === undefined ? [] : [["too large", String(shape.maximum + 1)] as const]),
        ...(shape.type === "integer" ? [["a fraction", "1.5"] as const] : []),
      ];
    default:
      if (shape.format === "date")
        return [
          ["nonexistent day", "2024-02-30"],
          ["text", "today"],
          ["empty", ""],
        ];
      if (shape.format === "uuid")
        return [
          ["not a UUID", "42"],
          ["empty", ""],
        ];
      return [];
  }
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join() : `${value as string | number | boolean}`;
}

/** Returns a valid request with one random mutation. */
export function mutateRequest(random: SeededRandom, request: GeneratedRequest): MutatedRequest {
  const { operation, parameters, body } = request;
  const all: MutatedRequest[] = [];
  for (const { name, schema, required } of queryParametersOf(operation)) {
    const location = { parameter: name };
    const given = parameters[name];
    for (const [what, text] of invalidTexts(schema, given)) {
      all.push({ ...encodeRequest({ ...request, parameters: { ...parameters, [name]: text } }), what, location });
    }
    if (required) {
      all.push({
        ...encodeRequest({ ...request, parameters: { ...parameters, [name]: undefined } }),
        what: "omitted",
        location,
      });
    }
    if (given !== undefined) {
      const { target, ...rest } = encodeRequest(request);
      all.push({
        ...rest,
        target: `${target}&${name}=${encodeURIComponent(textOf(given))}`,
        what: "repeated",
        location,
      });
      const bare = encodeRequest({ ...request, parameters: { ...parameters, [name]: undefined } }).target;
      all.push({ ...rest, target: `${bare}${bare.includes("?") ? "&" : "?"}${name}=%ff`, what: "not UTF-8", location });
    }
  }
  const unknown = { ...request, parameters: { ...parameters, zzz: 1 } };
  all.push({ ...encodeRequest(unknown), what: "unknown", location: { parameter: "zzz" } });
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const bodyMutations = schema === undefined ? [] : mutationsOf(random, schema, body);
  // Bodies have more members than queries, so they are mutated more often.
  if (bodyMutations.length > 0 && random.chance(0.8)) {
    const { what, pointer, value } = random.pick(bodyMutations);
    return { ...encodeRequest({ ...request, body: value }), what, location: { pointer } };
  }
  return random.pick(all);
}
