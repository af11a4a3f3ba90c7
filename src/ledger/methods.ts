import {
  createAccount,
  createKey,
  findKey,
  listAccounts,
  listKeys,
  revokeKey,
  rotateKey,
  suspendAccount,
} from "./accounts.ts";
import { archiveCustomer, findCustomer, listCustomers, registerCustomer } from "./customers.ts";
import type { Storage } from "./schema.ts";
import { audit, eventPage, usage } from "./usage.ts";

/** The methods of a ledger other than recording, by name, so that they can be called on another thread. */
export const METHODS = {
  createAccount,
  listAccounts,
  suspendAccount,
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
  audit,
  eventPage,
} as const;

export type MethodName = keyof typeof METHODS;
export type ArgumentOf<Name extends MethodName> = Parameters<(typeof METHODS)[Name]>[1];
export type ResultOf<Name extends MethodName> = Awaited<ReturnType<(typeof METHODS)[Name]>>;

/** Methods after which caches of keys, accounts and customers must be invalidated. */
export const INVALIDATING_METHODS: ReadonlySet<MethodName> = new Set([
  "createAccount",
  "suspendAccount",
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
  "audit",
  "eventPage",
]);

/** Calls a method by name. */
export function callMethod<Name extends MethodName>(
  storage: Storage,
  name: Name,
  argument: ArgumentOf<Name>,
): Promise<ResultOf<Name>> {
  const method = METHODS[name] as (storage: Storage, argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
  return method(storage, argument);
}
