/**
 * A key that an operator revokes is refused within a second, by a service that answers 64 clients meanwhile.
 * ISOTHERM_DURABILITY_REVOCATIONS=20 is the whole of it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { describeWithPostgres, startPostgres } from "../ledger/postgresServer.ts";
import { Clients } from "./clients.ts";
import {
  type Account,
  builtWith,
  newAccount,
  operate,
  type Place,
  sizeOf,
  startService,
  withLedger,
} from "./service.ts";

const REVOCATIONS = sizeOf("REVOCATIONS", 2);
const CLIENTS = 64;
/** What the contract promises. */
const PROMISED_MS = 1_000;
const TIMEOUT_MS = 120_000 + REVOCATIONS * 20_000;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-revoke-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const TARGET =
  "/api/v1/hazard-risk?latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";

interface Revoked {
  /** Between the command's end and the last request that was still answered, milliseconds. */
  readonly lastAnsweredMs: number;
  readonly answeredBefore: number;
  /** Requests that were sent after the promised time, by the status of their answers. */
  readonly afterwards: ReadonlyMap<number, number>;
}

async function campaign(place: Place, count: number, built?: string): Promise<readonly Revoked[]> {
  const how = built === undefined ? {} : { built };
  const found: Revoked[] = [];
  const service = await startService(place, how);
  try {
    for (let round = 0; round < count; round++) {
      const account = await withLedger(place, (ledger) =>
        newAccount(ledger, { name: `Round ${round}`, internalIds: ["one"] }),
      );
      found.push(await revokedUnderLoad(service.url, { account, place, built }));
    }
  } finally {
    await service.kill();
  }
  return found;
}

async function revokedUnderLoad(
  url: string,
  { account, place, built }: { readonly account: Account; readonly place: Place; readonly built: string | undefined },
): Promise<Revoked> {
  const { apiKey, keyId, customerIds } = account;
  const clients = new Clients(CLIENTS);
  const headers = { "X-API-Key": apiKey, "X-Customer-ID": customerIds[0] ?? "" };
  const sent: { readonly sentMs: number; readonly status: number }[] = [];
  const over = new AbortController();
  const client = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const sentMs = performance.now();
      const { status } = await clients.ask(url + TARGET, { headers });
      sent.push({ sentMs, status });
      // Refusals take no time; without a pause they would be all that there is.
      if (status !== 200) await delay(20);
    }
  };
  const asking = Promise.all(Array.from({ length: CLIENTS }, client));
  while (sent.filter(({ status }) => status === 200).length < 4 * CLIENTS) await delay(10);
  await operate(["keys", "revoke", keyId], place, built === undefined ? {} : { built });
  const revokedMs = performance.now();
  await delay(PROMISED_MS + 500);
  over.abort();
  await asking;
  clients.close();
  const answered = sent.filter(({ status }) => status === 200);
  const afterwards = new Map<number, number>();
  for (const { sentMs, status } of sent) {
    if (sentMs > revokedMs + PROMISED_MS) afterwards.set(status, (afterwards.get(status) ?? 0) + 1);
  }
  return {
    lastAnsweredMs: Math.max(...answered.map(({ sentMs }) => sentMs)) - revokedMs,
    answeredBefore: answered.length,
    afterwards,
  };
}

async function keepsThePromise(place: Place): Promise<void> {
  const found = await campaign(place, REVOCATIONS);
  const worst = Math.max(...found.map(({ lastAnsweredMs }) => lastAnsweredMs));
  console.log(`revocation: last answer to a request sent ${worst.toFixed(0)} ms after it, at worst of ${found.length}`);
  for (const { afterwards } of found) {
    expect(afterwards.size).toBeGreaterThan(0);
    // From one address too many refused keys are told to wait.
    expect([...afterwards.keys()].filter((status) => status !== 401 && status !== 429)).toStrictEqual([]);
  }
}

test(`is refused after ${PROMISED_MS} ms at most, ${REVOCATIONS} times`, () => keepsThePromise({ data }), TIMEOUT_MS);

test(
  "is found out when nobody looks whether something has changed",
  async () => {
    const { built, done } = await builtWith([
      {
        file: "ledger/sqliteWorker.js",
        from: "const POLL_INTERVAL_MS = 500;",
        to: "const POLL_INTERVAL_MS = 500_000;",
      },
    ]);
    try {
      const found = await campaign({ data }, 1, built);
      expect(found.some(({ afterwards }) => afterwards.has(200))).toBe(true);
    } finally {
      await done();
    }
  },
  TIMEOUT_MS,
);

describeWithPostgres("in PostgreSQL", () => {
  test(
    `is refused after ${PROMISED_MS} ms at most, ${REVOCATIONS} times`,
    async () => {
      const server = await startPostgres();
      try {
        await keepsThePromise({ data, database: await server.newDatabase() });
      } finally {
        await server.dispose();
      }
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when nobody listens for notices",
    async () => {
      const { built, done } = await builtWith([
        { file: "ledger/postgres.js", from: 'client.on("notification", () => this.notifyChange());', to: "" },
      ]);
      const server = await startPostgres();
      try {
        const found = await campaign({ data, database: await server.newDatabase() }, 3, built);
        expect(found.some(({ afterwards }) => afterwards.has(200))).toBe(true);
      } finally {
        await server.dispose();
        await done();
      }
    },
    TIMEOUT_MS,
  );
});
