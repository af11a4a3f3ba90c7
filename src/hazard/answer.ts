import { type GridEntry, gridEntryOf } from "../atlas/catalogue.ts";
import type { CellAtlas } from "../atlas/cellSource.ts";
import { Turns } from "../atlas/manyPlaces.ts";
import type { Sampler } from "../atlas/sampler.ts";
import type { TileOrigin, TileUse } from "../atlas/tileUse.ts";
import { Fault, isFault } from "../errors.ts";
import { checkOptions, type ValueSchema } from "../schemaErrors.ts";
import { addSources } from "./detail.ts";
import { NO_LAYERS, sampleLayers } from "./sampledLayers.ts";
import { HAZARD_NAMES, type HazardName, HAZARDS, layerOf, type Scenario } from "./hazards.ts";
import { PlanCache } from "./plan.ts";
import { type HazardQuery, type HazardQueryInput, parseHazardQuery } from "./query.ts";
import type { HazardResult } from "./result.ts";
import { sample, sampleSteps } from "./sample.ts";
import type { SampleRequest, SampleResult, StepsRequest, StepsResult } from "./sampleRequest.ts";
import { toScenarioResult } from "./scenarioResult.ts";

/** An element of a batch that could not be answered; the others are untouched by it. */
export interface RefusedElement {
  readonly error: Fault;
}

export interface BatchOptions {
  /** Ends the work early: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Told every few dozen queries, and when the last is done. */
  readonly onProgress?: (queriesDone: number, queryCount: number) => void;
}

const BATCH_OPTIONS: ValueSchema = {
  type: "object",
  properties: { signal: { type: "signal" }, onProgress: { type: "function" } },
  additionalProperties: false,
};

/** @throws Fault `invalid_request` with everything that is wrong with the options of a batch */
export function checkBatchOptions(options: BatchOptions): void {
  checkOptions(options, BATCH_OPTIONS, { code: "invalid_request" });
}

/** What an atlas has of a hazard. */
export interface AtlasHoldings {
  readonly hazard: HazardName;
  /** Degrees, WGS84; rows from the north, columns from the west. */
  readonly grid: GridEntry;
  /** The numbers its metrics were made with. */
  readonly rules: Readonly<Record<string, unknown>>;
  /** In the order of the hazard's scenarios and years; the baseline answers for 1980 under every scenario. */
  readonly layers: readonly {
    readonly scenario: Scenario;
    readonly analysis_year: number;
    readonly metrics: readonly string[];
    /** Where they come from, as the atlas states it. */
    readonly source: Readonly<Record<string, unknown>>;
  }[];
}

/** An open atlas. */
export interface Atlas {
  /** Names this set of numbers; another release may give others. */
  readonly release: string;
  /**
   * SHA-256, hexadecimal, of everything that an answer can show: release name, grids, rules, sources and the files of
   * the cells. It is the same wherever the same atlas is opened, whenever its catalog was written.
   */
  readonly contentHash: string;
  /** True where the numbers are invented: the demo. */
  readonly synthetic: boolean;
  /** What there is of each hazard; a hazard that the atlas has nothing of is absent. */
  readonly holdings: readonly AtlasHoldings[];
  /** What its tiles take, of memory and of time. */
  readonly tileUse: TileUse;
  /** @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable` */
  hazardRisk(query: HazardQueryInput): Promise<HazardResult>;
  /**
   * Whether answering would keep the thread for a millisecond or more, of which others would notice: an estimate, and for
   * circles alone, since places are quick.
   */
  isLong(query: HazardQuery): boolean;
  /**
   * One element a query, in order; a query that is wrong in itself is refused in its place.
   * @throws Fault `invalid_request` where the whole is no list of queries, `atlas_unavailable`
   */
  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    options?: BatchOptions,
  ): Promise<readonly (HazardResult | RefusedElement)[]>;
  /**
   * The bulk door: many places, some layers of one hazard, arrays in and out.
   * @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable`; the signal's reason when aborted
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  /**
   * The cells of many places as they are stored, in a quarter of the memory.
   * @throws Fault as `sample`; the signal's reason when aborted
   */
  sampleSteps(request: StepsRequest): Promise<StepsResult>;
  close(): Promise<void>;
}

/** Queries of a batch that are in work at the same time: enough to keep reads busy, few enough to bound memory. */
const BATCH_CONCURRENCY = 16;
/**
 * Looking at so many takes a third of a millisecond with their tiles in memory, and ten times that where tiles of the demo
 * have to be made first, which the next circle there finds made.
 */
const SHORT_CELL_VECTORS_MAX = 32_768;
/** Queries of a batch between two words of progress. */
const QUERIES_PER_PROGRESS_REPORT = 64;
/** Queries between two looks at the clock, each of which takes a tenth of a place's time. */
const QUERIES_PER_TIME_CHECK = 4;

