export interface TurnsOptions {
  /** Work that runs at the same time. */
  readonly runningMax: number;
  /** Work of one tenant that may wait; further work is rejected. Default: unlimited. */
  readonly waitingPerTenantMax?: number;
  /** Returns the error of work that is rejected, because this much of its tenant waits already. */
  readonly onFull?: (waitingCount: number) => Error;
}

interface Waiting {
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs a few pieces of work at a time. Tenants take turns, so that one delays the others by at most one piece of work
 * each; the work of a tenant keeps its order. Work whose signal aborts before its turn never runs.
 */
export class Turns {
  readonly #options: TurnsOptions;
  /** Waiting work by tenant. The first tenant is the next one; it moves to the end after its turn. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  #runningCount = 0;
  #closed: { readonly error: Error } | undefined;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  get waitingCount(): number {
    let count = 0;
    for (const { size } of this.#waiting.values()) count += size;
    return count;
  }

  /**
   * Runs `work` when it is its turn. If the signal aborts meanwhile, rejects at once; the turn lasts until `work` ends.
   * @throws the error of `onFull`, `close` or `work`; the reason of the signal
   */
  run<T>(tenant: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed.error);
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const { waitingPerTenantMax = Infinity, onFull } = this.#options;
    const queue = this.#waiting.get(tenant) ?? new Set<Waiting>();
    if (queue.size >= waitingPerTenantMax) {
      return Promise.reject(onFull?.(queue.size) ?? new Error("Too much work is waiting."));
    }
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => {
        if (queue.delete(waiting) && queue.size === 0) this.#waiting.delete(tenant);
        reject(signal?.reason as Error);
      };
      const waiting: Waiting = {
        start: () => {
          this.#runningCount++;
          void work()
            .then(resolve, reject)
            .finally(() => {
              signal?.removeEventListener("abort", onAbort);
              this.#runningCount--;
              this.#startNext();
            });
        },
        reject: (error) => {
          signal?.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      queue.add(waiting);
      this.#waiting.set(tenant, queue);
      this.#startNext();
    });
  }

  /**
   * Waits for a turn.
   * @returns a function that ends the turn
   * @throws as `run` does
   */
  take(tenant: string, signal?: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.run(tenant, signal, () => new Promise<void>((end) => resolve(end))).catch(reject);
    });
  }

  /** Rejects the work that waits, and all further work. */
  close(error: Error): void {
    this.#closed = { error };
    const waiting = [...this.#waiting.values()].flatMap((queue) => [...queue]);
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  #startNext(): void {
    while (this.#runningCount < this.#options.runningMax) {
      const [turn] = this.#waiting;
      if (turn === undefined) return;
      const [tenant, queue] = turn;
      const [waiting] = queue;
      this.#waiting.delete(tenant);
      if (waiting === undefined) continue;
      queue.delete(waiting);
      if (queue.size > 0) this.#waiting.set(tenant, queue);
      waiting.start();
    }
  }
}
