/**
 * Power loss. Killing a process does not lose data that it has written but not synced. Therefore the system calls of
 * the service are traced, and the trace is checked in two ways: the write-ahead log is synced between the write of a
 * receipt and its response; and from any state in which a power loss could have left the disk, the ledger opens
 * undamaged and contains everything that was confirmed. A full run has ISOTHERM_DURABILITY_REQUESTS=400 and
 * ISOTHERM_DURABILITY_STATES=400.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { randomFrom } from "../seededRandom.ts";
import { HttpClient, jsonPost, randomRequest } from "./clients.ts";
import { AnchorHistory } from "./anchorHistory.ts";
import { DiskHistory, PERSISTENCE_MODELS } from "./diskHistory.ts";
import { sizeSetting, startService, withLedger } from "./service.ts";
import { isStraceAvailable, readTrace, straceCommand } from "./syscallTrace.ts";

const REQUESTS = sizeSetting("REQUESTS", 400);
const STATES = sizeSetting("STATES", 25);
/** Every 25th state is also opened as a ledger and audited, which is slower because it starts a worker thread. */
const STATES_PER_LEDGER_OPEN = 25;
const TIMEOUT_MS = 120_000 + (REQUESTS + STATES) * 200;

/** What each response confirmed, by request id. */
type Confirmed = ReadonlyMap<string, { readonly units: number } | { readonly customerId: string }>;

