import type { Atlas, HazardResult, RefusedElement } from "../hazard/answer.ts";
import type { HazardQueryInput } from "../hazard/query.ts";
import { checkSample, type SampleRequest, type SampleResult } from "../hazard/sample.ts";
import type { Order, Report } from "./messages.ts";
import { unpackFault } from "./worker.ts";

/** One worker thread, as whoever starts it hands it over. */
export interface WorkerThread {
  send(order: Order, handOver: readonly ArrayBuffer[]): void;
  onReport(take: (report: Report) => void): void;
  /** The thread ended, or could not start. */
  onEnd(take: (error: Error) => void): void;
  /** Whether anybody waits for the thread: only then it keeps the program running. */
  setAwaited(isAwaited: boolean): void;
  end(): Promise<void>;
}

/** Which neighbourhood of tiles a place lies in: places of one number go to one worker. */
export interface Neighbourhoods {
  /** @param hazard the hazard whose tiles will be read; places outside its grid have one number together */
  numberOf(hazard: string, place: { readonly latitude: number; readonly longitude: number }): number;
}

/** Places or queries of one order: small enough to be stopped in between, large enough to be worth the way. */
const PLACES_PER_ORDER = 16_384;
const QUERIES_PER_ORDER = 64;
/** Orders that a worker has before it: one in work, one waiting. */
const ORDERS_AHEAD = 2;

/** Below this a call stays on the caller's thread: the way to a worker costs more than the work. */
const PLACES_WORTH_IT = 4096;
const QUERIES_WORTH_IT = 32;

/**
 * Worker threads, each with an atlas, a kernel and a cache of its own. A place always goes to the worker that owns its
 * neighbourhood of tiles, so that each tile is decoded by one worker, once; nothing is shared and nothing is locked.
 */
export class Pool {
  readonly #start: () => WorkerThread;
  readonly #count: number;
  #workers: Promise<readonly PoolWorker[]> | undefined;

  constructor(options: { readonly workers: number; readonly start: () => WorkerThread }) {
    this.#count = options.workers;
    this.#start = options.start;
  }

  /** The same atlas, its bulk work done by the workers. They are started when they are first needed. */
  behind(atlas: Atlas, neighbourhoods: Neighbourhoods): Atlas {
    return {
      release: atlas.release,
      synthetic: atlas.synthetic,
      hazardRisk: (query) => atlas.hazardRisk(query),
      hazardRiskBatch: (queries, options) =>
        Array.isArray(queries) && queries.length >= QUERIES_WORTH_IT
          ? this.#answerBatch(queries, neighbourhoods, options?.signal)
          : atlas.hazardRiskBatch(queries, options),
      sample: (request) => (isWorthIt(request) ? this.#sample(request, neighbourhoods) : atlas.sample(request)),
      close: async () => {
        await this.#end();
        await atlas.close();
      },
    };
  }

  async #sample(request: SampleRequest, neighbourhoods: Neighbourhoods): Promise<SampleResult> {
    checkSample(request); // here, where places have their own numbers
    const { hazard, layers, latitudes, longitudes, radiusKm = 0, method = "max", signal } = request;
    const width = layers.length;
    const values = new Float64Array(latitudes.length * width);
    const reasons = new Uint8Array(latitudes.length * width);
    const workers = await this.#ready();
    const shares = shareOut(latitudes.length, workers.length, (i) =>
      neighbourhoods.numberOf(hazard, { latitude: latitudes[i] ?? NaN, longitude: longitudes[i] ?? NaN }),
    );
    let placesDone = 0;
    await carryOut(workers, shares, PLACES_PER_ORDER, signal, async (worker, places) => {
      const order = {
        kind: "sample" as const,
        hazard,
        layers,
        latitudes: Float64Array.from(places, (i) => latitudes[i] ?? NaN),
        longitudes: Float64Array.from(places, (i) => longitudes[i] ?? NaN),
        radiusKm,
        method,
      };
      const report = await worker.order(order, [order.latitudes.buffer, order.longitudes.buffer]);
      if (report.kind !== "sampled") throw new Error(`A worker answered ${report.kind} to a sample.`);
      places.forEach((place, i) => {
        values.set(report.values.subarray(i * width, (i + 1) * width), place * width);
        reasons.set(report.reasons.subarray(i * width, (i + 1) * width), place * width);
      });
      placesDone += places.length;
      request.onProgress?.(placesDone, latitudes.length);
    });
    return { values, reasons };
  }

