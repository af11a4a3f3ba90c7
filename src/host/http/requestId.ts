import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";

/** Random bytes are requested for many ids at once, because each call costs the same for few and many bytes. */
const ID_COUNT = 256;
const WORDS_PER_ID = 4;
const words = new Uint32Array(ID_COUNT * WORDS_PER_ID);
const randomBytesByIndex = Array.from({ length: ID_COUNT }, (_, index) => new Uint8Array(words.buffer, index * 16, 16));
let nextIndex = ID_COUNT;

/** Returns a new UUIDv7: 48 bits of time in milliseconds, then 74 random bits (RFC 9562, 5.7). */
export function newRequestId(nowMs = Date.now()): string {
  if (nextIndex === ID_COUNT) {
    randomFillSync(words);
    nextIndex = 0;
  }
  const index = nextIndex++;
  // Without `seq`, `v7` clears one of the random bits. The bytes of `random` that become `seq` are not used otherwise.
  return v7({ msecs: nowMs, random: randomBytesByIndex[index]!, seq: words[index * WORDS_PER_ID]! });
}
