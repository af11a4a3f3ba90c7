import { Fault } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  CR,
  JSON_DEPTH_MAX,
  LF,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from "./jsonScan.ts";

/** A position in a text. Lines end with LF, CR or CRLF; columns are characters. Both are counted from 1. */
export interface JsonPosition {
  readonly line: number;
  readonly column: number;
}

const START: JsonPosition = { line: 1, column: 1 };

/** Returns the position of the end of a text that begins at `origin`. */
export function positionAfter(text: string, origin: JsonPosition): JsonPosition {
  let { line, column } = origin;
  let start = 0;
  if (!text.includes("\r")) {
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      line++;
      column = 1;
      start = end + 1;
    }
  }
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === LF || (code === CR && text.charCodeAt(index + 1) !== LF)) {
      line++;
      column = 1;
    } else if (code !== CR && !(code >= 0xdc00 && code <= 0xdfff)) column++;
  }
  return { line, column };
}

/** Returns the position of the end of UTF-8 text that is divided into parts. A byte order mark is not part of the text. */
export function positionAfterBytes(parts: readonly Uint8Array[]): JsonPosition {
  return positionAfter(new TextDecoder().decode(joined(parts)), START);
}

/** Returns the error of a document that is not the JSON that we accept. */
export function malformedJson({ line, column }: JsonPosition, what: string): Fault {
  return new Fault("json_malformed", `Line ${line}, column ${column}: ${what}.`, { details: { line, column } });
}

/**
 * Encodes a value as JSON. `JSON.stringify` writes NaN and infinities as `null`, which means "no data" in a response:
 * such a number is a bug and must not be reported as missing data.
 *
 * @throws Error with a JSON pointer, if a number is not finite or a list contains `undefined`
 */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Values that JSON cannot represent are written as null, so text without one needs no check.
  if (text.includes("null")) {
    const pointer = findUnencodable(value, "");
    if (pointer !== undefined) throw new Error(`The value at "${pointer}" cannot be encoded as JSON.`);
  }
  return text;
}

/** Returns a JSON pointer to the first value that `JSON.stringify` replaces with null. */
function findUnencodable(value: unknown, pointer: string): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : pointer;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const memberPointer = `${pointer}/${key}`;
    if (member === undefined && Array.isArray(value)) return memberPointer;
    const unencodable = findUnencodable(member, memberPointer);
    if (unencodable !== undefined) return unencodable;
  }
  return undefined;
}

/**
 * Parses a request body whose structure has been checked: a JSON document in UTF-8, with or without a byte order mark.
 *
 * @param parts the document, divided anywhere
 * @throws Fault `json_malformed` as `parseJson` does, and for invalid UTF-8
 */
export function decodeJson(parts: readonly Uint8Array[]): unknown {
  return parseJson(decodeUtf8(joined(parts)));
}

/** Bytes of the last document that had several parts, reused because each would be garbage as large as the document. */
let joinedBytes = new Uint8Array(0);

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first = joinedBytes.subarray(0, 0), ...others] = parts;
  if (others.length === 0) return first;
  const sizeBytes = parts.reduce((size, part) => size + part.length, 0);
  if (sizeBytes > joinedBytes.length) joinedBytes = new Uint8Array(Math.max(sizeBytes, 2 * joinedBytes.length));
  let offset = 0;
  for (const part of parts) {
    joinedBytes.set(part, offset);
    offset += part.length;
  }
  return joinedBytes.subarray(0, sizeBytes);
}

/**
 * Parses JSON (RFC 8259). Stricter than `JSON.parse`, which keeps the last of repeated keys and reads numbers that are
 * too large as infinite.
 *
 * @param origin position of the text within a larger document, for error messages
 * @throws Fault `json_malformed` for invalid grammar, more than 16 levels, a repeated key or a number beyond 1.8e308; its
 *   message and `details` give the line and column of the first error
 */
export function parseJson(text: string, origin = START): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    new Scanner(text, origin).scan(); // throws with the position, which JSON.parse does not report
    throw error;
  }
  if (countMembers(value, JSON_DEPTH_MAX) !== countColons(text)) new Scanner(text, origin).scan();
  return value;
}

/**
 * Returns the number of members of all objects in a value. Fewer than the text has colons: a key is repeated. NaN if the
 * value has more levels than given or a number that is not finite.
 */
function countMembers(value: unknown, levelCount: number): number {
  if (typeof value === "number") return Number.isFinite(value) ? 0 : NaN;
  if (typeof value !== "object" || value === null) return 0;
  if (levelCount === 0) return NaN;
  let count = 0;
  if (Array.isArray(value)) for (const element of value) count += countMembers(element, levelCount - 1);
  else for (const key in value) count += 1 + countMembers(value[key as never], levelCount - 1);
  return count;
}

/** Returns the number of colons outside of the strings of a valid document. */
function countColons(text: string): number {
  let count = 0;
  for (let index = text.indexOf('"'); index >= 0; index = text.indexOf('"', index)) {
    let code = text.charCodeAt(++index);
    for (; code !== QUOTE; code = text.charCodeAt(++index)) if (code === BACKSLASH) index++;
    do code = text.charCodeAt(++index);
    while (code <= SPACE);
    if (code === COLON) count++;
  }
  return count;
}

