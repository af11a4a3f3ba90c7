import { catalogGridOf } from "../atlas/catalog.ts";
import type { CellAtlas } from "../atlas/cellSource.ts";
import type { CircleWork } from "../atlas/circleWork.ts";
import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import type { TileOrigin, TileUse } from "../atlas/tileUse.ts";
import { Fault, isFault } from "../errors.ts";
import type { Location } from "../kernel/grid.ts";
import { checkOptions, type ValueSchema } from "../schemaErrors.ts";
import { TimeSlice } from "../threads/timeSlice.ts";
import { addSources } from "./detail.ts";
import { NO_LAYERS, sampleLayers } from "./sampledLayers.ts";
import { HAZARD_NAMES, type HazardName, HAZARDS, layerOf } from "./hazards.ts";
import { NO_RANGES, plannedRanges, sampleRanges } from "./modelRange.ts";
import { PlanCache } from "./plan.ts";
import { type HazardQuery, parseHazardQuery } from "./query.ts";
import { sample, sampleSteps } from "./sample.ts";
import type { SampleRequest, SampleResult, StepsRequest, StepsResult } from "./sampleRequest.ts";
import { toScenarioResult } from "./scenarioResult.ts";
import type { CatalogGrid, CatalogHazard, HazardQueryInput, HazardResult } from "../contract/wireTypes.ts";

/** Result of an invalid query in a batch. The other queries are not affected. */
export interface RefusedElement {
  readonly error: Fault;
}

export interface BatchOptions {
  /** Cancels the batch: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Called after every 64 queries and after the last one. */
  readonly onProgress?: (queriesDone: number, queryCount: number) => void;
}

const BATCH_OPTIONS: ValueSchema = {
  type: "object",
  properties: { signal: { type: "signal" }, onProgress: { type: "function" } },
  additionalProperties: false,
};

/** Validates the options of a batch. @throws Fault `invalid_request` with all errors */
export function checkBatchOptions(options: BatchOptions): void {
  checkOptions(options, BATCH_OPTIONS, { code: "invalid_request" });
}

/** The layers that an atlas has for a hazard, ordered by the hazard's scenarios and years. */
export interface AtlasHoldings extends Pick<CatalogHazard, "hazard" | "rules" | "layers"> {
  readonly grid: CatalogGrid;
}

/** An open atlas. */
export interface Atlas {
  /** Name of the release. Values may differ between releases. */
  readonly release: string;
  /**
   * Hexadecimal SHA-256 of everything that can appear in a result: release name, grids, rules, sources and the files with
   * the cells. It does not depend on the address of the atlas or on when its catalog was written.
   */
  readonly contentHash: string;
  /** True if the values are synthetic, as in the demo. */
  readonly synthetic: boolean;
  /** The layers of each hazard; hazards without layers are absent. */
  readonly holdings: readonly AtlasHoldings[];
  /** @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable` */
  hazardRisk(query: HazardQueryInput): Promise<HazardResult>;
  /**
   * Returns one element per query, in order; the element of an invalid query is a RefusedElement.
   * @throws Fault `invalid_request` if `queries` is not a non-empty list, `atlas_unavailable`
   */
  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    options?: BatchOptions,
  ): Promise<readonly (HazardResult | RefusedElement)[]>;
  /**
   * Samples layers of one hazard at many locations, with typed arrays as input and output.
   * @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable`; the signal's reason when aborted
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  /**
   * Returns the stored steps of the cells at many locations, which take a quarter of the memory of values.
   * @throws Fault as `sample` does; the signal's reason when aborted
   */
  sampleSteps(request: StepsRequest): Promise<StepsResult>;
  close(): Promise<void>;
}

/** Options of a batch on an atlas that is open on this thread. */
interface BatchRun {
  /** Default: yields to other tasks of the thread every 5 ms. */
  readonly timeSlice?: TimeSlice;
  /** Receives each element as soon as it is known, in any order; the result is then an empty list. */
  readonly onElement?: (element: HazardResult | RefusedElement, index: number) => void;
}

/** An atlas opened on this thread, with additional members for worker threads and the host. */
export interface LocalAtlas extends Atlas {
  /** Memory used by cached tiles, and the time that fetches take. */
  readonly tileUse: TileUse;
  /**
   * Estimates whether the query would block the thread long enough to delay other requests. This can only be the case
   * for circles.
   */
  isLong(query: HazardQuery): boolean;
  /** Estimates what the query's circle takes to sample; nothing for a point. */
  estimateWork(query: HazardQuery): CircleWork;
  /**
   * Returns the index of the pyramid tile that contains a location; queries with the same index read the same tiles.
   */
  neighborhoodOf(hazard: string, location: Location): number;
  /** @param timeSlice its `yield` is awaited between tiles that must be loaded; default: of this thread */
  hazardRisk(query: HazardQueryInput, timeSlice?: TimeSlice): Promise<HazardResult>;
  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    options?: BatchOptions,
    run?: BatchRun,
  ): Promise<readonly (HazardResult | RefusedElement)[]>;
  sample(request: SampleRequest, timeSlice?: TimeSlice): Promise<SampleResult>;
}

