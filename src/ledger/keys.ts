import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "iso_sk_";
const RANDOM_COUNT = 58;
const CHECK_COUNT = 6;

/** What a key consists of, as messages say it. */
export const KEY_FORM = `a prefix such as ${PREFIX} and ${RANDOM_COUNT + CHECK_COUNT} characters of 0-9, A-Z, a-z`;

/** Any service's: keys that were issued elsewhere are taken in as they are. */
const ANY_PREFIX = /^[a-z][a-z0-9]{0,31}_sk_$/;
const LENGTH = RANDOM_COUNT + CHECK_COUNT;
/** By character code: 0 for those that keys are made of. */
const FOREIGN = Uint8Array.from({ length: 128 }, (_, code) => (ALPHABET.includes(String.fromCharCode(code)) ? 0 : 1));

/**
 * `iso_sk_`, 58 random characters of `[0-9A-Za-z]` (345 bits), and 6 that check what stands before them: the CRC-32 in
 * base 62.
 */
export function newKey(): string {
  const body = PREFIX + randomCharacters(RANDOM_COUNT);
  return body + checkCharacters(body);
}

/**
 * Whether text can be a key at all. It looks at every character alike: with a branch for digits and letters, as a regular
 * expression has it, keys that resemble one another are told from others by their time.
 */
export function isKeyShaped(text: string): boolean {
  let foreign = 0;
  for (let i = text.length - LENGTH; i < text.length; i++) {
    const code = text.charCodeAt(i);
    foreign |= (FOREIGN[code & 127] ?? 1) | (code >> 7);
  }
  return foreign === 0 && ANY_PREFIX.test(text.slice(0, -LENGTH));
}

/**
 * Whether text has the form of a key that this service issues, but a wrong checksum. Keys with the prefix of another
 * service have no checksum. An imported key may have the prefix and no valid checksum: look the key up first.
 */
export function isMistyped(text: string): boolean {
  if (!text.startsWith(PREFIX) || !isKeyShaped(text)) return false;
  return text.slice(-CHECK_COUNT) !== checkCharacters(text.slice(0, -CHECK_COUNT));
}

/** SHA-256, 32 bytes: what is kept of a key. With 345 random bits in it no slow hash is called for. */
export function digestOf(key: string): Buffer {
  return Buffer.from(digestTextOf(key), "hex");
}

/**
 * The same, hexadecimal. Every request comes by here: an object that hashes costs four times this, and stays in memory
 * until the next full collection of garbage.
 */
export function digestTextOf(key: string): string {
  return hash("sha256", key, "hex");
}

/** Takes the same time whatever is different. */
export function isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function randomCharacters(count: number): string {
  let text = "";
  while (text.length < count) {
    for (const byte of randomBytes(count)) {
      // 248 = 4 x 62: the eight bytes above would make the first letters likelier.
      if (byte < 248 && text.length < count) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

function checkCharacters(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let i = 0; i < CHECK_COUNT; i++) {
    text = (ALPHABET[rest % 62] ?? "") + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
