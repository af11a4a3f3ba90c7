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

/** What a ledger does beside recording, by name: so that it can be done on another thread. */
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

/** What others remember is no longer so after these. */
export const CHANGING: ReadonlySet<MethodName> = new Set([
  "createAccount",
  "suspendAccount",
  "createKey",
  "rotateKey",
  "revokeKey",
  "archiveCustomer",
]);

/** These may read much: they get a thread of their own, so that recording does not wait for them. */
export const REPORTING: ReadonlySet<MethodName> = new Set([
  "listAccounts",
  "listKeys",
  "listCustomers",
  "usage",
  "audit",
  "eventPage",
]);

export function carryOut<Name extends MethodName>(
  storage: Storage,
  name: Name,
  argument: ArgumentOf<Name>,
): Promise<ResultOf<Name>> {
  const method = METHODS[name] as (storage: Storage, argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
  return method(storage, argument);
}
