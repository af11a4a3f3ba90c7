import { Command, Option } from "commander";
import type { MaintainedLedger } from "../ledger/ledger.ts";
import { type LedgerOptions, openLedger } from "../ledger/openLedger.ts";
import { addDatabaseOptions, type DatabaseFlags } from "./databaseOptions.ts";
import { indentedJson } from "./terminal.ts";
import { formatTable } from "./textTable.ts";

/** Options of every command that uses the ledger. */
export interface LedgerFlags extends DatabaseFlags {
  readonly data: string;
  readonly json?: boolean;
}

/** Creates a command with the ledger options, which are those of `isotherm serve`. */
export function ledgerCommand(name: string): Command {
  const command = new Command(name).addOption(
    new Option("--data <folder>", "data folder with the ledger").env("ISOTHERM_DATA").default("./isotherm-data"),
  );
  return addDatabaseOptions(command).option("--json", "print JSON");
}

/** Opens the ledger for the duration of a call, and closes it when the call returns or throws. */
export async function withLedger<T>(
  { data, database }: LedgerFlags,
  call: (ledger: MaintainedLedger) => Promise<T>,
  options: Pick<LedgerOptions, "mustExist" | "isChainChecked" | "anchorFolder"> = { mustExist: true },
): Promise<T> {
  const ledger = await openLedger(database === undefined ? { data } : { database }, options);
  try {
    return await call(ledger);
  } finally {
    await ledger.close();
  }
}

export function printJson(value: unknown): void {
  process.stdout.write(indentedJson(value));
}

export function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  process.stdout.write(`${formatTable({ head, rows: rows.map((row) => row.map(String)) })}\n`);
}
