/**
 * Minutes of mixed traffic, and overload with several times the capacity of the service. Expected: nothing fails, apart
 * from single requests that a busy machine delays beyond their deadline; nothing stays allocated; the service uses most of
 * its capacity and rejects the remaining requests immediately, and response times recover afterwards. Times are printed but
 * not asserted, because they depend on the machine.
 *
 * `ISOTHERM_SOAK_SECONDS=600` sets the duration of the mixed load; `ISOTHERM_SOAK_OVERLOAD_SECONDS=30` that of the peak
 * load and of the overload.
 */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { dataFolder } from "../durability/dataFolder.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { randomFrom } from "../seededRandom.ts";
import { AdaptiveConcurrency } from "./adaptiveConcurrency.ts";
import { KeepAliveConnection, requestBytes, exchangeBytes } from "./connection.ts";
import { sampleResidentBytes } from "./residentSampler.ts";
import { mixedRequest, batchRequest, pointRequest, type TestRequest } from "./requests.ts";
import { validRequests, corruptRequests } from "./malformedRequests.ts";
import {
  ledgerUnits,
  integerSetting,
  formatUsage,
  startServiceProcess,
  type ServiceProcess,
} from "./serviceProcess.ts";

const DURATION_S = integerSetting("SECONDS", 8);
const OVERLOAD_DURATION_S = integerSetting("OVERLOAD_SECONDS", 3);
const SEED = integerSetting("SEED", 11);
const CLIENT_COUNT = 24;
/** The clients send fewer requests at the same time if responses take longer: a machine may be busy with other work. */
const RESPONSE_TARGET_MS = 2_000;
/** Share of the requests that a busy machine may delay so much that they are rejected with 503 and Retry-After. */
const OVERLOADED_SHARE_MAX = 0.1;
/** Requests are generated in advance, to leave the CPU to the service. */
const REQUEST_COUNT = 400;
/** Sent before memory is measured, so that nearly all of these requests have been answered and their tiles cached. */
const WARM_UP_REQUEST_COUNT = 4 * REQUEST_COUNT;
const SLACK_BYTES = 8 << 20;
const SLACK_RESIDENT_BYTES = 48 << 20;
const BATCH_SIZE = 400;

const data = dataFolder("load");

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? NaN;

interface Totals {
  sentCount: number;
  units: number;
  overloadedCount: number;
  readonly faults: string[];
}

/** Sends random requests from many clients, some of which disconnect and reconnect. */
async function runMixedLoad(
  service: ServiceProcess,
  totals: Totals,
  { seed, seconds, requestCountMin = 0 }: { seed: number; seconds: number; requestCountMin?: number },
) {
  const sentCountMin = totals.sentCount + requestCountMin;
  const deadlineMs = performance.now() + seconds * 1000;
  const requests = Array.from({ length: REQUEST_COUNT }, (_, i) => mixedRequest(randomFrom(seed + i), service.headers));
  const valid = validRequests(service.headers);
  const concurrency = new AdaptiveConcurrency({ max: CLIENT_COUNT, targetMs: RESPONSE_TARGET_MS });
  await Promise.all(
    Array.from({ length: CLIENT_COUNT }, async (_, index) => {
      const random = randomFrom(seed * 1000 + index);
      let connection: KeepAliveConnection | undefined;
      while (performance.now() < deadlineMs || totals.sentCount < sentCountMin) {
        if (random.chance(0.02)) {
          // A malformed request, or a client that disconnects early.
          await exchangeBytes(service.port, corruptRequests(random, valid), { resetsWhenDone: random.chance(0.5) });
          continue;
        }
        const { bytes, status } = random.pick(requests);
        const { open, response } = await concurrency.run(async () => {
          // Not opened earlier: the service closes connections that wait for long before they send a request.
          const open = (connection ??= await KeepAliveConnection.open(service.port));
          return { open, response: await open.send(bytes) };
        });
        totals.sentCount++;
        totals.units += Number(response?.headers.get("x-usage-units") ?? 0);
        const isOverloaded = response?.status === 503 && response.headers.has("retry-after");
        if (isOverloaded) totals.overloadedCount++;
        else if (response?.status !== status)
          totals.faults.push(`${response?.status}: ${response?.body.slice(0, 300)}`);
        if (open.isClosed || random.chance(0.01)) {
          open.close();
          connection = undefined;
        }
      }
      connection?.close();
    }),
  );
}

/** Registers the customer of the mixed load, so that later registrations return 200. */
async function registerCustomer({ port, headers }: ServiceProcess): Promise<void> {
  const connection = await KeepAliveConnection.open(port);
  const body = JSON.stringify({ internal_id: "soak" });
  expect((await connection.send(requestBytes("POST /latest/api/v1/customers", { headers, body })))?.status).toBe(201);
  connection.close();
}

