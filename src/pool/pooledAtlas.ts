import type { CurveQueryInput, CurveResult, HazardQueryInput, HazardResult } from "../contract/wireTypes.ts";
import type { CircleWork } from "../atlas/circleWork.ts";
import type { TileUse } from "../atlas/tileUse.ts";
import type { Atlas, LocalAtlas } from "../hazard/answer.ts";
import { type BatchOptions, checkBatchOptions, type QueryRun, type RefusedElement } from "../hazard/batch.ts";
import type { CurveQuery } from "../hazard/curveQuery.ts";
import type { HazardQuery } from "../hazard/query.ts";
import {
  checkSample,
  type SampleRequest,
  type SampleResult,
  type StepsRequest,
  type StepsResult,
} from "../hazard/sampleRequest.ts";
import type { ScoreRequest, ScoreResult, ScoringAtlas } from "../hazard/scoring/scoreRequest.ts";
import {
  checkTile,
  type ValueTileLayer,
  type ValueTileLayerRequest,
  type ValueTileOptions,
  type ValueTileRequest,
} from "../hazard/valueTiles.ts";
import { tileCenter } from "../tiles/mercator.ts";
import type { ValueTile } from "../tiles/valueTile.ts";
import { CURVES, type PackedElement, QUERIES, SAMPLE, unpackElement, VALUE_TILE } from "./atlasTasks.ts";
import type { Executor } from "./executor.ts";
import type { AtlasInternals } from "./hostAtlas.ts";
import type { TaskKind } from "./taskKinds.ts";
import { scoreInWorkers } from "./scoreInWorkers.ts";
import { forEachChunk, neighborhoodOfQuery, ownerOf, shardByOwner } from "./sharding.ts";
import { gather, sampleBufferBytes, sampleBufferIn, scatter, TransferBuffers } from "./transferBuffers.ts";

/** Elements per task. Larger tasks need fewer messages; smaller tasks need less memory and report progress more often. */
const POINTS_PER_TASK = 16_384;
/** Fewer than points, because a circle takes as long as many points, or as thousands if tiles must be computed. */
const CIRCLES_PER_TASK = 2048;
const QUERIES_PER_TASK = 64;
/** Tenant of calls to the library. */
const LIBRARY = "";

/** Calls with fewer elements run on the calling thread, because sending them would take longer than the work. */
const POOLED_LOCATIONS_MIN = 4096;
const POOLED_QUERIES_MIN = 32;
const POOLED_PLACES_MIN = 256;

/** An atlas that runs bulk work in worker threads. A location always goes to the worker that owns its tiles. */
export class PooledAtlas implements Atlas, AtlasInternals, ScoringAtlas {
  readonly executor: Executor;
  readonly release: string;
  readonly contentHash: string;
  readonly synthetic: boolean;
  readonly holdings: Atlas["holdings"];
  readonly tileUse: TileUse;
  readonly #local: LocalAtlas;

  constructor(local: LocalAtlas, executor: Executor) {
    this.executor = executor;
    this.release = local.release;
    this.contentHash = local.contentHash;
    this.synthetic = local.synthetic;
    this.holdings = local.holdings;
    this.tileUse = tileUseOf(local, executor);
    this.#local = local;
  }

  hazardRisk(query: HazardQueryInput, run?: QueryRun): Promise<HazardResult> {
    return this.#local.hazardRisk(query, run);
  }

  readHazardRisk(query: HazardQuery): HazardResult | undefined {
    return this.#local.readHazardRisk(query);
  }

  isLong(query: HazardQuery | CurveQuery): boolean {
    return this.#local.isLong(query);
  }

  estimateWork(query: HazardQuery | CurveQuery): CircleWork {
    return this.#local.estimateWork(query);
  }

  ownerOf(query: unknown): number {
    return ownerOf(this.#neighborhoodOf(query), this.executor.workerCount);
  }

  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    options: BatchOptions = {},
  ): Promise<readonly (HazardResult | RefusedElement)[]> {
    return this.#runBatch(QUERIES, queries, options, (some, local) => this.#local.hazardRiskBatch(some, local));
  }

  curve(query: CurveQueryInput, run?: QueryRun): Promise<CurveResult> {
    return this.#local.curve(query, run);
  }

  checkCurve(query: CurveQuery): void {
    this.#local.checkCurve(query);
  }

  curveBatch(
    queries: readonly CurveQueryInput[],
    options: BatchOptions = {},
  ): Promise<readonly (CurveResult | RefusedElement)[]> {
    return this.#runBatch(CURVES, queries, options, (some, local) => this.#local.curveBatch(some, local));
  }

