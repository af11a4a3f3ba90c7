import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "iso_sk_";
const RANDOM_COUNT = 58;
const CHECK_COUNT = 6;
const LENGTH = RANDOM_COUNT + CHECK_COUNT;

/** Describes the form of a key, for messages. */
export const KEY_FORM = `a prefix such as ${PREFIX} and ${LENGTH} characters of 0-9, A-Z, a-z`;

/** Any service's prefix is accepted: keys issued elsewhere can be imported unchanged. */
const ANY_PREFIX = /^[a-z][a-z0-9]{0,31}_sk_$/;
/** By ASCII code: 0 for characters of the key alphabet, 1 for all others. */
const IS_INVALID = Uint8Array.from({ length: 128 }, (_, code) =>
  ALPHABET.includes(String.fromCharCode(code)) ? 0 : 1,
);

/**
 * Generates a key: `iso_sk_`, 58 random characters of `[0-9A-Za-z]` (345 bits), and the CRC-32 of all characters before
 * it as 6 digits in base 62.
 */
export function newKey(): string {
  const body = PREFIX + randomCharacters(RANDOM_COUNT);
  return body + checkCharacters(body);
}

/**
 * Returns whether text has the form of a key: a prefix, `_sk_` and 64 characters of `[0-9A-Za-z]`. The check runs in constant
 * time: a regular expression branches on the kind of character, so that its timing reveals how similar two keys are.
 */
export function isKeyShaped(text: string): boolean {
  let invalid = 0;
  for (let i = text.length - LENGTH; i < text.length; i++) {
    const code = text.charCodeAt(i);
    invalid |= (IS_INVALID[code & 127] ?? 1) | (code >> 7);
  }
  return invalid === 0 && ANY_PREFIX.test(text.slice(0, -LENGTH));
}

/**
 * Returns whether text is a mistyped key of this service: it has the prefix `iso_sk_` and a wrong checksum, or another
 * prefix and the checksum that it would have with `iso_sk_`. Keys of other services have no checksum. An imported key may have the prefix but no valid
 * checksum: look it up first.
 */
export function isMistyped(text: string): boolean {
  if (!isKeyShaped(text)) return false;
  const hasChecksum = text.slice(-CHECK_COUNT) === checkCharacters(PREFIX + text.slice(-LENGTH, -CHECK_COUNT));
  return text.startsWith(PREFIX) !== hasChecksum;
}

/**
 * Returns the SHA-256 of a key (32 bytes), which is stored instead of the key. A slow hash is unnecessary for 345 random
 * bits.
 */
export function digestOf(key: string): Buffer {
  return Buffer.from(digestTextOf(key), "hex");
}

/**
 * Returns the SHA-256 of a key in hexadecimal. This runs for every request: a `createHash` object would take four times
 * as long, and stay in memory until the next full garbage collection.
 */
export function digestTextOf(key: string): string {
  return hash("sha256", key, "hex");
}

/** Returns whether two digests are equal, in constant time. */
export function isSameDigest(first: Uint8Array, second: Uint8Array): boolean {
  return first.length === second.length && timingSafeEqual(first, second);
}

function randomCharacters(count: number): string {
  let text = "";
  while (text.length < count) {
    for (const byte of randomBytes(count)) {
      // 248 = 4 x 62: taking the eight values above modulo 62 would favor the first characters.
      if (byte < 248 && text.length < count) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

function checkCharacters(body: string): string {
  let remainder = crc32(body);
  let text = "";
  for (let i = 0; i < CHECK_COUNT; i++) {
    text = (ALPHABET[remainder % 62] ?? "") + text;
    remainder = Math.floor(remainder / 62);
  }
  return text;
}
