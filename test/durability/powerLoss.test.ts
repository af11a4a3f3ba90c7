/**
 * What a power cut leaves. Killing a process proves little: what it has written outlives it, on disk or not. So the
 * service is traced, and two things are looked for in the trace: between the writing of a receipt and its answer the log
 * is put on disk; and from whatever files a power cut could have left, the ledger opens whole, with all that had been
 * answered. ISOTHERM_DURABILITY_REQUESTS (400) and ISOTHERM_DURABILITY_STATES=400 say how much of that is done.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomFrom } from "../seededRandom.ts";
import { Clients, posted, pricedRequest } from "./clients.ts";
import { DiskHistory, FATES } from "./diskHistory.ts";
import { builtWith, type Fault, sizeOf, startService, withLedger } from "./service.ts";
import { isTraceable, readTrace, tracedInto } from "./syscallTrace.ts";

const REQUESTS = sizeOf("REQUESTS", 400);
const STATES = sizeOf("STATES", 60);
/** Every so many states are opened as the service opens them, which takes a thread and its time. */
const WHOLE_OPENING_EVERY = 25;
const TIMEOUT_MS = 120_000 + (REQUESTS + STATES) * 200;

/** What an answer promised, by its request id. */
type Promised = ReadonlyMap<string, { readonly units: number } | { readonly customerId: string }>;

