/** A ledger that loses its last batches while it is open, as PostgreSQL does when it switches to a replica that is behind. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { anchorPath } from "../../src/ledger/anchor.ts";
import type { MaintainedLedger } from "../../src/ledger/ledger.ts";
import type * as openLedgerModule from "../../src/ledger/openLedger.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { newReceipt } from "../ledger/receipt.ts";
import { dataFolder } from "./dataFolder.ts";
import { type LedgerEditor, postgresEditor, sqliteEditor } from "./ledgerEditors.ts";
import { newAccount, type TestAccount } from "./service.ts";

const { openLedger } = (await import(
  new URL("../../dist/ledger/openLedger.js", import.meta.url).href
)) as typeof openLedgerModule;

const data = dataFolder("lost");

interface Backend {
  readonly anchorFile: string;
  open(options?: { readonly isChainChecked: boolean }): Promise<MaintainedLedger>;
  editor(): Promise<LedgerEditor>;
}

async function recordBatches(ledger: MaintainedLedger, account: TestAccount, count: number): Promise<void> {
  const { accountId, keyId, customerIds } = account;
  const entry = { accountId, keyId, customerId: customerIds[0] ?? "", meter: "hazard_values", route: "/" } as const;
  for (let batch = 0; batch < count; batch++) await ledger.record({ ...entry, receipt: newReceipt(), units: 1 });
}

/** Deletes the batches after one, and their events. */
async function loseBatches(editor: LedgerEditor, lastBatch: number): Promise<void> {
  await editor.run(`delete from usage_event where seq > (select last_seq from usage_batch where batch = ${lastBatch})`);
  await editor.run(`delete from usage_batch where batch > ${lastBatch}`);
  await editor.close();
}

async function keepsEvidence({ anchorFile, open, editor }: Backend): Promise<void> {
  const ledger = await open();
  const account = await newAccount(ledger, { name: "Clients", internalIds: ["one"] });
  await recordBatches(ledger, account, 6);
  const head = await ledger.chainHead();
  await expect.poll(() => readFile(anchorFile, "utf8").catch(() => "")).toContain(head.hash);
  await ledger.checkWritable();

  await loseBatches(await editor(), head.batch - 2);
  await recordBatches(ledger, account, 5);
  expect((await ledger.chainHead()).batch).toBe(head.batch + 3);
  const fault = (): Promise<unknown> =>
    ledger.checkWritable().then(
      () => "none",
      (error: unknown) => String(error),
    );
  await expect.poll(fault).toMatch(`Batch ${head.batch} had another hash`);
  await recordBatches(ledger, account, 1);
  expect(await readFile(anchorFile, "utf8")).toContain(head.hash);

  await expect(open()).rejects.toMatchObject({ code: "ledger_unavailable" });
  const other = await open({ isChainChecked: false });
  expect((await other.audit({ expectedHead: head })).chain.problems.map(({ code }) => code)).toEqual([
    "anchor_mismatch",
    "head_not_found",
  ]);
  await other.acceptRestored();
  await other.close();
  await recordBatches(ledger, account, 1);
  await expect.poll(fault).toBe("none");
  const newHead = await ledger.chainHead();
  await ledger.close();
  expect(await readFile(anchorFile, "utf8")).toContain(`"batch":${newHead.batch},"hash":"${newHead.hash}"`);
}

describe("an open ledger that loses batches and grows again keeps its anchor until the operator accepts it", () => {
  test("on SQLite", async () => {
    const folder = join(data(), "ledger");
    await keepsEvidence({
      anchorFile: anchorPath(folder, undefined),
      open: (options) => openLedger({ data: folder }, options),
      editor: () => Promise.resolve(sqliteEditor(folder)),
    });
  });
});

describeWithPostgres("an open ledger that loses batches and grows again keeps its anchor", () => {
  const server = postgresOfSuite();

  test("on PostgreSQL", async () => {
    const database = await server().newDatabase();
    await keepsEvidence({
      anchorFile: anchorPath(data(), database),
      open: (options) => openLedger({ database }, { ...options, anchorFolder: data() }),
      editor: () => postgresEditor(database),
    });
  });
});
