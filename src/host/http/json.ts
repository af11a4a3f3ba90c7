import { Fault } from "../../errors.ts";
import { quote } from "../../explain.ts";

/**
 * JSON that keeps its numbers. `JSON.stringify` writes NaN and the infinities as `null`, which in our answers
 * means "no data": such a number is a bug of ours and must never leave as a statement about a place.
 *
 * @throws Error naming the place, when a number is not finite or a list holds `undefined`
 */
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Whatever is lost is written as null, so that text without one needs no second look.
  if (text.includes("null")) {
    const lost = findUnencodable(value, "");
    if (lost !== undefined) throw new Error(`Not a value of JSON at "${lost}" of an answer.`);
  }
  return text;
}

/** JSON pointer to the first value that JSON would replace by null. */
function findUnencodable(value: unknown, pointer: string): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : pointer;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key}`;
    if (member === undefined && Array.isArray(value)) return at;
    const lost = findUnencodable(member, at);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/** Lists and objects may stand so many deep within one another. */
export const JSON_DEPTH_MAX = 16;

/** Where in a text: lines end with LF, CR or both, and columns are counted in characters; both from 1. */
export interface JsonPosition {
  readonly line: number;
  readonly column: number;
}

/**
 * The value of a JSON document as it came over the wire: UTF-8, with or without a byte order mark.
 *
 * @throws Fault `json_malformed` as `parseJson`, also for the first byte that is not UTF-8
 */
export function decodeJson(bytes: Uint8Array): unknown {
  return parseJson(decodeUtf8(bytes));
}

/**
 * JSON by the letter of RFC 8259, and more careful than `JSON.parse` where that one would let something pass unseen: of
 * a key that stands twice in one object it keeps the last, and a number too large to hold it takes for infinite.
 *
 * @param origin where the text begins, for messages about a part of a larger document
 * @throws Fault `json_malformed` naming line and column (in its `details` too) of the first thing that is wrong:
 *   grammar, more than 16 levels, a key that is repeated, a number beyond 1.8e308
 */
export function parseJson(text: string, origin: JsonPosition = { line: 1, column: 1 }): unknown {
  new Scanner(text, origin).scan();
  return JSON.parse(text) as unknown;
}

/** Where a text of which the beginning lies at `origin` ends. */
export function positionAfter(text: string, origin: JsonPosition): JsonPosition {
  let { line, column } = origin;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === LF || (code === CR && text.charCodeAt(index + 1) !== LF)) {
      line++;
      column = 1;
    } else if (code !== CR && !(code >= 0xdc00 && code <= 0xdfff)) column++;
  }
  return { line, column };
}

function decodeUtf8(bytes: Uint8Array): string {
  const decoded = (end: number, isWhole: boolean): string | undefined => {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, end), { stream: !isWhole });
    } catch {
      return undefined;
    }
  };
  const text = decoded(bytes.length, true);
  if (text !== undefined) return text;
  // A decoder does not say where; the longest beginning that can still become UTF-8 does.
  let sound = 0;
  let broken = bytes.length + 1;
  while (broken - sound > 1) {
    const middle = (sound + broken) >> 1;
    if (decoded(middle, false) === undefined) broken = middle;
    else sound = middle;
  }
  const position = positionAfter(decoded(sound, false) ?? "", { line: 1, column: 1 });
  throw malformed(position, "the bytes here are not UTF-8");
}

function malformed({ line, column }: JsonPosition, what: string): Fault {
  return new Fault("json_malformed", `Line ${line}, column ${column}: ${what}.`, { details: { line, column } });
}

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/** Goes over a text once and makes nothing of it: that is left to `JSON.parse`, which is faster than we could be. */
class Scanner {
  readonly #text: string;
  readonly #origin: JsonPosition;
  #at = 0;
  #depth = 0;
  /** The keys of the object that is open at each depth. */
  readonly #keys = Array.from({ length: JSON_DEPTH_MAX + 1 }, () => new Set<string>());

  constructor(text: string, origin: JsonPosition) {
    this.#text = text;
    this.#origin = origin;
  }

  scan(): void {
    this.#value();
    if (this.#at < this.#text.length) this.#refuse("the end of the document");
  }

  /** A value, with the white space around it. */
  #value(): void {
    this.#space();
    switch (this.#text.charCodeAt(this.#at)) {
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
    if (this.#take(CLOSING_BRACE)) return this.#close();
    do {
      this.#space();
      const start = this.#at;
      if (this.#text.charCodeAt(start) !== QUOTE) this.#refuse("a key in double quotes");
      const key = this.#string();
      if (keys.has(key)) throw this.#fault(start, `the key ${quote(key)} stands in this object already`);
      keys.add(key);
      this.#space();
      if (!this.#take(COLON)) this.#refuse("a colon");
      this.#value();
    } while (this.#take(COMMA));
    if (!this.#take(CLOSING_BRACE)) this.#refuse("a comma or the end of the object");
    this.#close();
  }

  #list(): void {
    this.#open();
    this.#space();
    if (this.#take(CLOSING_BRACKET)) return this.#close();
    do this.#value();
    while (this.#take(COMMA));
    if (!this.#take(CLOSING_BRACKET)) this.#refuse("a comma or the end of the list");
    this.#close();
  }

  #open(): Set<string> {
    const keys = this.#keys[++this.#depth];
    if (keys === undefined) {
      throw this.#fault(this.#at, `lists and objects may stand ${JSON_DEPTH_MAX} deep in one another, no deeper`);
    }
    keys.clear();
    this.#at++;
    return keys;
  }

  #close(): void {
    this.#depth--;
  }

  /** @returns what it says: a key is the same key however its letters are escaped */
  #string(): string {
    const start = this.#at++;
    let hasEscapes = false;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = this.#at;
        if (!ESCAPE.test(this.#text)) throw this.#fault(this.#at, "there is no such escape in a string");
        this.#at = ESCAPE.lastIndex;
        hasEscapes = true;
      } else if (code >= SPACE) this.#at++;
      else if (Number.isNaN(code)) throw this.#fault(start, "the string that begins here does not end");
      else throw this.#fault(this.#at, "a control character in a string must be escaped");
    }
    const text = this.#text.slice(start, ++this.#at);
    return hasEscapes ? (JSON.parse(text) as string) : text.slice(1, -1);
  }

  #word(): boolean {
    for (const word of ["true", "false", "null"]) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return true;
    }
    return false;
  }

  #number(): void {
    const start = this.#at;
    NUMBER.lastIndex = start;
    if (!NUMBER.test(this.#text)) this.#refuse("a value");
    this.#at = NUMBER.lastIndex;
    if (!Number.isFinite(Number(this.#text.slice(start, this.#at)))) {
      throw this.#fault(start, "the number is too large to be held");
    }
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== SPACE && code !== LF && code !== CR && code !== TAB) return;
      this.#at++;
    }
  }

  #take(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at++;
    return true;
  }

  #refuse(expected: string): never {
    const code = this.#text.codePointAt(this.#at);
    const found = code === undefined ? "the document ends" : `there is ${quote(String.fromCodePoint(code))}`;
    throw this.#fault(this.#at, `${found} where ${expected} is expected`);
  }

  #fault(index: number, what: string): Fault {
    return malformed(positionAfter(this.#text.slice(0, index), this.#origin), what);
  }
}
