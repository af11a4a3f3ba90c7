import type { RunTiming } from "./placeReport.ts";

type Part = keyof RunTiming["seconds"];

/** Measures how long the parts of a run take. */
export class RunClock {
  readonly #startedAt = new Date();
  readonly #startMs = performance.now();
  readonly #partMs: Record<Part, number> = { reading: 0, engine: 0, encoding: 0, writing: 0 };
  /** Parts that run on this thread while it waits for another. */
  readonly #ownParts: readonly Part[];

  /** @param options.hasEngineThreads whether the engine runs on other threads */
  constructor({ hasEngineThreads }: { readonly hasEngineThreads: boolean }) {
    this.#ownParts = hasEngineThreads ? ["encoding"] : ["encoding", "engine"];
  }

  add(part: Part, durationMs: number): void {
    this.#partMs[part] += durationMs;
  }

  time<T>(part: Part, work: () => T): T {
    const startMs = performance.now();
    const result = work();
    this.add(part, performance.now() - startMs);
    return result;
  }

  /** Measures how long the items of a source take, without the work of this thread between them. */
  async *timeItems<T>(part: Part, items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const startMs = performance.now() - this.#ownMs();
        const { value, done } = await iterator.next();
        this.add(part, Math.max(0, performance.now() - this.#ownMs() - startMs));
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
      this.add(part, performance.now() - startMs);
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

  #ownMs(): number {
    return this.#ownParts.reduce((sumMs, part) => sumMs + this.#partMs[part], 0);
  }
}