/** The atlas as its users see it, over the cells of one. */
export function createAtlas(
  sampler: Sampler,
  source: Pick<CellAtlas, "release" | "contentHash" | "synthetic" | "close">,
  tileOrigin: TileOrigin,
): Atlas {
  const plans = new PlanCache(sampler);
  let isClosed = false;
  /** What is in memory could still be given, and what is not could not: one who holds a closed atlas is told so. */
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
    isLong: (query) => query.radius > 0 && cellVectorsOf(sampler, plans, query) > SHORT_CELL_VECTORS_MAX,
    hazardRisk: (input) => ifOpen(() => answer(sampler, plans, input)),
    hazardRiskBatch: (queries, options) => ifOpen(() => answerBatch(sampler, plans, queries, options)),
    sample: (request) => ifOpen(() => sample(sampler, request)),
    sampleSteps: (request) => ifOpen(() => sampleSteps(sampler, request)),
    close() {
      isClosed = true;
      return source.close();
    },
  };
}

/** Why a call has no answer that was under way when the atlas was closed, or that came after. */
export function atlasClosedFault(): Fault {
  return new Fault("atlas_unavailable", "The atlas was closed.");
}

function holdingsOf({ hazards }: Sampler): readonly AtlasHoldings[] {
  return HAZARD_NAMES.flatMap((hazard) => {
    const held = hazards.get(hazard);
    if (held === undefined) return [];
    const layers = new Map<string, AtlasHoldings["layers"][number]>();
    for (const scenario of HAZARDS[hazard].scenarios) {
      for (const year of HAZARDS[hazard].years) {
        const stored = layerOf(scenario, year);
        const entry = held.group(stored.scenario, stored.year)?.entry;
        if (entry === undefined) continue;
        const metrics = entry.layers.map(({ metric }) => metric);
        const layer = { scenario: stored.scenario, analysis_year: stored.year, metrics, source: entry.provenance };
        layers.set(`${stored.scenario} ${stored.year}`, layer);
      }
    }
    return [{ hazard, grid: gridEntryOf(held.grid), rules: held.rules, layers: [...layers.values()] }];
  });
}

async function answerBatch(
  sampler: Sampler,
  plans: PlanCache,
  queries: readonly HazardQueryInput[],
  options: BatchOptions = {},
): Promise<readonly (HazardResult | RefusedElement)[]> {
  checkBatchOptions(options);
  const { signal, onProgress } = options;
  if (!Array.isArray(queries) || queries.length === 0) {
    throw new Fault("invalid_request", "A batch is a list of at least one query.", {
      items: [
        {
          pointer: "",
          code: Array.isArray(queries) ? "empty" : "wrong_type",
          detail: "A batch is a list of at least one query.",
        },
      ],
    });
  }
  const results: (HazardResult | RefusedElement)[] = Array.from({ length: queries.length });
  const turns = new Turns();
  let next = 0;
  let queriesDone = 0;
  const work = async (): Promise<void> => {
    try {
      for (let index = next++; index < queries.length; index = next++) {
        signal?.throwIfAborted();
        results[index] = await answerElement(sampler, plans, queries[index]);
        queriesDone += 1;
        const isReportDue = queriesDone % QUERIES_PER_PROGRESS_REPORT === 0 || queriesDone === queries.length;
        if (isReportDue) onProgress?.(queriesDone, queries.length);
        // With all tiles in memory nothing else would let others, and the signal, have the thread.
        if (turns.isPaused || (queriesDone % QUERIES_PER_TIME_CHECK === 0 && turns.isOver)) await turns.giveWay();
      }
    } catch (error) {
      next = queries.length; // nobody wants the rest any more
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
): Promise<HazardResult | RefusedElement> {
  try {
    return await answer(sampler, plans, input);
  } catch (error) {
    if (isFault(error, "invalid_request") || isFault(error, "combination_unavailable")) return { error };
    throw error;
  }
}

async function answer(sampler: Sampler, plans: PlanCache, input: unknown): Promise<HazardResult> {
  const query = parseHazardQuery(input);
  const { latitude, longitude, radius, aggregation_method } = query;
  const results: HazardResult["results"][number][] = [];
  const sources: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const hazard of query.hazards) {
    const plan = plans.get(hazard, query);
    const sampled = plan.set === undefined ? NO_LAYERS : await sampleLayers(sampler, plan.set, query);
    results.push({ hazard, scenarios: plan.scenarios.map((scenario) => toScenarioResult(query, scenario, sampled)) });
    if (query.detail) for (const { years } of plan.scenarios) addSources(years, sources);
  }
  const location = { latitude, longitude };
  const aggregation = { radius_km: radius, method: aggregation_method };
  if (query.detail) return { location, ...(radius === 0 ? {} : { aggregation }), results, sources };
  return radius === 0 ? { location, results } : { location, aggregation, results };
}

/** All that a query's circle would have to have looked at, cell by cell. */
function cellVectorsOf(sampler: Sampler, plans: PlanCache, query: HazardQuery): number {
  const circle = { latDeg: query.latitude, lonDeg: query.longitude, radiusM: query.radius * 1000 };
  let count = 0;
  for (const hazard of query.hazards) {
    const { set } = plans.get(hazard, query);
    if (set !== undefined) count += sampler.cellVectorsOf(set, circle);
  }
  return count;
}