interface TracedRun {
  readonly history: DiskHistory;
  readonly anchors: AnchorHistory;
  readonly confirmed: Confirmed;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-power-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Traces a service that gets requests, first sequentially and then eight at a time, and is then killed. */
async function runTraced(name: string, fault?: FaultName): Promise<TracedRun> {
  const data = join(folder, name);
  const file = join(folder, `${name}.trace`);
  const confirmed = new Map<string, { units: number } | { customerId: string }>();
  const service = await startService({ data }, { wrapper: straceCommand(file), flags: ["--log", "none"], fault });
  const { api_key, customer_id } = (await import(join(data, "demo-credentials.json"), { with: { type: "json" } }))
    .default as { api_key: string; customer_id: string };
  const http = new HttpClient(8);
  const random = randomFrom(5);
  const credentials = { "X-API-Key": api_key, "X-Customer-ID": customer_id };
  const registerCustomer = async (internalId: string): Promise<void> => {
    const options = jsonPost({ internal_id: internalId });
    const { status, headers, text } = await http.send(`${service.url}/api/v1/customers`, {
      ...options,
      headers: { ...options.headers, ...credentials },
    });
    expect(status).toBe(201);
    const { customer_id: customerId } = JSON.parse(text) as { customer_id: string };
    confirmed.set(String(headers["x-request-id"]), { customerId });
  };
  const sendRequest = async (index: number): Promise<void> => {
    if (index % 10 === 9) return registerCustomer(`customer ${index}`);
    const { target, options, units } = randomRequest(random);
    const { status, headers } = await http.send(service.url + target, {
      ...options,
      headers: { ...options.headers, ...credentials },
    });
    expect([status, headers["x-usage-units"]]).toStrictEqual([200, String(units)]);
    confirmed.set(String(headers["x-request-id"]), { units });
  };
  let next = 0;
  while (next < REQUESTS / 2) await sendRequest(next++);
  const runClient = async (): Promise<void> => {
    while (next < REQUESTS) await sendRequest(next++);
  };
  await Promise.all(Array.from({ length: 8 }, runClient));
  http.close();
  await service.kill();
  const calls = await readTrace(file);
  return { history: new DiskHistory(calls, data), anchors: new AnchorHistory(calls), confirmed };
}

/** Counts the responses for which the log was synced after the confirmed data was written and before they were sent. */
function countSynced({ history, confirmed }: TracedRun): number {
  const { responses, logWrites, logSyncs } = history;
  const synced = responses.filter(({ receipt, start: respondedAt }) => {
    const confirmation = confirmed.get(receipt);
    if (confirmation === undefined) return false;
    const text = "units" in confirmation ? receipt : confirmation.customerId;
    const written = logWrites.find(({ bytes }) => bytes.includes(text));
    if (written === undefined) throw new Error(`${text} was confirmed but never written.`);
    return logSyncs.some(({ start, end }) => start > written.end && end < respondedAt);
  });
  return synced.length;
}

interface StateReport {
  states: number;
  checks: number;
  lost: number;
  statesWithLoss: number;
  damaged: number;
  /** States whose anchor has a batch that the ledger does not have. */
  anchorAhead: number;
}

/** Opens states that power losses could have left, and checks that each has everything that was confirmed before. */
async function checkStates({ history, anchors, confirmed }: TracedRun, name: string): Promise<StateReport> {
  const random = randomFrom(6);
  const firstResponse = history.responses[0]?.start ?? 0;
  const moments = history.moments.filter((moment) => moment > firstResponse);
  const report: StateReport = { states: 0, checks: 0, lost: 0, statesWithLoss: 0, damaged: 0, anchorAhead: 0 };
  const data = join(folder, `${name}-state`);
  for (let state = 0; state < STATES; state++) {
    // Half of the moments directly follow a response, when a missing sync is most visible.
    const moment = random.chance(0.5)
      ? random.pick(history.responses).start + 1
      : random.pick(moments) + random.below(2);
    const model = PERSISTENCE_MODELS[state % PERSISTENCE_MODELS.length] ?? "none";
    await rm(data, { recursive: true, force: true });
    await mkdir(data);
    for (const [file, bytes] of history.filesAt(moment, random, model)) await writeFile(join(data, file), bytes);
    report.states++;
    const responses = history.responses.filter(({ start }) => start < moment);
    const contents = readContents(join(data, "ledger.sqlite"));
    if (contents === undefined) {
      report.damaged++;
      continue;
    }
    const anchor = anchors.newestAt(moment);
    if (anchor !== undefined && !contents.heads.has(`${anchor.batch}:${anchor.hash}`)) report.anchorAhead++;
    const lost = responses.filter(({ receipt }) => {
      const confirmation = confirmed.get(receipt);
      if (confirmation === undefined) return false;
      return "units" in confirmation
        ? contents.units.get(receipt) !== confirmation.units
        : !contents.customerIds.has(confirmation.customerId);
    });
    report.checks += responses.length;
    report.lost += lost.length;
    if (lost.length > 0) report.statesWithLoss++;
    if (state % STATES_PER_LEDGER_OPEN === 0 && lost.length === 0) {
      await withLedger({ data }, async (ledger) => {
        const { differences, chain } = await ledger.audit();
        expect([...differences, ...chain.problems]).toStrictEqual([]);
      });
    }
  }
  return report;
}

interface Contents {
  readonly units: ReadonlyMap<string, number>;
  readonly customerIds: ReadonlySet<string>;
  /** Batches with their hashes. */
  readonly heads: ReadonlySet<string>;
}

/** Reads a ledger file. Returns undefined if the file is damaged, or if rollups and events differ. */
function readContents(file: string): Contents | undefined {
  try {
    const database = new Database(file);
    try {
      database.pragma("synchronous = off");
      if (database.pragma("integrity_check", { simple: true }) !== "ok") return undefined;
      // An empty or missing file is not damaged, but everything is lost.
      const { count } = database.prepare("select count(*) as count from sqlite_master").get() as { count: number };
      if (count === 0) return { units: new Map(), customerIds: new Set(), heads: new Set() };
      const all = <Row>(statement: string): Row[] => database.prepare(statement).all() as Row[];
      const [sums] = all<{ differ: number }>(
        `select (select coalesce(sum(units), 0) from usage_event) <> (select coalesce(sum(units), 0) from usage_rollup)
           or (select count(*) from usage_event) <> (select coalesce(sum(requests), 0) from usage_rollup) as differ`,
      );
      if (sums?.differ !== 0) return undefined;
      const events = all<{ receipt: string; units: number }>("select receipt, units from usage_event");
      const customers = all<{ customer_id: string }>("select customer_id from customer");
      const batches = all<{ batch: number; hash: string }>("select batch, hash from usage_batch");
      return {
        heads: new Set(batches.map(({ batch, hash }) => `${batch}:${hash}`)),
        units: new Map(events.map(({ receipt, units }) => [receipt, units])),
        customerIds: new Set(customers.map(({ customer_id }) => customer_id)),
      };
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

describe.skipIf(!isStraceAvailable)("a service that loses power", () => {
  test(
    `syncs the log before it responds, and loses no confirmed data: ${REQUESTS} requests, ${STATES} states`,
    async () => {
      const run = await runTraced("full");
      expect(run.history.responses.filter(({ receipt }) => run.confirmed.has(receipt))).toHaveLength(REQUESTS);
      // The run includes checkpoints, which move the log to the database and restart it.
      expect(run.history.databaseChangeCount).toBeGreaterThan(20);
      const synced = countSynced(run);
      const report = await checkStates(run, "full");
      console.log(`power loss: ${synced} of ${REQUESTS} synced before the response; ${JSON.stringify(report)}`);
      expect(synced).toBe(REQUESTS);
      expect(report).toMatchObject({ states: STATES, lost: 0, statesWithLoss: 0, damaged: 0, anchorAhead: 0 });
      // At most one per second.
      expect(run.anchors.versionCount).toBeGreaterThan(1);
      expect(report.checks).toBeGreaterThan(STATES * 50);
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: synchronous = normal",
    async () => {
      const run = await runTraced("normal", "synchronous-normal-without-checkpoints");
      const synced = countSynced(run);
      const report = await checkStates(run, "normal");
      console.log(`power loss, synchronous = normal: ${synced} of ${REQUESTS} synced; ${JSON.stringify(report)}`);
      expect(synced).toBe(0);
      expect(report.statesWithLoss).toBeGreaterThan(STATES / 4);
      // The anchor shows the loss.
      expect(report.anchorAhead).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  faultTest(
    "detects the injected fault: synchronous = off",
    async () => {
      const run = await runTraced("off", "synchronous-off");
      const synced = countSynced(run);
      const report = await checkStates(run, "off");
      console.log(`power loss, synchronous = off: ${synced} of ${REQUESTS} synced; ${JSON.stringify(report)}`);
      expect(synced).toBe(0);
      expect(report.damaged).toBeGreaterThan(0);
      expect(report.statesWithLoss).toBeGreaterThan(STATES / 4);
    },
    TIMEOUT_MS,
  );
});
