import { statSync } from "node:fs";
import { join } from "node:path";
import { Fault, type FaultItem, isFault } from "../errors.ts";
import { checkOptions, explain, type Shape } from "../explain.ts";
import { type Ledger, SQLITE_FILE_NAME } from "./ledger.ts";

/** Where the ledger lies: in a folder of this machine, or in a PostgreSQL database that replicas share. */
export type LedgerAddress =
  /** Made where it is not there. */
  | { readonly data: string; readonly database?: undefined }
  /** `postgres://user:password@host:port/name` */
  | { readonly database: string; readonly data?: undefined };

export interface LedgerOptions {
  /** The clock, milliseconds since 1970; by default the machine's. */
  readonly now?: () => number;
  /** Refuses instead of making a folder and a file. Default false. */
  readonly mustExist?: boolean;
}

const ADDRESS_SHAPE: Shape = {
  type: "object",
  properties: { data: { type: "string" }, database: { type: "string" } },
  additionalProperties: false,
};
const OPTIONS_SHAPE: Shape = {
  type: "object",
  properties: { now: { type: "function" }, mustExist: { type: "boolean" } },
  additionalProperties: false,
};

/**
 * Opens the ledger, made or brought up to this release where that is needed.
 *
 * @throws Fault `configuration_invalid` with everything that is wrong with address and options, when a package is
 *   missing, the storage does not give what recording depends on, or the ledger was written by a newer release; `ledger_unavailable` when it cannot be reached,
 *   read or written
 */
export async function openLedger(address: LedgerAddress, options: LedgerOptions = {}): Promise<Ledger> {
  checkOptions(options, OPTIONS_SHAPE, { code: "configuration_invalid", items: findingsOfAddress(address) });
  const { now = Date.now, mustExist = false } = options;
  if (mustExist && address.data !== undefined && isAbsent(join(address.data, SQLITE_FILE_NAME))) {
    const message = `There is no ledger in ${address.data}; isotherm accounts create makes one.`;
    throw new Fault("ledger_unavailable", message, { details: { data: address.data } });
  }
  try {
    if (address.database !== undefined) {
      const { PostgresLedger } = await import("./postgres.ts");
      return await PostgresLedger.open({ database: address.database, now });
    }
    const { SqliteLedger } = await import("./sqlite.ts");
    return await SqliteLedger.open({ data: address.data, now });
  } catch (error) {
    throw missingPackage(error) ?? error;
  }
}

/** What is wrong with the address; a password in it is not repeated. */
function findingsOfAddress(address: unknown): readonly FaultItem[] {
  const items: readonly FaultItem[] = explain(ADDRESS_SHAPE, address, { name: "The address" });
  if (items.length > 0) return items;
  const { data, database } = address as { readonly data?: string; readonly database?: string };
  if (data !== undefined && database !== undefined) {
    const detail = "The address has both data and database; give the one where the ledger is.";
    return [{ pointer: "/database", code: "not_expected", detail }];
  }
  if (data === undefined && database === undefined) {
    const detail = "The address is missing; give data, a folder, or database, a postgres:// address.";
    return [{ pointer: "/data", code: "missing", detail }];
  }
  if (data?.trim() !== "") return [];
  return [{ pointer: "/data", code: "empty", detail: "data is empty; give the folder of the ledger." }];
}

function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    // There is something that may not be looked at; why, opening it tells.
    return false;
  }
}

/** The packages of the ledger are optional for whoever installs the library alone. */
function missingPackage(error: unknown): Fault | undefined {
  if (isFault(error) || !(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") {
    return undefined;
  }
  const [, name] = /Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (name === undefined) return undefined;
  return new Fault("configuration_invalid", `The ledger needs the package ${name}: npm install ${name}`, {
    cause: error,
  });
}
