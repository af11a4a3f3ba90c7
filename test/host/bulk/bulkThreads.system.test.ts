/** Worker threads run the built files, so this suite imports dist/. */
import { NO_WORK } from "../../../src/host/pipeline.ts";
import type { HazardQueryInput } from "../../../src/contract/wireTypes.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as admissionModule from "../../../src/host/admission/admissionControl.ts";
import type * as loadLimitsModule from "../../../src/host/admission/resources.ts";
import type * as bulkModule from "../../../src/host/bulk/bulkRequests.ts";
import type { BulkReply } from "../../../src/host/bulkRoute.ts";
import type * as openAtlasModule from "../../../src/openAtlas.ts";
import type * as executorModule from "../../../src/pool/executor.ts";
import type * as pooledAtlasModule from "../../../src/pool/pooledAtlas.ts";
import type { WorkerThread } from "../../../src/concurrency/threadCalls.ts";
import type * as startWorkerModule from "../../../src/pool/startWorker.ts";
import { randomFrom } from "../../seededRandom.ts";
import { LIMITS } from "../routeCaller.ts";
import { ENTITY } from "../entities.ts";
import { textOf } from "./bulkFixture.ts";

const importBuilt = (file: string): Promise<unknown> => import(new URL(`../../../dist/${file}`, import.meta.url).href);
const { openLocalAtlas } = (await importBuilt("openAtlas.js")) as typeof openAtlasModule;
const { Executor } = (await importBuilt("pool/executor.js")) as typeof executorModule;
const { PooledAtlas } = (await importBuilt("pool/pooledAtlas.js")) as typeof pooledAtlasModule;
const { startWorker } = (await importBuilt("pool/startWorker.js")) as typeof startWorkerModule;
const { AdmissionControl } = (await importBuilt("host/admission/admissionControl.js")) as typeof admissionModule;
const { DEFAULT_LOAD_LIMITS } = (await importBuilt("host/admission/resources.js")) as typeof loadLimitsModule;
const { BulkRequests } = (await importBuilt("host/bulk/bulkRequests.js")) as typeof bulkModule;

const CACHE_BYTES = 64 << 20;
const BATCH = "/api/v1/hazard-risk/batch";
const random = randomFrom(77);
const queries = (count: number): HazardQueryInput[] =>
  Array.from({ length: count }, () => ({
    latitude: random.between({ min: -60, max: 75 }),
    longitude: random.between({ min: -180, max: 180 }),
    hazards: ["cyclones", "wildfire"],
    analysis_years: [2030, 2080],
    scenarios: ["baseline", "rcp8p5"],
    ...(random.chance(0.5) ? { radius: random.between({ min: 0, max: 100 }) } : {}),
    ...(random.chance(0.2) ? { detail: true } : {}),
  }));

describe("worker threads", () => {
  const started: WorkerThread[] = [];
  let atlas: pooledAtlasModule.PooledAtlas;
  let bulk: bulkModule.BulkRequests;
  const admission = new AdmissionControl({
    limits: { ...DEFAULT_LOAD_LIMITS, jobDeadlineMs: 600_000 },
    workerCount: 2,
    onShed: () => undefined,
  });
  beforeAll(async () => {
    const local = await openLocalAtlas("demo", CACHE_BYTES);
    const executor = new Executor({
      workers: 2,
      opened: local,
      start: () => {
        const thread = startWorker({ atlasAddress: "demo", cacheBytes: CACHE_BYTES });
        started.push(thread);
        return thread;
      },
    });
    atlas = new PooledAtlas(local, executor);
    bulk = new BulkRequests({
      executor,
      ownerOf: (query) => atlas.ownerOf(query),
      limits: LIMITS,
      prefix: "",
      jobs: admission.jobs,
    });
    await bulk.warmUp();
  });
  afterAll(() => atlas.close());

  async function answer(route: string, body: unknown, accountId = "a"): Promise<BulkReply> {
    const bytes = Buffer.from(JSON.stringify(body));
    const slot = admission.acquire(accountId);
    admission.setBody(slot, { heldBytes: bytes.length, sizeBytes: bytes.length, valueBytes: 0 });
    const caller = { accountId, keyId: "key", customerId: "customer" };
    const { signal } = new AbortController();
    const work = { ...NO_WORK, kind: route, bodyBytes: bytes.length };
    const requestId = "00000000-0000-7000-8000-000000000001";
    try {
      const body = { parts: [bytes], sizeBytes: bytes.length };
      return await bulk.answer({ route, work, queryText: "", path: {}, body, caller, requestId, slot, signal });
    } finally {
      admission.release(slot);
    }
  }

  const expectedOf = async (batch: readonly HazardQueryInput[]): Promise<string> => {
    const texts = [];
    for (const query of batch) texts.push(JSON.stringify(await atlas.hazardRisk(query)));
    return `{"results":[${texts.join(",")}]}`;
  };

  test("return the same bytes for a batch as the calling thread", async () => {
    const batch = queries(600);
    const answered = await answer(BATCH, batch);
    expect(textOf(answered)).toBe(await expectedOf(batch));
    expect(answered.headers).toEqual({ "X-Item-Errors": "0" });
  });

  test("answer concurrent requests of several accounts, each with its own response", async () => {
    const batches = Array.from({ length: 12 }, (_, i) => queries(20 + 30 * i));
    const answers = await Promise.all(batches.map((batch, i) => answer(BATCH, batch, `account ${i % 3}`)));
    for (const [i, each] of answers.entries()) expect(textOf(each)).toBe(await expectedOf(batches[i] ?? []));
  });

  test("reject with a Fault that keeps its code and items", async () => {
    const rejected = answer("/api/v1/temperature-alignment-projections", [ENTITY, { ...ENTITY, data: [] }]);
    await expect(rejected).rejects.toMatchObject({
      name: "Fault",
      code: "invalid_request",
      items: [{ pointer: "/1/data" }],
    });
  });

  test("that end while running a request are replaced, and every request settles", async () => {
    const { executor } = atlas;
    const before = executor.deathCount;
    const batch = queries(400);
    const answers = Array.from({ length: 6 }, (_, i) => answer(BATCH, batch, `${i}`));
    const settled = Promise.allSettled(answers);
    await Promise.race(answers.map((each) => each.catch(() => undefined)));
    await started[0]?.end();
    const expected = await expectedOf(batch);
    const outcomes = await settled;
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") expect(textOf(outcome.value)).toBe(expected);
      else expect(outcome.reason).toMatchObject({ name: "WorkerDeathError" });
    }
    // At most two requests fail: that of the running task, and that of one queued task whose payload had already been
    // transferred.
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeLessThanOrEqual(2);
    expect(textOf(await answer(BATCH, batch))).toBe(expected);
    expect([started.length, executor.deathCount, admission.jobs.count]).toEqual([3, before + 1, 0]);
  });
});
