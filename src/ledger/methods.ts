import {
  createAccount,
  createKey,
  findKey,
  listAccounts,
  listKeys,
  revokeKey,
  rotateKey,
  setAccountSuspended,
} from "./accounts.ts";
import { archiveCustomer, findCustomer, listCustomers, registerCustomer } from "./customers.ts";
import type { Storage } from "./schema.ts";
import { audit, eventPage } from "./usage.ts";
import { usageCsv } from "./usageCsv.ts";
import { usage } from "./usageLines.ts";
import { checkWritable } from "./writeCheck.ts";

/** The methods of a ledger other than recording, by name, so that they can be called on another thread. */
const LEDGER_METHODS = {
  createAccount,
  listAccounts,
  setAccountSuspended,
  createKey,
  listKeys,
  rotateKey,
  revokeKey,
  findKey,
  registerCustomer,
  findCustomer,
  listCustomers,
  archiveCustomer,
  usage,
  usageCsv,
  audit,
  eventPage,
  checkWritable,
} as const;

export type MethodName = keyof typeof LEDGER_METHODS;
export type ArgumentOf<Name extends MethodName> = Parameters<(typeof LEDGER_METHODS)[Name]>[1];
export type ResultOf<Name extends MethodName> = Awaited<ReturnType<(typeof LEDGER_METHODS)[Name]>>;

/** Methods after which caches of keys, accounts and customers must be invalidated. */
export const INVALIDATING_METHODS: ReadonlySet<MethodName> = new Set([
  "createAccount",
  "setAccountSuspended",
  "createKey",
  "rotateKey",
  "revokeKey",
  "archiveCustomer",
]);

/** Methods that may read many rows. They run on a separate thread or connection, so that they do not block recording. */
export const REPORT_METHODS: ReadonlySet<MethodName> = new Set([
  "listAccounts",
  "listKeys",
  "listCustomers",
  "usage",
  "usageCsv",
  "audit",
  "eventPage",
]);

/** Methods that read all events, which takes minutes in a large ledger. Only the command line uses them. */
export const LONG_METHODS: ReadonlySet<MethodName> = new Set(["audit", "eventPage"]);

/** Returns the account that a call is limited to; empty if it concerns all accounts. */
export function accountOf(argument: unknown): string {
  const isObject = typeof argument === "object" && argument !== null;
  return isObject && "accountId" in argument && typeof argument.accountId === "string" ? argument.accountId : "";
}

/** Calls a method by name. */
export function callMethod<Name extends MethodName>(
  storage: Storage,
  name: Name,
  argument: ArgumentOf<Name>,
): Promise<ResultOf<Name>> {
  const method = LEDGER_METHODS[name] as (storage: Storage, argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
  return method(storage, argument);
}
