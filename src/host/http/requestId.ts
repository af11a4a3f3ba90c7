import { randomBytes } from "node:crypto";

let prefixMs = -1;
let prefix = "";

/** Hexadecimal digits of a UUID that are random, one of which says the variant in its first two bits. */
const RANDOM_DIGITS = 19;
/** Asking the system for randomness costs the same for a few bytes as for many. */
const POOL_BYTES = 4096;
const VARIANTS = "89ab";
let pool = "";
let poolAt = 0;

/** A UUIDv7: its first 48 bits are the time in milliseconds, 74 others are random (RFC 9562, 5.7). */
export function newRequestId(nowMs = Date.now()): string {
  if (nowMs !== prefixMs) {
    const hex = nowMs.toString(16).padStart(12, "0");
    prefix = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
    prefixMs = nowMs;
  }
  if (poolAt + RANDOM_DIGITS > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    poolAt = 0;
  }
  const at = poolAt;
  poolAt += RANDOM_DIGITS;
  const variant = VARIANTS[Number.parseInt(pool.charAt(at), 16) & 3] ?? "";
  return `${prefix}${pool.slice(at + 1, at + 4)}-${variant}${pool.slice(at + 4, at + 7)}-${pool.slice(at + 7, at + RANDOM_DIGITS)}`;
}
