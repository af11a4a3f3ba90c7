/**
 * An account that requests many CSV reports of long lines and does not read them. `ISOTHERM_ATTACK_CSV_READERS` sets how
 * many connections it opens.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { newAccount, type TestAccount, withLedger } from "../durability/service.ts";
import { sampleResidentBytes } from "../soak/residentSampler.ts";
import { type ServiceProcess, startServiceProcess } from "../soak/serviceProcess.ts";
import { attackSize } from "./attackSize.ts";

const READER_COUNT = attackSize("CSV_READERS", { small: 100, full: 500 });
const LINE_COUNT = 20_000;
const MEMORY_MIB = 512;
/** The default of `streamsPerAccountMax`. */
const STREAM_COUNT_MAX = 8;
const CSV = "/latest/api/v1/usage?format=csv&group_by=customer";
/** 200 characters, which take 800 bytes. */
const INTERNAL_ID = "\u{1f30a}".repeat(194);

/** Writes the usage of one hour for each of many customers with long internal ids. */
function writeUsage(data: string, { accountId }: TestAccount): void {
  const database = new Database(join(data, "ledger.sqlite"));
  const customers = `with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${LINE_COUNT})`;
  database
    .prepare(
      `${customers} insert into customer (customer_id, account_id, internal_id, created_at)
         select @accountId || printf(' %06d', n), @accountId, @internalId || printf('%06d', n), '2026-01-01' from number`,
    )
    .run({ accountId, internalId: INTERNAL_ID });
  database
    .prepare(
      `insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
         select account_id, customer_id, 'hazard_values', '2026-01-01T00', 1, 1 from customer where account_id = ?`,
    )
    .run(accountId);
  database.close();
}

interface Reader {
  readonly socket: Socket;
  readonly status: number;
}

/** Requests a report, and reads nothing after the first bytes of the response. */
function requestUnread({ port }: ServiceProcess, { apiKey }: TestAccount): Promise<Reader> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET ${CSV} HTTP/1.1\r\nHost: h\r\nX-API-Key: ${apiKey}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once("error", reject).once("data", (bytes) => {
      socket.pause();
      const [, status = ""] = /^HTTP\/1\.1 (\d+) /.exec(bytes.toString("latin1")) ?? [];
      resolve({ socket, status: Number(status) });
    });
  });
}

test(
  "reports that are not read stay within the memory, and another account gets its reports",
  { timeout: 600_000 },
  async () => {
    const data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
    const readers: Reader[] = [];
    try {
      const { attacker, victim } = await withLedger({ data }, async (ledger) => ({
        attacker: await newAccount(ledger, { name: "attacker", internalIds: [] }),
        victim: await newAccount(ledger, { name: "victim", internalIds: [] }),
      }));
      for (const account of [attacker, victim]) writeUsage(data, account);
      const service = await startServiceProcess(data, { flags: ["--workers", "1", "--memory", String(MEMORY_MIB)] });
      try {
        const read = async ({ apiKey }: TestAccount): Promise<string> => {
          const response = await fetch(`http://127.0.0.1:${service.port}${CSV}`, { headers: { "X-API-Key": apiKey } });
          expect(response.status).toBe(200);
          return response.text();
        };
        expect((await read(victim)).split("\r\n")).toHaveLength(1 + LINE_COUNT + 1);
        const sampler = sampleResidentBytes(service, { intervalMs: 20 });
        readers.push(
          ...(await Promise.all(Array.from({ length: READER_COUNT }, () => requestUnread(service, attacker)))),
        );
        expect((await read(victim)).split("\r\n")).toHaveLength(1 + LINE_COUNT + 1);
        const samples = await sampler.stop();
        const [firstMiB, peakMiB] = [samples[0] ?? 0, Math.max(...samples)].map((bytes) => bytes / 2 ** 20);
        const admittedCount = readers.filter(({ status }) => status === 200).length;
        console.log(
          `${READER_COUNT} readers, ${admittedCount} admitted: ${firstMiB?.toFixed(0)} MiB before, peak ${peakMiB?.toFixed(0)} MiB`,
        );
        expect(new Set(readers.map(({ status }) => status))).toEqual(new Set([200, 503]));
        expect(admittedCount).toBe(STREAM_COUNT_MAX);
        expect(peakMiB).toBeLessThan(MEMORY_MIB);
      } finally {
        for (const { socket } of readers) socket.destroy();
        await service.stop();
      }
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  },
);
