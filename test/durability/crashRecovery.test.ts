/**
 * What has been answered is recorded, exactly once, whatever is killed and whenever: the service itself, or the database
 * server behind it. ISOTHERM_DURABILITY_KILLS=20 is the whole of it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeWithPostgres, type PostgresServer, startPostgres } from "../ledger/postgresServer.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { askUntil, countsOf, findingsOf, nothingSeen, type Seen } from "./clients.ts";
import {
  type Account,
  builtWith,
  type Fault,
  newAccount,
  type Place,
  type Service,
  sizeOf,
  startService,
  withLedger,
} from "./service.ts";

const KILLS = sizeOf("KILLS", 2);
/** What is planted shows soon. */
const PLANTED_KILLS_MAX = 12;
const CLIENTS = 64;
const TIMEOUT_MS = 120_000 + KILLS * 20_000;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-kill-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const prepared = (place: Place): Promise<Account> =>
  withLedger(place, (ledger) => newAccount(ledger, { name: "Clients", internalIds: ["one", "two", "three"] }));

const judged = (seen: Seen, place: Place): Promise<readonly string[]> =>
  withLedger(place, (ledger) => findingsOf(seen, ledger, place));

/** Waits until there are answers that were not there before: the service has found the server again. */
async function answeredAgain({ statuses }: Seen, service: Service): Promise<void> {
  const before = statuses.get(200) ?? 0;
  let hasEnded = false;
  void service.ended.then(() => (hasEnded = true));
  while ((statuses.get(200) ?? 0) < before + CLIENTS) {
    if (hasEnded) throw new Error(`The service has ended: ${service.output()}`);
    await delay(10);
  }
}

/** Kills until there are findings: between an answer and its record lie two milliseconds, and a kill may miss them. */
async function foundAtLast(kill: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let findings: readonly string[] = [];
  for (let kills = 0; findings.length === 0 && kills < PLANTED_KILLS_MAX; kills++) findings = await kill();
  return findings;
}

/** Answers before it is known whether they are recorded. */
const ANSWERS_AT_ONCE: Fault = {
  file: "host/pipeline.js",
  from: "await recording : recording",
  to: "(recording.catch(() => {}), { units: made.units, isReplay: false }) : recording",
};

describe("a service that is killed under 64 clients", () => {
  async function campaign(random: SeededRandom, kills: number, built?: string): Promise<Seen> {
    const place = { data };
    const account = await prepared(place);
    const seen = nothingSeen();
    for (let round = 0; round < kills; round++) {
      const service = await startService(place, {
        flags: ["--log", "none"],
        ...(built === undefined ? {} : { built }),
      });
      let isOver = false;
      const asking = askUntil(service.url, { account, clientCount: CLIENTS, random, seen, isOver: () => isOver });
      await answeredAgain(seen, service);
      await delay(random.between({ least: 0, most: 1000 }));
      const dying = service.kill();
      isOver = true;
      await Promise.all([dying, asking]);
    }
    return seen;
  }

  test(
    `has recorded exactly what it answered: ${KILLS} rounds`,
    async () => {
      const seen = await campaign(randomFrom(1), KILLS);
      console.log(`killed service: ${countsOf(seen)}`);
      expect(seen.log.filter(({ outcome }) => outcome === "ok").length).toBeGreaterThan(KILLS * CLIENTS);
      expect(seen.log.filter(({ outcome }) => outcome === "unknown").length).toBeGreaterThan(0);
      expect(await judged(seen, { data })).toStrictEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when it answers before it has recorded",
    async () => {
      const { built, done } = await builtWith([ANSWERS_AT_ONCE]);
      try {
        const random = randomFrom(2);
        const findings = await foundAtLast(async () => judged(await campaign(random, 1, built), { data }));
        console.log(`killed service, planted: ${findings.length} findings`);
        expect(findings.join("\n")).toMatch(/answered and not recorded/);
      } finally {
        await done();
      }
    },
    TIMEOUT_MS,
  );
});

describeWithPostgres("a service whose PostgreSQL is killed under 64 clients", () => {
  let server: PostgresServer;
  beforeEach(async () => {
    server = await startPostgres();
  });
  afterEach(() => server.dispose());

  /** The server's processes end one after the other, and while one is there no new one starts. */
  async function startAgain(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await server.start();
        return;
      } catch (error) {
        if (attempt === 20) throw error;
        await delay(250);
      }
    }
  }

  async function campaign(random: SeededRandom, kills: number, built?: string): Promise<[Seen, Place]> {
    const place = { data, database: await server.newDatabase() };
    const account = await prepared(place);
    const seen = nothingSeen();
    const service = await startService(place, {
      flags: ["--log", "none"],
      ...(built === undefined ? {} : { built }),
    });
    let isOver = false;
    const asking = askUntil(service.url, { account, clientCount: CLIENTS, random, seen, isOver: () => isOver });
    try {
      for (let round = 0; round < kills; round++) {
        await answeredAgain(seen, service);
        await delay(random.between({ least: 100, most: 1000 }));
        await server.kill();
        await startAgain();
      }
      await answeredAgain(seen, service);
    } finally {
      isOver = true;
      await asking;
      await service.stop();
    }
    return [seen, place];
  }

  test(
    `goes on, and has recorded exactly what it answered: ${KILLS} rounds`,
    async () => {
      const [seen, place] = await campaign(randomFrom(3), KILLS);
      console.log(`killed PostgreSQL: ${countsOf(seen)}`);
      expect(seen.log.filter(({ outcome }) => outcome === "unknown").length).toBeGreaterThan(0);
      // The service goes on: nothing but an answer or 503.
      expect([...seen.statuses.keys()].filter((status) => ![200, 400, 403, 503].includes(status))).toStrictEqual([]);
      expect(await judged(seen, place)).toStrictEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when it does not wait for the server's disk",
    async () => {
      const { built, done } = await builtWith([
        {
          file: "ledger/postgres.js",
          from: "set default_transaction_isolation = 'read committed'",
          to: "set default_transaction_isolation = 'read committed'; set synchronous_commit = off",
        },
      ]);
      try {
        const random = randomFrom(4);
        const findings = await foundAtLast(async () => judged(...(await campaign(random, 1, built))));
        console.log(`killed PostgreSQL, planted: ${findings.length} findings`);
        expect(findings.join("\n")).toMatch(/answered and not recorded/);
      } finally {
        await done();
      }
    },
    TIMEOUT_MS,
  );
});
