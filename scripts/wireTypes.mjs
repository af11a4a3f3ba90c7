// Derives the TypeScript types of src/contract/wireTypes.ts from the schemas of src/contract/.

const LINE_LENGTH_MAX = 120;
const SUFFIX = "Schema";

const HEADER = `/**
 * The types of all requests and responses. Generated from the schemas of src/contract/ by \`npm run build:wire-types\`: edit
 * the schemas, not this file.
 *
 * The types are written out, not derived with \`Static\`, so that editors show the description of each member, and so that
 * users of the types do not load TypeBox.
 */
`;

/**
 * Returns the text of the file. Each export \`XSchema\` becomes the type X, and
 * schemas refer to each other by these names.
 *
 * @param {readonly Readonly<Record<string, unknown>>[]} modules the exports of the modules with the schemas
 */
export function wireTypesText(modules) {
  const schemas = modules.flatMap((module) =>
    Object.entries(module)
      .toSorted(([name], [other]) => (name < other ? -1 : 1))
      .filter(([name]) => name.endsWith(SUFFIX) && typeof module[name] === "object")
      .map(([name, schema]) => ({ name: name.slice(0, -SUFFIX.length), schema })),
  );
  const names = new Map(schemas.map(({ name, schema }) => [coreOf(schema), name]));
  if (names.size !== schemas.length) throw new Error("two exported schemas have the same members");
  const writer = new TypeWriter(names);
  const members = schemas.map(({ name }) => `  readonly ${name}: ${name};\n`).join("");
  return [
    HEADER,
    ...schemas.map(({ name, schema }) => writer.declaration(name, schema)),
    `/** All types by name. */\nexport interface WireTypes {\n${members}}\n`,
  ].join("\n");
}

/**
 * Returns the part of a schema that its variants share, such as its optional form or a copy with another description.
 */
function coreOf(schema) {
  return schema.properties ?? schema.anyOf ?? schema.enum ?? schema;
}

class TypeWriter {
  #names;
  constructor(names) {
    this.#names = names;
  }

  declaration(name, schema) {
    const doc = docOf(schema, 0);
    const text = this.#text(schema, 0);
    return schema.properties === undefined
      ? `${doc}export type ${name} = ${text};\n`
      : `${doc}export interface ${name} ${text}\n`;
  }

  /** Returns a reference to a named type, or the type written out. */
  #type(schema, depth) {
    return this.#names.get(coreOf(schema)) ?? this.#text(schema, depth);
  }

  #text(schema, depth) {
    const known = schema["~knownValues"];
    // An intersection, because a plain string would absorb the known values.
    if (known !== undefined) return `${this.#names.get(known) ?? known.map(literal).join(" | ")} | (string & {})`;
    if (schema.enum !== undefined) return schema.enum.map(literal).join(" | ");
    if ("const" in schema) return literal(schema.const);
    if (schema.anyOf !== undefined) return schema.anyOf.map((each) => this.#type(each, depth)).join(" | ");
    if (schema.not !== undefined && Object.keys(schema.not).length === 0) return "never";
    if (Array.isArray(schema.type)) return schema.type.join(" | ");
    switch (schema.type) {
      case "array":
        return this.#list(schema, depth);
      case "object":
        return schema.properties === undefined ? this.#record(schema, depth) : this.#members(schema, depth);
      case "integer":
        return "number";
      case "string":
      case "number":
      case "boolean":
      case "null":
        return schema.type;
      case undefined:
        if (Object.keys(schema).every((key) => key === "description")) return "unknown";
    }
    throw new Error(`no type for the schema ${JSON.stringify(schema)}`);
  }

  #list({ items }, depth) {
    const item = this.#type(items, depth);
    return /[ |]/.test(item) && !item.startsWith("{") ? `readonly (${item})[]` : `readonly ${item}[]`;
  }

  #record({ patternProperties }, depth) {
    const [[, value], ...others] = Object.entries(patternProperties);
    if (others.length > 0) throw new Error("a record must have one kind of value");
    return `Readonly<Record<string, ${this.#type(value, depth)}>>`;
  }

  #members({ properties, required = [] }, depth) {
    const indent = "  ".repeat(depth + 1);
    const lines = Object.entries(properties).map(([name, member]) => {
      const mark = required.includes(name) ? "" : "?";
      return `${docOf(member, depth + 1)}${indent}readonly ${name}${mark}: ${this.#type(member, depth + 1)};\n`;
    });
    return `{\n${lines.join("")}${"  ".repeat(depth)}}`;
  }
}

function literal(value) {
  return JSON.stringify(value);
}

/** Returns the comment of a schema: its description, range and default; empty if it has none of these. */
function docOf(schema, depth) {
  const sentences = [schema.description, rangeOf(schema), defaultOf(schema)].filter((text) => text !== undefined);
  if (sentences.length === 0) return "";
  const text = sentences.join(" ").replaceAll("*/", "*\\/");
  const indent = "  ".repeat(depth);
  const singleLine = `${indent}/** ${text} */`;
  if (singleLine.length <= LINE_LENGTH_MAX) return `${singleLine}\n`;
  const lines = wrapped(text, LINE_LENGTH_MAX - indent.length - " * ".length);
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join("")}${indent} */\n`;
}

function rangeOf({ minimum, maximum, minItems, maxItems, uniqueItems, minLength, maxLength, format }) {
  if (format === "uuid") return "UUID.";
  if (maxLength !== undefined) return `${minLength ?? 0} to ${maxLength} characters.`;
  if (minItems !== undefined) {
    const count =
      minItems === maxItems ? "" : maxItems === undefined ? `At least ${minItems}` : `${minItems} to ${maxItems}`;
    const unique = uniqueItems === true ? ", without duplicates" : "";
    return count === "" ? undefined : `${count} item${maxItems === undefined && minItems === 1 ? "" : "s"}${unique}.`;
  }
  if (minimum !== undefined && maximum !== undefined) return `${numberText(minimum)} to ${numberText(maximum)}.`;
  // A minimum of 0 is omitted, because counts and sizes are never negative.
  if (minimum !== undefined && minimum !== 0) return `At least ${numberText(minimum)}.`;
  return maximum === undefined ? undefined : `At most ${numberText(maximum)}.`;
}

function numberText(value) {
  return Math.abs(value) >= 1e9 ? value.toExponential().replace("e+", "e") : String(value);
}

function defaultOf(schema) {
  if (schema.default === undefined) return undefined;
  return `Default: ${Array.isArray(schema.default) ? schema.default.join(", ") : String(schema.default)}.`;
}

function wrapped(text, length) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > length) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
