import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { UsageEntry } from "../../src/ledger/ledger.ts";
import type { Answer, Order } from "../../src/ledger/sqliteMessages.ts";
import { serveLedger } from "../../src/ledger/sqliteThread.ts";
import { newReceipt } from "./receipts.ts";

test("entries that wait are recorded together, and each order gets its own answers", async () => {
  const data = await mkdtemp(join(tmpdir(), "isotherm-thread-"));
  const file = join(data, "ledger.sqlite");
  const { port1, port2 } = new MessageChannel();
  const answers = new Map<number, Answer>();
  port1.on("message", (answer: Answer) => {
    if ("id" in answer) answers.set(answer.id, answer);
  });
  const answered = async (id: number): Promise<void> => {
    await expect.poll(() => answers.has(id)).toBe(true);
  };
  const [accountId, customerId, keyId] = [randomUUID(), randomUUID(), randomUUID()];
  const entry = (units: number): UsageEntry => {
    return { receipt: newReceipt(), accountId, customerId, keyId, meter: "hazard_values", units, route: "/" };
  };
  const order = (id: number, nowMs: number, ...units: number[]): Order => {
    return { kind: "record", id, nowMs, entries: units.map(entry) };
  };
  try {
    await serveLedger(port2, { file, isReport: false, nowMs: 0 });
    for (const each of [order(1, 1000, 1, 2), order(2, 2000, 3), order(3, 3000, 4, 5, 6)]) port1.postMessage(each, []);
    await answered(3);
    const unitsOf = (id: number): unknown => {
      const answer = answers.get(id);
      return answer?.kind === "recorded" ? answer.outcomes.map((each) => "units" in each && each.units) : answer;
    };
    expect([1, 2, 3].map(unitsOf)).toEqual([[1, 2], [3], [4, 5, 6]]);
    const database = new Database(file, { readonly: true });
    // One transaction has one time, that of the last to come.
    expect(database.prepare("select distinct recorded_at from usage_event").pluck().all()).toEqual([
      new Date(3000).toISOString(),
    ]);
    database.close();
    port1.postMessage({ kind: "close", id: 4 } satisfies Order, []);
    await answered(4);
  } finally {
    port1.close();
    await rm(data, { recursive: true, force: true });
  }
});
