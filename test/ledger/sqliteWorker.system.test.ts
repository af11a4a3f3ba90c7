import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { UsageEntry } from "../../src/ledger/ledger.ts";
import type { LedgerWorkerMessage, LedgerWorkerRequest } from "../../src/ledger/sqliteMessages.ts";
import { runLedgerWorker } from "../../src/ledger/sqliteWorker.ts";
import { newReceipt } from "./receipt.ts";

let data: string;
let file: string;
let port: MessagePort;
/** The response to each request, by id. */
const responses = new Map<number, LedgerWorkerMessage>();
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-thread-"));
  file = join(data, "ledger.sqlite");
  responses.clear();
  const { port1, port2 } = new MessageChannel();
  port = port1;
  port.on("message", (message: LedgerWorkerMessage) => {
    if (message.kind === "recorded") for (const { id } of message.requests) responses.set(id, message);
    if ("id" in message) responses.set(message.id, message);
  });
  await runLedgerWorker(port2, { file, isReadOnly: false, nowMs: 0 });
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

function recordRequest(id: number, nowMs: number, ...units: number[]): LedgerWorkerRequest {
  return { kind: "record", id, nowMs, entries: units.map(entry) };
}

describe("a ledger worker", () => {
  test("records queued requests in one transaction, and returns the outcomes of each request", async () => {
    const queued = [recordRequest(1, 1000, 1, 2), recordRequest(2, 2000, 3), recordRequest(3, 3000, 4, 5, 6)];
    for (const request of queued) port.postMessage(request, []);
    await waitForResponse(3);
    const unitsOf = (id: number): unknown => {
      const response = responses.get(id);
      if (response?.kind !== "recorded") return response;
      const recorded = response.requests.find((request) => request.id === id);
      return recorded?.outcomes.map((outcome) => "units" in outcome && outcome.units);
    };
    expect([1, 2, 3].map(unitsOf)).toEqual([[1, 2], [3], [4, 5, 6]]);
    const database = new Database(file, { readonly: true });
    // All events of a transaction have the time of its last request.
    expect(database.prepare("select distinct recorded_at from usage_event").pluck().all()).toEqual([
      new Date(3000).toISOString(),
    ]);
    database.close();
    port.postMessage({ kind: "close", id: 4 } satisfies LedgerWorkerRequest, []);
    await waitForResponse(4);
  });

  test("records all queued entries before it closes, in several transactions if necessary", async () => {
    const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
    // More entries than a transaction or the arguments of a function call can hold.
    const queued = [recordRequest(1, 1000, ...ones(4000)), recordRequest(2, 1000, ...ones(4000))];
    queued.push({ kind: "record", id: 3, nowMs: 1000, entries: ones(150_000).map(entry) });
    for (const request of queued) port.postMessage(request, []);
    port.postMessage({ kind: "close", id: 4 } satisfies LedgerWorkerRequest, []);
    await waitForResponse(4);
    expect([1, 2, 3].map((id) => responses.get(id)?.kind)).toEqual(["recorded", "recorded", "recorded"]);
    const database = new Database(file, { readonly: true });
    expect(database.prepare("select count(*) from usage_event").pluck().get()).toBe(158_000);
    expect(database.prepare("select requests from usage_rollup").pluck().all()).toEqual([158_000]);
    database.close();
  }, 30_000);
});
