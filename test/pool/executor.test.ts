/** Life cycle and scheduling of the workers, with fake threads and with workers on the calling thread. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { eventually } from "../eventually.ts";
import { Fault } from "../../src/errors.ts";
import type { LocalAtlas } from "../../src/hazard/answer.ts";
import { Executor } from "../../src/pool/executor.ts";
import type { CallMessage, ReplyMessage, WorkerThread } from "../../src/concurrency/threadCalls.ts";
import type { PoolCalls } from "../../src/pool/messages.ts";
import { PooledAtlas } from "../../src/pool/pooledAtlas.ts";
import { handle, type TaskContext, type TaskHandlers, type TaskKind } from "../../src/pool/taskKinds.ts";
import { packError } from "../../src/concurrency/errorTransfer.ts";
import { handlersOf, InProcessThread } from "./inProcessThread.ts";

const OPENED = { release: "20260101-aaaa", contentHash: "a".repeat(64) };
const READY: ReplyMessage = { id: 0, result: OPENED };
type WorkerRequest = Exclude<CallMessage, { readonly canceledId: number }>;

describe("the workers of an atlas", () => {
  const COUNT = 5000;
  const REQUEST = {
    hazard: "riverine_floods",
    layers: [{ scenario: "baseline", analysisYear: 1980, metric: "depth_meters" }],
    latitudes: Float64Array.from({ length: COUNT }, (_, i) => (i % 180) - 89),
    longitudes: Float64Array.from({ length: COUNT }, (_, i) => (i % 360) - 179),
  } as const;

  /** A thread that returns the latitude as the value of each location. */
  class FakeThread implements WorkerThread {
    readonly requests: WorkerRequest[] = [];
    isEnded = false;
    isReferenced = false;
    /** Returns the reply to a request; undefined for no reply. */
    reply: (request: WorkerRequest) => ReplyMessage | undefined = replyWithLatitudes;
    #onMessage: (message: ReplyMessage) => void = () => undefined;
    #onEnd: (error: Error) => void = () => undefined;

    constructor(firstMessage: ReplyMessage | undefined) {
      queueMicrotask(() => {
        if (firstMessage !== undefined) this.#onMessage(firstMessage);
      });
    }

    send(request: CallMessage): void {
      if ("canceledId" in request) return;
      this.requests.push(request);
      setImmediate(() => {
        if (this.isEnded) return;
        const message = this.reply(request);
        if (message !== undefined) this.#onMessage(message);
      });
    }
    onMessage(listener: (message: ReplyMessage) => void): void {
      this.#onMessage = listener;
    }
    onEnd(listener: (error: Error) => void): void {
      this.#onEnd = listener;
    }
    setReferenced(isReferenced: boolean): void {
      this.isReferenced = isReferenced;
    }
    async end(): Promise<void> {
      this.die("A worker ended with code 1.");
    }
    die(message: string): void {
      if (this.isEnded) return;
      this.isEnded = true;
      this.#onEnd(new Error(message));
    }
  }

  interface Locations {
    readonly latitudes: Float64Array;
    readonly longitudes: Float64Array;
  }
  const locationsOf = (request: WorkerRequest): Locations =>
    (request.name === "begin" ? (request.argument as PoolCalls["begin"]).payload : undefined) as Locations;

  function replyWithLatitudes(request: WorkerRequest): ReplyMessage {
    const { latitudes: values } = locationsOf(request);
    return { id: request.id, result: { type: "done", result: { values, reasons: new Uint8Array(values.length) } } };
  }

  /** Opens an atlas with fake threads. */
  function atlasOf(workers: number, firstMessageOf: (index: number) => ReplyMessage | undefined = () => READY) {
    const threads: FakeThread[] = [];
    let closedCount = 0;
    const executor = new Executor({
      workers,
      opened: OPENED,
      start: () => {
        const thread = new FakeThread(firstMessageOf(threads.length));
        threads.push(thread);
        return thread;
      },
    });
    const local = {
      ...OPENED,
      tileUse: { origin: "demo", cachedBytes: 0, onFetch: () => () => undefined },
      neighborhoodOf: (_, { lonDeg }) => Math.round(lonDeg),
      close: async () => void (closedCount += 1),
    } satisfies Partial<LocalAtlas> as Partial<LocalAtlas> as LocalAtlas;
    return { threads, executor, atlas: new PooledAtlas(local, executor), closedCount: () => closedCount };
  }

  const runningCount = (threads: readonly FakeThread[]): number => threads.filter(({ isEnded }) => !isEnded).length;

  async function checkSample(atlas: PooledAtlas): Promise<void> {
    const { values } = await atlas.sample(REQUEST);
    expect([...values]).toEqual([...REQUEST.latitudes]);
  }

  test("start once, with the first call", async () => {
    const { threads, atlas } = atlasOf(3);
    expect(threads).toHaveLength(0);
    await Promise.all([checkSample(atlas), checkSample(atlas)]);
    await checkSample(atlas);
    expect(threads).toHaveLength(3);
    expect(threads.every(({ requests }) => requests.length > 0)).toBe(true);
  });

  test("keep the process running only while they start or work", async () => {
    const { threads, atlas } = atlasOf(2);
    const pending = atlas.sample(REQUEST);
    await Promise.resolve();
    expect(threads.map(({ isReferenced }) => isReferenced)).toEqual([true, true]);
    await pending;
    expect(threads.map(({ isReferenced }) => isReferenced)).toEqual([false, false]);
  });

  test.each([
    [
      "another release",
      { release: "20260202-bbbb", contentHash: "b".repeat(64) },
      /replaced.*20260101-aaaa.*20260202-bbbb/,
    ],
    ["other content", { ...OPENED, contentHash: "b".repeat(64) }, /replaced.*the same name but different content/],
  ])("are rejected and ended if they open an atlas with %s", async (_, atlas, message) => {
    const { threads, atlas: pooled } = atlasOf(3, (i) => (i === 1 ? { id: 0, result: atlas } : READY));
    await expect(pooled.sample(REQUEST)).rejects.toMatchObject({
      name: "Fault",
      code: "atlas_unavailable",
      message: expect.stringMatching(message) as string,
    });
    expect([threads.length, runningCount(threads)]).toEqual([3, 0]);
  });

  test("are all ended if one cannot start, and the next call tries again", async () => {
    const failed: ReplyMessage = { id: 0, error: packError(new Error("no memory")) };
    const { threads, atlas } = atlasOf(2, (i) => (i === 1 ? failed : READY));
    await expect(atlas.sample(REQUEST)).rejects.toThrow("no memory");
    expect([threads.length, runningCount(threads)]).toEqual([2, 0]);
    await checkSample(atlas);
    expect([threads.length, runningCount(threads)]).toEqual([4, 2]);
  });

  test("are replaced after they end unexpectedly, while the others are kept", async () => {
    const { threads, executor, atlas } = atlasOf(3);
    await checkSample(atlas);
    const [, second] = threads as [FakeThread, FakeThread, FakeThread];
    second.reply = () => undefined;
    const pending = atlas.sample(REQUEST);
    setTimeout(() => second.die("out of memory"), 20);
    await expect(pending).rejects.toThrow("out of memory");
    await Promise.all([checkSample(atlas), checkSample(atlas)]);
    expect([threads.length, runningCount(threads), executor.deathCount]).toEqual([4, 3, 1]);
    await atlas.close();
    expect([runningCount(threads), executor.deathCount]).toEqual([0, 1]);
  });

  test("are responsible for the same locations after one was replaced", async () => {
    const { threads, atlas } = atlasOf(3);
    const longitudesOf = (thread: FakeThread | undefined): readonly number[] =>
      (thread?.requests ?? []).flatMap((request) => [...(locationsOf(request)?.longitudes ?? [])]);
    await checkSample(atlas);
    const before = threads.map(longitudesOf);
    for (const thread of threads) thread.requests.length = 0;
    threads[0]?.die("gone");
    await checkSample(atlas);
    expect([longitudesOf(threads[3]), longitudesOf(threads[1]), longitudesOf(threads[2])]).toEqual(before);
  });

  test("end with the atlas, even while they start, and are not started again", async () => {
    const { threads, atlas, closedCount } = atlasOf(2);
    const pending = atlas.sample(REQUEST);
    await atlas.close();
    await pending.catch(() => undefined);
    expect([runningCount(threads), closedCount()]).toEqual([0, 1]);
    await expect(atlas.sample(REQUEST)).rejects.toMatchObject({ code: "atlas_unavailable" });
    expect(threads.length).toBeLessThanOrEqual(2);
  });
});

