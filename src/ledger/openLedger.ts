import { statSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../errors.ts";
import { ledgerPackages, requirePackages } from "../optionalPackages.ts";
import { type Ledger, SQLITE_FILE_NAME } from "./ledger.ts";

/** Where the ledger lies: in a folder of this machine, or in a PostgreSQL database that replicas share. */
export type LedgerAddress =
  /** Made where it is not there. */
  | { readonly data: string; readonly database?: undefined }
  /** `postgres://user:password@host:port/name` */
  | { readonly database: string; readonly data?: undefined };

/**
 * Opens the ledger, made or brought up to this release where that is needed.
 *
 * @param options `now`: the clock, milliseconds since 1970, by default the machine's; `mustExist`: no folder and no file
 *   is made
 * @throws Fault `configuration_invalid` when a package is missing, the address is none, the storage does not give what
 *   recording hangs on, or the ledger was written by a newer release; `ledger_unavailable` when it cannot be reached,
 *   read or written
 */
export async function openLedger(
  address: LedgerAddress,
  options: { readonly now?: () => number; readonly mustExist?: boolean } = {},
): Promise<Ledger> {
  const { now = Date.now, mustExist = false } = options;
  if (mustExist && address.data !== undefined && isAbsent(join(address.data, SQLITE_FILE_NAME))) {
    const message = `There is no ledger in ${address.data}; isotherm accounts create makes one.`;
    throw new Fault("ledger_unavailable", message, { details: { data: address.data } });
  }
  requirePackages("The ledger", ledgerPackages(address));
  if (address.database !== undefined) {
    const { PostgresLedger } = await import("./postgres.ts");
    return PostgresLedger.open({ database: address.database, now });
  }
  const { SqliteLedger } = await import("./sqlite.ts");
  return SqliteLedger.open({ data: address.data, now });
}

function isAbsent(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    // There is something that may not be looked at; why, opening it tells.
    return false;
  }
}
