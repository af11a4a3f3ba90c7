import { createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../errors.ts";
import type { Storage } from "./schema.ts";

/** 128 bits of HMAC-SHA256. */
const SIGNATURE_SIZE_BYTES = 16;

/** The sort key of a page's last item. */
export type SortKey = readonly string[];

/**
 * Encodes a sort key as an opaque cursor, signed so that clients cannot forge it or use it with another query.
 * @param scope everything that determines the result list: account, filters, grouping
 */
export function encodeCursor(secret: string, scope: readonly unknown[], sortKey: SortKey): string {
  const text = Buffer.from(JSON.stringify(sortKey));
  return Buffer.concat([signatureOf(secret, scope, text), text]).toString("base64url");
}

/**
 * Decodes a cursor of the same scope.
 * @throws Fault `invalid_request` for text that `encodeCursor` did not return for this secret and scope
 */
export function decodeCursor(secret: string, scope: readonly unknown[], cursor: string): SortKey {
  const bytes = Buffer.from(cursor, "base64url");
  const signature = bytes.subarray(0, SIGNATURE_SIZE_BYTES);
  const text = bytes.subarray(SIGNATURE_SIZE_BYTES);
  const isValid =
    signature.length === SIGNATURE_SIZE_BYTES &&
    // Buffer.from ignores invalid base64 characters; only the canonical encoding is accepted.
    bytes.toString("base64url") === cursor &&
    timingSafeEqual(signature, signatureOf(secret, scope, text));
  if (isValid) return JSON.parse(text.toString()) as SortKey;
  const detail = "cursor must be the `next` value of a page of the same query, unchanged, or absent.";
  throw new Fault("invalid_request", detail, { items: [{ parameter: "cursor", code: "malformed", detail }] });
}

function signatureOf(secret: string, scope: readonly unknown[], text: Uint8Array): Buffer {
  // JSON.stringify emits no line breaks, so the line break separates the two parts unambiguously.
  const hmac = createHmac("sha256", secret)
    .update(`${JSON.stringify(scope)}\n`)
    .update(text);
  return hmac.digest().subarray(0, SIGNATURE_SIZE_BYTES);
}

/** Derives the secret of a purpose from the random secret of the ledger, which never leaves it. */
export async function signingSecret({ db }: Storage, { purpose }: { readonly purpose: string }): Promise<string> {
  const { cursor_secret } = await db.selectFrom("ledger_state").select("cursor_secret").executeTakeFirstOrThrow();
  return createHmac("sha256", cursor_secret).update(`signing secret: ${purpose}`).digest("hex");
}
