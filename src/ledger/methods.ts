import {
  createAccount,
  createKey,
  findKey,
  findKeyById,
  listAccounts,
  listKeys,
  revokeKey,
  rotateKey,
  setAccountSuspended,
} from "./accounts.ts";
import { archiveCustomer, findCustomer, listCustomers, registerCustomer } from "./customers.ts";
import { chainPage, chainState, chainTail, fileDamage } from "./chainAudit.ts";
import { deletePruned, preparePrune, prunePlan, prunings, recordPrune, resetClock } from "./prune.ts";
import type { Storage } from "./schema.ts";
import { signingSecret } from "./cursor.ts";
import { auditSums, eventPage } from "./usage.ts";
import { usage, usageCsv } from "./usageLines.ts";
import { checkWritable } from "./changes.ts";

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
  findKeyById,
  signingSecret,
  registerCustomer,
  findCustomer,
  listCustomers,
  archiveCustomer,
  usage,
  usageCsv,
  auditSums,
  eventPage,
  chainState,
  chainTail,
  chainPage,
  fileDamage,
  prunings,
  prunePlan,
  preparePrune,
  recordPrune,
  deletePruned,
  resetClock,
  checkWritable,
} as const;

export type MethodName = keyof typeof LEDGER_METHODS;
export type ArgumentOf<Name extends MethodName> = Parameters<(typeof LEDGER_METHODS)[Name]>[1];
export type ResultOf<Name extends MethodName> = Awaited<ReturnType<(typeof LEDGER_METHODS)[Name]>>;

/** Methods after which all caches of keys, accounts and customers must be invalidated. */
export const INVALIDATING_METHODS: ReadonlySet<MethodName> = new Set([
  "createAccount",
  "setAccountSuspended",
  "createKey",
  "rotateKey",
  "revokeKey",
]);

/** Methods that set the ledger's time, which a wrong clock must not do. */
export const DATED_METHODS: ReadonlySet<MethodName> = new Set([
  ...INVALIDATING_METHODS,
  "registerCustomer",
  "archiveCustomer",
  "resetClock",
]);

/** Methods that may read many rows. They run on a separate thread or connection, so that they do not block recording. */
export const REPORT_METHODS: ReadonlySet<MethodName> = new Set([
  "listAccounts",
  "listKeys",
  "listCustomers",
  "usage",
  "usageCsv",
  "auditSums",
  "eventPage",
  "chainPage",
  "fileDamage",
  "prunePlan",
]);

/** Methods that read all events, which takes minutes in a large ledger. Only the command line uses them. */
export const LONG_METHODS: ReadonlySet<MethodName> = new Set([
  "auditSums",
  "eventPage",
  "chainPage",
  "fileDamage",
  "prunePlan",
]);

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
