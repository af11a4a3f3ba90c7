import { randomUUID } from "node:crypto";
import { type Kysely, type RawBuilder, type Selectable, sql, type SqlBool } from "kysely";
import { Fault } from "../errors.ts";
import { accountRow } from "./accounts.ts";
import { PAGE_ITEMS } from "../contract/ranges.ts";
import { checkText, checkInteger } from "./checks.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { customerCountOf } from "./laterMigrations.ts";
import type { Customer, CustomerRef, Page, PageQuery } from "./ledger.ts";
import { runInvalidatingTransaction } from "./changes.ts";
import type { Storage, Tables } from "./schema.ts";

/**
 * Registers a customer, or finds the one with this internal id and changes its name if one is given. Concurrent
 * registrations of the same internal id create a single customer; if their names differ, the last write wins.
 * @throws Fault `customer_archived`; `too_many_values` if the account has `customerCountMax` customers already
 */
export async function registerCustomer(
  storage: Storage,
  customer: {
    readonly accountId: string;
    readonly internalId: string;
    readonly name?: string;
    readonly customerCountMax?: number;
  },
): Promise<{ readonly customer: Customer; readonly isNew: boolean }> {
  const { accountId, internalId, name, customerCountMax } = customer;
  checkText("internal_id", internalId);
  if (name !== undefined) checkText("name", name);
  const registered = await findRegistered(storage.db, customer);
  if (registered !== undefined) return { customer: await rename(storage.db, registered, name), isNew: false };
  await accountRow(storage.db, accountId);
  const nowText = new Date(storage.nowMs()).toISOString();
  const maxFunction = storage.dialect === "sqlite" ? sql.raw("max") : sql.raw("greatest");
  const hasRoom =
    customerCountMax === undefined
      ? sql<SqlBool>`1 = 1`
      : sql<SqlBool>`${customerCountOf(accountId)} < ${customerCountMax}`;
  // A single statement blocks recording only briefly. If registrations are concurrent, one of them inserts the row.
  const added = await storage.db
    .insertInto("customer")
    .columns(["customer_id", "account_id", "internal_id", "name", "created_at"])
    .expression(
      storage.db
        .selectFrom("ledger_state")
        .where("id", "=", 1)
        .where(hasRoom)
        .select(({ val, selectFrom }) => {
          const latestCreation = selectFrom("customer")
            .select(({ fn }) => fn.max("created_at").as("created_at"))
            .where("account_id", "=", accountId);
          return [
            textOf(randomUUID()).as("customer_id"),
            textOf(accountId).as("account_id"),
            textOf(internalId).as("internal_id"),
            textOf(name ?? null).as("name"),
            sql<string>`${maxFunction}(${val(nowText)}, last_at, coalesce(${latestCreation}, ''))`.as("created_at"),
          ];
        }),
    )
    .onConflict((conflict) => conflict.columns(["account_id", "internal_id"]).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (added !== undefined) return { customer: customerOf(added), isNew: true };
  const winner = await findRegistered(storage.db, customer);
  if (winner !== undefined) return { customer: await rename(storage.db, winner, name), isNew: false };
  if (customerCountMax === undefined) throw new Error("A customer conflicts with an insert but cannot be found.");
  throw await tooManyCustomers(storage.db, accountId, customerCountMax);
}

async function tooManyCustomers(db: Kysely<Tables>, accountId: string, limit: number): Promise<Fault> {
  const { rows } = await sql<{ count: number }>`select ${customerCountOf(accountId)} as count`.execute(db);
  const requested = (rows[0]?.count ?? limit) + 1;
  const message =
    `The account would have ${requested} customers, including archived ones; at most ${limit} are allowed. ` +
    "Use a registered customer, or ask the operator of the service for a higher limit.";
  return new Fault("too_many_values", message, { details: { requested, limit } });
}

/**
 * Sets the name of a registered customer. An unchanged name is not written, and archived customers are not changed.
 * Caches are not invalidated, because no cached decision depends on a name.
 * @throws Fault `customer_archived` if the customer was archived in the meantime
 */
async function rename(db: Kysely<Tables>, customer: Customer, name: string | undefined): Promise<Customer> {
  if (name === undefined || name === customer.name) return customer;
  const row = await db
    .updateTable("customer")
    .set({ name })
    .where("customer_id", "=", customer.customerId)
    .where("archived_at", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw archivedFault(customer.customerId);
  return customerOf(row);
}

function archivedFault(customerId: string): Fault {
  const message = "The customer with this internal_id is archived; archived customers cannot be registered again.";
  return new Fault("customer_archived", message, { details: { customer_id: customerId } });
}

/** Returns a text parameter of a select list with a cast, because PostgreSQL cannot infer its type. */
function textOf(text: string | null): RawBuilder<string> {
  return sql<string>`cast(${text} as text)`;
}

/** Finds a customer by its internal id. @throws Fault `customer_archived` */
async function findRegistered(
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
  throw archivedFault(row.customer_id);
}

export async function findCustomer({ db }: Storage, ref: CustomerRef): Promise<Customer | undefined> {
  const row = await customerRow(db, ref);
  return row === undefined ? undefined : customerOf(row);
}

/** Lists an account's customers in the order of registration. */
export async function listCustomers(storage: Storage, query: PageQuery): Promise<Page<Customer>> {
  const { accountId, limit, cursor } = query;
  checkInteger("limit", limit, { min: 1, max: PAGE_ITEMS.max });
  const { cursor_secret } = await storage.db
    .selectFrom("ledger_state")
    .select("cursor_secret")
    .executeTakeFirstOrThrow();
  const cursorScope = ["customers", accountId];
  const [createdAt = "", customerId = ""] =
    cursor === undefined ? [] : decodeCursor(cursor_secret, cursorScope, cursor);
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
  return { items, next: encodeCursor(cursor_secret, cursorScope, [last.createdAt, last.customerId]) };
}

export function archiveCustomer(storage: Storage, ref: CustomerRef): Promise<Customer | undefined> {
  const archive = async (tx: Kysely<Tables>, now: string): Promise<Customer | undefined> => {
    const row = await customerRow(tx, ref);
    if (row === undefined) return undefined;
    const archived_at = row.archived_at ?? now;
    await tx.updateTable("customer").set({ archived_at }).where("customer_id", "=", row.customer_id).execute();
    return customerOf({ ...row, archived_at });
  };
  return runInvalidatingTransaction(storage, archive, ref);
}

function customerRow(
  db: Kysely<Tables>,
  { accountId, customerId }: CustomerRef,
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
