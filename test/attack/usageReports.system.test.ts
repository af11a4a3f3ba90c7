/** An account that requests many large usage reports, and abandons them, while another account uses the service. */
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HttpClient } from "../durability/clients.ts";
import { newAccount, type Service, startService, type TestAccount, withLedger } from "../durability/service.ts";
import { attackSize } from "./attackSize.ts";

/** Hourly sums of the attacking account. */
const ROW_COUNT = attackSize("USAGE_ROWS", { small: 24_000, full: 5_000_000 });
const CUSTOMER_COUNT = 2_000;
const ABANDONED_COUNT = 40;
const TIMEOUT_MS = 3_600_000;
const CSV = "/latest/api/v1/usage?format=csv&group_by=customer,meter,day";

let data: string;
let service: Service | undefined;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
});
afterEach(async () => {
  await service?.kill();
  await rm(data, { recursive: true, force: true });
});

/** Writes hourly sums of one meter for every customer and hour. @returns the number of lines per customer and day */
function writeUsage({ accountId }: TestAccount): number {
  const hourCount = Math.ceil(ROW_COUNT / CUSTOMER_COUNT);
  const database = new Database(join(data, "ledger.sqlite"));
  database
    .prepare(
      `with recursive customer (i) as (select 0 union all select i + 1 from customer where i + 1 < ${CUSTOMER_COUNT}),
         hour (h) as (select 0 union all select h + 1 from hour where h + 1 < ${hourCount})
       insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
         select ?, printf('customer-%06d', i), 'hazard_values',
             strftime('%Y-%m-%dT%H', '2026-01-01', '+' || h || ' hours'), 1 + i % 7, 1
           from customer, hour`,
    )
    .run(accountId);
  const lineCount = database.prepare("select count(*) from usage_daily where customer_id <> ''").pluck().get();
  database.close();
  return Number(lineCount);
}

/** Sends a request for a CSV file and does not read the response. */
function requestUnread(url: string, { apiKey }: TestAccount): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${CSV} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${apiKey}\r\n\r\n`, () => resolve(socket));
    }).once("error", reject);
    socket.on("error", () => undefined).pause();
  });
}

test(
  "abandoned reports delay neither the requests of another account nor the stop, and a complete one has every line",
  async () => {
    const { attacker, victim } = await withLedger({ data }, async (ledger) => ({
      attacker: await newAccount(ledger, { name: "attacker", internalIds: [] }),
      victim: await newAccount(ledger, { name: "victim", internalIds: ["one"] }),
    }));
    const lineCount = writeUsage(attacker);
    service = await startService({ data });
    const { url } = service;
    const client = new HttpClient(4);
    const times: Record<string, number> = {};
    const get = async (name: string, path: string, { apiKey }: TestAccount): Promise<string> => {
      for (;;) {
        const startMs = performance.now();
        const { status, text } = await client.send(`${url}${path}`, { headers: { "X-API-Key": apiKey } });
        times[name] = Math.round(performance.now() - startMs);
        // Of the same account, until the service has noticed that the clients of the abandoned reports have left.
        if (status === 503 && path === CSV) continue;
        expect(status, text).toBe(200);
        return text;
      }
    };

    await expect.poll(async () => (await client.send(`${url}/readyz`)).status, { timeout: 60_000 }).toBe(200); // The service warms up.
    await get("first page alone", "/latest/api/v1/usage?group_by=customer,meter,day", attacker);
    const abandoned = await Promise.all(
      Array.from({ length: ABANDONED_COUNT }, async () => requestUnread(url, attacker)),
    );
    for (const socket of abandoned) socket.destroy();
    const customers = await get("customers of another account", "/latest/api/v1/customers", victim);
    expect((JSON.parse(customers) as { items: unknown[] }).items).toHaveLength(1);
    await get("usage of another account", "/latest/api/v1/usage", victim);
    const csv = await get("CSV", CSV, attacker);
    expect(csv.split("\r\n")).toHaveLength(1 + lineCount + 1);

    const unread = await Promise.all(Array.from({ length: ABANDONED_COUNT }, async () => requestUnread(url, attacker)));
    const startMs = performance.now();
    const stopping = service.stop();
    // The clients stay for a moment, then leave the responses unread.
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const socket of unread) socket.destroy();
    await stopping;
    times["stop"] = Math.round(performance.now() - startMs);
    expect(await service.exited).toEqual({ code: 0, signal: null });
    console.log(`${ROW_COUNT} hourly sums, ${lineCount} lines, times in ms: ${JSON.stringify(times)}`);
  },
  TIMEOUT_MS,
);