  async #answerBatch(
    queries: readonly HazardQueryInput[],
    neighbourhoods: Neighbourhoods,
    signal: AbortSignal | undefined,
  ): Promise<readonly (HazardResult | RefusedElement)[]> {
    const workers = await this.#ready();
    const results: (HazardResult | RefusedElement)[] = Array.from({ length: queries.length });
    const shares = shareOut(queries.length, workers.length, (i) => {
      const query = queries[i] as Partial<HazardQueryInput> | null | undefined;
      const { latitude = NaN, longitude = NaN, hazards } = query ?? {};
      return neighbourhoods.numberOf(String(Array.isArray(hazards) ? hazards[0] : ""), { latitude, longitude });
    });
    await carryOut(workers, shares, QUERIES_PER_ORDER, signal, async (worker, indices) => {
      const order = { kind: "batch" as const, queries: Array.from(indices, (i) => queries[i] as HazardQueryInput) };
      const report = await worker.order(order, []);
      if (report.kind !== "answered") throw new Error(`A worker answered ${report.kind} to a batch.`);
      indices.forEach((index, i) => {
        const result = report.results[i];
        if (result === undefined) throw new Error("A worker answered too few queries.");
        results[index] = "refused" in result ? { error: unpackFault(result.refused) } : result;
      });
    });
    return results;
  }

  #ready(): Promise<readonly PoolWorker[]> {
    this.#workers ??= startAll(this.#count, this.#start);
    const workers = this.#workers;
    // A pool that cannot start is not kept: the next call tries again.
    workers.catch(() => {
      if (this.#workers === workers) this.#workers = undefined;
    });
    // Nor is one of which a worker has ended.
    return workers.then((list) => {
      if (list.every((worker) => worker.isAlive)) return list;
      if (this.#workers === workers) this.#workers = undefined;
      return this.#ready();
    });
  }

  async #end(): Promise<void> {
    const workers = await this.#workers?.catch(() => []);
    this.#workers = undefined;
    await Promise.all((workers ?? []).map((worker) => worker.end()));
  }
}

async function startAll(count: number, start: () => WorkerThread): Promise<readonly PoolWorker[]> {
  const workers = Array.from({ length: count }, () => new PoolWorker(start()));
  try {
    await Promise.all(workers.map((worker) => worker.ready));
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.end()));
    throw error;
  }
  return workers;
}

/** One worker and the orders that it has not answered. */
class PoolWorker {
  readonly ready: Promise<void>;
  isAlive = true;
  readonly #thread: WorkerThread;
  readonly #open = new Map<number, { resolve(report: Report): void; reject(error: Error): void }>();
  #lastId = 0;

  constructor(thread: WorkerThread) {
    this.#thread = thread;
    this.ready = new Promise((resolve, reject) => {
      this.#open.set(0, { resolve: () => resolve(), reject });
    });
    thread.onReport((report) => {
      const order = this.#open.get(report.id);
      this.#open.delete(report.id);
      if (this.#open.size === 0) thread.setAwaited(false);
      if (report.kind === "refused") order?.reject(unpackFault(report.fault));
      else if (report.kind === "failed") order?.reject(new Error(`A worker failed: ${report.message}`));
      else order?.resolve(report);
    });
    thread.onEnd((error) => {
      this.isAlive = false;
      for (const order of this.#open.values()) order.reject(error);
      this.#open.clear();
    });
  }

  order(order: OrderWithoutId, handOver: readonly ArrayBuffer[]): Promise<Report> {
    if (!this.isAlive) return Promise.reject(new Error("The worker has ended."));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      this.#thread.setAwaited(true);
      this.#thread.send({ ...order, id }, handOver);
    });
  }

  end(): Promise<void> {
    return this.#thread.end();
  }
}

type OrderWithoutId = Order extends infer Each ? (Each extends Order ? Omit<Each, "id"> : never) : never;

/**
 * Which worker does which elements: for each the indices, neighbours together.
 *
 * @returns Uint32Array for each worker
 */
function shareOut(count: number, workerCount: number, numberOf: (index: number) => number): readonly Uint32Array[] {
  const numbers = Float64Array.from({ length: count }, (_, i) => numberOf(i));
  const shares: number[][] = Array.from({ length: workerCount }, () => []);
  for (let i = 0; i < count; i++) shares[mixed(numbers[i] ?? 0) % workerCount]?.push(i);
  return shares.map((share) =>
    Uint32Array.from(share.toSorted((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0) || a - b)),
  );
}

/** Spreads neighbouring numbers over the workers (the finaliser of MurmurHash3). */
function mixed(number: number): number {
  let hash = number | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Has each worker do its share, order by order, until all is done, one fails, or the signal says stop. */
async function carryOut(
  workers: readonly PoolWorker[],
  shares: readonly Uint32Array[],
  perOrder: number,
  signal: AbortSignal | undefined,
  give: (worker: PoolWorker, indices: Uint32Array) => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted();
  let failure: { readonly error: unknown } | undefined;
  const isStopped = (): boolean => failure !== undefined || signal?.aborted === true;
  const work = async (worker: PoolWorker, share: Uint32Array, position: { next: number }): Promise<void> => {
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
    workers.flatMap((worker, i) => {
      const share = shares[i] ?? new Uint32Array();
      const position = { next: 0 };
      return Array.from({ length: ORDERS_AHEAD }, () => work(worker, share, position));
    }),
  );
  signal?.throwIfAborted();
  if (failure !== undefined) throw failure.error;
}

function isWorthIt({ latitudes }: SampleRequest): boolean {
  return latitudes instanceof Float64Array && latitudes.length >= PLACES_WORTH_IT;
}
