import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { digestOf, isKeyShaped, isMistyped, isSameDigest, newKey } from "../../src/ledger/keys.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Bitwise reference implementation of CRC-32 (ISO 3309). */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function numberOf(base62: string): number {
  return Array.from(base62).reduce((value, character) => value * 62 + ALPHABET.indexOf(character), 0);
}

describe("a new key", () => {
  const keys = Array.from({ length: 5000 }, newKey);

  test("consists of iso_sk_ and 64 characters, and is unique", () => {
    for (const key of keys) expect(key).toMatch(/^iso_sk_[0-9A-Za-z]{64}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("ends with the CRC-32 of the characters before it", () => {
    for (const key of keys.slice(0, 200)) expect(numberOf(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
  });

  test("uses all characters with equal probability", () => {
    const counts = new Map(Array.from(ALPHABET, (character) => [character, 0]));
    for (const key of keys) {
      for (const character of key.slice(7, -6)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (keys.length * 58) / 62;
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: uniform characters exceed 140 once in 10^7 runs; bytes modulo 62 would exceed 1000.
    expect(chiSquare).toBeLessThan(140);
  });

  test("has a checksum that detects every one-character typo", () => {
    const [key = ""] = keys;
    expect(keys.filter(isMistyped)).toStrictEqual([]);
    for (let i = "iso_sk_".length; i < key.length; i++) {
      const mistyped = key.slice(0, i) + (key[i] === "x" ? "y" : "x") + key.slice(i + 1);
      expect(isMistyped(mistyped), mistyped).toBe(true);
    }
    for (const prefix of ["xso_sk_", "iso1_sk_", "is_sk_"]) {
      expect(isMistyped(prefix + key.slice("iso_sk_".length)), prefix).toBe(true);
    }
    const swapped = key.slice(0, 20) + (key[21] ?? "") + (key[20] ?? "") + key.slice(22);
    expect(isMistyped(swapped)).toBe(key[20] !== key[21]);
  });

  test("of another service is never reported as mistyped", () => {
    expect(isMistyped(`other_sk_${"x".repeat(64)}`)).toBe(false);
    expect(isMistyped("open sesame")).toBe(false);
  });
});

test.each([
  [`iso_sk_${"a".repeat(64)}`, true],
  [`other1_sk_${"Z9".repeat(32)}`, true],
  [`iso_sk_${"a".repeat(63)}`, false],
  [`iso_sk_${"a".repeat(65)}`, false],
  [`iso_sk_${"a".repeat(63)}-`, false],
  [`iso_sk_${"a".repeat(64)}\n`, false],
  [`_sk_${"a".repeat(64)}`, false],
  [`ISO_sk_${"a".repeat(64)}`, false],
  [` iso_sk_${"a".repeat(64)}`, false],
  ["", false],
])("isKeyShaped of %j is %s", (text, expected) => {
  expect(isKeyShaped(text)).toBe(expected);
});

test("the digest of a key is its SHA-256", () => {
  expect(digestOf("abc").toString("hex")).toBe(createHash("sha256").update("abc").digest("hex"));
  expect(digestOf("abc").toString("hex")).toMatch(/^ba7816bf.*15ad$/);
  expect(isSameDigest(digestOf("abc"), digestOf("abc"))).toBe(true);
  expect(isSameDigest(digestOf("abc"), digestOf("abd"))).toBe(false);
  expect(isSameDigest(digestOf("abc"), digestOf("abc").subarray(1))).toBe(false);
});
