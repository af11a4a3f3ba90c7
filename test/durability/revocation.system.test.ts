/**
 * A service under the load of 64 clients rejects a key after its revocation, and never accepts it again. Prints how long it
 * takes: one second at most, as documented, unless the machine is too busy to run the service in time.
 * A full run has ISOTHERM_DURABILITY_REVOCATIONS=20.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { describeWithPostgres, startPostgres } from "../ledger/postgresServer.ts";
import { HttpClient } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import {
  findDamage,
  type TestAccount,
  newAccount,
  runCli,
  type LedgerLocation,
  sizeSetting,
  startService,
  withLedger,
} from "./service.ts";

const REVOCATIONS = sizeSetting("REVOCATIONS", 1);
const CLIENTS = 64;
/** Time after which a service that has not rejected the key counts as one that never does. */
const NEVER_MS = 30_000;
/** The same, for a service with an injected fault, which never does. */
const FAULT_NEVER_MS = 2_000;
/** Time for which the clients continue after the first rejection. */
const CONTINUED_MS = 500;
const TIMEOUT_MS = 300_000 + REVOCATIONS * 60_000;

const data = dataFolder("revoke");

const TARGET =
  "/api/v1/hazard-risk?latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";

interface RevocationResult {
  /** Time from the end of the command to the sending of the last successful request, milliseconds. */
  readonly lastSuccessMs: number;
  /** Number of responses by status, for requests that were sent after the first rejection; empty if there was none. */
  readonly laterStatuses: ReadonlyMap<number, number>;
}

/** Revokes up to `count` keys under load; stops after a round in which the key was not rejected. */
async function campaign(
  location: LedgerLocation,
  count: number,
  fault?: FaultName,
): Promise<readonly RevocationResult[]> {
  const results: RevocationResult[] = [];
  const service = await startService(location, { fault });
  const neverMs = fault === undefined ? NEVER_MS : FAULT_NEVER_MS;
  try {
    for (let round = 0; round < count && results.every(isRejected); round++) {
      const account = await withLedger(location, (ledger) =>
        newAccount(ledger, { name: `Round ${round}`, internalIds: ["one"] }),
      );
      results.push(await revokeUnderLoad(service.url, { account, location, neverMs }));
    }
  } finally {
    await service.kill();
  }
  return results;
}

function isRejected({ laterStatuses }: RevocationResult): boolean {
  return laterStatuses.size > 0;
}

async function revokeUnderLoad(
  url: string,
  {
    account,
    location,
    neverMs,
  }: { readonly account: TestAccount; readonly location: LedgerLocation; readonly neverMs: number },
): Promise<RevocationResult> {
  const { apiKey, keyId, customerIds } = account;
  const http = new HttpClient(CLIENTS);
  const headers = { "X-API-Key": apiKey, "X-Customer-ID": customerIds[0] ?? "" };
  /** In the order of the responses. */
  const sent: { readonly sentMs: number; readonly receivedMs: number; readonly status: number }[] = [];
  const firstRejection = () => sent.find(({ status }) => status !== 200);
  const stop = new AbortController();
  const runClient = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const sentMs = performance.now();
      const { status } = await http.send(url + TARGET, { headers });
      sent.push({ sentMs, receivedMs: performance.now(), status });
      // Rejections are fast; without a delay they would use all the capacity.
      if (status !== 200) await delay(20);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, runClient));
  while (sent.filter(({ status }) => status === 200).length < 4 * CLIENTS) await delay(10);
  await runCli(["keys", "revoke", keyId], location);
  const revokedMs = performance.now();
  while (firstRejection() === undefined && performance.now() < revokedMs + neverMs) await delay(10);
  await delay(CONTINUED_MS);
  stop.abort();
  await clients;
  http.close();
  const successful = sent.filter(({ status }) => status === 200);
  const rejectedMs = firstRejection()?.receivedMs ?? Infinity;
  const laterStatuses = new Map<number, number>();
  for (const { sentMs, status } of sent) {
    if (sentMs > rejectedMs) laterStatuses.set(status, (laterStatuses.get(status) ?? 0) + 1);
  }
  return { lastSuccessMs: Math.max(...successful.map(({ sentMs }) => sentMs)) - revokedMs, laterStatuses };
}

async function expectRevocation(location: LedgerLocation): Promise<void> {
  const results = await campaign(location, REVOCATIONS);
  const worstMs = Math.max(...results.map(({ lastSuccessMs }) => lastSuccessMs));
  console.log(`revocation: last successful request ${worstMs.toFixed(0)} ms after it, worst of ${results.length}`);
  expect(results).toHaveLength(REVOCATIONS);
  for (const { laterStatuses } of results) {
    expect(laterStatuses.size).toBeGreaterThan(0);
    // Too many rejected keys from one address are rate limited.
    expect([...laterStatuses.keys()].filter((status) => status !== 401 && status !== 429)).toStrictEqual([]);
  }
  expect(await findDamage(location)).toStrictEqual([]);
}

test(
  `a revoked key is rejected and stays so, ${REVOCATIONS} times`,
  () => expectRevocation({ data: data() }),
  TIMEOUT_MS,
);

faultTest(
  "detects the injected fault: no polling for changes",
  async () => {
    const results = await campaign({ data: data() }, 3, "never-polls-for-changes");
    expect(results.every(isRejected)).toBe(false);
  },
  TIMEOUT_MS,
);

describeWithPostgres("with PostgreSQL", () => {
  test(
    `a revoked key is rejected and stays so, ${REVOCATIONS} times`,
    async () => {
      const server = await startPostgres();
      try {
        await expectRevocation({ data: data(), database: await server.newDatabase() });
      } finally {
        await server.dispose();
      }
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: notifications are ignored",
    async () => {
      const server = await startPostgres();
      try {
        const location = { data: data(), database: await server.newDatabase() };
        const results = await campaign(location, 3, "ignores-notifications");
        expect(results.every(isRejected)).toBe(false);
      } finally {
        await server.dispose();
      }
    },
    TIMEOUT_MS,
  );
});
