/** How the pool looks after its workers, with threads that a test can have fail, die, or open another atlas. */
import { describe, expect, test } from "vitest";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { Order, Report } from "../../src/pool/messages.ts";
import { Pool } from "../../src/pool/pool.ts";
import type { WorkerThread } from "../../src/pool/poolWorker.ts";

const RELEASE = "20260101-aaaa";
const COUNT = 5000;
const REQUEST = {
  hazard: "riverine_floods",
  layers: [{ scenario: "baseline", analysisYear: 1980, metric: "depth_meters" }],
  latitudes: Float64Array.from({ length: COUNT }, (_, i) => (i % 180) - 89),
  longitudes: Float64Array.from({ length: COUNT }, (_, i) => (i % 360) - 179),
} as const;

/** A thread that answers each place with its latitude, unless told otherwise. */
class MadeThread implements WorkerThread {
  readonly orders: Order[] = [];
  isEnded = false;
  isAwaited = false;
  /** What becomes of an order; undefined: it is never answered. */
  answer: (order: Order) => Report | undefined = valuesOf;
  #take: (report: Report) => void = () => undefined;
  #ended: (error: Error) => void = () => undefined;

  constructor(first: Report | undefined) {
    queueMicrotask(() => {
      if (first !== undefined) this.#take(first);
    });
  }

  send(order: Order): void {
    this.orders.push(order);
    setImmediate(() => {
      if (this.isEnded) return;
      const report = this.answer(order);
      if (report !== undefined) this.#take(report);
    });
  }
  onReport(take: (report: Report) => void): void {
    this.#take = take;
  }
  onEnd(take: (error: Error) => void): void {
    this.#ended = take;
  }
  setAwaited(isAwaited: boolean): void {
    this.isAwaited = isAwaited;
  }
  async end(): Promise<void> {
    this.die("A worker ended with code 1.");
  }
  die(message: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#ended(new Error(message));
  }
}

function valuesOf(order: Order): Report {
  if (order.kind !== "sample") throw new Error("Only places are asked for here.");
  return { kind: "sampled", id: order.id, values: order.latitudes, reasons: new Uint8Array(order.latitudes.length) };
}

const OPENED = { release: RELEASE, contentHash: "a".repeat(64) };
const READY: Report = { kind: "ready", id: 0, atlas: OPENED };

/** A pool of made threads in front of an atlas that answers nothing itself. */
function poolOf(workers: number, firstOf: (index: number) => Report | undefined = () => READY) {
  const threads: MadeThread[] = [];
  let closed = 0;
  const pool = new Pool({
    workers,
    opened: OPENED,
    start: () => {
      const thread = new MadeThread(firstOf(threads.length));
      threads.push(thread);
      return thread;
    },
  });
  const here = { ...OPENED, synthetic: true, close: async () => void (closed += 1) } as Partial<Atlas> as Atlas;
  const numberOf = (_: string, { longitude }: { readonly longitude: number }): number => Math.round(longitude);
  return { threads, atlas: pool.behind(here, { numberOf }), closedCount: () => closed };
}

const living = (threads: readonly MadeThread[]): number => threads.filter(({ isEnded }) => !isEnded).length;

async function sampled(atlas: Atlas): Promise<void> {
  const { values } = await atlas.sample(REQUEST);
  expect([...values]).toEqual([...REQUEST.latitudes]);
}

describe("the pool's workers", () => {
  test("are started when they are first needed, once, and kept", async () => {
    const { threads, atlas } = poolOf(3);
    expect(threads).toHaveLength(0);
    await Promise.all([sampled(atlas), sampled(atlas)]);
    await sampled(atlas);
    expect(threads).toHaveLength(3);
    expect(threads.every(({ orders }) => orders.length > 0)).toBe(true);
  });

  test("are waited for while they start and while they work, and no longer", async () => {
    const { threads, atlas } = poolOf(2);
    const asked = atlas.sample(REQUEST);
    await Promise.resolve();
    expect(threads.map(({ isAwaited }) => isAwaited)).toEqual([true, true]);
    await asked;
    expect(threads.map(({ isAwaited }) => isAwaited)).toEqual([false, false]);
  });

  test("that find another release than the caller's are refused and ended: no answer mixes two", async () => {
    const found = "20260202-bbbb";
    const { threads, atlas } = poolOf(3, (i) =>
      i === 1 ? { ...READY, atlas: { release: found, contentHash: "b".repeat(64) } } : READY,
    );
    await expect(atlas.sample(REQUEST)).rejects.toMatchObject({
      name: "Fault",
      code: "atlas_unavailable",
      message: expect.stringMatching(/replaced.*20260101-aaaa.*20260202-bbbb.*opened again/) as string,
    });
    expect([threads.length, living(threads)]).toEqual([3, 0]);
  });

  test("that find other content under the caller's release name are refused and ended", async () => {
    const replaced: Report = { ...READY, atlas: { ...OPENED, contentHash: "b".repeat(64) } };
    const { threads, atlas } = poolOf(2, (i) => (i === 1 ? replaced : READY));
    await expect(atlas.sample(REQUEST)).rejects.toMatchObject({
      code: "atlas_unavailable",
      message: expect.stringMatching(/replaced.*the same name and other content/) as string,
    });
    expect([threads.length, living(threads)]).toEqual([2, 0]);
  });

  test("that cannot start are all ended, and the next call tries again", async () => {
    const failed: Report = { kind: "failed", id: 0, message: "no memory" };
    const { threads, atlas } = poolOf(2, (i) => (i === 1 ? failed : READY));
    await expect(atlas.sample(REQUEST)).rejects.toThrow("no memory");
    expect([threads.length, living(threads)]).toEqual([2, 0]);
    await sampled(atlas);
    expect([threads.length, living(threads)]).toEqual([4, 2]);
  });

  test("that die fail the call, and are replaced by the next; the others are kept, none is left behind", async () => {
    const { threads, atlas } = poolOf(3);
    await sampled(atlas);
    const [, second] = threads as [MadeThread, MadeThread, MadeThread];
    second.answer = () => undefined;
    const asked = atlas.sample(REQUEST);
    setTimeout(() => second.die("out of memory"), 20);
    await expect(asked).rejects.toThrow("out of memory");
    await Promise.all([sampled(atlas), sampled(atlas)]);
    expect([threads.length, living(threads)]).toEqual([4, 3]);
    await atlas.close();
    expect(living(threads)).toBe(0);
  });

  test("own the same places after one of them was replaced", async () => {
    const { threads, atlas } = poolOf(3);
    const placesOf = (thread: MadeThread | undefined): readonly number[] =>
      (thread?.orders ?? []).flatMap((order) => (order.kind === "sample" ? [...order.longitudes] : []));
    await sampled(atlas);
    const before = threads.map(placesOf);
    for (const thread of threads) thread.orders.length = 0;
    threads[0]?.die("gone");
    await sampled(atlas);
    expect([placesOf(threads[3]), placesOf(threads[1]), placesOf(threads[2])]).toEqual(before);
  });

  test("end with the atlas, also those that were just starting, and none is started after", async () => {
    const { threads, atlas, closedCount } = poolOf(2);
    const asked = atlas.sample(REQUEST);
    await atlas.close();
    await asked.catch(() => undefined);
    expect([living(threads), closedCount()]).toEqual([0, 1]);
    await expect(atlas.sample(REQUEST)).rejects.toMatchObject({ code: "atlas_unavailable" });
    expect(threads.length).toBeLessThanOrEqual(2);
  });
});
