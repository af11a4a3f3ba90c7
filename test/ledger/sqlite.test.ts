import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type * as opening from "../../src/ledger/openLedger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { keepsThePromisesOfLedgers, type LedgerPlace } from "../contracts/ledger.ts";
import { startInProcess } from "./inProcess.ts";

async function newPlace(
  open: (data: string, now?: () => number) => ReturnType<LedgerPlace["open"]>,
): Promise<LedgerPlace> {
  const data = await mkdtemp(join(tmpdir(), "isotherm-ledger-"));
  return {
    open: ({ now } = {}) => open(data, now),
    async execute(statement) {
      const database = new Database(join(data, "ledger.sqlite"));
      try {
        database.exec(statement);
      } finally {
        database.close();
      }
    },
    done: () => rm(data, { recursive: true, force: true }),
  };
}

keepsThePromisesOfLedgers("A ledger in SQLite", () =>
  newPlace((data, now = Date.now) => SqliteLedger.open({ data, now, startThread: startInProcess })),
);

// As it is shipped: threads run the built files.
const built = (await import(new URL("../../dist/ledger/openLedger.js", import.meta.url).href)) as typeof opening;
keepsThePromisesOfLedgers("A ledger in SQLite, with threads of its own", () =>
  newPlace((data, now) => built.openLedger({ data }, now === undefined ? {} : { now })),
);
