/**
 * Minutes of everything that clients do, and several times more work than can be done. What must hold: nothing fails,
 * nothing stays behind, most of the work that can be done is done, the rest is refused at once, and afterwards the service
 * is as quick as before. Times are printed, not asserted: they are those of the machine.
 *
 * `ISOTHERM_SOAK_SECONDS=600` asks for so long; `ISOTHERM_SOAK_OVERLOAD_SECONDS=30` for so long each of load and overload.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtWith } from "../durability/service.ts";
import { randomFrom } from "../seededRandom.ts";
import { KeptConnection, requestBytes, talk } from "./connection.ts";
import { anyQuestion, batchQuestion, getQuestion, type Question } from "./questions.ts";
import { rightRequests, spoiltBytes } from "./rawBytes.ts";
import { countedUnits, sizeOf, toldOf, watchedService, type WatchedService } from "./watched.ts";

const SECONDS = sizeOf("SECONDS", 8);
const OVERLOAD_SECONDS = sizeOf("OVERLOAD_SECONDS", 3);
const SEED = sizeOf("SEED", 11);
const CLIENTS = 24;
/** Questions are made beforehand: the machine is for the service. */
const QUESTIONS = 400;
const SLACK_BYTES = 8 << 20;
const SLACK_RESIDENT_BYTES = 48 << 20;
const BATCH = 400;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-load-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? NaN;

interface Seen {
  askedCount: number;
  units: number;
  readonly faults: string[];
}

/** Asks anything, over and over, over many connections, some of which come and go. */
async function mixed(service: WatchedService, seen: Seen, { seed, seconds }: { seed: number; seconds: number }) {
  const untilMs = performance.now() + seconds * 1000;
  const questions = Array.from({ length: QUESTIONS }, (_, i) => anyQuestion(randomFrom(seed + i), service.headers));
  const right = rightRequests(service.headers);
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, index) => {
      const random = randomFrom(seed * 1000 + index);
      let connection: KeptConnection | undefined;
      while (performance.now() < untilMs) {
        if (random.chance(0.02)) {
          // One of those who do not know what they do, or leave in the middle of it.
          await talk(service.port, spoiltBytes(random, right), { isRude: random.chance(0.5) });
          continue;
        }
        connection ??= await KeptConnection.open(service.port);
        const { bytes, status } = random.pick(questions);
        const answer = await connection.ask(bytes);
        seen.askedCount++;
        seen.units += Number(answer?.headers.get("x-usage-units") ?? 0);
        if (answer?.status !== status) seen.faults.push(`${answer?.status}: ${answer?.body.slice(0, 300)}`);
        if (connection.isOver || random.chance(0.01)) {
          connection.end();
          connection = undefined;
        }
      }
      connection?.end();
    }),
  );
}

/** What the service holds, looked at each quarter of a second until told to stop. */
function watchResident(service: WatchedService): { stop(): Promise<readonly number[]> } {
  const over = new AbortController();
  const samples: number[] = [];
  const watching = (async () => {
    while (!over.signal.aborted) {
      samples.push(await service.residentBytes());
      await setTimeout(250);
    }
  })();
  return {
    async stop() {
      over.abort();
      await watching;
      return samples;
    },
  };
}

/** From the second time on it is answered with 200. */
async function registerCustomer({ port, headers }: WatchedService): Promise<void> {
  const connection = await KeptConnection.open(port);
  const body = JSON.stringify({ internal_id: "soak" });
  expect((await connection.ask(requestBytes("POST /latest/api/v1/customers", { headers, body })))?.status).toBe(201);
  connection.end();
}

