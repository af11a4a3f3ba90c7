import type { TileUse } from "../atlas/tileUse.ts";
import { packError } from "../threads/errorTransfer.ts";
import { TimeSlice } from "../threads/timeSlice.ts";
import type { ParentPort } from "../threads/workerThread.ts";
import type { AtlasIdentity, SliceReply, TaskProgress, WorkerMessage, WorkerRequest } from "./messages.ts";
import type { TaskHandler } from "./taskKinds.ts";

export type WorkerPort = ParentPort<WorkerRequest, WorkerMessage>;

export interface TaskRunnerOptions {
  /** The atlas that the worker has opened. */
  readonly atlas: AtlasIdentity & { readonly tileUse: TileUse };
  /** Returns the handler of a kind; rejects unknown kinds. */
  readonly findHandler: (kind: string) => Promise<TaskHandler<never, unknown>>;
  /** Length of a time slice; the default is that of `TimeSlice`. */
  readonly sliceMs?: number | undefined;
}

/** Runs the tasks of a worker thread: one time slice after another, in the order in which they are granted. */
export function runTasks(port: WorkerPort, { atlas, findHandler, sliceMs }: TaskRunnerOptions): void {
  const { release, contentHash, tileUse } = atlas;
  const tasks = new Map<number, Task>();
  let previousSlice: Promise<void> = Promise.resolve();
  let fetchDurationsMs: number[] = [];
  tileUse.onFetch((durationMs) => fetchDurationsMs.push(durationMs));

  port.onRequest((request) => {
    const { id } = request;
    if (request.type === "cancel") {
      tasks.get(id)?.cancel();
      tasks.delete(id);
      return;
    }
    if (request.type === "begin") {
      const { kind, payload } = request;
      tasks.set(id, new Task(id, async () => findHandler(kind), payload, sliceMs));
    }
    previousSlice = previousSlice.then(() => runSlice(id));
  });
  port.send({ type: "ready", atlas: { release, contentHash } });

  async function runSlice(id: number): Promise<void> {
    const { reply, transfer } = (await tasks.get(id)?.runSlice()) ?? { reply: { type: "unused", id } as const };
    if (reply.type !== "paused") tasks.delete(id);
    try {
      port.send(reply, transfer ?? []);
    } catch (error) {
      port.send({ type: "failed", id, error: packError(error) }); // the result cannot be cloned
    }
    if (fetchDurationsMs.length === 0) return;
    port.send({ type: "fetched", cachedBytes: tileUse.cachedBytes, durationsMs: fetchDurationsMs });
    fetchDurationsMs = [];
  }
}

interface SliceOutcome {
  readonly reply: SliceReply;
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

/** A task of a worker: a handler that is suspended between its time slices. */
class Task {
  readonly #id: number;
  readonly #start: () => Promise<void>;
  readonly #abort = new AbortController();
  #resolveSlice: ((outcome: SliceOutcome) => void) | undefined;
  #suspended: { resolve(): void; reject(reason: unknown): void } | undefined;
  #hasBegun = false;
  #progress: TaskProgress | undefined;

  constructor(
    id: number,
    findHandler: () => Promise<TaskHandler<never, unknown>>,
    payload: unknown,
    sliceMs: number | undefined,
  ) {
    this.#id = id;
    this.#start = async () => {
      try {
        const handler = await findHandler();
        const { result, transfer } = await handler(payload as never, {
          timeSlice: new TimeSlice({
            nextSlice: () => this.#suspend(),
            ...(sliceMs === undefined ? {} : { durationMs: sliceMs }),
          }),
          signal: this.#abort.signal,
          reportProgress: (progress) => (this.#progress = progress),
        });
        this.#endSlice({ reply: { type: "done", id, result }, transfer });
      } catch (error) {
        this.#endSlice({ reply: { type: "failed", id, error: packError(error) } });
      }
    };
  }

  /** Starts or continues the handler. Resolves when its time slice has expired or the handler has ended. */
  runSlice(): Promise<SliceOutcome> {
    return new Promise((resolve) => {
      this.#resolveSlice = resolve;
      const suspended = this.#suspended;
      this.#suspended = undefined;
      if (this.#hasBegun) suspended?.resolve();
      else {
        this.#hasBegun = true;
        void this.#start();
      }
    });
  }

  /** Ends the handler when it next checks its signal, or immediately if it is suspended. */
  cancel(): void {
    this.#abort.abort();
    this.#suspended?.reject(this.#abort.signal.reason);
    this.#suspended = undefined;
  }

  /**
   * Forgets the promise that it resolves, because the promise refers to the result: a task in the old generation of the
   * heap would keep it there, and collections would take three times as long.
   */
  #endSlice(outcome: SliceOutcome): void {
    const resolve = this.#resolveSlice;
    this.#resolveSlice = undefined;
    resolve?.(outcome);
  }

  #suspend(): Promise<void> {
    const { signal } = this.#abort;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const next = new Promise<void>((resolve, reject) => (this.#suspended = { resolve, reject }));
    this.#endSlice({ reply: { type: "paused", id: this.#id, progress: this.#progress } });
    return next;
  }
}
