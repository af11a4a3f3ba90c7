import type { RunTiming } from "./placeReport.ts";

type Part = keyof RunTiming["seconds"];

/** Measures how long the parts of a run take. */
export class RunClock {
  readonly #startedAt = new Date();
  readonly #startMs = performance.now();
  readonly #partMs: Record<Part, number> = { reading: 0, engine: 0, encoding: 0, writing: 0 };
  readonly #hasWorkers: boolean;
  /** Time for which this thread computed scores and encoded rows. */
  #ownMs = 0;

  /** @param options.hasWorkers whether `add` reports the work of other threads */
  constructor({ hasWorkers }: { readonly hasWorkers: boolean }) {
    this.#hasWorkers = hasWorkers;
  }

  /** Adds the work of workers or, if there are none, of this thread. */
  add(part: Part, durationMs: number): void {
    this.#partMs[part] += durationMs;
    if (!this.#hasWorkers) this.#ownMs += durationMs;
  }

  time<T>(part: Part, work: () => T): T {
    const startMs = performance.now();
    const result = work();
    const durationMs = performance.now() - startMs;
    this.#partMs[part] += durationMs;
    this.#ownMs += durationMs;
    return result;
  }

  /** Measures how long the items of a source take, without the work of this thread between them. */
  async *timeItems<T>(part: Part, items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const startMs = performance.now() - this.#ownMs;
        const { value, done } = await iterator.next();
        this.#partMs[part] += Math.max(0, performance.now() - this.#ownMs - startMs);
        if (done === true) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  async timePromise<T>(part: Part, promise: Promise<T>): Promise<T> {
    const startMs = performance.now();
    try {
      return await promise;
    } finally {
      this.#partMs[part] += performance.now() - startMs;
    }
  }

  /** @param counts of this run, without what an earlier run had finished */
  timing(counts: {
    readonly placeCount: number;
    readonly valueCount: number;
    readonly resumedPlaceCount: number;
  }): RunTiming {
    const seconds = (performance.now() - this.#startMs) / 1000;
    return {
      started_at: this.#startedAt.toISOString(),
      duration_seconds: seconds,
      resumed_place_count: counts.resumedPlaceCount,
      places_per_second: counts.placeCount / seconds,
      values_per_second: counts.valueCount / seconds,
      seconds: {
        reading: this.#partMs.reading / 1000,
        engine: this.#partMs.engine / 1000,
        encoding: this.#partMs.encoding / 1000,
        writing: this.#partMs.writing / 1000,
      },
    };
  }
}
