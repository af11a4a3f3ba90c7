/**
 * Crash recovery: after the service, or the PostgreSQL server behind it, is killed at any time, every response that was
 * sent is recorded exactly once. A full run has ISOTHERM_DURABILITY_KILLS=20.
 */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { describeWithPostgres, postgresOfSuite } from "../ledger/postgresServer.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { findInconsistencies, newObservations, type Observations, runClients, summarize } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import {
  type LedgerLocation,
  newAccount,
  type Service,
  sizeSetting,
  startService,
  type TestAccount,
  withLedger,
} from "./service.ts";

const KILLS = sizeSetting("KILLS", 1);
/** Kills after which an injected fault must have been detected. */
const FAULT_KILLS_MAX = 12;
const CLIENTS = 64;
const TIMEOUT_MS = 120_000 + KILLS * 20_000;

const data = dataFolder("kill");

const createAccount = (location: LedgerLocation): Promise<TestAccount> =>
  withLedger(location, (ledger) => newAccount(ledger, { name: "Clients", internalIds: ["one", "two", "three"] }));

const check = (observations: Observations, location: LedgerLocation): Promise<readonly string[]> =>
  withLedger(location, (ledger) => findInconsistencies(observations, ledger, location));

/** Waits for new successful responses, which show that the service has reconnected. */
async function waitForResponses({ statuses }: Observations, service: Service): Promise<void> {
  const before = statuses.get(200) ?? 0;
  let hasExited = false;
  void service.exited.then(() => (hasExited = true));
  while ((statuses.get(200) ?? 0) < before + CLIENTS) {
    if (hasExited) throw new Error(`The service has exited: ${service.output()}`);
    await delay(10);
  }
}

/** Kills until there are findings: the fault has an effect only in the 2 ms between a response and its record. */
async function killUntilDetected(killAndCheck: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let findings: readonly string[] = [];
  for (let kills = 0; findings.length === 0 && kills < FAULT_KILLS_MAX; kills++) findings = await killAndCheck();
  return findings;
}

describe("a service that is killed under the load of 64 clients", () => {
  async function campaign(random: SeededRandom, kills: number, fault?: FaultName): Promise<Observations> {
    const location = { data: data() };
    const account = await createAccount(location);
    const observations = newObservations();
    for (let round = 0; round < kills; round++) {
      const service = await startService(location, { flags: ["--log", "none"], fault });
      let isOver = false;
      const settings = { account, clientCount: CLIENTS, random, observations, isOver: () => isOver };
      const clients = runClients(service.url, settings);
      await waitForResponses(observations, service);
      await delay(random.between({ min: 0, max: 1000 }));
      const killed = service.kill();
      isOver = true;
      await Promise.all([killed, clients]);
    }
    return observations;
  }

  test(
    `has recorded exactly the responses that it sent: ${KILLS} rounds`,
    async () => {
      const observations = await campaign(randomFrom(1), KILLS);
      console.log(`killed service: ${summarize(observations)}`);
      expect(observations.log.filter(({ outcome }) => outcome === "ok").length).toBeGreaterThan(KILLS * CLIENTS);
      expect(observations.log.filter(({ outcome }) => outcome === "unknown").length).toBeGreaterThan(0);
      expect(await check(observations, { data: data() })).toStrictEqual([]);
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: responding before recording",
    async () => {
      const random = randomFrom(2);
      const killAndCheck = async () => check(await campaign(random, 1, "responds-before-recording"), { data: data() });
      const findings = await killUntilDetected(killAndCheck);
      console.log(`killed service, injected fault: ${findings.length} findings`);
      expect(findings.join("\n")).toMatch(/answered but not recorded/);
    },
    TIMEOUT_MS,
  );
});

describeWithPostgres("a service whose PostgreSQL server is killed under the load of 64 clients", () => {
  const server = postgresOfSuite();

  /** Starts the server again, with retries: it cannot start until all killed processes have exited. */
  async function restartServer(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await server().start();
        return;
      } catch (error) {
        if (attempt === 20) throw error;
        await delay(250);
      }
    }
  }

  async function campaign(
    random: SeededRandom,
    kills: number,
    fault?: FaultName,
  ): Promise<[Observations, LedgerLocation]> {
    const location = { data: data(), database: await server().newDatabase() };
    const account = await createAccount(location);
    const observations = newObservations();
    const service = await startService(location, { flags: ["--log", "none"], fault });
    let isOver = false;
    const settings = { account, clientCount: CLIENTS, random, observations, isOver: () => isOver };
    const clients = runClients(service.url, settings);
    try {
      for (let round = 0; round < kills; round++) {
        await waitForResponses(observations, service);
        await delay(random.between({ min: 100, max: 1000 }));
        await server().kill();
        await restartServer();
      }
      await waitForResponses(observations, service);
    } finally {
      isOver = true;
      await clients;
      await service.stop();
    }
    return [observations, location];
  }

  test(
    `keeps running, and has recorded exactly the responses that it sent: ${KILLS} rounds`,
    async () => {
      const [observations, location] = await campaign(randomFrom(3), KILLS);
      console.log(`killed PostgreSQL: ${summarize(observations)}`);
      expect(observations.log.filter(({ outcome }) => outcome === "unknown").length).toBeGreaterThan(0);
      const unexpected = [...observations.statuses.keys()].filter((status) => ![200, 400, 403, 503].includes(status));
      expect(unexpected).toStrictEqual([]);
      expect(await check(observations, location)).toStrictEqual([]);
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: synchronous_commit off",
    async () => {
      const random = randomFrom(4);
      const killAndCheck = async () => check(...(await campaign(random, 1, "commits-asynchronously")));
      const findings = await killUntilDetected(killAndCheck);
      console.log(`killed PostgreSQL, injected fault: ${findings.length} findings`);
      expect(findings.join("\n")).toMatch(/answered but not recorded/);
    },
    TIMEOUT_MS,
  );
});
