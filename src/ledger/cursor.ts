import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../errors.ts";

/** Bytes of the seal: nobody guesses 128 bits. */
const SEAL_SIZE_BYTES = 16;

/** Where a page ends: the values that its last item is sorted by. */
export type Position = readonly string[];

/**
 * A position as text that means nothing to whoever carries it, and cannot be made or moved to another question.
 * @param question whatever the order hangs on: account, filters, grouping
 */
export function sealCursor(secret: string, question: readonly unknown[], position: Position): string {
  const text = Buffer.from(JSON.stringify(position));
  return Buffer.concat([sealOf(secret, question, text), text]).toString("base64url");
}

/** @throws Fault `invalid_request` for text that did not come with a page of this question */
export function openCursor(secret: string, question: readonly unknown[], cursor: string): Position {
  const bytes = Buffer.from(cursor, "base64url");
  const seal = bytes.subarray(0, SEAL_SIZE_BYTES);
  const text = bytes.subarray(SEAL_SIZE_BYTES);
  const isOurs =
    seal.length === SEAL_SIZE_BYTES &&
    // Decoding is lenient, and what was given is given back to the letter.
    bytes.toString("base64url") === cursor &&
    timingSafeEqual(seal, sealOf(secret, question, text));
  if (isOurs) return JSON.parse(text.toString()) as Position;
  const detail = "cursor is not one that a page of this question ended with; give `next` as it came, or none.";
  throw new Fault("invalid_request", detail, { items: [{ parameter: "cursor", code: "malformed", detail }] });
}

function sealOf(secret: string, question: readonly unknown[], text: Uint8Array): Buffer {
  // A line of JSON holds no line end, so that nothing of the one can pass for the other.
  const hmac = createHmac("sha256", secret)
    .update(`${JSON.stringify(question)}\n`)
    .update(text);
  return hmac.digest().subarray(0, SEAL_SIZE_BYTES);
}