interface Traced {
  readonly history: DiskHistory;
  readonly promised: Promised;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-power-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Asks a traced service, first one by one and then eight at a time, and kills it. */
async function traced(name: string, faults: readonly Fault[] = []): Promise<Traced> {
  const data = join(folder, name);
  const file = join(folder, `${name}.trace`);
  const copy = faults.length === 0 ? undefined : await builtWith(faults);
  const promised = new Map<string, { units: number } | { customerId: string }>();
  try {
    const service = await startService(
      { data },
      { under: tracedInto(file), flags: ["--log", "none"], ...(copy === undefined ? {} : { built: copy.built }) },
    );
    const { api_key, customer_id } = (await import(join(data, "demo-credentials.json"), { with: { type: "json" } }))
      .default as { api_key: string; customer_id: string };
    const clients = new Clients(8);
    const random = randomFrom(5);
    const headers = { "X-API-Key": api_key, "X-Customer-ID": customer_id };
    const ask = async (index: number): Promise<void> => {
      if (index % 10 === 9) {
        const question = posted({ internal_id: `customer ${index}` });
        const {
          status,
          headers: said,
          text,
        } = await clients.ask(`${service.url}/api/v1/customers`, {
          ...question,
          headers: { ...question.headers, ...headers },
        });
        expect(status).toBe(201);
        const { customer_id: customerId } = JSON.parse(text) as { customer_id: string };
        promised.set(String(said["x-request-id"]), { customerId });
        return;
      }
      const { target, question, units } = pricedRequest(random);
      const { status, headers: said } = await clients.ask(service.url + target, {
        ...question,
        headers: { ...question.headers, ...headers },
      });
      expect([status, said["x-usage-units"]]).toStrictEqual([200, String(units)]);
      promised.set(String(said["x-request-id"]), { units });
    };
    let next = 0;
    while (next < REQUESTS / 2) await ask(next++);
    const client = async (): Promise<void> => {
      while (next < REQUESTS) await ask(next++);
    };
    await Promise.all(Array.from({ length: 8 }, client));
    clients.close();
    await service.kill();
  } finally {
    await copy?.done();
  }
  return { history: new DiskHistory(await readTrace(file), data), promised };
}

/** Of how many answers the log was put on disk between the writing of what they promise and their going out. */
function syncedCount({ history, promised }: Traced): number {
  const { answers, logWrites, logSyncs } = history;
  const synced = answers.filter(({ receipt, began: answeredAt }) => {
    const promise = promised.get(receipt);
    if (promise === undefined) return false;
    const text = "units" in promise ? receipt : promise.customerId;
    const written = logWrites.find(({ bytes }) => bytes.includes(text));
    if (written === undefined) throw new Error(`${text} was answered and never written.`);
    return logSyncs.some(({ began, ended }) => began > written.ended && ended < answeredAt);
  });
  return synced.length;
}

interface Judged {
  states: number;
  checks: number;
  lost: number;
  statesWithLoss: number;
  damaged: number;
}

/** Opens what power cuts could have left, and looks whether everything is there that had been answered. */
async function judge({ history, promised }: Traced, name: string): Promise<Judged> {
  const random = randomFrom(6);
  const first = history.answers[0]?.began ?? 0;
  const moments = history.moments.filter((moment) => moment > first);
  const judged: Judged = { states: 0, checks: 0, lost: 0, statesWithLoss: 0, damaged: 0 };
  const data = join(folder, `${name}-state`);
  for (let state = 0; state < STATES; state++) {
    // Right after an answer has gone out, or anywhere.
    const moment = random.chance(0.5) ? random.pick(history.answers).began + 1 : random.pick(moments) + random.below(2);
    const fate = FATES[state % FATES.length] ?? "none";
    await rm(data, { recursive: true, force: true });
    await mkdir(data);
    for (const [file, bytes] of history.filesAt(moment, random, fate)) await writeFile(join(data, file), bytes);
    judged.states++;
    const answered = history.answers.filter(({ began }) => began < moment);
    const found = contentsOf(join(data, "ledger.sqlite"));
    if (found === undefined) {
      judged.damaged++;
      continue;
    }
    const lost = answered.filter(({ receipt }) => {
      const promise = promised.get(receipt);
      if (promise === undefined) return false;
      return "units" in promise ? found.units.get(receipt) !== promise.units : !found.customers.has(promise.customerId);
    });
    judged.checks += answered.length;
    judged.lost += lost.length;
    if (lost.length > 0) judged.statesWithLoss++;
    if (state % WHOLE_OPENING_EVERY === 0 && lost.length === 0) {
      await withLedger({ data }, async (ledger) => expect((await ledger.audit()).differences).toStrictEqual([]));
    }
  }
  return judged;
}

/** @returns undefined where the file is damaged, or sums and events differ */
function contentsOf(
  file: string,
): { readonly units: ReadonlyMap<string, number>; readonly customers: ReadonlySet<string> } | undefined {
  try {
    const database = new Database(file);
    try {
      database.pragma("synchronous = off");
      if (database.pragma("integrity_check", { simple: true }) !== "ok") return undefined;
      // Of a file that is empty, or not there, nothing is damaged: all is lost.
      const { count } = database.prepare("select count(*) as count from sqlite_master").get() as { count: number };
      if (count === 0) return { units: new Map(), customers: new Set() };
      const all = <Row>(statement: string): Row[] => database.prepare(statement).all() as Row[];
      const [sums] = all<{ differ: number }>(
        `select (select coalesce(sum(units), 0) from usage_event) <> (select coalesce(sum(units), 0) from usage_rollup)
           or (select count(*) from usage_event) <> (select coalesce(sum(requests), 0) from usage_rollup) as differ`,
      );
      if (sums?.differ !== 0) return undefined;
      const events = all<{ receipt: string; units: number }>("select receipt, units from usage_event");
      const customers = all<{ customer_id: string }>("select customer_id from customer");
      return {
        units: new Map(events.map(({ receipt, units }) => [receipt, units])),
        customers: new Set(customers.map(({ customer_id }) => customer_id)),
      };
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

const SYNCHRONOUS = "synchronous = full";
const weaker = (setting: string, value: number, more = ""): readonly Fault[] => [
  { file: "ledger/sqliteStore.js", from: SYNCHRONOUS, to: `synchronous = ${setting}` },
  { file: "ledger/sqliteStore.js", from: "synchronous: 2", to: `synchronous: ${value}${more}` },
];

describe.skipIf(!isTraceable)("a service whose power is cut", () => {
  test(
    `has put its log on disk before it answers, and loses no answer: ${REQUESTS} requests, ${STATES} states`,
    async () => {
      const run = await traced("full");
      expect(run.history.answers.filter(({ receipt }) => run.promised.has(receipt))).toHaveLength(REQUESTS);
      // What was in the log was moved to the database meanwhile, and the log begun anew.
      expect(run.history.movedCount).toBeGreaterThan(20);
      const synced = syncedCount(run);
      const judged = await judge(run, "full");
      console.log(`power cut: ${synced} of ${REQUESTS} synced before their answer; ${JSON.stringify(judged)}`);
      expect(synced).toBe(REQUESTS);
      expect(judged).toMatchObject({ states: STATES, lost: 0, statesWithLoss: 0, damaged: 0 });
      expect(judged.checks).toBeGreaterThan(STATES * 50);
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when it leaves syncing to SQLite's checkpoints",
    async () => {
      // Checkpoints sync too, and would now and then do it just before an answer.
      const withoutCheckpoints: Fault = {
        file: "ledger/sqliteStore.js",
        from: `database.pragma("foreign_keys = on");`,
        to: `database.pragma("foreign_keys = on"); database.pragma("wal_autocheckpoint = 0");`,
      };
      const run = await traced("normal", [...weaker("normal", 1), withoutCheckpoints]);
      const synced = syncedCount(run);
      const judged = await judge(run, "normal");
      console.log(`power cut, planted NORMAL: ${synced} of ${REQUESTS} synced; ${JSON.stringify(judged)}`);
      expect(synced).toBe(0);
      expect(judged.statesWithLoss).toBeGreaterThan(STATES / 4);
    },
    TIMEOUT_MS,
  );

  test(
    "is found out when it syncs nothing at all",
    async () => {
      const run = await traced("off", weaker("off", 0));
      const synced = syncedCount(run);
      const judged = await judge(run, "off");
      console.log(`power cut, planted OFF: ${synced} of ${REQUESTS} synced; ${JSON.stringify(judged)}`);
      expect(synced).toBe(0);
      expect(judged.damaged).toBeGreaterThan(0);
      expect(judged.statesWithLoss).toBeGreaterThan(STATES / 4);
    },
    TIMEOUT_MS,
  );
});