/** Number of queries of a batch that run concurrently: enough to overlap reads, and few enough to limit memory. */
const BATCH_CONCURRENCY = 16;
/**
 * Maximum number of cell vectors that a short query reads. This takes a third of a millisecond if the tiles are cached,
 * and ten times as long if tiles of the demo must be generated first.
 */
const SHORT_CELL_VECTORS_MAX = 32_768;
/** Queries of a batch between two progress reports. */
const QUERIES_PER_PROGRESS_REPORT = 64;
/** Queries between two checks of the clock; a check takes a tenth of the time of a point query. */
const QUERIES_PER_TIME_CHECK = 4;

/** Creates the interface of an atlas. */
export function createAtlas(
  sampler: Sampler,
  source: Pick<CellAtlas, "release" | "contentHash" | "synthetic" | "close">,
  tileOrigin: TileOrigin,
): LocalAtlas {
  const plans = new PlanCache(sampler);
  let isClosed = false;
  /** Rejects all calls after `close`, including those that cached tiles could answer. */
  const ifOpen = <Answer>(work: () => Promise<Answer>): Promise<Answer> =>
    isClosed ? Promise.reject(atlasClosedFault()) : work();
  return {
    release: source.release,
    contentHash: source.contentHash,
    synthetic: source.synthetic,
    holdings: holdingsOf(sampler),
    tileUse: {
      origin: tileOrigin,
      get cachedBytes() {
        return sampler.cachedBytes;
      },
      onFetch: (listener) => sampler.fetches.add(listener),
    },
    isLong: (query) => query.radius > 0 && estimateCellVectors(sampler, plans, query) > SHORT_CELL_VECTORS_MAX,
    estimateWork: (query) => estimateWork(sampler, plans, query),
    neighborhoodOf: (hazard, location) => sampler.neighborhoodOf(hazard, location),
    hazardRisk: (input, timeSlice) => ifOpen(() => answer(sampler, plans, input, timeSlice)),
    hazardRiskBatch: (queries, options, run) => ifOpen(() => answerBatch(sampler, plans, queries, { options, run })),
    sample: (request, timeSlice) => ifOpen(() => sample(sampler, request, timeSlice)),
    sampleSteps: (request) => ifOpen(() => sampleSteps(sampler, request)),
    close() {
      isClosed = true;
      return source.close();
    },
  };
}

/** Returns the error of calls that were pending when the atlas was closed, or that were made later. */
export function atlasClosedFault(): Fault {
  return new Fault("atlas_unavailable", "The atlas was closed.");
}

function holdingsOf({ hazards }: Sampler): readonly AtlasHoldings[] {
  return HAZARD_NAMES.flatMap((hazard) => {
    const atlasHazard = hazards.get(hazard);
    if (atlasHazard === undefined) return [];
    const layers = new Map<string, AtlasHoldings["layers"][number]>();
    for (const scenario of HAZARDS[hazard].scenarios) {
      for (const year of HAZARDS[hazard].years) {
        const stored = layerOf(scenario, year);
        const entry = atlasHazard.group(stored.scenario, stored.year)?.entry;
        if (entry === undefined) continue;
        const metrics = entry.layers.map(({ metric }) => metric);
        const layer = { scenario: stored.scenario, analysis_year: stored.year, metrics, source: entry.provenance };
        layers.set(`${stored.scenario} ${stored.year}`, layer);
      }
    }
    return [{ hazard, grid: catalogGridOf(atlasHazard.grid), rules: atlasHazard.rules, layers: [...layers.values()] }];
  });
}

const NOT_A_BATCH = "A batch must be a list of at least one query.";