/** Runs the mixed load, and says what has grown meanwhile. */
async function grownUnderLoad(
  built?: string,
): Promise<{ faults: readonly string[]; reachable: number; resident: number }> {
  const service = await watchedService(data, { flags: ["--cache", "64"], ...(built === undefined ? {} : { built }) });
  try {
    const seen: Seen = { askedCount: 0, units: 0, faults: [] };
    await registerCustomer(service);
    await mixed(service, seen, { seed: SEED, seconds: Math.max(4, SECONDS / 10) });
    // Some threads are started when they are first needed.
    await countedUnits(service);
    const before = await service.holding();
    const resident = watchResident(service);
    await mixed(service, seen, { seed: SEED, seconds: SECONDS });
    const samples = await resident.stop();
    await setTimeout(2000);
    const after = await service.holding();
    const quarter = samples.length >> 2;
    const [early, late] = [median(samples.slice(quarter, 2 * quarter)), median(samples.slice(-quarter))];
    const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    console.log(
      `${SECONDS} s of mixed load: ${seen.askedCount} requests, ${seen.units} units; resident ${mebibytes(early)} in the ` +
        `second quarter, ${mebibytes(late)} in the last; before ${toldOf(before)}; after ${toldOf(after)}`,
    );
    expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + 4);
    // Those who left in the middle may have been counted without having heard of it.
    expect(await countedUnits(service)).toBeGreaterThanOrEqual(seen.units);
    return { faults: seen.faults, reachable: after.reachableBytes - before.reachableBytes, resident: late - early };
  } finally {
    await service.stop();
  }
}

test(
  `${SECONDS} seconds of all that clients do leave nothing behind`,
  { timeout: 120_000 + SECONDS * 2500 },
  async () => {
    const { faults, reachable, resident } = await grownUnderLoad();
    expect(faults.slice(0, 10)).toStrictEqual([]);
    expect(reachable).toBeLessThan(SLACK_BYTES);
    expect(resident).toBeLessThan(SLACK_RESIDENT_BYTES);
  },
);

test("a service that keeps what it has been asked is seen to", { timeout: 120_000 + SECONDS * 2500 }, async () => {
  const { built, done } = await builtWith([
    {
      file: "host/pipeline.js",
      from: "refuseBadHost(request);",
      to: "(globalThis.kept ??= []).push(Buffer.from(String(url).padEnd(32_768))); refuseBadHost(request);",
    },
  ]);
  try {
    const { reachable } = await grownUnderLoad(built);
    expect(reachable).toBeGreaterThan(SLACK_BYTES);
  } finally {
    await done();
  }
});

interface Offered {
  readonly answered: number;
  readonly refused: number;
  readonly others: readonly string[];
  /** Milliseconds from the sending of a request to its answer. */
  readonly answeredMs: readonly number[];
  readonly refusedMs: readonly number[];
}

/** Offers batches by a schedule that does not wait for answers, so many a second. */
async function offered(service: WatchedService, questions: readonly Question[], perS: number): Promise<Offered> {
  const result = {
    answered: 0,
    refused: 0,
    others: [] as string[],
    answeredMs: [] as number[],
    refusedMs: [] as number[],
  };
  const free: KeptConnection[] = [];
  const under: Promise<void>[] = [];
  const startMs = performance.now();
  const count = Math.round(perS * OVERLOAD_SECONDS);
  for (let index = 0; index < count; index++) {
    const waitMs = startMs + (1000 * index) / perS - performance.now();
    if (waitMs > 1) await setTimeout(waitMs);
    const ask = async (): Promise<void> => {
      const connection = free.pop() ?? (await KeptConnection.open(service.port));
      const sentMs = performance.now();
      const answer = await connection.ask((questions[index % questions.length] as Question).bytes);
      const tookMs = performance.now() - sentMs;
      if (answer?.status === 200) {
        result.answered++;
        result.answeredMs.push(tookMs);
      } else if (answer?.status === 503 && answer.headers.has("retry-after")) {
        result.refused++;
        result.refusedMs.push(tookMs);
      } else result.others.push(`${answer?.status}: ${answer?.body.slice(0, 200)}`);
      if (connection.isOver) connection.end();
      else free.push(connection);
    };
    under.push(ask().catch((error: unknown) => void result.others.push(String(error))));
  }
  await Promise.all(under);
  for (const connection of free) connection.end();
  return result;
}

/** Times of single locations, one after the other, milliseconds. */
async function singles(service: WatchedService, questions: readonly Question[], count: number): Promise<number[]> {
  const connection = await KeptConnection.open(service.port);
  const took: number[] = [];
  for (let index = 0; index < count; index++) {
    const sentMs = performance.now();
    const answer = await connection.ask((questions[index % questions.length] as Question).bytes);
    if (answer?.status === 200) took.push(performance.now() - sentMs);
  }
  connection.end();
  return took;
}

