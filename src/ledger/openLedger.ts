import { statSync } from "node:fs";
import { join } from "node:path";
import { Fault, type FaultItem } from "../errors.ts";
import { checkOptions, findSchemaErrors, type ValueSchema } from "../validation/schemaErrors.ts";
import { ledgerPackages, requirePackages } from "../validation/optionalPackages.ts";
import { anchorPath, readAnchor } from "./anchor.ts";
import type { Anchor } from "./chainReport.ts";
import { type MaintainedLedger, SQLITE_FILE_NAME } from "./ledger.ts";
import type { LedgerBase, LedgerClock } from "./ledgerBase.ts";

/** The location of a ledger: a local folder, or a PostgreSQL database that replicas share. */
export type LedgerAddress =
  /** The data folder; created if it does not exist. */
  | { readonly data: string; readonly database?: undefined }
  /** `postgres://user:password@host:port/name` */
  | { readonly database: string; readonly data?: undefined };

export interface LedgerOptions {
  /** The clock, milliseconds since 1970; by default the system clock. */
  readonly now?: () => number;
  /**
   * A clock that is never set, in milliseconds, with which changes of `now` are detected; by default that of the process,
   * or none if `now` is given.
   */
  readonly monotonicNow?: () => number;
  /** Folder of the anchor of a PostgreSQL ledger; by default none. That of a SQLite ledger is in its data folder. */
  readonly anchorFolder?: string;
  /** Whether a ledger that does not match its anchor or the end of its hash chain is rejected. Default: true. */
  readonly isChainChecked?: boolean;
  /**
   * Time after which recording is given up, milliseconds; 15 s by default. If the storage had begun to record the entry,
   * it may still be recorded, once.
   */
  readonly recordTimeoutMs?: number;
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
  properties: {
    now: { type: "function" },
    monotonicNow: { type: "function" },
    anchorFolder: { type: "string" },
    isChainChecked: { type: "boolean" },
    recordTimeoutMs: { type: "number", exclusiveMinimum: 0 },
    mustExist: { type: "boolean" },
  } satisfies Record<keyof LedgerOptions, ValueSchema>,
  additionalProperties: false,
};

/**
 * Opens a ledger, creating it if necessary, and migrates it to this release's schema.
 *
 * @throws Fault `configuration_invalid` with all errors of address and options, if a package is missing, the storage does
 *   not guarantee durability, or a newer release wrote the ledger; `ledger_unavailable` if it cannot be reached, read or
 *   written, or does not match its hash chain or anchor; `clock_unreliable` if the clock of a PostgreSQL server differs
 */
export async function openLedger(address: LedgerAddress, options: LedgerOptions = {}): Promise<MaintainedLedger> {
  checkOptions(options, LEDGER_OPTIONS_SHAPE, { code: "configuration_invalid", items: addressErrors(address) });
  const { data, database } = address;
  const { mustExist = false, isChainChecked = true } = options;
  const folder = data ?? options.anchorFolder;
  const anchorFile = folder === undefined || !isPostgresAddress(database) ? undefined : anchorPath(folder, database);
  if (data !== undefined && isAbsent(join(data, SQLITE_FILE_NAME))) {
    const anchor = anchorFile === undefined ? undefined : await readAnchor(anchorFile);
    if (anchor !== undefined) throw vanishedFault(join(data, SQLITE_FILE_NAME), anchor, anchorFile ?? "");
    if (mustExist) {
      const message = `There is no ledger in ${data}. Create one with isotherm accounts create.`;
      throw new Fault("ledger_unavailable", message, { details: { data } });
    }
  }
  requirePackages("The ledger", ledgerPackages(address));
  const { recordTimeoutMs } = options;
  const ledger = await openStorage(address, { ...clockOf(options), recordTimeoutMs });
  try {
    const hasOtherAnchors = database !== undefined;
    await ledger.startChain({ anchorPath: anchorFile, isChecked: isChainChecked, hasOtherAnchors });
    return ledger;
  } catch (error) {
    await ledger.close();
    throw error;
  }
}

async function openStorage(
  { data, database }: LedgerAddress,
  options: LedgerClock & { readonly recordTimeoutMs: number | undefined },
): Promise<LedgerBase> {
  if (database !== undefined) {
    const { PostgresLedger } = await import("./postgres.ts");
    return PostgresLedger.open({ database, ...options });
  }
  checkRegularFiles(data);
  const { SqliteLedger } = await import("./sqlite.ts");
  return SqliteLedger.open({ data, ...options });
}

function clockOf({ now, monotonicNow }: LedgerOptions): LedgerClock {
  if (now !== undefined) return { now, monotonicNow };
  return { now: Date.now, monotonicNow: monotonicNow ?? (() => performance.now()) };
}

/** Returns whether an address of PostgreSQL, if there is one, can be parsed; opening it reports the reason if not. */
function isPostgresAddress(database: string | undefined): boolean {
  return database === undefined || URL.canParse(database);
}

function vanishedFault(file: string, { batch, hash, writtenAt }: Anchor, path: string): Fault {
  const message =
    `The ledger ${file} does not exist or is empty, but had ${batch} batches at ${writtenAt} (head ${batch}:${hash}). ` +
    `Restore it from a backup. To start with an empty ledger, move the anchor ${path} away.`;
  return new Fault("ledger_unavailable", message, { details: { file } });
}

/**
 * Rejects a FIFO, socket, device or folder in place of a file of the ledger before it is opened: opening a FIFO waits for
 * its other end.
 * @throws Fault `ledger_unavailable`
 */
function checkRegularFiles(data: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
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

/** Returns whether there is no file, or an empty one. */
function isAbsent(file: string): boolean {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats === undefined || (stats.isFile() && stats.size === 0);
  } catch {
    // Something exists that cannot be inspected; opening it reports the reason.
    return false;
  }
}
