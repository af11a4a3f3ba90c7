import { randomBytes } from "node:crypto";

let prefixMs = -1;
let prefix = "";

/** Random hexadecimal digits of a UUID, one of which holds the variant in its upper two bits. */
const RANDOM_DIGITS = 19;
/** Random bytes are requested in bulk, because each call costs the same for few and many bytes. */
const POOL_BYTES = 4096;
const VARIANTS = "89ab";
let pool = "";
let poolIndex = 0;

/** Returns a new UUIDv7: 48 bits of time in milliseconds, then 74 random bits (RFC 9562, 5.7). */
export function newRequestId(nowMs = Date.now()): string {
  if (nowMs !== prefixMs) {
    const hex = nowMs.toString(16).padStart(12, "0");
    prefix = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
    prefixMs = nowMs;
  }
  if (poolIndex + RANDOM_DIGITS > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    poolIndex = 0;
  }
  const start = poolIndex;
  poolIndex += RANDOM_DIGITS;
  const variant = VARIANTS[Number.parseInt(pool.charAt(start), 16) & 3] ?? "";
  return `${prefix}${pool.slice(start + 1, start + 4)}-${variant}${pool.slice(start + 4, start + 7)}-${pool.slice(start + 7, start + RANDOM_DIGITS)}`;
}
