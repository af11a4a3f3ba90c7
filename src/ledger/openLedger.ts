import { statSync } from "node:fs";
import { join } from "node:path";
import { Fault, isFault } from "../errors.ts";
import { type Ledger, SQLITE_FILE_NAME } from "./ledger.ts";

/** The location of a ledger: a local folder, or a PostgreSQL database that replicas share. */
export type LedgerAddress =
  /** The data folder; created if it does not exist. */
  | { readonly data: string; readonly database?: undefined }
  /** `postgres://user:password@host:port/name` */
  | { readonly database: string; readonly data?: undefined };

/**
 * Opens a ledger; creates it if it does not exist, and migrates it to this release.
 *
 * @param options `now`: the clock in milliseconds since 1970, by default the machine's; `mustExist`: fail if the folder
 *   or the file does not exist, instead of creating it
 * @throws Fault `configuration_invalid` if a package is missing, the address is invalid, the storage does not guarantee
 *   durability, or a newer release wrote the ledger; `ledger_unavailable` if it cannot be reached, read or written
 */
export async function openLedger(
  address: LedgerAddress,
  options: { readonly now?: () => number; readonly mustExist?: boolean } = {},
): Promise<Ledger> {
  const { now = Date.now, mustExist = false } = options;
  if (mustExist && address.data !== undefined && isAbsent(join(address.data, SQLITE_FILE_NAME))) {
    const message = `There is no ledger in ${address.data}. Create one with isotherm accounts create.`;
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

function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Something exists that cannot be inspected; opening it reports the reason.
    return false;
  }
}

/** Returns the fault for an optional package that is not installed. */
function missingPackage(error: unknown): Fault | undefined {
  if (isFault(error) || !(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") {
    return undefined;
  }
  const [, name] = /Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (name === undefined) return undefined;
  return new Fault(
    "configuration_invalid",
    `The ledger needs the package ${name}. Install it with npm install ${name}.`,
    {
      cause: error,
    },
  );
}
