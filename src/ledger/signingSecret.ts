import { createHmac } from "node:crypto";
import type { Storage } from "./schema.ts";

/** Derives the secret of a purpose from the random secret of the ledger, which never leaves it. */
export async function signingSecret({ db }: Storage, { purpose }: { readonly purpose: string }): Promise<string> {
  const { cursor_secret } = await db.selectFrom("ledger_state").select("cursor_secret").executeTakeFirstOrThrow();
  return createHmac("sha256", cursor_secret).update(`signing secret: ${purpose}`).digest("hex");
}