test("of five times too much, what can be done is done and the rest refused", { timeout: 300_000 }, async () => {
  const service = await watchedService(data);
  try {
    const random = randomFrom(SEED);
    const gets = Array.from({ length: 100 }, () => getQuestion(random, service.headers));
    const batches = Array.from({ length: 20 }, () => batchQuestion(random, { headers: service.headers, count: BATCH }));
    const lines = await Promise.all(Array.from({ length: 8 }, () => KeptConnection.open(service.port)));
    const ask = async (seconds: number): Promise<number> => {
      let answered = 0;
      const untilMs = performance.now() + seconds * 1000;
      await Promise.all(
        lines.map(async (line, index) => {
          for (let i = index; performance.now() < untilMs; i++) {
            if ((await line.ask((batches[i % batches.length] as Question).bytes))?.status === 200) answered++;
          }
        }),
      );
      return answered / seconds;
    };
    await ask(2);
    const before = await singles(service, gets, 200);
    const peakPerS = await ask(OVERLOAD_SECONDS);
    const startMs = performance.now();
    const { answered, refused, others, refusedMs } = await offered(service, batches, 5 * peakPerS);
    const tookS = (performance.now() - startMs) / 1000;
    const overMs = performance.now();
    let normalMs = NaN;
    for (let round = 0; round < 50 && Number.isNaN(normalMs); round++) {
      const after = percentile(await singles(service, gets, 50), 0.9);
      if (after <= 2 * percentile(before, 0.9)) normalMs = performance.now() - overMs;
    }
    console.log(
      `peak ${(peakPerS * BATCH).toFixed(0)} elements/s; offered 5 times as much: ${((answered / tookS) * BATCH).toFixed(0)} ` +
        `elements/s done (${((100 * answered) / tookS / peakPerS).toFixed(0)} %), ${refused} batches refused, p99 after ` +
        `${percentile(refusedMs, 0.99).toFixed(1)} ms, median ${median(refusedMs).toFixed(1)} ms; normal again after ${normalMs.toFixed(0)} ms`,
    );
    expect(others.slice(0, 5)).toStrictEqual([]);
    expect(answered + refused).toBe(Math.round(5 * peakPerS * OVERLOAD_SECONDS));
    expect(answered).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
    expect(normalMs).not.toBeNaN();
    for (const line of lines) line.end();
  } finally {
    await service.stop();
  }
});

const LARGE_BATCHES = 6;

/** How often the event loop's whole heap is collected while some of the largest batches are answered, one after another. */
async function collectionsOfBatches(built?: string): Promise<number> {
  const service = await watchedService(data, { flags: ["--cache", "64"], ...(built === undefined ? {} : { built }) });
  try {
    const { headers } = service;
    const elements = Array.from({ length: 10_000 }, (_, i) => ({
      latitude: 20 + (i % 50) / 10,
      longitude: 120 + (i % 70) / 10,
      hazards: ["cyclones"],
      analysis_years: [2025, 2030, 2040, 2050, 2080],
      scenarios: ["rcp4p5", "rcp8p5"],
    }));
    const bytes = requestBytes("POST /api/v1/hazard-risk/batch", { headers, body: JSON.stringify(elements) });
    const connection = await KeptConnection.open(service.port);
    const ask = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) expect((await connection.ask(bytes))?.status).toBe(200);
    };
    await ask(2);
    const before = await service.holding();
    await ask(LARGE_BATCHES);
    const after = await service.holding();
    connection.end();
    return after.wholeCollectionCount - before.wholeCollectionCount;
  } finally {
    await service.stop();
  }
}

test("not every large batch costs the event loop a collection of its whole heap", { timeout: 240_000 }, async () => {
  const { built, done } = await builtWith([
    { file: "cli/serve.js", from: "setFlagsFromString(`--heap-growing-percent=", to: "void (`" },
  ]);
  try {
    const [count, countAtTheEnginesPace] = [await collectionsOfBatches(), await collectionsOfBatches(built)];
    console.log(
      `${LARGE_BATCHES} batches: ${count} whole collections, ${countAtTheEnginesPace} at the engine's own pace`,
    );
    expect(count).toBeLessThanOrEqual(LARGE_BATCHES / 3);
    expect(count).toBeLessThan(countAtTheEnginesPace);
  } finally {
    await done();
  }
});
