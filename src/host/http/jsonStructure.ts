const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Maximum nesting depth of lists and objects. */
export const JSON_DEPTH_MAX = 16;
/** Maximum number of keys of one object in a request body. */
export const JSON_KEY_COUNT_MAX = 1_000;
/** A request body may have one value per this many bytes of the maximum size of bodies. */
const BYTES_PER_VALUE = 8;
/** Count of keys of a list, which has none: stays negative for every list that fits into a body. */
const NO_KEYS = -(2 ** 31);

/** Limits on the structure of a document, which bound the time and the memory that parsing takes. */
export interface JsonLimits {
  readonly depthMax: number;
  /** Elements and members of all lists and objects. */
  readonly valueCountMax: number;
  /** Keys of one object. */
  readonly keyCountMax: number;
}

/** Returns the maximum number of values in a request body. */
export function jsonValueCountMax(bodyBytesMax: number): number {
  return Math.max(1, Math.floor(bodyBytesMax / BYTES_PER_VALUE));
}

/** Returns the limits on request bodies of a maximum size. */
export function jsonLimits(bodyBytesMax: number): JsonLimits {
  return {
    depthMax: JSON_DEPTH_MAX,
    keyCountMax: JSON_KEY_COUNT_MAX,
    valueCountMax: jsonValueCountMax(bodyBytesMax),
  };
}

/** Why a document exceeds a limit. */
export interface JsonExcess {
  /** Position in the document, in bytes. */
  readonly index: number;
  readonly message: string;
}

/**
 * Counts levels, values and keys of a document in UTF-8 while it is received, so that it can be rejected before it is
 * complete. It does not check the grammar: up to the first error of the grammar, where parsing ends, it counts what a parser
 * would.
 */
export class JsonStructureScan {
  readonly #limits: JsonLimits;
  /** Keys of the open object at each depth. */
  readonly #keyCounts: Int32Array;
  #depth = 0;
  #valueCount = 1;
  #openingCount = 0;
  #isInString = false;
  #isEscaped = false;
  #sizeBytes = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
    this.#keyCounts = new Int32Array(limits.depthMax + 1).fill(NO_KEYS);
  }

  /** Commas, opening brackets and opening braces so far, without those in strings. Bounds the number of values. */
  get delimiterCount(): number {
    return this.#valueCount - 1 + this.#openingCount;
  }

  /** Scans the next bytes of the document. After an excess, no further bytes may be scanned. @returns the first excess */
  advance(bytes: Uint8Array): JsonExcess | undefined {
    const { depthMax, valueCountMax, keyCountMax } = this.#limits;
    const keyCounts = this.#keyCounts;
    const { length } = bytes;
    let isInString = this.#isInString;
    let depth = this.#depth;
    let valueCount = this.#valueCount;
    let index = 0;
    let message: string | undefined;
    if (this.#isEscaped && length > 0) {
      this.#isEscaped = false;
      index = 1;
    }
    for (; index < length; index++) {
      const byte = bytes[index];
      if (isInString) {
        if (byte === QUOTE) isInString = false;
        else if (byte === BACKSLASH && ++index === length) this.#isEscaped = true;
      } else if (byte === QUOTE) isInString = true;
      else if (byte === COMMA) {
        const keyCount = (keyCounts[depth] ?? NO_KEYS) + 1;
        keyCounts[depth] = keyCount;
        if (++valueCount > valueCountMax) message = `the document has more than ${valueCountMax} values`;
        else if (keyCount > keyCountMax) message = `the object has more than ${keyCountMax} keys`;
        if (message !== undefined) break;
      } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) {
        if (depth === depthMax) {
          message = `lists and objects must not be nested more than ${depthMax} levels deep`;
          break;
        }
        keyCounts[++depth] = byte === OPENING_BRACE ? 1 : NO_KEYS;
        this.#openingCount++;
      } else if ((byte === CLOSING_BRACE || byte === CLOSING_BRACKET) && depth > 0) depth--;
    }
    const start = this.#sizeBytes;
    this.#sizeBytes += length;
    this.#isInString = isInString;
    this.#depth = depth;
    this.#valueCount = valueCount;
    return message === undefined ? undefined : { index: start + index, message };
  }
}
