/** /readyz with a ledger that is full, down or hung: it reports the failure, and costs the ledger little. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SqliteLedger } from "../../src/ledger/sqlite.ts";
import { HttpClient } from "../durability/clients.ts";
import { type Service, startService } from "../durability/service.ts";
import { isStraceAvailable } from "../durability/syscallTrace.ts";
import { startInProcessWorker } from "../ledger/inProcessWorker.ts";
import { describeWithPostgres, type PostgresServer, startPostgres } from "../ledger/postgresServer.ts";
import { attackSize } from "./attackSize.ts";

const PROBE_COUNT = attackSize("READINESS_PROBES", { small: 500, full: 20_000 });
const TIMEOUT_MS = 600_000;

let data: string;
let service: Service | undefined;
let client: HttpClient;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
  client = new HttpClient(16);
});
afterEach(async () => {
  await service?.kill();
  await rm(data, { recursive: true, force: true });
});

async function readiness(): Promise<{ readonly status: number; readonly text: string; readonly timeMs: number }> {
  const startMs = performance.now();
  const { status, text } = await client.send(`${service?.url}/readyz`, {});
  return { status, text, timeMs: performance.now() - startMs };
}

/**
 * Waits until /readyz reports that the ledger can record, or that it cannot. Prints how long the slowest response took,
 * which is two seconds for the check and the time for the response, longer on a busy machine.
 */
async function waitUntil(status: 200 | 503): Promise<string> {
  let slowestMs = 0;
  for (;;) {
    const response = await readiness();
    slowestMs = Math.max(slowestMs, response.timeMs);
    const isWarmingUp = response.text.includes("warming up");
    if (response.status === status && !isWarmingUp) {
      console.log(`/readyz has status ${status}; the slowest response took ${slowestMs.toFixed(0)} ms`);
      return response.text;
    }
    expect([200, 503]).toContain(response.status);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe("an embedded ledger", () => {
  test("with too little free space cannot record, and can again when there is more", async () => {
    let freeBytes = 15 * 2 ** 20;
    const ledger = await SqliteLedger.open({
      data,
      now: Date.now,
      freeBytes: () => Promise.resolve(freeBytes),
      startWorker: startInProcessWorker,
    });
    try {
      await expect(ledger.checkWritable()).rejects.toMatchObject({
        code: "ledger_unavailable",
        message: expect.stringMatching(/15 MiB of free space.*16 MiB or more/) as string,
      });
      freeBytes = 16 * 2 ** 20;
      await expect.poll(() => ledger.checkWritable().then(() => true), { timeout: 10_000 }).toBe(true);
    } finally {
      await ledger.close();
    }
  });

  test(
    "that another program locks is reported by /readyz until it is unlocked",
    async () => {
      service = await startService({ data });
      await waitUntil(200);
      const other = new Database(join(data, "ledger.sqlite"));
      try {
        other.exec("begin immediate");
        expect(await waitUntil(503)).toMatch(/cannot record usage at present/);
        other.exec("rollback");
      } finally {
        other.close();
      }
      await waitUntil(200);
    },
    TIMEOUT_MS,
  );

  test.skipIf(!isStraceAvailable)(
    "on a full disk is reported by /readyz before a request has failed",
    async () => {
      const log = join(data, "ledger.sqlite-wal");
      const inject = "inject=pwrite64:error=ENOSPC:when=1+";
      const preparation = await startService({ data });
      await preparation.stop();
      const wrapper = ["strace", "-f", "-D", "-qq", "-o", "/dev/null", "-P", log, "-e", "trace=pwrite64", "-e", inject];
      service = await startService({ data }, { wrapper });
      expect(await waitUntil(503)).toMatch(/cannot record usage at present/);
      expect(await service.exited).toEqual({ code: 1, signal: null });
      expect(service.output()).toMatch(/"level":"fatal".*SQLITE_FULL/);
    },
    TIMEOUT_MS,
  );
});

describeWithPostgres("a PostgreSQL ledger", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());
  beforeEach(async () => {
    service = await startService({ data, database: await server.newDatabase() });
    await waitUntil(200);
  });

  test(
    "that is down is reported by /readyz until it is up again",
    async () => {
      await server.stop();
      try {
        const text = await waitUntil(503);
        expect(text).toMatch(/cannot record usage at present; its log states the reason/);
        expect(text).not.toMatch(/127\.0\.0\.1|ECONN/);
        await expect.poll(() => service?.output()).toMatch(/The PostgreSQL server of the ledger is unavailable/);
      } finally {
        await server.start();
      }
      await waitUntil(200);
    },
    TIMEOUT_MS,
  );

  test(
    "that hangs is reported by /readyz, every time, until it continues",
    async () => {
      await server.pause();
      try {
        await waitUntil(503);
        const responses = [];
        for (let i = 0; i < 20; i++) responses.push(await readiness());
        expect(responses.filter(({ status }) => status !== 503)).toEqual([]);
        const slowestMs = Math.max(...responses.map(({ timeMs }) => timeMs));
        console.log(`20 further responses of /readyz: the slowest took ${slowestMs.toFixed(0)} ms`);
      } finally {
        server.resume();
      }
      await waitUntil(200);
    },
    TIMEOUT_MS,
  );

  test(
    "is not loaded by many requests of /readyz",
    async () => {
      const startMs = performance.now();
      const before = await server.commitCount();
      const all = await Promise.all(Array.from({ length: PROBE_COUNT }, () => readiness()));
      expect(all.filter(({ status }) => status !== 200)).toEqual([]);
      const seconds = (performance.now() - startMs) / 1000;
      const commitCount = (await server.commitCount()) - before;
      console.log(`${PROBE_COUNT} requests of /readyz in ${seconds.toFixed(1)} s: ${commitCount} commits`);
      // Without shared checks, each request would commit at least once. The service also polls for changes, and the
      // server itself commits now and then.
      expect(commitCount).toBeLessThan(PROBE_COUNT / 4);
    },
    TIMEOUT_MS,
  );
});
