/**
 * Disk failures: the service responds 503 and exits with code 1, no response is sent without its record, and the ledger
 * is consistent after a restart. strace injects an error at a given system call.
 * A full run has ISOTHERM_DURABILITY_FAILURES=20 failures of each kind.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { randomFrom } from "../seededRandom.ts";
import { runClients, summarize, findInconsistencies, newObservations, type Observations } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import { newAccount, type Service, sizeSetting, startService, withLedger } from "./service.ts";
import { isStraceAvailable } from "./syscallTrace.ts";

const FAILURES = sizeSetting("FAILURES", 1);
/** Failures after which an injected fault must have been detected. */
const FAULT_FAILURES = Math.min(FAILURES, 2);
const CLIENTS = 16;
const TIMEOUT_MS = 120_000 + FAILURES * 30_000;

interface Injection {
  readonly name: string;
  readonly calls: string;
  readonly error: "EIO" | "ENOSPC";
  /** Whether all later calls fail too. */
  readonly isPermanent: boolean;
  /** Maximum number of calls that succeed before the failure, in addition to those that open the ledger. */
  readonly callCountMax: number;
}

const INJECTIONS: readonly Injection[] = [
  { name: "one failing fsync", calls: "fsync,fdatasync", error: "EIO", isPermanent: false, callCountMax: 40 },
  { name: "permanently failing fsync", calls: "fsync,fdatasync", error: "EIO", isPermanent: true, callCountMax: 40 },
  { name: "a full disk", calls: "pwrite64", error: "ENOSPC", isPermanent: true, callCountMax: 400 },
  { name: "one failing write", calls: "pwrite64", error: "EIO", isPermanent: false, callCountMax: 400 },
];

const data = dataFolder("disk");

/** Returns the strace command that makes the `callNumber`-th call on the ledger's write-ahead log fail. */
function failingAt({ calls, error, isPermanent }: Injection, callNumber: number): readonly string[] {
  const log = join(data(), "ledger.sqlite-wal");
  const inject = `inject=${calls}:error=${error}:when=${callNumber}${isPermanent ? "+" : ""}`;
  return ["strace", "-f", "-D", "-qq", "-o", "/dev/null", "-P", log, "-e", `trace=${calls}`, "-e", inject];
}

interface Campaign {
  readonly observations: Observations;
  readonly services: readonly Service[];
  readonly findings: readonly string[];
}

/** Runs a service with `count` failures, restarts it after each one, and then checks the ledger. */
async function campaign(injection: Injection, count: number, fault?: FaultName): Promise<Campaign> {
  const account = await withLedger({ data: data() }, (ledger) =>
    newAccount(ledger, { name: "Clients", internalIds: ["one", "two"] }),
  );
  const random = randomFrom(7);
  const observations = newObservations();
  const services: Service[] = [];
  const options = { fault };
  // The first start creates the demo credentials, so that later ones do not write to the ledger.
  await (await startService({ data: data() }, options)).stop();
  for (let failure = 0; failure < count; failure++) {
    // Opening the ledger takes fewer than 12 calls, and must succeed.
    const callNumber = 12 + random.below(injection.callCountMax);
    const service = await startService({ data: data() }, { ...options, wrapper: failingAt(injection, callNumber) });
    services.push(service);
    let isOver = false;
    const settings = { account, clientCount: CLIENTS, random, observations, isOver: () => isOver };
    const clients = runClients(service.url, settings);
    await service.exited;
    isOver = true;
    await clients;
  }
  const recovered = await startService({ data: data() }, options);
  const before = observations.statuses.get(200) ?? 0;
  const isOver = (): boolean => (observations.statuses.get(200) ?? 0) >= before + CLIENTS;
  const settings = { account, clientCount: CLIENTS, random, observations, isOver, refusedShare: 0 };
  await runClients(recovered.url, settings);
  await recovered.stop();
  const findings = await withLedger({ data: data() }, (ledger) =>
    findInconsistencies(observations, ledger, { data: data() }),
  );
  return { observations, services, findings };
}

describe.skipIf(!isStraceAvailable)("a service with a failing disk", () => {
  test.each(INJECTIONS)(
    "sends no unrecorded response, exits, and recovers after a restart: $name",
    async (injection) => {
      const { observations, services, findings } = await campaign(injection, FAILURES);
      console.log(`${injection.name}, ${FAILURES} times: ${summarize(observations)}`);
      expect(findings).toStrictEqual([]);
      for (const service of services) {
        expect(await service.exited).toStrictEqual({ code: 1, signal: null });
        expect(service.output()).toMatch(/"level":"fatal".*"file":"[^"]+ledger\.sqlite".*SQLITE_(IOERR|FULL)/);
      }
      const expected = new Set([0, 200, 400, 403, 503]);
      expect([...observations.statuses.keys()].filter((status) => !expected.has(status))).toStrictEqual([]);
      expect(observations.log.some(({ outcome }) => outcome === "unknown")).toBe(true);
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: treating a disk error as success",
    async () => {
      const full = INJECTIONS.find(({ error }) => error === "ENOSPC");
      if (full === undefined) throw new Error("There is no injection with ENOSPC.");
      const { findings } = await campaign(full, FAULT_FAILURES, "ignores-disk-errors");
      console.log(`a full disk, injected fault: ${findings.length} findings`);
      expect(findings.join("\n")).toMatch(/answered but not recorded/);
    },
    TIMEOUT_MS,
  );
});
