import { FetchListeners } from "../atlas/tileUse.ts";
import type { WorkerThread } from "../concurrency/threadCalls.ts";
import { Fault } from "../errors.ts";
import { atlasClosedFault } from "../hazard/answer.ts";
import type { AtlasIdentity } from "./messages.ts";
import { PoolWorker, type TaskOptions } from "./poolWorker.ts";
import type { TaskKind } from "./taskKinds.ts";

/** Runs tasks in worker threads. */
export interface TaskExecutor {
  readonly workerCount: number;
  /** Number of worker threads that have ended unexpectedly. */
  readonly deathCount: number;
  /**
   * Runs a task in time slices, which the tenants share fairly. If its worker ends while another task is running, the task is
   * restarted on a new worker, unless its payload was moved.
   *
   * @param options.worker index of the worker; by default the worker with the fewest tasks
   * @throws the error of the handler; WorkerDeathError if the thread ends unexpectedly during the task; Fault
   *   `atlas_unavailable` if the executor was ended; the abort reason of the signal
   */
  run<Payload, Result>(
    kind: TaskKind<Payload, Result>,
    payload: Payload,
    options: TaskOptions & { readonly worker?: number | undefined },
  ): Promise<Result>;
}

export interface ExecutorOptions {
  readonly workers: number;
  /** The atlas of the calling thread; workers that have opened another atlas are rejected. */
  readonly opened: AtlasIdentity;
  readonly start: () => WorkerThread;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/**
 * Runs all bulk work in worker threads. Each worker has a separate atlas, kernel and cache; nothing is shared or locked.
 * Workers start with the first task, and are replaced when they end unexpectedly.
 */
export class Executor implements TaskExecutor {
  readonly workerCount: number;
  /** Notified of every fetch of tiles by a worker. */
  readonly fetches = new FetchListeners();
  readonly #start: () => WorkerThread;
  readonly #opened: AtlasIdentity;
  readonly #nowMs: () => number;
  /** The workers that were started last; never rejects. */
  #workers: Promise<readonly PoolWorker[]> = Promise.resolve([]);
  /** The workers of the last successful start. */
  #startedWorkers: readonly PoolWorker[] = [];
  #isClosed = false;
  #deathCount = 0;

  constructor({ workers, opened, start, nowMs = () => performance.now() }: ExecutorOptions) {
    this.workerCount = workers;
    this.#opened = opened;
    this.#start = start;
    this.#nowMs = nowMs;
  }

  get deathCount(): number {
    return this.#deathCount;
  }

  /** Size of the decoded tiles in memory of all workers. */
  get cachedBytes(): number {
    return this.#startedWorkers.reduce((sum, { cachedBytes }) => sum + cachedBytes, 0);
  }

  /**
   * Starts the workers that are not running.
   * @throws Fault or Error if a worker cannot be started
   */
  async start(): Promise<void> {
    await this.#runningWorkers();
  }

  async run<Payload, Result>(
    kind: TaskKind<Payload, Result>,
    payload: Payload,
    options: TaskOptions & { readonly worker?: number | undefined },
  ): Promise<Result> {
    const { worker: index, ...task } = options;
    for (;;) {
      const workers = await this.#runningWorkers();
      const worker = index === undefined ? leastLoaded(workers) : workers[index];
      if (worker === undefined) throw new RangeError(`worker must be below ${this.workerCount} (got ${index}).`);
      const result = await worker.run({ ...task, kind: kind.name, payload });
      if (result !== undefined) return result.value as Result;
    }
  }

  /** Ends the threads. Their tasks fail. */
  async end(): Promise<void> {
    this.#isClosed = true;
    await Promise.all((await this.#workers).map((worker) => worker.end()));
  }

  /** Returns the workers after starting those that are not running. Concurrent calls start them once. */
  #runningWorkers(): Promise<readonly PoolWorker[]> {
    const previous = this.#workers;
    const workers = previous.then((known) => this.#startMissing(known));
    // After a failed start, the previous workers remain and the next call tries again.
    this.#workers = workers.catch(() => previous);
    return workers;
  }

  /** Replaces workers that have ended. Workers that are alive keep their index, and therefore their share of the locations. */
  async #startMissing(known: readonly PoolWorker[]): Promise<readonly PoolWorker[]> {
    if (this.#isClosed) throw atlasClosedFault();
    const started: PoolWorker[] = [];
    try {
      const workers = Array.from({ length: this.workerCount }, (_, i) => {
        const current = known[i];
        if (current?.isAlive === true) return current;
        const worker = new PoolWorker(this.#start(), {
          nowMs: this.#nowMs,
          onDeath: () => this.#deathCount++,
          onFetch: (durationMs) => this.fetches.notify(durationMs),
        });
        started.push(worker);
        return worker;
      });
      await Promise.all(started.map(async (worker) => this.#checkIdentity(await worker.opened)));
      this.#startedWorkers = workers;
      return workers;
    } catch (error) {
      await Promise.all(started.map((worker) => worker.end()));
      throw error;
    }
  }

  /**
   * Checks that a worker has opened the same atlas as the caller, which may have opened it much earlier.
   * @throws Fault `atlas_unavailable` if the atlas was replaced
   */
  #checkIdentity(found: AtlasIdentity): void {
    const { release, contentHash } = this.#opened;
    if (found.contentHash === contentHash) return;
    const current = found.release === release ? "has the same name but different content" : `is ${found.release}`;
    throw new Fault(
      "atlas_unavailable",
      `The atlas was replaced while it was open: its release was ${release}, and the current one ${current}. Open it again.`,
      { details: { release, found: found.release } },
    );
  }
}

function leastLoaded(workers: readonly PoolWorker[]): PoolWorker | undefined {
  let leastLoadedWorker = workers[0];
  for (const worker of workers) if (worker.load < (leastLoadedWorker?.load ?? 0)) leastLoadedWorker = worker;
  return leastLoadedWorker;
}
