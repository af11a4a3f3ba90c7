import { TimeSlice } from "../concurrency/timeSlice.ts";
import type { SliceEnd, TaskProgress } from "./messages.ts";
import type { TaskHandler } from "./taskKinds.ts";

const READ_WAIT_MS = 5;
/** Time for which later slices wait for the same read, at most. */
const NEXT_READ_WAIT_MS = 2;

export interface TaskTimes {
  /** Length of a time slice; the default is that of `TimeSlice`. */
  readonly sliceMs?: number | undefined;
  /** Time for which a slice waits for tiles that are being read; then the thread runs other tasks. Default 5. */
  readonly readWaitMs?: number | undefined;
}

export interface SliceOutcome {
  readonly end: SliceEnd;
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

/**
 * A task of a worker: a handler that is suspended between its time slices. A slice also ends when the handler waits for a
 * read; after the read, the handler continues until it next yields.
 */
export class Task {
  readonly #readWaitMs: number;
  readonly #start: () => Promise<void>;
  readonly #abort = new AbortController();
  #resolveSlice: ((outcome: SliceOutcome | Promise<SliceOutcome>) => void) | undefined;
  #readWait: ReturnType<typeof setTimeout> | undefined;
  #suspended: { resolve(): void; reject(reason: unknown): void } | undefined;
  #hasBegun = false;
  /** Whether the last slice ended because the handler waited for a read. */
  #isWaiting = false;
  /** Set if the handler ended while no slice was granted. */
  #lateOutcome: SliceOutcome | Promise<SliceOutcome> | undefined;
  #progress: TaskProgress | undefined;

  constructor(
    findHandler: () => Promise<TaskHandler<never, unknown>>,
    payload: unknown,
    { sliceMs, readWaitMs = READ_WAIT_MS }: TaskTimes,
  ) {
    this.#readWaitMs = readWaitMs;
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
        this.#end({ end: { type: "done", result }, transfer });
      } catch (error) {
        const failed = Promise.reject<SliceOutcome>(error);
        failed.catch(() => undefined); // reported by the next slice, if there is one
        this.#end(failed);
      }
    };
  }

  /**
   * Starts or continues the handler. Resolves when its time slice has expired, or it waits for a read, or has ended.
   * @throws the error of the handler
   */
  runSlice(): Promise<SliceOutcome> {
    return new Promise((resolve) => {
      if (this.#lateOutcome !== undefined) {
        resolve(this.#lateOutcome);
        return;
      }
      this.#resolveSlice = resolve;
      // Timers run only while the handler waits, because its computations block the thread.
      const waitMs = this.#isWaiting ? Math.min(NEXT_READ_WAIT_MS, this.#readWaitMs) : this.#readWaitMs;
      this.#readWait = setTimeout(() => this.#pause({ isWaiting: true }), waitMs);
      const suspended = this.#suspended;
      this.#suspended = undefined;
      if (this.#hasBegun) suspended?.resolve();
      else {
        this.#hasBegun = true;
        void this.#start();
      }
    });
  }

  /** Ends the slice, and the handler when it next checks its signal or yields, or immediately if it is suspended. */
  cancel(): void {
    this.#abort.abort();
    this.#suspended?.reject(this.#abort.signal.reason);
    this.#suspended = undefined;
    this.#endSlice({ end: { type: "unused" } });
  }

  #end(outcome: SliceOutcome | Promise<SliceOutcome>): void {
    if (this.#resolveSlice === undefined) this.#lateOutcome = outcome;
    else this.#endSlice(outcome);
  }

  /**
   * Forgets the promise that it resolves, because the promise refers to the result: a task in the old generation of the
   * heap would keep it there, and collections would take three times as long.
   */
  #endSlice(outcome: SliceOutcome | Promise<SliceOutcome>): void {
    const resolve = this.#resolveSlice;
    this.#resolveSlice = undefined;
    clearTimeout(this.#readWait);
    resolve?.(outcome);
  }

  #pause({ isWaiting }: { readonly isWaiting: boolean }): void {
    this.#isWaiting = isWaiting;
    this.#endSlice({ end: { type: "paused", progress: this.#progress, isWaiting } });
  }

  #suspend(): Promise<void> {
    const { signal } = this.#abort;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const next = new Promise<void>((resolve, reject) => (this.#suspended = { resolve, reject }));
    this.#pause({ isWaiting: false });
    return next;
  }
}
