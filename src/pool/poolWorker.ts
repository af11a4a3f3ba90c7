import { WorkerDeathError } from "./workerDeath.ts";
import { isFault } from "../errors.ts";
import { atlasClosedFault } from "../hazard/answer.ts";
import { FairQueue } from "../concurrency/fairQueue.ts";
import { ThreadCalls, type WorkerThread } from "../concurrency/threadCalls.ts";
import { onAbort } from "./abortCallbacks.ts";
import type { AtlasIdentity, FetchedEvent, PoolCalls, SliceEnd, TaskProgress } from "./messages.ts";

/** Options for running a task. */
export interface TaskOptions {
  /** Tenants share the workers fairly. */
  readonly tenant: string;
  /** Buffers in the payload that are moved to the worker instead of copied. Such a task cannot be restarted. */
  readonly transfer?: readonly ArrayBuffer[];
  /** Cancels the task: no further slice is granted. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each time slice. */
  readonly onSlice?: (slice: SliceReport) => void;
}

/** A time slice that a worker has completed. */
export interface SliceReport {
  /** Time for which the worker was busy. */
  readonly busyMs: number;
  readonly progress: TaskProgress | undefined;
}

/** A task for one worker. */
export interface WorkerTask extends TaskOptions {
  readonly kind: string;
  readonly payload: unknown;
}

interface PendingTask extends WorkerTask {
  readonly id: number;
  hasBegun: boolean;
  /** Whether the task did not complete in its first slice. */
  isLong: boolean;
  isQueued: boolean;
  /** Time for which the worker was busy with it. */
  busyMs: number;
  isWaiting: boolean;
  /** @param result undefined if the thread ended and another thread can run the task */
  resolve(result: { readonly value: unknown } | undefined): void;
  reject(error: unknown): void;
}

/** Maximum number of granted slices: one is running, and the next starts without waiting for a message. */
const GRANTED_SLICE_COUNT_MAX = 2;
/** Tasks of a tenant that take longer are completed one after the other. */
const SHORT_TASK_MS = 100;
/** Assumed cost of a slice until it is measured. */
const SLICE_COST_MS = 5;

/** A worker thread with its queue of tasks, which share it in time slices. */
export class PoolWorker {
  /** Resolves with the atlas that the worker has opened. */
  readonly opened: Promise<AtlasIdentity>;
  /** Size of the worker's decoded tiles, as last reported. */
  cachedBytes = 0;
  readonly #calls: ThreadCalls;
  readonly #nowMs: () => number;
  /** Tasks that have not completed, failed or been canceled. */
  readonly #tasks = new Map<number, PendingTask>();
  readonly #queue = new FairQueue<PendingTask>();
  /** The task of each granted slice, in the order in which the thread runs them. */
  readonly #granted: PendingTask[] = [];
  #lastId = 0;
  /** Start of the running slice. */
  #busySinceMs = 0;

