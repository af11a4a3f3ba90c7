/** The workforce as it is shipped: worker threads run the built files, so this suite asks dist/. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HazardQueryInput } from "../../../src/hazard/query.ts";
import type * as works from "../../../src/host/work/workforce.ts";
import type * as opening from "../../../src/openAtlas.ts";
import type * as pools from "../../../src/pool/pool.ts";
import type { WorkerThread } from "../../../src/pool/poolWorker.ts";
import type * as threads from "../../../src/workerThreads.ts";
import { randomFrom } from "../../seededRandom.ts";
import { LIMITS } from "../calling.ts";
import { ENTITY } from "../entities.ts";
import { jobOf, textOf } from "./workshop.ts";

const built = (file: string): Promise<unknown> => import(new URL(`../../../dist/${file}`, import.meta.url).href);
const { openAtlasHere } = (await built("openAtlas.js")) as typeof opening;
const { Pool } = (await built("pool/pool.js")) as typeof pools;
const { startWorker } = (await built("workerThreads.js")) as typeof threads;
const { workforceOf } = (await built("host/work/workforce.js")) as typeof works;

const CACHE_BYTES = 64 << 20;
const BATCH = "/api/v1/hazard-risk/batch";
const random = randomFrom(77);
const queries = (count: number): HazardQueryInput[] =>
  Array.from({ length: count }, () => ({
    latitude: random.between({ least: -60, most: 75 }),
    longitude: random.between({ least: -180, most: 180 }),
    hazards: ["cyclones", "wildfire"],
    analysis_years: [2030, 2080],
    scenarios: ["baseline", "rcp8p5"],
    ...(random.chance(0.5) ? { radius: random.between({ least: 0, most: 100 }) } : {}),
    ...(random.chance(0.2) ? { detail: true } : {}),
  }));

describe("worker threads", () => {
  const started: WorkerThread[] = [];
  let atlas: pools.PooledAtlas;
  let workforce: works.Workforce;
  beforeAll(async () => {
    const here = await openAtlasHere("demo", CACHE_BYTES);
    const pool = new Pool({
      workers: 2,
      opened: here.atlas,
      start: () => {
        const thread = startWorker({ address: "demo", cacheBytes: CACHE_BYTES });
        started.push(thread);
        return thread;
      },
    });
    atlas = pool.behind(here.atlas, here.neighbourhoods);
    workforce = workforceOf({ pool, limits: LIMITS });
    await workforce.warmUp();
  });
  afterAll(() => atlas.close());

  const expectedOf = async (asked: readonly HazardQueryInput[]): Promise<string> => {
    const texts = [];
    for (const query of asked) texts.push(JSON.stringify(await atlas.hazardRisk(query)));
    return `{"results":[${texts.join(",")}]}`;
  };

  test("answer a batch as this thread answers its queries, byte for byte", async () => {
    const asked = queries(600);
    const { parts, headers } = await workforce.answer(jobOf(BATCH, asked));
    expect(textOf(parts)).toBe(await expectedOf(asked));
    expect(headers).toEqual({ "X-Item-Errors": "0" });
  });

  test("answer many requests of several accounts at the same time, each with its own", async () => {
    const asked = Array.from({ length: 12 }, (_, i) => queries(20 + 30 * i));
    const answers = await Promise.all(
      asked.map((batch, i) => workforce.answer(jobOf(BATCH, batch, { accountId: `account ${i % 3}` }))),
    );
    for (const [i, { parts }] of answers.entries()) expect(textOf(parts)).toBe(await expectedOf(asked[i] ?? []));
  });

  test("take a body without copying it, and give faults back as faults", async () => {
    const job = jobOf("/api/v1/temperature-alignment-projections", [ENTITY, { ...ENTITY, data: [] }]);
    const refused = await workforce.answer(job).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "Fault", code: "invalid_request", items: [{ pointer: "/1/data" }] });
    expect(job.body?.length).toBe(0);
  });

  test("that are ended in the middle of their work are started anew, and nobody is left without an answer", async () => {
    const before = workforce.state.workerDeathCount;
    const asked = queries(400);
    const answers = Array.from({ length: 6 }, (_, i) => workforce.answer(jobOf(BATCH, asked, { accountId: `${i}` })));
    const settled = Promise.allSettled(answers);
    await Promise.race(answers.map((answer) => answer.catch(() => undefined)));
    await started[0]?.end();
    const expected = await expectedOf(asked);
    const outcomes = await settled;
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") expect(textOf(outcome.value.parts)).toBe(expected);
      else expect(String(outcome.reason)).toMatch(/A worker ended with code/);
    }
    // What a worker was busy with goes down with it, and what had been handed over to it, which is one more at most.
    expect(outcomes.filter(({ status }) => status === "rejected").length).toBeLessThanOrEqual(2);
    const again = await workforce.answer(jobOf(BATCH, asked));
    expect(textOf(again.parts)).toBe(expected);
    expect([started.length, workforce.state]).toEqual([3, { jobCount: 0, heldBytes: 0, workerDeathCount: before + 1 }]);
  });
});
