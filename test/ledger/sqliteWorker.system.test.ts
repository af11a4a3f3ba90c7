import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { UsageEntry } from "../../src/ledger/ledger.ts";
import type { CallMessage, ReplyMessage } from "../../src/concurrency/threadCalls.ts";
import { encodeEntries } from "../../src/ledger/entry.ts";
import { type RecordReply, runLedgerWorker } from "../../src/ledger/sqliteWorker.ts";
import { parentPortOf } from "./inProcessWorker.ts";
import { newReceipt } from "./receipt.ts";

let data: string;
let file: string;
let port: MessagePort;
/** The response to each request, by id. */
const responses = new Map<number, ReplyMessage>();
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-thread-"));
  file = join(data, "ledger.sqlite");
  responses.clear();
  const { port1, port2 } = new MessageChannel();
  port = port1;
  port.on("message", (message: ReplyMessage) => {
    if ("id" in message) responses.set(message.id, message);
  });
  await runLedgerWorker(parentPortOf(port2), { file, isReadOnly: false, nowMs: 0 });
});
afterEach(async () => {
  port.close();
  await rm(data, { recursive: true, force: true });
});

async function waitForResponse(id: number): Promise<void> {
  await expect.poll(() => responses.has(id), { timeout: 20_000 }).toBe(true);
}

const [accountId, customerId, keyId] = [randomUUID(), randomUUID(), randomUUID()];
function entry(units: number): UsageEntry {
  return { receipt: newReceipt(), accountId, customerId, keyId, meter: "hazard_values", units, route: "/" };
}

/** Posts the entries with these units. */
function record(id: number, nowMs: number, entries: readonly UsageEntry[]): void {
  const argument = { nowMs, entries: encodeEntries(entries) };
  port.postMessage({ id, name: "record", argument } satisfies CallMessage, []);
}

async function replyOf(id: number): Promise<RecordReply> {
  await waitForResponse(id);
  const response = responses.get(id);
  if (response === undefined || !("result" in response)) throw new Error(`Call ${id} has failed.`);
  return response.result as RecordReply;
}

describe("a ledger worker", () => {
  test("records each request in a transaction, and reports the outcomes that are not as expected", async () => {
    const first = entry(1);
    record(1, 1000, [first, entry(2)]);
    record(2, 2000, [entry(3), first, entry(0)]);
    const keyed = { ...entry(4), idempotency: { key: "a", fingerprint: "0".repeat(64) } };
    record(3, 3000, [keyed, { ...keyed, receipt: newReceipt() }, { ...first, units: 7 }]);
    expect(await replyOf(1)).toEqual({ commit: { rowCount: 2, durationMs: expect.any(Number) as number } });
    expect((await replyOf(2)).exceptions).toBeUndefined();
    expect((await replyOf(3)).exceptions).toEqual(
      new Map([
        [1, { units: 0, isReplay: true }],
        [2, { units: 1, isReplay: false }],
      ]),
    );
    const database = new Database(file, { readonly: true });
    const times = database.prepare("select recorded_at, units from usage_event order by seq").raw().all();
    const at = (nowMs: number): string => new Date(nowMs).toISOString();
    expect(times).toEqual([
      [at(1000), 1],
      [at(1000), 2],
      [at(2000), 3],
      [at(3000), 4],
    ]);
    database.close();
  });

  test("records all requests that have arrived before it closes", async () => {
    const ones = Array.from({ length: 4000 }, () => 1);
    for (const id of [1, 2, 3]) record(id, 1000, ones.map(entry));
    port.postMessage({ id: 4, name: "close", argument: undefined } satisfies CallMessage, []);
    await waitForResponse(4);
    const database = new Database(file, { readonly: true });
    expect(database.prepare("select count(*) from usage_event").pluck().get()).toBe(12_000);
    expect(database.prepare("select requests from usage_rollup").pluck().all()).toEqual([12_000]);
    database.close();
  }, 30_000);
});