  /**
   * @param options.onDeath called when the thread ends without `end`
   * @param options.onFetch called with the duration of each fetch of tiles
   */
  constructor(
    thread: WorkerThread,
    options: { readonly nowMs: () => number; onDeath(): void; onFetch(durationMs: number): void },
  ) {
    this.#nowMs = options.nowMs;
    this.#calls = new ThreadCalls(thread, {
      onEvent: ({ cachedBytes, durationsMs }: FetchedEvent) => {
        this.cachedBytes = cachedBytes;
        for (const durationMs of durationsMs) options.onFetch(durationMs);
      },
      onFailure: (error) => {
        this.cachedBytes = 0;
        const reason = asDeath(error);
        if (reason !== error) options.onDeath();
        this.#abandonTasks(reason);
      },
    });
    this.opened = this.#calls.started.then(
      (atlas) => atlas as AtlasIdentity,
      (error: unknown) => {
        throw error === this.#calls.failure ? asDeath(error as Error) : error;
      },
    );
    this.opened.catch(() => undefined); // not awaited if another worker fails to start
  }

  get isAlive(): boolean {
    return this.#calls.failure === undefined;
  }

  /** Number of tasks that have not ended. */
  get load(): number {
    return this.#tasks.size;
  }

  /**
   * Runs a task to its end.
   *
   * @returns undefined if the thread ended and another thread can run the task
   * @throws the error of the handler; WorkerDeathError if the thread ends unexpectedly during the task; Fault
   *   `atlas_unavailable` if `end` was called; the abort reason of the signal
   */
  async run(task: WorkerTask): Promise<{ readonly value: unknown } | undefined> {
    const { signal } = task;
    signal?.throwIfAborted();
    if (!this.isAlive) return undefined;
    const id = ++this.#lastId;
    const cancel = (): void => this.#cancel(id, signal?.reason);
    const removeCallback = signal === undefined ? undefined : onAbort(signal, cancel);
    try {
      return await new Promise((resolve, reject) => {
        const pending: PendingTask = {
          ...task,
          id,
          hasBegun: false,
          isLong: false,
          isQueued: false,
          busyMs: 0,
          isWaiting: false,
          resolve,
          reject,
        };
        this.#tasks.set(id, pending);
        this.#enqueue(pending);
        this.#grantSlices();
      });
    } finally {
      this.#tasks.delete(id);
      removeCallback?.();
    }
  }

  end(): Promise<void> {
    return this.#calls.end(atlasClosedFault());
  }

  #enqueue(task: PendingTask): void {
    if (task.isQueued) return;
    task.isQueued = true;
    // A task that waits may wait for tiles that a later task reads, so it must not hold that task up.
    if (task.isWaiting || task.busyMs < SHORT_TASK_MS) this.#queue.add(task.tenant, task);
    else this.#queue.addLong(task.tenant, task, task.id);
  }

  #grantSlices(): void {
    while (this.#granted.length < GRANTED_SLICE_COUNT_MAX) {
      const task = this.#queue.take();
      if (task === undefined) break;
      task.isQueued = false;
      if (!this.#tasks.has(task.id)) continue;
      this.#queue.charge(task.tenant, SLICE_COST_MS);
      if (this.#granted.length === 0) this.#busySinceMs = this.#nowMs();
      this.#granted.push(task);
      void this.#runSlice(task);
      if (task.isLong) this.#enqueue(task);
    }
  }

  async #runSlice(task: PendingTask): Promise<void> {
    const { id, kind, payload, transfer, hasBegun } = task;
    task.hasBegun = true;
    const slice = hasBegun
      ? this.#calls.call("resume", { task: id } satisfies PoolCalls["resume"])
      : this.#calls.call("begin", { task: id, kind, payload } satisfies PoolCalls["begin"], { transfer });
    let end: SliceEnd | undefined;
    try {
      end = (await slice) as SliceEnd;
    } catch (error) {
      if (!this.isAlive) return;
      this.#settle(task)?.reject(error);
    }
    this.#endSlice(task, end);
    this.#grantSlices();
  }

  /** @param end undefined if the task has failed */
  #endSlice(task: PendingTask, end: SliceEnd | undefined): void {
    this.#granted.splice(this.#granted.indexOf(task), 1);
    const nowMs = this.#nowMs();
    const busyMs = nowMs - this.#busySinceMs;
    this.#busySinceMs = nowMs;
    this.#queue.charge(task.tenant, busyMs - SLICE_COST_MS);
    task.busyMs += busyMs;
    const isWanted = this.#tasks.has(task.id);
    if (isWanted) task.onSlice?.({ busyMs, progress: end?.type === "paused" ? end.progress : undefined });
    if (end?.type === "paused") {
      task.isLong = true;
      task.isWaiting = end.isWaiting === true;
      if (isWanted) this.#enqueue(task);
    } else if (end?.type === "done") this.#settle(task)?.resolve({ value: end.result });
    else this.#settle(task);
  }

  /** Removes a task. Returns it unless it was already settled. */
  #settle(task: PendingTask): PendingTask | undefined {
    return this.#tasks.delete(task.id) ? task : undefined;
  }

  #cancel(id: number, reason: unknown): void {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    this.#tasks.delete(id);
    if (task.hasBegun) this.#calls.call("cancel", { task: id } satisfies PoolCalls["cancel"]).catch(() => undefined);
    task.reject(reason);
  }

  /**
   * Settles all tasks after the thread has ended. The running task, which may be the cause, fails; others are restarted if
   * possible.
   */
  #abandonTasks(error: Error): void {
    const [running] = this.#granted;
    const tasks = [...this.#tasks.values()];
    this.#tasks.clear();
    for (const task of tasks) {
      const isLost = task.hasBegun && task.transfer !== undefined && task.transfer.length > 0;
      if (task === running || isLost) task.reject(error);
      else task.resolve(undefined);
    }
  }
}

/** Returns the reason why the tasks of a thread have failed: it was ended, or ended unexpectedly. */
function asDeath(error: Error): Error {
  return isFault(error, "atlas_unavailable") ? error : new WorkerDeathError(error.message, { cause: error });
}
