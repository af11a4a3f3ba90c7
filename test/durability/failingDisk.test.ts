/**
 * When the disk fails: the service answers 503 and ends as a failure, no answer goes out without its record, and a new
 * start finds everything in order. strace makes the disk fail, at the call that it is told.
 * ISOTHERM_DURABILITY_FAILURES=20 of each kind is the whole of it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { randomFrom } from "../seededRandom.ts";
import { askUntil, countsOf, findingsOf, nothingSeen, type Seen } from "./clients.ts";
import { builtWith, newAccount, type Service, sizeOf, startService, withLedger } from "./service.ts";
import { isTraceable } from "./syscallTrace.ts";

const FAILURES = sizeOf("FAILURES", 1);
/** What is planted shows soon. */
const PLANTED_FAILURES = Math.min(FAILURES, 2);
const CLIENTS = 16;
const TIMEOUT_MS = 120_000 + FAILURES * 30_000;

interface Injection {
  readonly what: string;
  readonly calls: string;
  readonly error: "EIO" | "ENOSPC";
  /** Whether all calls from then on fail, or one alone. */
  readonly isLasting: boolean;
  /** Calls that go well before it, beside those of opening. */
  readonly callCountMax: number;
}

const INJECTIONS: readonly Injection[] = [
  { what: "one fsync that fails", calls: "fsync,fdatasync", error: "EIO", isLasting: false, callCountMax: 40 },
  { what: "a disk that syncs no more", calls: "fsync,fdatasync", error: "EIO", isLasting: true, callCountMax: 40 },
  { what: "a full disk", calls: "pwrite64", error: "ENOSPC", isLasting: true, callCountMax: 400 },
  { what: "one write that fails", calls: "pwrite64", error: "EIO", isLasting: false, callCountMax: 400 },
];

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-disk-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

/** The command under which the ledger's log fails at its so-manieth call. */
function failing({ calls, error, isLasting }: Injection, count: number): readonly string[] {
  const log = join(data, "ledger.sqlite-wal");
  const inject = `inject=${calls}:error=${error}:when=${count}${isLasting ? "+" : ""}`;
  return ["strace", "-f", "-D", "-qq", "-o", "/dev/null", "-P", log, "-e", `trace=${calls}`, "-e", inject];
}

interface Campaign {
  readonly seen: Seen;
  readonly services: readonly Service[];
  readonly findings: readonly string[];
}

/** Failure after failure, each of a service started anew from what the one before it left. */
async function campaign(injection: Injection, count: number, built?: string): Promise<Campaign> {
  const account = await withLedger({ data }, (ledger) =>
    newAccount(ledger, { name: "Clients", internalIds: ["one", "two"] }),
  );
  const random = randomFrom(7);
  const seen = nothingSeen();
  const services: Service[] = [];
  const how = built === undefined ? {} : { built };
  // The demo's credentials, so that later starts write nothing to the ledger.
  await (await startService({ data }, how)).stop();
  for (let failure = 0; failure < count; failure++) {
    // What an opening writes goes well.
    const failingCall = 12 + random.below(injection.callCountMax);
    const service = await startService({ data }, { ...how, under: failing(injection, failingCall) });
    services.push(service);
    let isOver = false;
    const asking = askUntil(service.url, { account, clientCount: CLIENTS, random, seen, isOver: () => isOver });
    await service.ended;
    isOver = true;
    await asking;
  }
  const again = await startService({ data }, how);
  const before = seen.statuses.get(200) ?? 0;
  const isAnswered = (): boolean => (seen.statuses.get(200) ?? 0) >= before + CLIENTS;
  await askUntil(again.url, { account, clientCount: CLIENTS, random, seen, isOver: isAnswered, refusedShare: 0 });
  await again.stop();
  return { seen, services, findings: await withLedger({ data }, (ledger) => findingsOf(seen, ledger, { data })) };
}

describe.skipIf(!isTraceable)("a service whose disk fails", () => {
  test.each(INJECTIONS)(
    "answers nothing that is not recorded, ends, and starts clean: $what",
    async (injection) => {
      const { seen, services, findings } = await campaign(injection, FAILURES);
      console.log(`${injection.what}, ${FAILURES} times: ${countsOf(seen)}`);
      expect(findings).toStrictEqual([]);
      for (const service of services) {
        expect(await service.ended).toStrictEqual({ code: 1, signal: null });
        expect(service.output()).toMatch(/"level":"fatal".*SQLITE_(IOERR|FULL)/);
      }
      expect([...seen.statuses.keys()].filter((status) => ![0, 200, 400, 403, 503].includes(status))).toStrictEqual([]);
      expect(seen.log.some(({ outcome }) => outcome === "unknown")).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when it takes an error of its disk for success",
    async () => {
      const { built, done } = await builtWith([
        {
          file: "ledger/sqliteWorker.js",
          from: "const outcomes = this.#store.record(entries, requests.at(-1)?.nowMs ?? 0);",
          to: `let outcomes;
            try { outcomes = this.#store.record(entries, requests.at(-1)?.nowMs ?? 0); }
            catch { this.failures = (this.failures ?? 0) + 1; if (this.failures > 20) process.exit(1);
              outcomes = entries.map(({ units }) => ({ units, isReplay: false })); }`,
        },
      ]);
      try {
        const full = INJECTIONS.find(({ error }) => error === "ENOSPC");
        if (full === undefined) throw new Error("There is no full disk.");
        const { findings } = await campaign(full, PLANTED_FAILURES, built);
        console.log(`a full disk, planted: ${findings.length} findings`);
        expect(findings.join("\n")).toMatch(/answered and not recorded/);
      } finally {
        await done();
      }
    },
    TIMEOUT_MS,
  );
});
