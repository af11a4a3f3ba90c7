import type { SeededRandom } from "../../seededRandom.ts";
import { type GeneratedRequest, queryParametersOf, written } from "./requests.ts";
import { type JsonSchema, resolved } from "./publishedDocument.ts";

/** A request that one thing is wrong with, and where. */
export interface MutatedRequest {
  readonly what: string;
  readonly target: string;
  readonly body: string | undefined;
  readonly place: { readonly parameter: string } | { readonly pointer: string };
}

interface Change {
  readonly what: string;
  readonly pointer: string;
  /** The value at the top with the change in it; absent where the top is to be absent. */
  readonly value: unknown;
}

/** Changes that make a right value wrong, at this place or below it. */
function changesOf(random: SeededRandom, schema: JsonSchema, value: unknown): Change[] {
  const shape = resolved(schema);
  const here = (what: string, wrong: unknown): Change => ({ what, pointer: "", value: wrong });
  const below = (name: string | number, change: Change, whole: (member: unknown) => unknown): Change => ({
    what: change.what,
    pointer: `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}${change.pointer}`,
    value: whole(change.value),
  });
  if (shape.enum !== undefined)
    return [here("no such choice", "no such choice"), here("null", null), here("a list", [])];
  if (shape.anyOf !== undefined) {
    return [
      here("null", null),
      here("a list", []),
      here("an object", {}),
      here("no number", "1,000"),
      here("empty", ""),
    ];
  }
  switch (shape.type) {
    case "object": {
      const { properties = {}, required = [], additionalProperties } = shape;
      const members = value as Readonly<Record<string, unknown>>;
      const changes = [here("text", "text"), here("null", null), here("a list", []), here("a number", 7)];
      for (const name of required) {
        const { [name]: _left, ...rest } = members;
        changes.push({ what: "left out", pointer: `/${name}`, value: rest });
      }
      if (additionalProperties === false) {
        const name = random.pick(["zzz", "a/b~c", "latitude2"]);
        changes.push(below(name, here("not known", 1), (member) => ({ ...members, [name]: member })));
      }
      for (const [name, member] of Object.entries(members)) {
        const described = properties[name];
        if (described === undefined) continue;
        for (const change of changesOf(random, described, member)) {
          changes.push(below(name, change, (wrong) => ({ ...members, [name]: wrong })));
        }
      }
      return changes;
    }
    case "array": {
      const { items = {}, minItems = 0, maxItems, uniqueItems } = shape;
      const list = value as readonly unknown[];
      const changes = [here("text", "text"), here("null", null), here("an object", {})];
      if (minItems > 0) changes.push(here("emptied", []));
      if (maxItems === 1) changes.push(here("doubled", [...list, ...list]));
      if (uniqueItems === true) {
        changes.push(below(list.length, here("said twice", list[0]), (again) => [...list, again]));
      }
      const index = random.below(list.length);
      if (list.length > 0) {
        for (const change of changesOf(random, items, list[index])) {
          changes.push(below(index, change, (wrong) => list.with(index, wrong)));
        }
      }
      return changes;
    }
    case "boolean":
      return [here("text", "yes"), here("a number", 1), here("null", null)];
    case "integer":
    case "number": {
      const changes = [
        here("text", "many"),
        here("null", null),
        here("true", true),
        here("a list", [1]),
        here("an object", {}),
      ];
      if (shape.minimum !== undefined) changes.push(here("too small", shape.minimum - 1));
      if (shape.maximum !== undefined) changes.push(here("too large", shape.maximum + 1));
      if (shape.type === "integer") changes.push(here("a fraction", (value as number) + 0.5));
      return changes;
    }
    default: {
      const changes = [here("a number", 7), here("null", null), here("an object", {}), here("true", false)];
      if (shape.minLength !== undefined) changes.push(here("empty", ""));
      if (shape.maxLength !== undefined) changes.push(here("too long", "x".repeat(shape.maxLength + 1)));
      if (shape.pattern !== undefined) changes.push(here("a control character", "a\u0007"));
      return changes;
    }
  }
}

/** Texts that do not read as what a parameter holds. */
function wrongTexts(schema: JsonSchema, value: unknown): readonly (readonly [what: string, text: string])[] {
  const shape = resolved(schema);
  if (shape.enum !== undefined)
    return [
      ["no such choice", "nothing"],
      ["empty", ""],
    ];
  switch (shape.type) {
    case "array": {
      const list = (value ?? []) as readonly unknown[];
      return [
        ["emptied", ""],
        ["an empty item", `${String(list)},`],
        ["no such item", "nothing"],
        ["said twice", `${String(list)},${String(list[0])}`],
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
          ["no such day", "2024-02-30"],
          ["text", "today"],
          ["empty", ""],
        ];
      if (shape.format === "uuid")
        return [
          ["no UUID", "42"],
          ["empty", ""],
        ];
      return [];
  }
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join() : `${value as string | number | boolean}`;
}

/** A right request with one thing made wrong. */
export function mutated(random: SeededRandom, request: GeneratedRequest): MutatedRequest {
  const { operation, parameters, body } = request;
  const all: MutatedRequest[] = [];
  for (const { name, schema, required } of queryParametersOf(operation)) {
    const place = { parameter: name };
    const given = parameters[name];
    for (const [what, text] of wrongTexts(schema, given)) {
      all.push({ ...written({ ...request, parameters: { ...parameters, [name]: text } }), what, place });
    }
    if (required) {
      all.push({
        ...written({ ...request, parameters: { ...parameters, [name]: undefined } }),
        what: "left out",
        place,
      });
    }
    if (given !== undefined) {
      const { target, ...rest } = written(request);
      all.push({ ...rest, target: `${target}&${name}=${encodeURIComponent(textOf(given))}`, what: "repeated", place });
      const bare = written({ ...request, parameters: { ...parameters, [name]: undefined } }).target;
      all.push({ ...rest, target: `${bare}${bare.includes("?") ? "&" : "?"}${name}=%ff`, what: "no UTF-8", place });
    }
  }
  const unknown = { ...request, parameters: { ...parameters, zzz: 1 } };
  all.push({ ...written(unknown), what: "not known", place: { parameter: "zzz" } });
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const ofBody = schema === undefined ? [] : changesOf(random, schema, body);
  // The body more often than the address, since there is more of it.
  if (ofBody.length > 0 && random.chance(0.8)) {
    const { what, pointer, value } = random.pick(ofBody);
    return { ...written({ ...request, body: value }), what, place: { pointer } };
  }
  return random.pick(all);
}