/** Runs a number of steps and yields after each. */
const COUNT_TO: TaskKind<{ readonly name: string; readonly steps: number; readonly bytes?: Uint8Array }, string> = {
  name: "countTo",
};
const FAIL: TaskKind<undefined, never> = { name: "fail" };
const UNCLONEABLE: TaskKind<undefined, unknown> = { name: "uncloneable" };

describe("the executor", () => {
  /** Returns an executor that suspends tasks at every step, and the steps in the order in which they ran. */
  function executorOf({
    workers = 1,
    onStep,
  }: { workers?: number; onStep?: (name: string, thread: InProcessThread) => unknown } = {}) {
    const steps: string[] = [];
    const aborted: string[] = [];
    const threads: InProcessThread[] = [];
    let clockMs = 0;
    const executor = new Executor({
      workers,
      opened: OPENED,
      nowMs: () => (clockMs += 10), // all slices take the same time
      start: () => {
        const handlers: TaskHandlers = new Map([
          handle(COUNT_TO, async ({ name, steps: stepCount }, context: TaskContext) => {
            context.signal.addEventListener("abort", () => aborted.push(name));
            for (let i = 1; i <= stepCount; i++) {
              steps.push(name);
              await onStep?.(name, thread);
              context.reportProgress({ doneCount: i, totalCount: stepCount, partialResultBytes: 10 * i });
              if (i < stepCount) await context.timeSlice.yield();
            }
            return { result: `${name}${stepCount}` };
          }),
          handle(FAIL, () => Promise.reject(new Fault("invalid_request", "wrong", { details: { at: 1 } }))),
          handle(UNCLONEABLE, async () => ({ result: () => undefined })),
        ]);
        const thread: InProcessThread = new InProcessThread({
          atlas: OPENED,
          findHandler: handlersOf(handlers),
          sliceMs: 0,
          readWaitMs: 60_000,
        });
        threads.push(thread);
        return thread;
      },
    });
    const count = (name: string, stepCount: number, more: { tenant?: string; signal?: AbortSignal } = {}) =>
      executor.run(COUNT_TO, { name, steps: stepCount }, { tenant: name, ...more });
    return { executor, threads, steps, aborted, count };
  }

  test("completes a task of one slice with one request", async () => {
    const { count, threads } = executorOf();
    expect(await count("a", 1)).toBe("a1");
    expect(threads[0]?.requests.map(({ type }) => type)).toEqual(["begin"]);
  });

  test("continues a task slice by slice, and reports its progress after each", async () => {
    const { executor } = executorOf();
    const reports: unknown[] = [];
    const result = await executor.run(
      COUNT_TO,
      { name: "a", steps: 4 },
      { tenant: "a", onSlice: ({ progress }) => reports.push(progress) },
    );
    expect(result).toBe("a4");
    expect(reports).toEqual([
      { doneCount: 1, totalCount: 4, partialResultBytes: 10 },
      { doneCount: 2, totalCount: 4, partialResultBytes: 20 },
      { doneCount: 3, totalCount: 4, partialResultBytes: 30 },
      undefined,
    ]);
  });

  test("alternates between tenants, and between the tasks of one tenant", async () => {
    const { count, steps } = executorOf();
    const tasks = [
      count("a", 20, { tenant: "first" }),
      count("b", 20, { tenant: "first" }),
      count("c", 20, { tenant: "first" }),
      count("x", 10, { tenant: "second" }),
    ];
    await Promise.all(tasks);
    const order = steps.join("");
    // Each of two tenants has half of the slices while both have tasks; two slices are granted ahead.
    const shared = order.slice(0, order.lastIndexOf("x") + 1);
    expect(shared.replaceAll("x", "").length).toBeLessThanOrEqual(10 + 2);
    for (const name of ["a", "b", "c"]) expect(shared.split(name).length - 1).toBeGreaterThanOrEqual(2);
  });

  test("grants a canceled task no further slice, and rejects immediately with the signal's reason", async () => {
    const stop = new AbortController();
    const { count, steps, aborted } = executorOf({
      onStep: () => {
        if (steps.length === 5) stop.abort(new Error("canceled"));
      },
    });
    await expect(count("a", 100, { signal: stop.signal })).rejects.toThrow("canceled");
    expect(await count("b", 3)).toBe("b3");
    expect(steps.filter((name) => name === "a").length).toBeLessThanOrEqual(5 + 2);
    expect(aborted).toEqual(["a"]);
    await expect(count("a", 1, { signal: stop.signal })).rejects.toThrow("canceled");
  });

  test("never starts a task that is canceled while it waits", async () => {
    const stop = new AbortController();
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { count, steps, threads } = executorOf({ onStep: () => gate });
    const others = [count("a", 10), count("b", 10)];
    await eventually(() => expect(threads[0]?.requests).toHaveLength(2));
    const waiting = count("c", 1, { signal: stop.signal });
    await nextTurn(); // it is in the queue now, because both slices that can be granted ahead are taken
    stop.abort(new Error("canceled"));
    await expect(waiting).rejects.toThrow("canceled");
    release();
    await Promise.all(others);
    expect(steps).not.toContain("c");
    expect(threads[0]?.requests.filter(({ type }) => type === "cancel")).toEqual([]);
  });

  test("returns errors of handlers with their class, and keeps running", async () => {
    const { executor, count } = executorOf();
    const failed = await executor.run(FAIL, undefined, { tenant: "a" }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(Fault);
    expect(failed).toMatchObject({ code: "invalid_request", message: "wrong", details: { at: 1 } });
    await expect(executor.run(UNCLONEABLE, undefined, { tenant: "a" })).rejects.toThrow("could not be cloned");
    await expect(executor.run({ name: "none" }, undefined, { tenant: "a" })).rejects.toThrow("Unknown kind of task");
    expect(await count("a", 2)).toBe("a2");
  });

  test("rejects a payload that cannot be sent, and keeps running", async () => {
    const { executor, count } = executorOf();
    const payload = { name: (() => "a") as unknown as string, steps: 1 };
    await expect(executor.run(COUNT_TO, payload, { tenant: "a" })).rejects.toMatchObject({ name: "DataCloneError" });
    expect(await count("a", 2)).toBe("a2");
  });

  test("rejects the index of a worker that does not exist", async () => {
    const { executor } = executorOf({ workers: 2 });
    const options = { tenant: "a", worker: 2 };
    await expect(executor.run(COUNT_TO, { name: "a", steps: 1 }, options)).rejects.toThrow("below 2 (got 2)");
  });

  test("assigns a task without a worker to the worker with the fewest tasks", async () => {
    const { count, threads } = executorOf({ workers: 3 });
    await Promise.all(["a", "b", "c", "d", "e", "f"].map((name) => count(name, 5)));
    const beginCounts = threads.map(({ requests }) => requests.filter(({ type }) => type === "begin").length);
    expect(beginCounts).toEqual([2, 2, 2]);
  });

  test("fails the task during which a worker ended, and restarts the other tasks from their payloads", async () => {
    const { executor, count, threads, steps } = executorOf({
      onStep: (name, thread) => {
        if (name !== "deadly" || steps.filter((each) => each === "deadly").length < 3) return undefined;
        thread.die("out of memory");
        return new Promise(() => undefined);
      },
    });
    const transferred = new Uint8Array(8);
    const transferredTask = executor.run(
      COUNT_TO,
      { name: "transferred", steps: 10, bytes: transferred },
      { tenant: "transferred", transfer: [transferred.buffer] },
    );
    const others = [count("a", 10), count("b", 10)];
    await Promise.all([
      expect(count("deadly", 10)).rejects.toThrow("out of memory"),
      // The payload of this task was transferred to the worker and lost with it.
      expect(transferredTask).rejects.toThrow("out of memory"),
    ]);
    expect(await Promise.all(others)).toEqual(["a10", "b10"]);
    expect([threads.length, executor.deathCount]).toEqual([2, 1]);
    expect(steps.filter((name) => name === "a").length).toBeGreaterThan(10);
  });

  test("rejects waiting tasks when it is closed", async () => {
    let reach = (): void => undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const { executor, count, steps } = executorOf({
      onStep: () => {
        if (steps.length === 5) reach();
      },
    });
    const tasks = [count("a", 1000), count("b", 1000)].map((task) => task.catch((error: unknown) => error));
    await reached;
    await executor.end();
    for (const error of await Promise.all(tasks)) expect(error).toMatchObject({ code: "atlas_unavailable" });
    await nextTurn();
    await expect(count("c", 1)).rejects.toMatchObject({ code: "atlas_unavailable" });
  });
});
