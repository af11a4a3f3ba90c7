const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Limits on the structure of a document, which bound the cost of parsing it. */
export interface JsonLimits {
  readonly depthMax: number;
  /** Elements and members of all lists and objects. */
  readonly valueCountMax: number;
  /** Keys of one object. */
  readonly keyCountMax: number;
}

/** Why a document exceeds a limit. */
export interface JsonExcess {
  /** Position in the text. */
  readonly index: number;
  readonly message: string;
}

/**
 * Counts levels, values and keys of a text before it is parsed. It does not check the grammar: up to the first error of
 * the grammar, where parsing ends, it counts what a parser would.
 */
export class JsonStructureScan {
  readonly #text: string;
  readonly #limits: JsonLimits;
  /** Keys of the open object at each depth; NaN for lists. */
  readonly #keyCounts: number[] = [NaN];
  #valueCount = 1;
  #index = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  get isDone(): boolean {
    return this.#index >= this.#text.length;
  }

  /** Scans about `charCount` further characters. @returns the first excess */
  advance(charCount: number): JsonExcess | undefined {
    const text = this.#text;
    const { depthMax, valueCountMax, keyCountMax } = this.#limits;
    const keyCounts = this.#keyCounts;
    const end = Math.min(text.length, this.#index + charCount);
    let index = this.#index;
    while (index < end) {
      const code = text.charCodeAt(index);
      if (code === QUOTE) {
        index = endOfString(text, index);
        continue;
      }
      if (code === COMMA) {
        if (++this.#valueCount > valueCountMax) {
          return { index, message: `the document has more than ${valueCountMax} values` };
        }
        const keyCount = (keyCounts.at(-1) ?? NaN) + 1;
        if (keyCount > keyCountMax) return { index, message: `the object has more than ${keyCountMax} keys` };
        keyCounts[keyCounts.length - 1] = keyCount;
      } else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
        if (keyCounts.length > depthMax) {
          return { index, message: `lists and objects must not be nested more than ${depthMax} levels deep` };
        }
        keyCounts.push(code === OPENING_BRACE ? 1 : NaN);
      } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
        if (keyCounts.length > 1) keyCounts.pop();
      }
      index++;
    }
    this.#index = index;
    return undefined;
  }
}

/** Returns the position after the string that begins at `start`, or the end of the text if the string does not end. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let first = quote;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((quote - first) % 2 === 0) return quote + 1;
  }
  return text.length;
}
