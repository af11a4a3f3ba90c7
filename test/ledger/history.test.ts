/** The checker of histories finds what is wrong: each kind of lie is planted once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { type ClientRequest, checkHistory } from "./history.ts";
import { startInProcess } from "./inProcess.ts";
import { newReceipt } from "./receipts.ts";

let data: string;
let ledger: Ledger;
let log: ClientRequest[];
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-history-"));
  ledger = await SqliteLedger.open({ data, now: Date.now, startThread: startInProcess });
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
  // Their answers never came: the one is there, the other is not.
  const lost = { accountId, customerId: customer.customerId, meter: "company_results", outcome: "unknown" } as const;
  log.push({ ...lost, units: 50 }, { ...lost, units: 60 });
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

const changed = (index: number, more: Partial<ClientRequest>): ClientRequest[] =>
  log.map((request, i) => (i === index ? { ...request, ...more } : request));

async function csv(): Promise<string> {
  let text = "seq,receipt,units\n";
  for await (const { seq, receipt, units } of ledger.events({})) text += `${seq},${receipt},${units}\n`;
  return text;
}

function plant(statement: string): void {
  const database = new Database(join(data, "ledger.sqlite"));
  database.exec("drop trigger if exists usage_event_no_update; drop trigger if exists usage_event_no_delete");
  database.exec(statement);
  database.close();
}

test("finds nothing where all is well", async () => {
  expect(await checkHistory(log, ledger, { csv: await csv() })).toEqual([]);
});

test.each<[string, () => ClientRequest[], RegExp]>([
  ["an answer that is not recorded", () => changed(0, { receipt: newReceipt() }), /answered and not recorded/],
  ["a refusal that is", () => changed(0, { outcome: "refused" }), /refused and recorded/],
  ["other units", () => changed(0, { units: 99 }), /recorded as .* 1, answered as .* 99/],
  ["another meter", () => changed(0, { meter: "company_results" }), /recorded as/],
  ["an answer without a receipt", () => log.map((each, i) => (i === 0 ? without(each) : each)), /had no receipt/],
  ["a record that nobody asked for", () => log.slice(1), /asked for by nobody/],
  ["a lost one of other units", () => changed(11, { units: 61 }), /asked for by nobody/],
])("finds %s", async (_what, lied, finding) => {
  expect((await checkHistory(lied(), ledger)).join("\n")).toMatch(finding);
});

test.each([
  ["a rollup that is wrong", "update usage_rollup set units = units + 1", /rollup and events differ/],
  ["usage that is wrong", "update usage_rollup set units = units + 1", /usage of account .*55 units|events: /],
  ["an event that is gone", "delete from usage_event where units = 1", /answered and not recorded/],
  ["time that goes back", "update usage_event set recorded_at = '2020' where seq = 5", /seq goes from 5 to 1/],
])("finds %s", async (_what, statement, finding) => {
  plant(statement);
  expect((await checkHistory(log, ledger)).join("\n")).toMatch(finding);
});

test.each([
  ["a line that is missing", (text: string) => text.split("\n").toSpliced(2, 1).join("\n")],
  ["a line twice", (text: string) => text + (text.trim().split("\n").at(-1) ?? "")],
  ["other units", (text: string) => text.replace(/,1\n/, ",2\n")],
])("finds %s in the CSV export", async (_what, lie) => {
  expect((await checkHistory(log, ledger, { csv: lie(await csv()) })).join("\n")).toMatch(/CSV export/);
});

function without({ receipt: _receipt, ...request }: ClientRequest): ClientRequest {
  return request;
}
