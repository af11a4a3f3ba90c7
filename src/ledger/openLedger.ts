import { statSync } from "node:fs";
import { join } from "node:path";
import { Fault, type FaultItem } from "../errors.ts";
import { checkOptions, findSchemaErrors, type ValueSchema } from "../schemaErrors.ts";
import { ledgerPackages, requirePackages } from "../optionalPackages.ts";
import { type Ledger, SQLITE_FILE_NAME } from "./ledger.ts";

/** The location of a ledger: a local folder, or a PostgreSQL database that replicas share. */
export type LedgerAddress =
  /** The data folder; created if it does not exist. */
  | { readonly data: string; readonly database?: undefined }
  /** `postgres://user:password@host:port/name` */
  | { readonly database: string; readonly data?: undefined };

export interface LedgerOptions {
  /** The clock, milliseconds since 1970; by default the system clock. */
  readonly now?: () => number;
  /** Whether a missing ledger is rejected instead of created. Default: false. */
  readonly mustExist?: boolean;
}

const ADDRESS_SHAPE: ValueSchema = {
  type: "object",
  properties: { data: { type: "string" }, database: { type: "string" } },
  additionalProperties: false,
};
const LEDGER_OPTIONS_SHAPE: ValueSchema = {
  type: "object",
  properties: { now: { type: "function" }, mustExist: { type: "boolean" } },
  additionalProperties: false,
};

/**
 * Opens a ledger, creating it if necessary, and migrates it to this release's schema.
 *
 * @throws Fault `configuration_invalid` with all errors of address and options, if a package is missing, the storage does
 *   not guarantee durability, or a newer release wrote the ledger; `ledger_unavailable` if it cannot be reached, read or
 *   written
 */
export async function openLedger(address: LedgerAddress, options: LedgerOptions = {}): Promise<Ledger> {
  checkOptions(options, LEDGER_OPTIONS_SHAPE, { code: "configuration_invalid", items: addressErrors(address) });
  const { now = Date.now, mustExist = false } = options;
  if (mustExist && address.data !== undefined && isAbsent(join(address.data, SQLITE_FILE_NAME))) {
    const message = `There is no ledger in ${address.data}. Create one with isotherm accounts create.`;
    throw new Fault("ledger_unavailable", message, { details: { data: address.data } });
  }
  requirePackages("The ledger", ledgerPackages(address));
  if (address.database !== undefined) {
    const { PostgresLedger } = await import("./postgres.ts");
    return PostgresLedger.open({ database: address.database, now });
  }
  checkRegularFiles(address.data);
  const { SqliteLedger } = await import("./sqlite.ts");
  return SqliteLedger.open({ data: address.data, now });
}

/**
 * Rejects a FIFO, socket, device or folder in place of a file of the ledger before it is opened: opening a FIFO waits for
 * its other end.
 * @throws Fault `ledger_unavailable`
 */
function checkRegularFiles(data: string): void {
  for (const suffix of ["", "-wal", "-shm"]) {
    const file = join(data, SQLITE_FILE_NAME) + suffix;
    // If it cannot be inspected, opening it reports the reason.
    const stats = ignoreErrors(() => statSync(file, { throwIfNoEntry: false }));
    if (stats === undefined || stats.isFile()) continue;
    const message = `The ledger ${file} cannot be opened: it is not a regular file.`;
    throw new Fault("ledger_unavailable", message, { details: { file } });
  }
}

function ignoreErrors<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** Returns the errors of an address, without repeating a password in it. */
function addressErrors(address: unknown): readonly FaultItem[] {
  const items: readonly FaultItem[] = findSchemaErrors(ADDRESS_SHAPE, address, { name: "The address" });
  if (items.length > 0) return items;
  const { data, database } = address as { readonly data?: string; readonly database?: string };
  if (data !== undefined && database !== undefined) {
    const detail = "The address has both data and database; give only the one that holds the ledger.";
    return [{ pointer: "/database", code: "not_expected", detail }];
  }
  if (data === undefined && database === undefined) {
    const detail = "The address is missing; give data, a folder, or database, a postgres:// address.";
    return [{ pointer: "/data", code: "missing", detail }];
  }
  if (data?.trim() !== "") return [];
  return [{ pointer: "/data", code: "empty", detail: "data must be the folder of the ledger (got an empty text)." }];
}

function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Something exists that cannot be inspected; opening it reports the reason.
    return false;
  }
}
