const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Keys of one object that are compared pair by pair; objects with more keys are left to the full scan. */
const KEYS_PER_OBJECT_MAX = 32;
/** A number below this length without an exponent, or with one of two digits, is below 1e300. */
const DIGITS_MAX = 200;

/** Memory of the last scan, reused because it takes longer to allocate than to scan a short text. */
let memory = { depthMax: 0, hashes: new Int32Array(0), keyCounts: new Int32Array(0) };

function memoryFor(depthMax: number): typeof memory {
  if (memory.depthMax < depthMax || memory.keyCounts.length === 0) {
    const hashes = new Int32Array((depthMax + 1) * KEYS_PER_OBJECT_MAX);
    memory = { depthMax, hashes, keyCounts: new Int32Array(depthMax + 1) };
  }
  return memory;
}

/**
 * Returns whether a text that `JSON.parse` accepts may break one of our further rules: too many levels, a repeated key or
 * a number that is too large. A false result is certain; after a true one the text must be scanned fully. Takes a sixth
 * of the time of a full scan, because it does not check the grammar and compares hashes of keys.
 */
export function mayBreakRules(text: string, depthMax: number): boolean {
  // Hashes of the keys of the open objects, from the outermost to the innermost, and their numbers.
  const { hashes, keyCounts } = memoryFor(depthMax);
  keyCounts[0] = 0;
  const { length } = text;
  let depth = 0;
  let index = 0;
  while (index < length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      let hash = 0;
      let inner = text.charCodeAt(++index);
      while (inner !== QUOTE && inner !== BACKSLASH) {
        if (index >= length) return true;
        hash = (Math.imul(hash, 31) + inner) | 0;
        inner = text.charCodeAt(++index);
      }
      const hasEscapes = inner === BACKSLASH;
      while (inner !== QUOTE) {
        if (index >= length) return true;
        if (inner === BACKSLASH) index++;
        inner = text.charCodeAt(++index);
      }
      index++;
      let next = text.charCodeAt(index);
      while (next <= SPACE && next >= TAB) next = text.charCodeAt(++index);
      if (next !== COLON) continue;
      index++;
      const count = keyCounts[depth] ?? 0;
      if (hasEscapes || count === KEYS_PER_OBJECT_MAX) return true;
      const first = depth * KEYS_PER_OBJECT_MAX;
      for (let key = first; key < first + count; key++) if (hashes[key] === hash) return true;
      hashes[first + count] = hash;
      keyCounts[depth] = count + 1;
    } else if (code >= DIGIT_0 && code <= DIGIT_9) {
      const start = index;
      let digit = code;
      while (digit >= DIGIT_0 && digit <= DIGIT_9) digit = text.charCodeAt(++index);
      if (index - start > DIGITS_MAX) return true;
      if (digit === LOWER_E || digit === UPPER_E) {
        const sign = text.charCodeAt(index + 1);
        if (sign === MINUS) continue;
        const exponent = index + (sign === PLUS ? 2 : 1);
        const third = text.charCodeAt(exponent + 2);
        if (third >= DIGIT_0 && third <= DIGIT_9) return true;
      }
    } else {
      if (code === OPENING_BRACE || code === OPENING_BRACKET) {
        if (++depth > depthMax) return true;
        keyCounts[depth] = 0;
      } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
        if (--depth < 0) return true;
      }
      index++;
    }
  }
  return false;
}
