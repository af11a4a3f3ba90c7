import { FetchListeners, type TileUse } from "../atlas/tileUse.ts";
import { Fault } from "../errors.ts";
import {
  type Atlas,
  atlasClosedFault,
  type BatchOptions,
  checkBatchOptions,
  type RefusedElement,
} from "../hazard/answer.ts";
import type { HazardResult } from "../hazard/result.ts";
import type { HazardQuery, HazardQueryInput } from "../hazard/query.ts";
import {
  checkSample,
  type SampleRequest,
  type SampleResult,
  type StepsRequest,
  type StepsResult,
} from "../hazard/sampleRequest.ts";
import { unpackFault } from "./errors.ts";
import type { OpenedAtlas } from "./messages.ts";
import { neighbourhoodOf, type Neighbourhoods, ownerOf } from "./owners.ts";
import { type Done, type Errand, PoolWorker, type WorkerThread } from "./poolWorker.ts";
import { gather, scatter, shareOutByNumber, Sheets } from "./shares.ts";

/** Places or queries of one order: small enough to be stopped in between, large enough to be worth the way. */
const PLACES_PER_ORDER = 16_384;
/** Each takes as long as many places, and where tiles have to be made as long as thousands. */
const CIRCLES_PER_ORDER = 2048;
const QUERIES_PER_ORDER = 64;
/** Orders of one call that a worker has before it: one in work, one waiting. */
const ORDERS_AHEAD = 2;
/** On whose behalf the calls of the library itself are. */
const LIBRARY = "";

/** Below this a call stays on the caller's thread: the way to a worker costs more than the work. */
const PLACES_WORTH_IT = 4096;
const QUERIES_WORTH_IT = 32;

/** A task and how it is to be done. */
export type PoolTask = Omit<Errand, "order"> & {
  readonly task: unknown;
  /** From 0; absent: whichever has least to do. */
  readonly worker?: number | undefined;
};

/**
 * Worker threads, each with an atlas, a kernel and a cache of its own. A place always goes to the worker that owns its
 * neighbourhood of tiles, so that each tile is decoded by one worker, once; nothing is shared and nothing is locked.
 */
export class Pool {
  readonly workerCount: number;
  readonly #start: () => WorkerThread;
  readonly #opened: OpenedAtlas;
  readonly #nowMs: () => number;
  /** Those that were started last; never rejected. */
  #workers: Promise<readonly PoolWorker[]> = Promise.resolve([]);
  /** The same, once they have started. */
  #workersOfLate: readonly PoolWorker[] = [];
  readonly #fetches = new FetchListeners();
  #isClosed = false;
  #deathCount = 0;

