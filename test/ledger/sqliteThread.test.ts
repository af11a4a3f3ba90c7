import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { UsageEntry } from "../../src/ledger/ledger.ts";
import type { Answer, Order } from "../../src/ledger/sqliteMessages.ts";
import { serveLedger } from "../../src/ledger/sqliteThread.ts";
import { newReceipt } from "./receipts.ts";

let data: string;
let file: string;
let port: MessagePort;
const answers = new Map<number, Answer>();
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-thread-"));
  file = join(data, "ledger.sqlite");
  answers.clear();
  const { port1, port2 } = new MessageChannel();
  port = port1;
  port.on("message", (answer: Answer) => {
    if (answer.kind === "recorded") for (const order of answer.orders) answers.set(order.id, answer);
    if ("id" in answer) answers.set(answer.id, answer);
  });
  await serveLedger(port2, { file, isReport: false, nowMs: 0 });
});
afterEach(async () => {
  port.close();
  await rm(data, { recursive: true, force: true });
});

async function answered(id: number): Promise<void> {
  await expect.poll(() => answers.has(id), { timeout: 20_000 }).toBe(true);
}

const [accountId, customerId, keyId] = [randomUUID(), randomUUID(), randomUUID()];
function entry(units: number): UsageEntry {
  return { receipt: newReceipt(), accountId, customerId, keyId, meter: "hazard_values", units, route: "/" };
}

function order(id: number, nowMs: number, ...units: number[]): Order {
  return { kind: "record", id, nowMs, entries: units.map(entry) };
}

describe("a thread of the ledger", () => {
  test("records together what waits, and gives each order its own answers", async () => {
    for (const each of [order(1, 1000, 1, 2), order(2, 2000, 3), order(3, 3000, 4, 5, 6)]) port.postMessage(each, []);
    await answered(3);
    const unitsOf = (id: number): unknown => {
      const answer = answers.get(id);
      if (answer?.kind !== "recorded") return answer;
      const own = answer.orders.find((each) => each.id === id);
      return own?.outcomes.map((each) => "units" in each && each.units);
    };
    expect([1, 2, 3].map(unitsOf)).toEqual([[1, 2], [3], [4, 5, 6]]);
    const database = new Database(file, { readonly: true });
    // One transaction has one time, that of the last to come.
    expect(database.prepare("select distinct recorded_at from usage_event").pluck().all()).toEqual([
      new Date(3000).toISOString(),
    ]);
    database.close();
    port.postMessage({ kind: "close", id: 4 } satisfies Order, []);
    await answered(4);
  });

  test("records all that waits before it closes, however much that is", async () => {
    const ones = (count: number): number[] => Array.from({ length: count }, () => 1);
    // More than one transaction takes, and more than a function takes as parameters.
    const orders = [order(1, 1000, ...ones(4000)), order(2, 1000, ...ones(4000))];
    orders.push({ kind: "record", id: 3, nowMs: 1000, entries: ones(150_000).map(entry) });
    for (const each of orders) port.postMessage(each, []);
    port.postMessage({ kind: "close", id: 4 } satisfies Order, []);
    await answered(4);
    expect([1, 2, 3].map((id) => answers.get(id)?.kind)).toEqual(["recorded", "recorded", "recorded"]);
    const database = new Database(file, { readonly: true });
    expect(database.prepare("select count(*) from usage_event").pluck().get()).toBe(158_000);
    expect(database.prepare("select requests from usage_rollup").pluck().all()).toEqual([158_000]);
    database.close();
  }, 30_000);
});
