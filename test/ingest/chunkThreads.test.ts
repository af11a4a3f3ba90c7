import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Fault } from "../../src/errors.ts";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import type { GroupRows, ChunkKey } from "../../src/ingest/chunkComputer.ts";
import { startChunkRunner } from "../../src/ingest/chunkThreads.ts";
import type { HazardPlan } from "../../src/ingest/plan.ts";
import type { Raster } from "../../src/ingest/raster.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { packError } from "../../src/concurrency/errorTransfer.ts";
import type { CallMessage, ReplyMessage, WorkerThread } from "../../src/concurrency/threadCalls.ts";

/** A thread whose answers the test sends. */
class FakeThread implements WorkerThread {
  readonly requests: { readonly id: number; readonly argument: unknown }[] = [];
  isEnded = false;
  isReferenced = false;
  answer: (message: ReplyMessage) => void = () => undefined;
  die: (error: Error) => void = () => undefined;

  send(message: CallMessage): void {
    if ("id" in message) this.requests.push(message);
  }
  onMessage(listener: (message: ReplyMessage) => void): void {
    this.answer = listener;
    listener({ id: 0, result: undefined });
  }
  onEnd(listener: (error: Error) => void): void {
    this.die = listener;
  }
  setReferenced(isReferenced: boolean): void {
    this.isReferenced = isReferenced;
  }
  end(): Promise<void> {
    this.isEnded = true;
    return Promise.resolve();
  }
}

const raster = { spec: { kind: "file", file: "a.tif", options: {} }, file: "a.tif" } as unknown as Raster;
const plan: HazardPlan = {
  hazard: "riverine_floods",
  rules: HAZARDS.riverine_floods.rules,
  groups: [
    {
      scenario: "baseline",
      year: 1980,
      content: { kind: "metrics", metrics: { depth_meters: { raster, band: 1, unitFactor: 1, saturate: false } } },
      provenance: {},
    },
  ],
};
const window = { firstRow: 0, rowCount: 64, firstColumn: 0, columnCount: 64 };
const grid = { ...window, northDeg: 1, westDeg: 0, cellSizeLatDeg: 0.01, cellSizeLonDeg: 0.01 };
const TARGET = { plan, window, grid, offset: { row: 0, column: 0 } };
const key = (firstRow: number): ChunkKey => ({ group: 0, window: { ...window, firstRow } });
const rowsOf = (step: number): GroupRows => ({ steps: Uint16Array.of(step), counts: [], worst: {} });

async function start(threadCount: number, signal?: AbortSignal) {
  const threads: FakeThread[] = [];
  const setups: unknown[] = [];
  const runner = startChunkRunner(await Kernel.load(), TARGET, {
    options: { threads: threadCount, ...(signal === undefined ? {} : { signal }) },
    startThread(setup) {
      setups.push(structuredClone(setup));
      const thread = new FakeThread();
      threads.push(thread);
      return thread;
    },
  });
  return { runner, threads, setups };
}

describe("chunk threads", () => {
  test("send each thread one chunk at a time, in the order of the requests", async () => {
    const { runner, threads, setups } = await start(2);
    expect(setups).toHaveLength(2);
    expect(setups[0]).toMatchObject({ plan: { specs: [{ file: "a.tif" }] } });
    const [first, second] = threads as [FakeThread, FakeThread];
    const results = [0, 64, 128].map((firstRow) => runner.compute(key(firstRow)));
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
    // The second thread is faster; the third chunk goes to it.
    second.answer({ id: second.requests[0]?.id ?? NaN, result: rowsOf(2) });
    await nextTurn();
    expect(second.requests.map(({ argument }) => (argument as ChunkKey).window.firstRow)).toEqual([64, 128]);
    expect([first.isReferenced, second.isReferenced]).toEqual([true, true]);
    second.answer({ id: second.requests[1]?.id ?? NaN, result: rowsOf(3) });
    first.answer({ id: first.requests[0]?.id ?? NaN, result: rowsOf(1) });
    expect((await Promise.all(results)).map(({ steps }) => steps[0])).toEqual([1, 2, 3]);
    // Idle threads do not keep the process running.
    expect([first.isReferenced, second.isReferenced]).toEqual([false, false]);
    await runner.close();
    expect(threads.every(({ isEnded }) => isEnded)).toBe(true);
  });

  test("restore the faults of a thread, which then continues", async () => {
    const { runner, threads } = await start(1);
    const [thread] = threads as [FakeThread];
    const failed = runner.compute(key(0));
    const next = runner.compute(key(64));
    thread.answer({ id: 1, error: packError(new Fault("source_invalid", "a.tif: row 3 is bad")) });
    await expect(failed).rejects.toThrow(Fault);
    await expect(failed).rejects.toThrow("row 3 is bad");
    thread.answer({ id: 2, result: rowsOf(7) });
    expect((await next).steps[0]).toBe(7);
    await runner.close();
  });

  test("reject all chunks if a thread dies", async () => {
    const { runner, threads } = await start(2);
    const chunks = [0, 64, 128].map((firstRow) => runner.compute(key(firstRow)));
    threads[1]?.die(new Error("out of memory"));
    for (const chunk of chunks) await expect(chunk).rejects.toThrow("out of memory");
    await expect(runner.compute(key(192))).rejects.toThrow("out of memory");
    await runner.close();
  });

  test("reject all chunks with the reason of the signal", async () => {
    const stopping = new AbortController();
    const { runner } = await start(1, stopping.signal);
    const chunks = [0, 64].map((firstRow) => runner.compute(key(firstRow)));
    const reason = new Error("enough");
    stopping.abort(reason);
    for (const chunk of chunks) await expect(chunk).rejects.toBe(reason);
    await runner.close();
  });

  test("are not started for a small map unless they are requested", async () => {
    const runner = startChunkRunner(await Kernel.load(), TARGET, {
      options: {},
      startThread() {
        throw new Error("A thread was started.");
      },
    });
    expect(runner.concurrency).toBe(1);
    await runner.close();
  });
});