  /**
   * @param options `opened` is the caller's own atlas: workers that have opened another are refused; `nowMs` a
   *   clock that never goes back
   */
  constructor(options: {
    readonly workers: number;
    readonly opened: OpenedAtlas;
    readonly start: () => WorkerThread;
    readonly nowMs?: () => number;
  }) {
    this.workerCount = options.workers;
    this.#opened = options.opened;
    this.#start = options.start;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** Threads that have ended without having been told to. */
  get deathCount(): number {
    return this.#deathCount;
  }

  /** What the atlas's own tiles take and those of the workers, together. */
  #tileUse(atlas: Atlas): TileUse {
    const bytesOfWorkers = (): number => this.#workersOfLate.reduce((sum, { cachedBytes }) => sum + cachedBytes, 0);
    return {
      get origin() {
        return atlas.tileUse.origin;
      },
      get cachedBytes() {
        return atlas.tileUse.cachedBytes + bytesOfWorkers();
      },
      onFetch: (listener) => {
        const ends = [atlas.tileUse.onFetch(listener), this.#fetches.add(listener)];
        return () => ends.forEach((end) => end());
      },
    };
  }

  /** The same atlas, its bulk work done by the workers. They are started when they are first needed. */
  behind(atlas: Atlas, neighbourhoods: Neighbourhoods): PooledAtlas {
    return new PooledAtlas(this, atlas, {
      tileUse: this.#tileUse(atlas),
      ownerOf: (query) => ownerOf(neighbourhoodOf(neighbourhoods, query), this.workerCount),
      answerBatch: (queries, options) => this.#answerBatch(queries, { atlas, neighbourhoods }, options),
      sample: (request) => this.#sample(request, neighbourhoods),
    });
  }

  /** Starts the workers, where that has not been done. @throws Fault, Error as they cannot be started */
  async start(): Promise<void> {
    await this.#ready();
  }

  /**
   * Has a task done by a worker, when its party's turn has come.
   *
   * @throws Fault as the one who does it says; Error when the thread ends over it; the signal's reason
   */
  async do({ task, worker, ...errand }: PoolTask): Promise<{ readonly outcome: unknown; readonly tookMs: number }> {
    const { report, tookMs } = await this.#do({ ...errand, order: { kind: "task", task } }, worker);
    if (report.kind !== "done") throw new Error(`A worker answered ${report.kind} to a task.`);
    return { outcome: report.outcome, tookMs };
  }

  /** Ends the threads, and whatever they were doing with them. */
  async end(): Promise<void> {
    this.#isClosed = true;
    await Promise.all((await this.#workers).map((worker) => worker.end()));
  }

  async #sample(request: SampleRequest, neighbourhoods: Neighbourhoods): Promise<SampleResult> {
    checkSample(request); // here, where places have their own numbers
    const { hazard, layers, latitudes, longitudes, radiusKm = 0, method = "max", signal } = request;
    const width = layers.length;
    const length = latitudes.length * width;
    const { values, reasons } = request.into ?? { values: new Float64Array(length), reasons: new Uint8Array(length) };
    const shares = shareOutByNumber(latitudes.length, this.workerCount, (i) =>
      neighbourhoods.numberOf(hazard, { latitude: latitudes[i] ?? NaN, longitude: longitudes[i] ?? NaN }),
    );
    const perOrder = radiusKm === 0 ? PLACES_PER_ORDER : CIRCLES_PER_ORDER;
    const sheets = new Sheets(Math.min(perOrder, latitudes.length), width);
    let placesDone = 0;
    await this.#carryOut(shares, perOrder, signal, async (worker, places) => {
      const sheet = sheets.take(places.length);
      gather(latitudes, places, sheet.latitudes);
      gather(longitudes, places, sheet.longitudes);
      const order = { kind: "sample" as const, hazard, layers, radiusKm, method, ...sheet };
      const handOver = [sheet.latitudes.buffer];
      const { report } = await this.#do({ order, handOver, party: LIBRARY, signal }, worker);
      if (report.kind !== "sampled") throw new Error(`A worker answered ${report.kind} to a sample.`);
      scatter(report.values, places, width, values);
      scatter(report.reasons, places, width, reasons);
      sheets.giveBack(report.values);
      placesDone += places.length;
      request.onProgress?.(placesDone, latitudes.length);
    });
    return { values, reasons };
  }