async function answerBatch(
  sampler: Sampler,
  plans: PlanCache,
  queries: readonly HazardQueryInput[],
  { options = {}, run = {} }: { readonly options?: BatchOptions | undefined; readonly run?: BatchRun | undefined },
): Promise<readonly (HazardResult | RefusedElement)[]> {
  checkBatchOptions(options);
  const { signal, onProgress } = options;
  if (!Array.isArray(queries) || queries.length === 0) {
    throw new Fault("invalid_request", NOT_A_BATCH, {
      items: [
        {
          pointer: "",
          code: Array.isArray(queries) ? "empty" : "wrong_type",
          detail: NOT_A_BATCH,
        },
      ],
    });
  }
  const results: (HazardResult | RefusedElement)[] = [];
  const { timeSlice = new TimeSlice(), onElement } = run;
  if (onElement === undefined) results.length = queries.length;
  let next = 0;
  let queriesDone = 0;
  const work = async (): Promise<void> => {
    try {
      for (let index = next++; index < queries.length; index = next++) {
        signal?.throwIfAborted();
        const element = await answerElement(sampler, plans, queries[index], timeSlice);
        if (onElement === undefined) results[index] = element;
        else onElement(element, index);
        queriesDone += 1;
        const isReportDue = queriesDone % QUERIES_PER_PROGRESS_REPORT === 0 || queriesDone === queries.length;
        if (isReportDue) onProgress?.(queriesDone, queries.length);
        // If all tiles are cached, nothing else yields to the event loop, which also delivers the abort signal.
        if (timeSlice.isPaused || (queriesDone % QUERIES_PER_TIME_CHECK === 0 && timeSlice.isExpired)) {
          await timeSlice.yield();
        }
      }
    } catch (error) {
      next = queries.length; // stops the other loops
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(BATCH_CONCURRENCY, queries.length) }, work));
  return results;
}

async function answerElement(
  sampler: Sampler,
  plans: PlanCache,
  input: unknown,
  timeSlice: TimeSlice,
): Promise<HazardResult | RefusedElement> {
  try {
    return await answer(sampler, plans, input, timeSlice);
  } catch (error) {
    if (isFault(error, "invalid_request") || isFault(error, "combination_unavailable")) return { error };
    throw error;
  }
}

async function answer(
  sampler: Sampler,
  plans: PlanCache,
  input: unknown,
  timeSlice: TimeSlice | undefined,
): Promise<HazardResult> {
  const query = parseHazardQuery(input);
  const { latitude, longitude, radius, aggregation_method } = query;
  const results: HazardResult["results"][number][] = [];
  const sources: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const hazard of query.hazards) {
    const plan = plans.get(hazard, query);
    const sampled = plan.set === undefined ? NO_LAYERS : await sampleLayers(sampler, plan.set, query, timeSlice);
    const ranges = query.detail ? await sampleRanges(sampler, hazard, query, timeSlice) : NO_RANGES;
    results.push({
      hazard,
      scenarios: plan.scenarios.map((scenario) => toScenarioResult(query, scenario, { sampled, ranges })),
    });
    if (query.detail) for (const { years } of plan.scenarios) addSources(years, sources);
  }
  const location = { latitude, longitude };
  const aggregation = { radius_km: radius, method: aggregation_method };
  if (query.detail) return { location, ...(radius === 0 ? {} : { aggregation }), results, sources };
  return radius === 0 ? { location, results } : { location, aggregation, results };
}

function estimateWork(sampler: Sampler, plans: PlanCache, query: HazardQuery): CircleWork {
  const circle = { latDeg: query.latitude, lonDeg: query.longitude, radiusM: query.radius * 1000 };
  let cellVectorCount = 0;
  let coldTileVectorCount = 0;
  if (query.radius > 0) {
    for (const hazard of query.hazards) {
      for (const set of setsOf(sampler, plans, { hazard, query })) {
        const work = sampler.estimateCircleWork(set, circle);
        cellVectorCount += work.cellVectorCount;
        coldTileVectorCount += work.coldTileVectorCount;
      }
    }
  }
  return { cellVectorCount, coldTileVectorCount };
}

/** Returns the number of cell vectors that the query's circle would read cell by cell. */
function estimateCellVectors(sampler: Sampler, plans: PlanCache, query: HazardQuery): number {
  const circle = { latDeg: query.latitude, lonDeg: query.longitude, radiusM: query.radius * 1000 };
  let count = 0;
  for (const hazard of query.hazards) {
    for (const set of setsOf(sampler, plans, { hazard, query })) count += sampler.estimateCellVectors(set, circle);
  }
  return count;
}

/** Returns the sets of layers that a query samples for one hazard. */
function setsOf(
  sampler: Sampler,
  plans: PlanCache,
  { hazard, query }: { readonly hazard: HazardName; readonly query: HazardQuery },
): readonly LayerSet[] {
  const { set } = plans.get(hazard, query);
  const rangeSets = [...plannedRanges(sampler, hazard, query).values()].map((range) => range.set);
  return set === undefined ? rangeSets : [set, ...rangeSets];
}
