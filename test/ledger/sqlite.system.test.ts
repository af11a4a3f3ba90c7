import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { describeLedgerContract } from "../contracts/ledger.ts";
import type { LedgerFixture } from "../contracts/testLedger.ts";
import { startInProcessWorker } from "./inProcessWorker.ts";

async function createFixture(
  open: (data: string, now?: () => number) => ReturnType<LedgerFixture["open"]>,
): Promise<LedgerFixture> {
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
    dispose: () => rm(data, { recursive: true, force: true }),
  };
}

describeLedgerContract("SQLite ledger with in-process workers", () =>
  createFixture(async (data, now = Date.now) => {
    const ledger = await SqliteLedger.open({ data, now, startWorker: startInProcessWorker });
    await ledger.startChain({ anchorPath: undefined, isChecked: true, hasOtherAnchors: false });
    return ledger;
  }),
);

// Worker threads need the built files.
const built = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof openLedgerModule;
describeLedgerContract("SQLite ledger with worker threads", () =>
  createFixture((data, now) => built.openLedger({ data }, now === undefined ? {} : { now })),
);