  async #answerBatch(
    queries: readonly HazardQueryInput[],
    { atlas, neighbourhoods }: { readonly atlas: Atlas; readonly neighbourhoods: Neighbourhoods },
    options: BatchOptions,
  ): Promise<readonly (HazardResult | RefusedElement)[]> {
    checkBatchOptions(options);
    const { signal, onProgress } = options;
    const results: (HazardResult | RefusedElement)[] = Array.from({ length: queries.length });
    const shares = shareOutByNumber(queries.length, this.workerCount, (i) =>
      neighbourhoodOf(neighbourhoods, queries[i]),
    );
    let queriesDone = 0;
    await this.#carryOut(shares, QUERIES_PER_ORDER, signal, async (worker, indices) => {
      const order = { kind: "batch" as const, queries: Array.from(indices, (i) => queries[i] as HazardQueryInput) };
      let answered: readonly (HazardResult | RefusedElement)[];
      try {
        const { report } = await this.#do({ order, party: LIBRARY, signal }, worker);
        if (report.kind !== "answered") throw new Error(`A worker answered ${report.kind} to a batch.`);
        answered = report.results.map((one) => ("refused" in one ? { error: unpackFault(one.refused) } : one));
      } catch (error) {
        if (!isUncloneable(error)) throw error;
        // A query with a function in it, say, which this thread can refuse in its place.
        answered = await atlas.hazardRiskBatch(order.queries, signal === undefined ? {} : { signal });
      }
      indices.forEach((index, i) => {
        const result = answered[i];
        if (result === undefined) throw new Error("A worker answered too few queries.");
        results[index] = result;
      });
      queriesDone += indices.length;
      onProgress?.(queriesDone, queries.length);
    });
    return results;
  }

  /** Has the workers do their shares, and leave them off when the signal says stop. */
  async #carryOut(
    shares: readonly Uint32Array[],
    perOrder: number,
    signal: AbortSignal | undefined,
    give: (worker: number, indices: Uint32Array) => Promise<void>,
  ): Promise<void> {
    await this.#ready(); // one attempt a call, not one an order
    const stop = (): void => {
      for (const worker of this.#workersOfLate) if (signal !== undefined) worker.stop(signal);
    };
    signal?.addEventListener("abort", stop);
    try {
      await carryOut(shares, perOrder, signal, give);
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** @param index the worker; undefined: whichever has least to do */
  async #do(errand: Errand, index: number | undefined): Promise<Done> {
    for (;;) {
      const workers = await this.#ready();
      const worker = index === undefined ? leastBusy(workers) : workers[index];
      if (worker === undefined) throw new RangeError(`There is no worker ${index}.`);
      const done = await worker.do(errand);
      if (done !== undefined) return done;
    }
  }

  /** The workers, started where there are none yet, or none any more. One call after the other looks after them. */
  #ready(): Promise<readonly PoolWorker[]> {
    const before = this.#workers;
    const workers = before.then((known) => this.#renewed(known));
    // Where some cannot start, those that there were stay, and the next call tries again.
    this.#workers = workers.catch(() => before);
    return workers;
  }

  /** A worker that lives keeps its place, and with it the neighbourhoods whose tiles it has. */
  async #renewed(known: readonly PoolWorker[]): Promise<readonly PoolWorker[]> {
    if (this.#isClosed) throw atlasClosedFault();
    const fresh: PoolWorker[] = [];
    try {
      const workers = Array.from({ length: this.workerCount }, (_, i) => {
        const worker = known[i];
        if (worker?.isAlive === true) return worker;
        const started = new PoolWorker(this.#start(), {
          nowMs: this.#nowMs,
          onDeath: () => this.#deathCount++,
          onFetch: (durationMs) => this.#fetches.notify(durationMs),
        });
        fresh.push(started);
        return started;
      });
      await Promise.all(fresh.map(async (worker) => this.#checkSame(await worker.opened)));
      this.#workersOfLate = workers;
      return workers;
    } catch (error) {
      await Promise.all(fresh.map((worker) => worker.end()));
      throw error;
    }
  }

  /** Each worker opens the atlas for itself, maybe long after the caller did. */
  #checkSame(found: OpenedAtlas): void {
    const { release, contentHash } = this.#opened;
    if (found.contentHash === contentHash) return;
    const now = found.release === release ? "has the same name and other content" : `is ${found.release}`;
    throw new Fault(
      "atlas_unavailable",
      `The atlas was replaced while it was open: its release was ${release}, and the one there now ${now}. It must be opened again.`,
      { details: { release, found: found.release } },
    );
  }
}

/** What the workers do of an atlas. */
interface Bulk {
  ownerOf(query: unknown): number;
  readonly tileUse: TileUse;
  answerBatch(
    queries: readonly HazardQueryInput[],
    options: BatchOptions,
  ): Promise<readonly (HazardResult | RefusedElement)[]>;
  sample(request: SampleRequest): Promise<SampleResult>;
}

/** An atlas with a pool behind it. */
export class PooledAtlas implements Atlas {
  readonly pool: Pool;
  readonly release: string;
  readonly contentHash: string;
  readonly synthetic: boolean;
  readonly holdings: Atlas["holdings"];
  readonly tileUse: TileUse;
  readonly #atlas: Atlas;
  readonly #bulk: Bulk;

  /** Made by `Pool.behind`. */
  constructor(pool: Pool, atlas: Atlas, bulk: Bulk) {
    this.pool = pool;
    this.release = atlas.release;
    this.contentHash = atlas.contentHash;
    this.synthetic = atlas.synthetic;
    this.holdings = atlas.holdings;
    this.tileUse = bulk.tileUse;
    this.#atlas = atlas;
    this.#bulk = bulk;
  }

  hazardRisk(query: HazardQueryInput): Promise<HazardResult> {
    return this.#atlas.hazardRisk(query);
  }

  isLong(query: HazardQuery): boolean {
    return this.#atlas.isLong(query);
  }

  /** The worker that keeps the tiles of a query's place. */
  ownerOf(query: unknown): number {
    return this.#bulk.ownerOf(query);
  }

  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    options: BatchOptions = {},
  ): Promise<readonly (HazardResult | RefusedElement)[]> {
    const isWorthIt = Array.isArray(queries) && queries.length >= QUERIES_WORTH_IT;
    return isWorthIt ? this.#bulk.answerBatch(queries, options) : this.#atlas.hazardRiskBatch(queries, options);
  }

  sample(request: SampleRequest): Promise<SampleResult> {
    return isWorthIt(request) ? this.#bulk.sample(request) : this.#atlas.sample(request);
  }

  /** On the caller's thread: there is less to it than the way to a worker. */
  sampleSteps(request: StepsRequest): Promise<StepsResult> {
    return this.#atlas.sampleSteps(request);
  }

  async close(): Promise<void> {
    await this.pool.end();
    await this.#atlas.close();
  }
}