/** Runs the mixed load and returns the memory growth. */
async function measureGrowth(
  fault?: FaultName,
): Promise<{ faults: readonly string[]; reachableBytes: number; residentBytes: number }> {
  const service = await startServiceProcess(data(), { flags: ["--cache", "64"], fault });
  try {
    const totals: Totals = { sentCount: 0, units: 0, overloadedCount: 0, faults: [] };
    await registerCustomer(service);
    await runMixedLoad(service, totals, {
      seed: SEED,
      seconds: Math.max(4, DURATION_S / 10),
      requestCountMin: WARM_UP_REQUEST_COUNT,
    });
    // Some threads start only when they are first needed.
    await ledgerUnits(service);
    const before = await service.resourceUsage();
    const sampler = sampleResidentBytes(service);
    await runMixedLoad(service, totals, { seed: SEED, seconds: DURATION_S });
    const samples = await sampler.stop();
    await setTimeout(2000);
    const after = await service.resourceUsage();
    const quarter = samples.length >> 2;
    const [early, late] = [median(samples.slice(quarter, 2 * quarter)), median(samples.slice(-quarter))];
    const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    console.log(
      `${DURATION_S} s of mixed load: ${totals.sentCount} requests, ${totals.overloadedCount} of them rejected, ` +
        `${totals.units} units; resident ${mebibytes(early)} in the second quarter, ${mebibytes(late)} in the last; before ${formatUsage(before)}; after ${formatUsage(after)}`,
    );
    expect(totals.overloadedCount).toBeLessThanOrEqual(OVERLOADED_SHARE_MAX * totals.sentCount);
    expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + 4);
    // Requests of clients that disconnected may have been metered without a response.
    expect(await ledgerUnits(service)).toBeGreaterThanOrEqual(totals.units);
    return {
      faults: totals.faults,
      reachableBytes: after.reachableBytes - before.reachableBytes,
      residentBytes: late - early,
    };
  } finally {
    await service.stop();
  }
}

test(
  `${DURATION_S} seconds of mixed load leave no memory or descriptors behind`,
  { timeout: 120_000 + DURATION_S * 2500 },
  async () => {
    const { faults, reachableBytes, residentBytes } = await measureGrowth();
    expect(faults.slice(0, 10)).toStrictEqual([]);
    expect(reachableBytes).toBeLessThan(SLACK_BYTES);
    expect(residentBytes).toBeLessThan(SLACK_RESIDENT_BYTES);
  },
);

test("detects a service that retains its requests", { timeout: 120_000 + DURATION_S * 2500 }, async () => {
  const { reachableBytes } = await measureGrowth("retains-requests");
  expect(reachableBytes).toBeGreaterThan(SLACK_BYTES);
});

interface OverloadResult {
  readonly answeredCount: number;
  readonly rejectedCount: number;
  readonly unexpected: readonly string[];
  /** Milliseconds from sending a request to its response. */
  readonly answeredMs: readonly number[];
  readonly rejectedMs: readonly number[];
}

/** Sends batches on a fixed schedule that does not wait for responses. */
async function sendOnSchedule(
  service: ServiceProcess,
  requests: readonly TestRequest[],
  requestsPerS: number,
): Promise<OverloadResult> {
  const result = {
    answeredCount: 0,
    rejectedCount: 0,
    unexpected: [] as string[],
    answeredMs: [] as number[],
    rejectedMs: [] as number[],
  };
  const free: KeepAliveConnection[] = [];
  const inFlight: Promise<void>[] = [];
  const startMs = performance.now();
  const count = Math.round(requestsPerS * OVERLOAD_DURATION_S);
  for (let index = 0; index < count; index++) {
    const waitMs = startMs + (1000 * index) / requestsPerS - performance.now();
    if (waitMs > 1) await setTimeout(waitMs);
    const sendOne = async (): Promise<void> => {
      const connection = free.pop() ?? (await KeepAliveConnection.open(service.port));
      const sentMs = performance.now();
      const response = await connection.send((requests[index % requests.length] as TestRequest).bytes);
      const tookMs = performance.now() - sentMs;
      if (response?.status === 200) {
        result.answeredCount++;
        result.answeredMs.push(tookMs);
      } else if (response?.status === 503 && response.headers.has("retry-after")) {
        result.rejectedCount++;
        result.rejectedMs.push(tookMs);
      } else result.unexpected.push(`${response?.status}: ${response?.body.slice(0, 200)}`);
      if (connection.isClosed) connection.close();
      else free.push(connection);
    };
    inFlight.push(sendOne().catch((error: unknown) => void result.unexpected.push(String(error))));
  }
  await Promise.all(inFlight);
  for (const connection of free) connection.close();
  return result;
}

