import { randomUUID } from "node:crypto";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { Fault } from "../errors.ts";
import { accountRow } from "./accounts.ts";
import { checkText, checkWhole, PAGE_COUNT_MAX } from "./checks.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import type { Customer, Page, PageQuestion } from "./ledger.ts";
import { change, type Storage, type Tables } from "./schema.ts";

interface Place {
  readonly accountId: string;
  readonly customerId: string;
}

/**
 * Registers a customer, or finds the one registered for the internal id and gives it the name that is stated.
 * Concurrent registrations of one internal id create one customer; of several names the last one written stays.
 */
export async function registerCustomer(
  storage: Storage,
  customer: { readonly accountId: string; readonly internalId: string; readonly name?: string },
): Promise<{ readonly customer: Customer; readonly isNew: boolean }> {
  const { accountId, internalId, name } = customer;
  checkText("internal_id", internalId);
  if (name !== undefined) checkText("name", name);
  const known = await registered(storage.db, customer);
  if (known !== undefined) return { customer: await named(storage.db, known, name), isNew: false };
  await accountRow(storage.db, accountId);
  const nowText = new Date(storage.nowMs()).toISOString();
  const latest = storage.dialect === "sqlite" ? sql.raw("max") : sql.raw("greatest");
  // One statement, so that nobody who records has to wait for several. Others may be at it too: one of them wins.
  const added = await storage.db
    .insertInto("customer")
    .columns(["customer_id", "account_id", "internal_id", "name", "created_at"])
    .expression(
      storage.db
        .selectFrom("ledger_state")
        .where("id", "=", 1)
        .select(({ val, selectFrom }) => {
          const before = selectFrom("customer")
            .select(({ fn }) => fn.max("created_at").as("created_at"))
            .where("account_id", "=", accountId);
          return [
            textOf(randomUUID()).as("customer_id"),
            textOf(accountId).as("account_id"),
            textOf(internalId).as("internal_id"),
            textOf(name ?? null).as("name"),
            sql<string>`${latest}(${val(nowText)}, last_at, coalesce(${before}, ''))`.as("created_at"),
          ];
        }),
    )
    .onConflict((conflict) => conflict.columns(["account_id", "internal_id"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (added !== undefined) return { customer: customerOf(added), isNew: true };
  const winner = await registered(storage.db, customer);
  if (winner === undefined) throw new Error("A customer is there and is not.");
  return { customer: await named(storage.db, winner, name), isNew: false };
}

/**
 * Gives a registered customer the name, in one statement that writes nothing else and does not touch archived
 * customers. An equal name is not written again. Nobody is notified: no cached decision depends on a name.
 *
 * @throws Fault `customer_archived` where it was archived meanwhile
 */
async function named(db: Kysely<Tables>, customer: Customer, name: string | undefined): Promise<Customer> {
  if (name === undefined || name === customer.name) return customer;
  const row = await db
    .updateTable("customer")
    .set({ name })
    .where("customer_id", "=", customer.customerId)
    .where("archived_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw archived(customer.customerId);
  return customerOf(row);
}

function archived(customerId: string): Fault {
  const message = "The customer of this internal_id is archived; an archived customer is not registered again.";
  return new Fault("customer_archived", message, { details: { customer_id: customerId } });
}

/** PostgreSQL does not know what a value is that only gets selected. */
function textOf(text: string | null): RawBuilder<string> {
  return sql<string>`cast(${text} as text)`;
}

/** @throws Fault `customer_archived` */
async function registered(
  db: Kysely<Tables>,
  { accountId, internalId }: { readonly accountId: string; readonly internalId: string },
): Promise<Customer | undefined> {
  const row = await db
    .selectFrom("customer")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("internal_id", "=", internalId)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  if (row.archived_at === null) return customerOf(row);
  throw archived(row.customer_id);
}

export async function findCustomer({ db }: Storage, place: Place): Promise<Customer | undefined> {
  const row = await customerRow(db, place);
  return row === undefined ? undefined : customerOf(row);
}

/** In the order of registration. */
export async function listCustomers(storage: Storage, question: PageQuestion): Promise<Page<Customer>> {
  const { accountId, limit, cursor } = question;
  checkWhole("limit", limit, { least: 1, most: PAGE_COUNT_MAX });
  const { cursor_secret } = await storage.db
    .selectFrom("ledger_state")
    .select("cursor_secret")
    .executeTakeFirstOrThrow();
  const order = ["customers", accountId];
  const [createdAt = "", customerId = ""] = cursor === undefined ? [] : openCursor(cursor_secret, order, cursor);
  const rows = await storage.db
    .selectFrom("customer")
    .selectAll()
    .where("account_id", "=", accountId)
    .where(({ eb, refTuple, tuple }) => eb(refTuple("created_at", "customer_id"), ">", tuple(createdAt, customerId)))
    .orderBy("created_at")
    .orderBy("customer_id")
    .limit(limit + 1)
    .execute();
  const items = rows.slice(0, limit).map(customerOf);
  const last = items.at(-1);
  if (rows.length <= limit || last === undefined) return { items };
  return { items, next: sealCursor(cursor_secret, order, [last.createdAt, last.customerId]) };
}

export function archiveCustomer(storage: Storage, place: Place): Promise<Customer | undefined> {
  return change(storage, async (tx, now) => {
    const found = await customerRow(tx, place);
    if (found === undefined) return undefined;
    const archived_at = found.archived_at ?? now;
    await tx.updateTable("customer").set({ archived_at }).where("customer_id", "=", found.customer_id).execute();
    return customerOf({ ...found, archived_at });
  });
}

function customerRow(
  db: Kysely<Tables>,
  { accountId, customerId }: Place,
): Promise<Selectable<Tables["customer"]> | undefined> {
  return db
    .selectFrom("customer")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("customer_id", "=", customerId)
    .executeTakeFirst();
}

function customerOf(row: Selectable<Tables["customer"]>): Customer {
  return {
    customerId: row.customer_id,
    accountId: row.account_id,
    internalId: row.internal_id,
    ...(row.name === null ? {} : { name: row.name }),
    createdAt: row.created_at,
    ...(row.archived_at === null ? {} : { archivedAt: row.archived_at }),
  };
}