/** Whether something could not be told to a worker because no message can hold it. */
function isUncloneable(error: unknown): boolean {
  return error instanceof DOMException && error.name === "DataCloneError";
}

function leastBusy(workers: readonly PoolWorker[]): PoolWorker | undefined {
  let least = workers[0];
  for (const worker of workers) if (worker.load < (least?.load ?? 0)) least = worker;
  return least;
}

/** Has each worker do its share, order by order, until all is done, one fails, or the signal says stop. */
async function carryOut(
  shares: readonly Uint32Array[],
  perOrder: number,
  signal: AbortSignal | undefined,
  give: (worker: number, indices: Uint32Array) => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted();
  let failure: { readonly error: unknown } | undefined;
  const isStopped = (): boolean => failure !== undefined || signal?.aborted === true;
  const work = async (worker: number, share: Uint32Array, position: { next: number }): Promise<void> => {
    while (position.next < share.length && !isStopped()) {
      const from = position.next;
      position.next += perOrder;
      try {
        await give(worker, share.subarray(from, from + perOrder));
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(
    shares.flatMap((share, worker) => {
      const position = { next: 0 };
      return Array.from({ length: ORDERS_AHEAD }, () => work(worker, share, position));
    }),
  );
  signal?.throwIfAborted();
  if (failure !== undefined) throw failure.error;
}

/** @param request of which nothing has been checked */
function isWorthIt(request: Partial<SampleRequest> | null | undefined): boolean {
  return request?.latitudes instanceof Float64Array && request.latitudes.length >= PLACES_WORTH_IT;
}