  /** @param runLocally answers queries on the calling thread */
  async #runBatch<Query, Result extends object>(
    kind: TaskKind<readonly Query[], readonly PackedElement<Result>[]>,
    queries: readonly Query[],
    options: BatchOptions,
    runLocally: (queries: readonly Query[], options: BatchOptions) => Promise<readonly (Result | RefusedElement)[]>,
  ): Promise<readonly (Result | RefusedElement)[]> {
    if (!Array.isArray(queries) || queries.length < POOLED_QUERIES_MIN) return runLocally(queries, options);
    checkBatchOptions(options);
    const { signal, onProgress } = options;
    const { workerCount } = this.executor;
    const results: (Result | RefusedElement)[] = Array.from({ length: queries.length });
    const shards = shardByOwner(queries.length, workerCount, (i) => this.#neighborhoodOf(queries[i]));
    let queriesDone = 0;
    await this.executor.start(); // once per call, not once per task
    await forEachChunk(shards, { chunkSize: QUERIES_PER_TASK, signal }, async (worker, indices) => {
      const chunk = Array.from(indices, (i) => queries[i] as Query);
      const chunkResults = await this.#runQueries(kind, chunk, { worker, signal, runLocally });
      indices.forEach((index, i) => {
        const result = chunkResults[i];
        if (result === undefined)
          throw new Error(`A worker must return ${chunk.length} results (got ${chunkResults.length}).`);
        results[index] = result;
      });
      queriesDone += indices.length;
      onProgress?.(queriesDone, queries.length);
    });
    return results;
  }

  async #runQueries<Query, Result extends object>(
    kind: TaskKind<readonly Query[], readonly PackedElement<Result>[]>,
    queries: readonly Query[],
    run: {
      readonly worker: number;
      readonly signal: AbortSignal | undefined;
      runLocally(queries: readonly Query[], options: BatchOptions): Promise<readonly (Result | RefusedElement)[]>;
    },
  ): Promise<readonly (Result | RefusedElement)[]> {
    const { worker, signal } = run;
    try {
      return (await this.executor.run(kind, queries, { worker, tenant: LIBRARY, signal })).map(unpackElement<Result>);
    } catch (error) {
      // Some invalid queries, such as a query with a function, cannot be sent to a worker.
      if (!(error instanceof DOMException && error.name === "DataCloneError")) throw error;
      return run.runLocally(queries, signal === undefined ? {} : { signal });
    }
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    if (!isPooled(request)) return this.#local.sample(request);
    checkSample(request); // before sharding, so that errors have the caller's indices
    const { hazard, layers, latitudes, longitudes, radiusKm = 0, method = "max", signal } = request;
    const locationCount = latitudes.length;
    const layerCount = layers.length;
    const length = locationCount * layerCount;
    const { values, reasons } = request.into ?? { values: new Float64Array(length), reasons: new Uint8Array(length) };
    const shards = shardByOwner(locationCount, this.executor.workerCount, (i) =>
      this.#local.neighborhoodOf(hazard, { latDeg: latitudes[i] ?? NaN, lonDeg: longitudes[i] ?? NaN }),
    );
    const chunkSize = radiusKm === 0 ? POINTS_PER_TASK : CIRCLES_PER_TASK;
    const buffers = new TransferBuffers(sampleBufferBytes(Math.min(chunkSize, locationCount), layerCount));
    let locationsDone = 0;
    await this.executor.start();
    await forEachChunk(shards, { chunkSize, signal }, async (worker, indices) => {
      const buffer = sampleBufferIn(buffers.take(), indices.length, layerCount);
      gather(latitudes, indices, buffer.latitudes);
      gather(longitudes, indices, buffer.longitudes);
      const sampled = await this.executor.run(
        SAMPLE,
        { hazard, layers, radiusKm, method, ...buffer },
        { worker, tenant: LIBRARY, signal, transfer: [buffer.latitudes.buffer] },
      );
      scatter(sampled.values, indices, layerCount, values);
      scatter(sampled.reasons, indices, layerCount, reasons);
      buffers.giveBack(sampled.values);
      locationsDone += indices.length;
      request.onProgress?.(locationsDone, locationCount);
    });
    return { values, reasons };
  }

  /** Samples stored steps on the calling thread, which takes less time than sending the request. */
  sampleSteps(request: StepsRequest): Promise<StepsResult> {
    return this.#local.sampleSteps(request);
  }

  async score(request: ScoreRequest): Promise<ScoreResult> {
    if (request.latitudes.length < POOLED_PLACES_MIN) return this.#local.score(request);
    await this.executor.start();
    return scoreInWorkers(request, {
      executor: this.executor,
      tenant: LIBRARY,
      holdings: this.holdings,
      neighborhoodOf: (hazard, location) => this.#local.neighborhoodOf(hazard, location),
    });
  }

  valueTileLayer(request: ValueTileLayerRequest): ValueTileLayer {
    return this.#local.valueTileLayer(request);
  }

  /** Computes the tile in the worker that owns its center: tiles next to each other read the same data. */
  async valueTile(request: ValueTileRequest, { signal }: ValueTileOptions = {}): Promise<ValueTile> {
    checkTile(request);
    const neighborhood = this.#local.neighborhoodOf(request.hazard, tileCenter(request));
    const worker = ownerOf(neighborhood, this.executor.workerCount);
    return this.executor.run(VALUE_TILE, request, { worker, tenant: LIBRARY, signal });
  }

  async close(): Promise<void> {
    await this.executor.end();
    await this.#local.close();
  }

  #neighborhoodOf(query: unknown): number {
    return neighborhoodOfQuery((hazard, location) => this.#local.neighborhoodOf(hazard, location), query);
  }
}

/** Adds the tiles of the workers to those of the calling thread. */
function tileUseOf({ tileUse }: LocalAtlas, executor: Executor): TileUse {
  return {
    origin: tileUse.origin,
    get cachedBytes() {
      return tileUse.cachedBytes + executor.cachedBytes;
    },
    onFetch(listener) {
      const unsubscribers = [tileUse.onFetch(listener), executor.fetches.add(listener)];
      return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
    },
  };
}

/** Returns whether a request, which has not been validated, is large enough for the workers. */
function isPooled(request: Partial<SampleRequest> | null | undefined): boolean {
  return request?.latitudes instanceof Float64Array && request.latitudes.length >= POOLED_LOCATIONS_MIN;
}