/** Returns the response times of consecutive single-location requests, in milliseconds. */
async function measureSingleMs(
  service: ServiceProcess,
  requests: readonly TestRequest[],
  count: number,
): Promise<number[]> {
  const connection = await KeepAliveConnection.open(service.port);
  const timesMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const sentMs = performance.now();
    const response = await connection.send((requests[index % requests.length] as TestRequest).bytes);
    if (response?.status === 200) timesMs.push(performance.now() - sentMs);
  }
  connection.close();
  return timesMs;
}

test("serves at capacity and rejects the rest under five times its capacity", { timeout: 300_000 }, async () => {
  const service = await startServiceProcess(data());
  try {
    const random = randomFrom(SEED);
    const gets = Array.from({ length: 100 }, () => pointRequest(random, service.headers));
    const batches = Array.from({ length: 20 }, () =>
      batchRequest(random, { headers: service.headers, count: BATCH_SIZE }),
    );
    const connections = await Promise.all(Array.from({ length: 8 }, () => KeepAliveConnection.open(service.port)));
    const measureThroughput = async (seconds: number): Promise<number> => {
      let answeredCount = 0;
      const deadlineMs = performance.now() + seconds * 1000;
      await Promise.all(
        connections.map(async (connection, index) => {
          for (let i = index; performance.now() < deadlineMs; i++) {
            if ((await connection.send((batches[i % batches.length] as TestRequest).bytes))?.status === 200)
              answeredCount++;
          }
        }),
      );
      return answeredCount / seconds;
    };
    await measureThroughput(2);
    const before = await measureSingleMs(service, gets, 200);
    const peakPerS = await measureThroughput(OVERLOAD_DURATION_S);
    const startMs = performance.now();
    const { answeredCount, rejectedCount, unexpected, rejectedMs } = await sendOnSchedule(
      service,
      batches,
      5 * peakPerS,
    );
    const tookS = (performance.now() - startMs) / 1000;
    const after = await measureSingleMs(service, gets, 200);
    const p90Ratio = percentile(after, 0.9) / percentile(before, 0.9);
    console.log(
      `peak ${(peakPerS * BATCH_SIZE).toFixed(0)} elements/s; offered 5 times as much: ${((answeredCount / tookS) * BATCH_SIZE).toFixed(0)} ` +
        `elements/s done (${((100 * answeredCount) / tookS / peakPerS).toFixed(0)} %), ${rejectedCount} batches rejected, p99 after ` +
        `${percentile(rejectedMs, 0.99).toFixed(1)} ms, median ${median(rejectedMs).toFixed(1)} ms; p90 of single locations afterwards ${p90Ratio.toFixed(1)} times that before`,
    );
    expect(unexpected.slice(0, 5)).toStrictEqual([]);
    expect(answeredCount + rejectedCount).toBe(Math.round(5 * peakPerS * OVERLOAD_DURATION_S));
    // None is rejected if the machine has become much faster since the peak was measured.
    expect(answeredCount).toBeGreaterThan(0);
    // Every later request is answered with 200.
    expect(after).toHaveLength(200);
    for (const connection of connections) connection.close();
  } finally {
    await service.stop();
  }
});

const LARGE_BATCH_COUNT = 6;

/**
 * Counts the major garbage collections of the event loop's thread while maximum-size batches are answered one after
 * another.
 */
async function countCollectionsDuringBatches(fault?: FaultName): Promise<number> {
  const service = await startServiceProcess(data(), { flags: ["--cache", "64"], fault });
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
    const connection = await KeepAliveConnection.open(service.port);
    const sendBatches = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) expect((await connection.send(bytes))?.status).toBe(200);
    };
    await sendBatches(2);
    const before = await service.resourceUsage();
    await sendBatches(LARGE_BATCH_COUNT);
    const after = await service.resourceUsage();
    connection.close();
    return after.majorCollectionCount - before.majorCollectionCount;
  } finally {
    await service.stop();
  }
}

test("large batches do not each cause a major garbage collection", { timeout: 240_000 }, async () => {
  const count = await countCollectionsDuringBatches();
  const defaultCount = await countCollectionsDuringBatches("default-heap-growth");
  console.log(
    `${LARGE_BATCH_COUNT} batches: ${count} major collections, ${defaultCount} with V8's default heap growth`,
  );
  expect(count).toBeLessThanOrEqual(LARGE_BATCH_COUNT / 3);
  expect(count).toBeLessThan(defaultCount);
});
