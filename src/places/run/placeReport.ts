import type { Omission } from "../scores/scorePlan.ts";
import type { PlaceJob } from "./placeJob.ts";
import type { HazardDescription, InvalidRows, PlaceManifest } from "./placeManifest.ts";
import type { StatusCounts } from "./segmentRecord.ts";

/** What a run or a merge did. Names are those of the JSON file OUT.report.json. */
export interface PlaceReport extends Omit<PlaceJob, "rows_per_block"> {
  readonly output: { readonly path: string; readonly size_bytes: number; readonly sha256: string };
  readonly synthetic: boolean;
  readonly hazards: readonly HazardDescription[];
  readonly place_count: number;
  readonly invalid_row_count: number;
  readonly row_count: number;
  /** Number of values of metrics, including those without data. */
  readonly value_count: number;
  readonly statuses: StatusCounts;
  readonly invalid_rows: InvalidRows;
  readonly omissions: readonly Omission[];
  /** Columns of the input that are not in the output. */
  readonly omitted_columns: readonly string[];
  readonly timing: RunTiming;
}

interface RunTiming {
  readonly started_at: string;
  readonly duration_seconds: number;
  /** Places that an interrupted run had finished; they do not count for the rates. */
  readonly resumed_place_count: number;
  readonly places_per_second: number;
  readonly values_per_second: number;
  /** Time that each part of the work took. The parts overlap, and the engine may use several threads at the same time. */
  readonly seconds: {
    readonly reading: number;
    readonly engine: number;
    readonly encoding: number;
    readonly writing: number;
  };
}

/** Creates a report from the manifest of an output. */
export function placeReport(
  manifest: PlaceManifest,
  more: { readonly path: string; readonly timing: RunTiming },
): PlaceReport {
  const { program_version, input, input_format, output_format, options, atlas, shard, output, synthetic, hazards } =
    manifest;
  const { place_count, statuses, invalid_rows } = manifest;
  const invalidRowCount = Object.values(invalid_rows.by_reason).reduce((sum, count) => sum + count, 0);
  const columnCount = manifest.groups.reduce((count, { metrics }) => count + metrics.length, 0);
  return {
    program_version,
    input,
    input_format,
    output_format,
    options,
    atlas,
    shard,
    output: { path: more.path, size_bytes: output.size_bytes, sha256: output.sha256 },
    synthetic,
    hazards,
    place_count,
    invalid_row_count: invalidRowCount,
    row_count: output.row_count,
    value_count: (place_count - invalidRowCount) * columnCount,
    statuses,
    invalid_rows,
    omissions: manifest.omissions,
    omitted_columns: manifest.omitted_columns ?? [],
    timing: more.timing,
  };
}

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
