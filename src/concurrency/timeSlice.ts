/** Default length of a time slice. */
const TIME_SLICE_MS = 5;

export interface TimeSliceOptions {
  readonly durationMs?: number;
  /** Resolves when the work may continue; by default, after the tasks that are already queued on this thread have run. */
  readonly nextSlice?: () => Promise<void>;
}

/**
 * Divides long asynchronous work into time slices. The work awaits `yield` regularly, which returns immediately until the
 * slice has expired, and then waits for the next slice. Several loops of the same work can share a time slice.
 */
export class TimeSlice {
  readonly #durationMs: number;
  readonly #nextSlice: () => Promise<void>;
  #endMs: number;
  #pause: Promise<void> | undefined;
  #hasStepped = false;

  constructor({ durationMs = TIME_SLICE_MS, nextSlice = runQueuedTasks }: TimeSliceOptions = {}) {
    this.#durationMs = durationMs;
    this.#nextSlice = nextSlice;
    this.#endMs = performance.now() + durationMs;
  }

  /** True if the time slice has ended. Check it first if an unneeded `await` would cost more than the work itself. */
  get isExpired(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** True if a concurrent loop of this time slice is yielding; the other loops must then yield to free the thread. */
  get isPaused(): boolean {
    return this.#pause !== undefined;
  }

  /**
   * Waits for the next time slice if this one has ended.
   * @throws the error with which `nextSlice` rejects
   */
  async yield(): Promise<void> {
    if (this.isExpired) await (this.#pause ??= this.#startNext());
  }

  /**
   * Waits as `yield`, and also while other loops of this time slice use up the next slices. Every slice has time for one
   * step, so that the work continues even if the thread is interrupted for longer than a slice.
   */
  async waitForStep(): Promise<void> {
    while (this.isExpired && this.#hasStepped) await (this.#pause ??= this.#startNext());
    this.#hasStepped = true;
  }

  async #startNext(): Promise<void> {
    await this.#nextSlice();
    this.#endMs = performance.now() + this.#durationMs;
    this.#hasStepped = false;
    this.#pause = undefined;
  }
}

async function runQueuedTasks(): Promise<void> {
  // A timer would take at least 1 ms, or 4 ms in a browser; a message arrives right after the tasks already queued.
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.addEventListener("message", resolve, { once: true });
    port1.start();
    port2.postMessage(undefined);
  });
  port1.close();
}
