import { randomUUID } from "node:crypto";
import type { Kysely, Selectable } from "kysely";
import { Fault } from "../errors.ts";
import { checkText, checkInteger } from "./checks.ts";
import { digestOf, isKeyShaped, KEY_FORM, newKey } from "./keys.ts";
import type { Account, ApiKey, IssuedKey, KeyHolder } from "./ledger.ts";
import { runInvalidatingTransaction } from "./changes.ts";
import type { Storage, Tables } from "./schema.ts";

/** Maximum time for which a rotated key stays valid: one leap year. */
const OVERLAP_S_MAX = 366 * 86_400;

export function createAccount(storage: Storage, { name }: { readonly name: string }): Promise<Account> {
  checkText("name", name);
  return runInvalidatingTransaction(storage, async (tx, now) => {
    const row = { account_id: randomUUID(), name, created_at: now, suspended_at: null };
    await tx.insertInto("account").values(row).execute();
    return accountOf(row);
  });
}

export async function listAccounts({ db }: Storage): Promise<readonly Account[]> {
  const rows = await db.selectFrom("account").selectAll().orderBy("created_at").orderBy("account_id").execute();
  return rows.map(accountOf);
}

export function setAccountSuspended(
  storage: Storage,
  { accountId, isSuspended }: { readonly accountId: string; readonly isSuspended: boolean },
): Promise<Account> {
  return runInvalidatingTransaction(storage, async (tx, now) => {
    const row = await accountRow(tx, accountId);
    // Suspending a suspended account keeps the original timestamp.
    const suspended_at = isSuspended ? (row.suspended_at ?? now) : null;
    await tx.updateTable("account").set({ suspended_at }).where("account_id", "=", row.account_id).execute();
    return accountOf({ ...row, suspended_at });
  });
}

export function createKey(
  storage: Storage,
  key: { readonly accountId: string; readonly name?: string; readonly secret?: string },
): Promise<IssuedKey> {
  if (key.name !== undefined) checkText("name", key.name);
  if (key.secret !== undefined && !isKeyShaped(key.secret)) {
    const detail = `secret must be ${KEY_FORM}.`;
    throw new Fault("invalid_request", detail, { items: [{ pointer: "/secret", code: "malformed", detail }] });
  }
  return runInvalidatingTransaction(storage, async (tx, now) => {
    const { account_id } = await accountRow(tx, key.accountId);
    return insertKey(tx, now, { account_id, name: key.name ?? null, secret: key.secret ?? newKey() });
  });
}

export async function listKeys(
  { db }: Storage,
  query: { readonly accountId?: string } = {},
): Promise<readonly ApiKey[]> {
  const keys = db.selectFrom("api_key").selectAll().orderBy("created_at").orderBy("key_id");
  const { accountId } = query;
  if (accountId === undefined) return (await keys.execute()).map(keyOf);
  const { account_id } = await accountRow(db, accountId);
  return (await keys.where("account_id", "=", account_id).execute()).map(keyOf);
}

export function rotateKey(
  storage: Storage,
  { keyId, overlapS }: { readonly keyId: string; readonly overlapS: number },
): Promise<IssuedKey> {
  checkInteger("overlap_s", overlapS, { min: 0, max: OVERLAP_S_MAX });
  return runInvalidatingTransaction(storage, async (tx, now) => {
    const old = await keyRow(tx, keyId);
    if (old.revoked_at !== null || old.replaced_by !== null) {
      const reason = old.replaced_by === null ? "been revoked" : `already been rotated to ${old.replaced_by}`;
      throw new Fault(
        "invalid_request",
        `The key ${old.key_id} has ${reason}. Rotate an active key, or create a new one.`,
      );
    }
    const issued = await insertKey(tx, now, { account_id: old.account_id, name: old.name, secret: newKey() });
    // Uses the system clock, like the expiry check. The ledger's time `now` never goes back, so it is ahead after the
    // system clock is set back.
    const expires_at = new Date(storage.nowMs() + overlapS * 1000).toISOString();
    await tx
      .updateTable("api_key")
      .set({ replaced_by: issued.key.keyId, expires_at })
      .where("key_id", "=", old.key_id)
      .execute();
    return issued;
  });
}

