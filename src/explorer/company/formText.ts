/**
 * Forms as text for the permalink: a JSON object that omits blank members. Links may be old or damaged, so readers ignore
 * members that they do not expect.
 */

/** Longer members of a link are cut, so that a damaged link cannot fill the page. */
const TEXT_LENGTH_MAX = 400;
const LIST_LENGTH_MAX = 100;

/** Returns a JSON object of the members that are not blank. */
export function encodeForm(members: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(withoutBlanks(members));
}

export function withoutBlanks(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== "" && value !== undefined));
}

/** The members of a form that a link contains. */
export class FormReader {
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(members: unknown) {
    this.#members = isObject(members) ? members : {};
  }

  /** Returns a reader, or undefined if the text is not a JSON object. */
  static parse(text: string): FormReader | undefined {
    try {
      const members: unknown = JSON.parse(text);
      return isObject(members) ? new FormReader(members) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns a text; blank if the member is absent or not a text. */
  text(name: string): string {
    const value = this.#member(name);
    return typeof value === "string" ? value.slice(0, TEXT_LENGTH_MAX) : "";
  }

  /** Returns one of the accepted names, or the fallback. */
  choice<Name extends string>(name: string, accepted: readonly Name[], fallback: Name): Name {
    const value = this.#member(name);
    return accepted.find((candidate) => candidate === value) ?? fallback;
  }

  /** Returns those items of a list that are accepted; undefined if the member is not a list. */
  choices<Name extends string>(name: string, accepted: readonly Name[]): readonly Name[] | undefined {
    const items = this.#list(name);
    return items === undefined ? undefined : accepted.filter((candidate) => items.includes(candidate));
  }

  texts(name: string): readonly string[] | undefined {
    return this.#list(name)
      ?.filter((item): item is string => typeof item === "string")
      .map((item) => item.slice(0, TEXT_LENGTH_MAX));
  }

  object(name: string): FormReader {
    return new FormReader(this.#member(name));
  }

  objects(name: string): readonly FormReader[] | undefined {
    return this.#list(name)?.map((item) => new FormReader(item));
  }

  #list(name: string): readonly unknown[] | undefined {
    const value = this.#member(name);
    return Array.isArray(value) ? value.slice(0, LIST_LENGTH_MAX) : undefined;
  }

  #member(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Numbers that people type. */

const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Reads a number without separators, such as `1250000`, `-3.5` or `1.25e6`. Returns undefined for any other text. */
export function parseNumberText(text: string): number | undefined {
  const trimmed = text.trim();
  if (!NUMBER.test(trimmed)) return undefined;
  const value = Number(trimmed);
  // Adding 0 converts -0 to 0.
  return Number.isFinite(value) ? value + 0 : undefined;
}

/** Describes the accepted text, to follow the name of the value. */
export const NUMBER_TEXT_EXPECTED = "must be a number without separators, such as 1250000 or 1.25e6";

/** Returns text for a message, shortened and in quotation marks. */
export function quoteText(text: string): string {
  return `"${text.length > 40 ? `${text.slice(0, 40)}…` : text}"`;
}
