/** A fast pass over the bytes of a request body while it is received, which does not check the grammar of JSON. */

/** Codes of the characters that structure JSON. */
export const CR = 0x0d;
export const LF = 0x0a;
export const SPACE = 0x20;
export const TAB = 0x09;
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPENING_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;

/** Maximum nesting depth of lists and objects. */
export const JSON_DEPTH_MAX = 16;
/** Maximum number of keys of one object in a request body. */
export const JSON_KEY_COUNT_MAX = 1_000;
/** A request body may have one value per this many bytes of the maximum size of bodies. */
const BYTES_PER_VALUE = 8;
/**
 * Memory of a list, an object, and a further element or member in V8. These are the largest values of many documents that
 * were made to take as much as possible: nested lists of one element, objects with a different key each, and objects with the
 * same keys in different orders. A number in a list takes 8 bytes, and an object of a common shape 40.
 */
const LIST_BYTES = 64;
const OBJECT_BYTES = 192;
const ELEMENT_BYTES = 32;
const MEMBER_BYTES = 96;
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
  /** Commas in objects. */
  #memberCommaCount = 0;
  #listCount = 0;
  #objectCount = 0;
  #isInString = false;
  #isEscaped = false;
  #sizeBytes = 0;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
    this.#keyCounts = new Int32Array(limits.depthMax + 1).fill(NO_KEYS);
  }

  /** Estimated memory of the values so far, without their text: 64 bytes for a list, 192 for an object, and 32 or 96 for a further element or member. */
  get valueBytes(): number {
    const elementCommaCount = this.#valueCount - 1 - this.#memberCommaCount;
    return (
      LIST_BYTES * this.#listCount +
      OBJECT_BYTES * this.#objectCount +
      ELEMENT_BYTES * elementCommaCount +
      MEMBER_BYTES * this.#memberCommaCount
    );
  }

  /** Scans the next bytes of the document. After an excess, no further bytes may be scanned. @returns the first excess */
  advance(bytes: Uint8Array): JsonExcess | undefined {
    const { depthMax, valueCountMax, keyCountMax } = this.#limits;
    const keyCounts = this.#keyCounts;
    const { length } = bytes;
    let isInString = this.#isInString;
    let depth = this.#depth;
    let valueCount = this.#valueCount;
    let memberCommaCount = this.#memberCommaCount;
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
        if (keyCount > 0) memberCommaCount++;
        if (++valueCount > valueCountMax) message = `the document has more than ${valueCountMax} values`;
        else if (keyCount > keyCountMax) message = `the object has more than ${keyCountMax} keys`;
        if (message !== undefined) break;
      } else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) {
        if (depth === depthMax) {
          message = `arrays and objects must not be nested more than ${depthMax} levels deep`;
          break;
        }
        if (byte === OPENING_BRACE) this.#objectCount++;
        else this.#listCount++;
        keyCounts[++depth] = byte === OPENING_BRACE ? 1 : NO_KEYS;
      } else if ((byte === CLOSING_BRACE || byte === CLOSING_BRACKET) && depth > 0) depth--;
    }
    const start = this.#sizeBytes;
    this.#sizeBytes += length;
    this.#isInString = isInString;
    this.#depth = depth;
    this.#valueCount = valueCount;
    this.#memberCommaCount = memberCommaCount;
    return message === undefined ? undefined : { index: start + index, message };
  }
}