function decodeUtf8(bytes: Uint8Array): string {
  const decoded = (end: number, isComplete: boolean): string | undefined => {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end), { stream: !isComplete });
    } catch {
      return undefined;
    }
  };
  const text = decoded(bytes.length, true);
  if (text !== undefined) return text;
  // TextDecoder does not report the position of the error, so it is found by bisection over prefixes.
  let validBytes = 0;
  let invalidBytes = bytes.length + 1;
  while (invalidBytes - validBytes > 1) {
    const middle = (validBytes + invalidBytes) >> 1;
    if (decoded(middle, false) === undefined) invalidBytes = middle;
    else validBytes = middle;
  }
  const position = positionAfter(decoded(validBytes, false) ?? "", START);
  throw malformedJson(position, "invalid UTF-8");
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/** Checks a text without building values, which `JSON.parse` does faster. */
class Scanner {
  readonly #text: string;
  readonly #origin: JsonPosition;
  #index = 0;
  #depth = 0;
  /** The keys of the current object at each depth. */
  readonly #keys = Array.from({ length: JSON_DEPTH_MAX + 1 }, () => new Set<string>());

  constructor(text: string, origin: JsonPosition) {
    this.#text = text;
    this.#origin = origin;
  }

  scan(): void {
    this.#value();
    if (this.#index < this.#text.length) this.#reject("the end of the document");
  }

  /** Scans a value and the white space around it. */
  #value(): void {
    this.#space();
    switch (this.#text.charCodeAt(this.#index)) {
      case OPENING_BRACE:
        this.#object();
        break;
      case OPENING_BRACKET:
        this.#list();
        break;
      case QUOTE:
        this.#string();
        break;
      default:
        if (!this.#word()) this.#number();
    }
    this.#space();
  }

  #object(): void {
    const keys = this.#open();
    this.#space();
    if (this.#consume(CLOSING_BRACE)) return this.#close();
    do {
      this.#space();
      const start = this.#index;
      if (this.#text.charCodeAt(start) !== QUOTE) this.#reject("a key in double quotes");
      const key = this.#string();
      if (keys.has(key)) throw this.#fault(start, `the key ${quote(key)} is repeated in this object`);
      keys.add(key);
      this.#space();
      if (!this.#consume(COLON)) this.#reject("a colon");
      this.#value();
    } while (this.#consume(COMMA));
    if (!this.#consume(CLOSING_BRACE)) this.#reject("a comma or the end of the object");
    this.#close();
  }

  #list(): void {
    this.#open();
    this.#space();
    if (this.#consume(CLOSING_BRACKET)) return this.#close();
    do this.#value();
    while (this.#consume(COMMA));
    if (!this.#consume(CLOSING_BRACKET)) this.#reject("a comma or the end of the array");
    this.#close();
  }

  #open(): Set<string> {
    const keys = this.#keys[++this.#depth];
    if (keys === undefined) {
      throw this.#fault(this.#index, `arrays and objects must not be nested more than ${JSON_DEPTH_MAX} levels deep`);
    }
    keys.clear();
    this.#index++;
    return keys;
  }

  #close(): void {
    this.#depth--;
  }

  /** Scans a string. @returns its unescaped text, because differently escaped keys are the same key */
  #string(): string {
    const start = this.#index++;
    let hasEscapes = false;
    for (;;) {
      const code = this.#text.charCodeAt(this.#index);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = this.#index;
        if (!ESCAPE.test(this.#text)) throw this.#fault(this.#index, "invalid escape sequence in a string");
        this.#index = ESCAPE.lastIndex;
        hasEscapes = true;
      } else if (code >= SPACE) this.#index++;
      else if (Number.isNaN(code)) throw this.#fault(start, "the string that begins here is not terminated");
      else throw this.#fault(this.#index, "a control character in a string must be escaped");
    }
    const text = this.#text.slice(start, ++this.#index);
    return hasEscapes ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  #word(): boolean {
    for (const word of ["true", "false", "null"]) {
      if (!this.#text.startsWith(word, this.#index)) continue;
      this.#index += word.length;
      return true;
    }
    return false;
  }

  #number(): void {
    const start = this.#index;
    NUMBER.lastIndex = start;
    if (!NUMBER.test(this.#text)) this.#reject("a value");
    this.#index = NUMBER.lastIndex;
    if (!Number.isFinite(Number(this.#text.slice(start, this.#index)))) {
      throw this.#fault(start, "the number is too large; it must be below 1.8e308");
    }
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#index);
      if (code !== SPACE && code !== LF && code !== CR && code !== TAB) return;
      this.#index++;
    }
  }

  #consume(code: number): boolean {
    if (this.#text.charCodeAt(this.#index) !== code) return false;
    this.#index++;
    return true;
  }

  #reject(expected: string): never {
    const code = this.#text.codePointAt(this.#index);
    const actual = code === undefined ? "the end of the document" : quote(String.fromCodePoint(code));
    throw this.#fault(this.#index, `expected ${expected} (got ${actual})`);
  }

  #fault(index: number, what: string): Fault {
    return malformedJson(positionAfter(this.#text.slice(0, index), this.#origin), what);
  }
}
