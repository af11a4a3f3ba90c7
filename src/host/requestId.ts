import { randomUUID } from "node:crypto";

let prefixMs = -1;
let prefix = "";

/** A UUIDv7: its first 48 bits are the time in milliseconds, 74 others are random (RFC 9562, 5.7). */
export function newRequestId(nowMs = Date.now()): string {
  if (nowMs !== prefixMs) {
    const hex = nowMs.toString(16).padStart(12, "0");
    prefix = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
    prefixMs = nowMs;
  }
  return prefix + randomUUID().slice(15);
}
