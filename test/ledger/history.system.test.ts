/** Verifies that `checkHistory` finds each kind of inconsistency. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { type ClientRequest, checkHistory } from "./history.ts";
import { startInProcessWorker } from "./inProcessWorker.ts";
import { newReceipt } from "./receipt.ts";

let data: string;
let ledger: Ledger;
let log: ClientRequest[];
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-history-"));
  ledger = await SqliteLedger.open({ data, now: Date.now, startWorker: startInProcessWorker });
  const { accountId } = await ledger.createAccount({ name: "Someone" });
  const { key } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "one" });
  log = [];
  for (let i = 0; i < 10; i++) {
    const request = {
      accountId,
      customerId: customer.customerId,
      meter: "hazard_values",
      units: i + 1,
      receipt: newReceipt(),
    } as const;
    if (i !== 3) await ledger.record({ ...request, keyId: key.keyId, route: "/" });
    log.push({ ...request, outcome: i === 3 ? "refused" : i === 4 ? "unknown" : "ok" });
  }
  // Requests without a response: the second was recorded, the first was not.
  const unanswered = {
    accountId,
    customerId: customer.customerId,
    meter: "company_results",
    outcome: "unknown",
  } as const;
  log.push({ ...unanswered, units: 50 }, { ...unanswered, units: 60 });
  const { customerId } = customer;
  const receipt = newReceipt();
  await ledger.record({
    receipt,
    accountId,
    customerId,
    keyId: key.keyId,
    meter: "company_results",
    units: 60,
    route: "/",
  });
});
afterEach(async () => {
  await ledger.close();
  await rm(data, { recursive: true, force: true });
});

const logWith = (index: number, overrides: Partial<ClientRequest>): ClientRequest[] =>
  log.map((request, i) => (i === index ? { ...request, ...overrides } : request));

async function csv(): Promise<string> {
  let text = "seq,receipt,units\n";
  for await (const { seq, receipt, units } of ledger.events({})) text += `${seq},${receipt},${units}\n`;
  return text;
}

function executeDirectly(statement: string): void {
  const database = new Database(join(data, "ledger.sqlite"));
  database.exec("drop trigger if exists usage_event_no_update; drop trigger if exists usage_event_no_delete");
  database.exec(statement);
  database.close();
}

test("finds nothing in a consistent history", async () => {
  expect(await checkHistory(log, ledger, { csv: await csv() })).toEqual([]);
});

test.each<[string, () => ClientRequest[], RegExp]>([
  ["a response that is not recorded", () => logWith(0, { receipt: newReceipt() }), /answered but not recorded/],
  ["a rejected request that is recorded", () => logWith(0, { outcome: "refused" }), /refused but recorded/],
  ["different units", () => logWith(0, { units: 99 }), /recorded as .* 1, answered as .* 99/],
  ["a different meter", () => logWith(0, { meter: "company_results" }), /recorded as/],
  [
    "a response without a receipt",
    () => log.map((request, i) => (i === 0 ? withoutReceipt(request) : request)),
    /response without a receipt/,
  ],
  ["an event that was not requested", () => log.slice(1), /not requested/],
  ["an event without a response, with different units", () => logWith(11, { units: 61 }), /not requested/],
])("finds %s", async (_name, getLog, finding) => {
  expect((await checkHistory(getLog(), ledger)).join("\n")).toMatch(finding);
});

test.each([
  ["a wrong rollup", "update usage_rollup set units = units + 1", /rollup and events differ/],
  ["a wrong sum of a day", "update usage_daily set units = units + 1", /sum and rollups differ/],
  ["wrong usage", "update usage_rollup set units = units + 1", /usage of account .*55 units|events: /],
  ["a missing event", "delete from usage_event where units = 1", /answered but not recorded/],
  ["a decreasing time", "update usage_event set recorded_at = '2020' where seq = 5", /seq goes from 5 to 1/],
])("finds %s", async (_name, statement, finding) => {
  executeDirectly(statement);
  expect((await checkHistory(log, ledger)).join("\n")).toMatch(finding);
});

test.each([
  ["a missing line", (text: string) => text.split("\n").toSpliced(2, 1).join("\n")],
  ["a duplicate line", (text: string) => text + (text.trim().split("\n").at(-1) ?? "")],
  ["changed units", (text: string) => text.replace(/,1\n/, ",2\n")],
])("finds %s in the CSV export", async (_name, alter) => {
  expect((await checkHistory(log, ledger, { csv: alter(await csv()) })).join("\n")).toMatch(/CSV export/);
});

function withoutReceipt({ receipt: _receipt, ...request }: ClientRequest): ClientRequest {
  return request;
}