export function revokeKey(storage: Storage, { keyId }: { readonly keyId: string }): Promise<ApiKey> {
  return runInvalidatingTransaction(storage, async (tx, now) => {
    const row = await keyRow(tx, keyId);
    const revoked_at = row.revoked_at ?? now;
    await tx.updateTable("api_key").set({ revoked_at }).where("key_id", "=", row.key_id).execute();
    return keyOf({ ...row, revoked_at });
  });
}

export function findKey(storage: Storage, { digest }: { readonly digest: Uint8Array }): Promise<KeyHolder | undefined> {
  return findHolder(storage, { column: "api_key.digest", value: Buffer.from(digest).toString("hex") });
}

export function findKeyById(storage: Storage, { keyId }: { readonly keyId: string }): Promise<KeyHolder | undefined> {
  return findHolder(storage, { column: "api_key.key_id", value: keyId });
}

async function findHolder(
  { db }: Storage,
  { column, value }: { readonly column: "api_key.digest" | "api_key.key_id"; readonly value: string },
): Promise<KeyHolder | undefined> {
  const row = await db
    .selectFrom("api_key")
    .innerJoin("account", "account.account_id", "api_key.account_id")
    .selectAll("api_key")
    .select(["account.name as account_name", "account.created_at as account_created_at", "account.suspended_at"])
    .where(column, "=", value)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { account_id, account_name, account_created_at, suspended_at } = row;
  return {
    key: keyOf(row),
    account: accountOf({ account_id, name: account_name, created_at: account_created_at, suspended_at }),
  };
}

async function insertKey(
  tx: Kysely<Tables>,
  now: string,
  { account_id, name, secret }: { readonly account_id: string; readonly name: string | null; readonly secret: string },
): Promise<IssuedKey> {
  const digest = digestOf(secret).toString("hex");
  const known = await tx.selectFrom("api_key").select("key_id").where("digest", "=", digest).executeTakeFirst();
  if (known !== undefined)
    throw new Fault("invalid_request", `The ledger already has this key, with the id ${known.key_id}.`);
  const row = {
    key_id: randomUUID(),
    account_id,
    digest,
    name,
    created_at: now,
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
  };
  await tx.insertInto("api_key").values(row).execute();
  return { secret, key: keyOf(row) };
}

/** Returns the row of an account. @throws Fault `account_not_found` */
export async function accountRow(db: Kysely<Tables>, accountId: string): Promise<Selectable<Tables["account"]>> {
  const row = await db.selectFrom("account").selectAll().where("account_id", "=", accountId).executeTakeFirst();
  if (row !== undefined) return row;
  throw new Fault(
    "account_not_found",
    `There is no account with the id ${accountId}. List accounts with isotherm accounts list.`,
  );
}

async function keyRow(db: Kysely<Tables>, keyId: string): Promise<Selectable<Tables["api_key"]>> {
  const row = await db.selectFrom("api_key").selectAll().where("key_id", "=", keyId).executeTakeFirst();
  if (row !== undefined) return row;
  throw new Fault("key_not_found", `There is no key with the id ${keyId}. List keys with isotherm keys list.`);
}

function accountOf({ account_id, name, created_at, suspended_at }: Selectable<Tables["account"]>): Account {
  return {
    accountId: account_id,
    name,
    createdAt: created_at,
    ...(suspended_at === null ? {} : { suspendedAt: suspended_at }),
  };
}

function keyOf(row: Selectable<Tables["api_key"]>): ApiKey {
  return {
    keyId: row.key_id,
    accountId: row.account_id,
    ...(row.name === null ? {} : { name: row.name }),
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.revoked_at === null ? {} : { revokedAt: row.revoked_at }),
    ...(row.replaced_by === null ? {} : { replacedBy: row.replaced_by }),
  };
}
