import { catalogGridOf } from "../atlas/catalog.ts";
import type { CellAtlas } from "../atlas/cellSource.ts";
import type { CircleWork } from "../atlas/circleWork.ts";
import type { LayerSet } from "../atlas/layerSet.ts";
import type { Sampler } from "../atlas/sampler.ts";
import type { TileOrigin, TileUse } from "../atlas/tileUse.ts";
import { Fault } from "../errors.ts";
import type { Circle } from "../kernel/geodesy.ts";
import type { Location } from "../kernel/grid.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import type { ValueTile } from "../tiles/valueTile.ts";
import {
  type BatchOptions,
  type BatchRun,
  checkQueryOptions,
  type QueryOptions,
  type QueryRun,
  type RefusedElement,
  runBatch,
} from "./batch.ts";
import { answerCurve, checkHasCurves, curveSetsOf } from "./curveAnswer.ts";
import type { CurveQuery } from "./curveQuery.ts";
import { curvePlanOf } from "./curvePlan.ts";
import { addSources, toScenarioResult } from "./scenarioResult.ts";
import { NO_LAYERS, readLayers, sampleLayers } from "./sampledLayers.ts";
import { HAZARD_NAMES, HAZARDS, layerOf } from "./hazards.ts";
import { NO_RANGES, plannedRanges, sampleRanges } from "./modelRange.ts";
import { PlanCache } from "./plan.ts";
import { type HazardQuery, parseHazardQuery } from "./query.ts";
import { sample, sampleSteps } from "./sample.ts";
import type { SampleRequest, SampleResult, StepsRequest, StepsResult } from "./sampleRequest.ts";
import {
  computeValueTile,
  describeTileLayer,
  type ValueTileLayer,
  type ValueTileLayerRequest,
  type ValueTileOptions,
  type ValueTileRequest,
} from "./valueTiles.ts";
import { scorePlaces } from "./scoring/scorePlaces.ts";
import type { PartialScoreRequest, ScoreResult, ScoringAtlas } from "./scoring/scoreRequest.ts";
import type {
  CatalogGrid,
  CatalogHazard,
  CurveQueryInput,
  CurveResult,
  HazardQueryInput,
  HazardResult,
} from "../contract/wireTypes.ts";

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
  /**
   * Returns the hazards of one location: every requested combination of hazard, scenario and analysis year, at the point or
   * over a geodesic circle. A metric without a value is null, and `no_data` gives the reason. Formulas:
   * docs/methods/hazard.md.
   * @throws Fault `invalid_request`, `combination_unavailable` (a hazard is not offered for a scenario or year),
   *   `atlas_unavailable`; the signal's reason when aborted
   */
  hazardRisk(query: HazardQueryInput, options?: QueryOptions): Promise<HazardResult>;
  /**
   * Returns the hazards of many locations: one element per query, in order. The element of an invalid query is a
   * RefusedElement.
   * @throws Fault `invalid_request` if `queries` is not a non-empty list, `atlas_unavailable`
   */
  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    options?: BatchOptions,
  ): Promise<readonly (HazardResult | RefusedElement)[]>;
  /**
   * Returns the return-period curves of one hazard at a location, and the values derived from them.
   * @throws Fault `invalid_request`, `combination_unavailable` (also if the atlas has no curves of the hazard),
   *   `atlas_unavailable`; the signal's reason when aborted
   */
  curve(query: CurveQueryInput, options?: QueryOptions): Promise<CurveResult>;
  /** Returns one element per query, in order, as `hazardRiskBatch` does. @throws Fault as `hazardRiskBatch` does */
  curveBatch(
    queries: readonly CurveQueryInput[],
    options?: BatchOptions,
  ): Promise<readonly (CurveResult | RefusedElement)[]>;
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
  /**
   * Describes the tiles of a stored layer.
   * @throws Fault `invalid_request`, `combination_unavailable`
   */
  valueTileLayer(request: ValueTileLayerRequest): ValueTileLayer;
  /**
   * Returns a map tile of a stored layer, 256 x 256 pixels in Web Mercator.
   * @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable`
   */
  valueTile(request: ValueTileRequest, options?: ValueTileOptions): Promise<ValueTile>;
  /** Releases files and ends the worker threads. Later calls reject with `atlas_unavailable`. */
  close(): Promise<void>;
}

/** An atlas opened on this thread, with additional members for worker threads and the host. */
export interface LocalAtlas extends Atlas, ScoringAtlas {
  /** Memory used by cached tiles, and the time that fetches take. */
  readonly tileUse: TileUse;
  /**
   * Estimates whether the query would block the thread long enough to delay other requests. This can only be the case
   * for circles.
   */
  isLong(query: HazardQuery | CurveQuery): boolean;
  /** Estimates what the query's circle takes to sample; nothing for a point. */
  estimateWork(query: HazardQuery | CurveQuery): CircleWork;
  /** @throws Fault `combination_unavailable` if the atlas has no curves of the hazard */
  checkCurve(query: CurveQuery): void;
  /**
   * Returns the index of the pyramid tile that contains a location; queries with the same index read the same tiles.
   */
  neighborhoodOf(hazard: string, location: Location): number;
  hazardRisk(query: HazardQueryInput, run?: QueryRun): Promise<HazardResult>;
  /**
   * Answers a query from memory, in a fraction of a millisecond.
   * @returns undefined if `hazardRisk` has to read something, or may take longer
   */
  readHazardRisk(query: HazardQuery): HazardResult | undefined;
  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    options?: BatchOptions,
    run?: BatchRun<HazardResult>,
  ): Promise<readonly (HazardResult | RefusedElement)[]>;
  curve(query: CurveQueryInput, run?: QueryRun): Promise<CurveResult>;
  curveBatch(
    queries: readonly CurveQueryInput[],
    options?: BatchOptions,
    run?: BatchRun<CurveResult>,
  ): Promise<readonly (CurveResult | RefusedElement)[]>;
  sample(request: SampleRequest, timeSlice?: TimeSlice): Promise<SampleResult>;
  score(request: PartialScoreRequest, timeSlice?: TimeSlice): Promise<ScoreResult>;
  valueTile(
    request: ValueTileRequest,
    options?: ValueTileOptions & { readonly timeSlice?: TimeSlice },
  ): Promise<ValueTile>;
}

/**
 * Maximum number of cell vectors that a short query reads. This takes a third of a millisecond if the tiles are cached,
 * and ten times as long if tiles of the demo must be generated first.
 */
const SHORT_CELL_VECTORS_MAX = 32_768;
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
    isLong: (query) => estimateCellVectors(sampler, plans, query) > SHORT_CELL_VECTORS_MAX,
    estimateWork: (query) => estimateWork(sampler, plans, query),
    neighborhoodOf: (hazard, location) => sampler.neighborhoodOf(hazard, location),
    hazardRisk: (input, run) => ifOpen(() => answer(sampler, plans, input, run)),
    readHazardRisk: (query) => (isClosed ? undefined : readAnswer(sampler, plans, query)),
    hazardRiskBatch: (queries, options, run) =>
      ifOpen(() =>
        runBatch(queries, { options, run }, (input, timeSlice) =>
          answer(sampler, plans, input, { timeSlice, signal: options?.signal }),
        ),
      ),
    checkCurve: (query) => checkHasCurves(sampler, query),
    curve: (input, run) => ifOpen(() => answerCurve(sampler, input, run)),
    curveBatch: (queries, options, run) =>
      ifOpen(() =>
        runBatch(queries, { options, run }, (input, timeSlice) =>
          answerCurve(sampler, input, { timeSlice, signal: options?.signal }),
        ),
      ),
    sample: (request, timeSlice) => ifOpen(() => sample(sampler, request, timeSlice)),
    sampleSteps: (request) => ifOpen(() => sampleSteps(sampler, request)),
    score: (request, timeSlice) => ifOpen(() => scorePlaces(sampler, request, timeSlice)),
    valueTileLayer: (request) => describeTileLayer(sampler, request),
    valueTile: (request, options) => ifOpen(() => computeValueTile(sampler, request, options)),
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

function holdingsOf(sampler: Sampler): readonly AtlasHoldings[] {
  return HAZARD_NAMES.flatMap((hazard) => {
    const atlasHazard = sampler.hazards.get(hazard);
    if (atlasHazard === undefined) return [];
    const layers = new Map<string, AtlasHoldings["layers"][number]>();
    for (const scenario of HAZARDS[hazard].scenarios) {
      for (const year of HAZARDS[hazard].years) {
        const stored = layerOf(scenario, year);
        const entry = atlasHazard.group(stored.scenario, stored.year)?.entry;
        if (entry === undefined) continue;
        const metrics = entry.layers.map(({ metric }) => metric);
        const periods = curvePlanOf(sampler, hazard, stored)?.returnPeriodsYears;
        layers.set(`${stored.scenario} ${stored.year}`, {
          scenario: stored.scenario,
          analysis_year: stored.year,
          metrics,
          ...(periods && { curve_return_periods: [...periods] }),
          source: entry.provenance,
        });
      }
    }
    return [{ hazard, grid: catalogGridOf(atlasHazard.grid), rules: atlasHazard.rules, layers: [...layers.values()] }];
  });
}

function readAnswer(sampler: Sampler, plans: PlanCache, query: HazardQuery): HazardResult | undefined {
  if (query.detail) return undefined;
  const results: HazardResult["results"][number][] = [];
  for (const hazard of query.hazards) {
    const { set, scenarios } = plans.get(hazard, query);
    const sampled = set === undefined ? NO_LAYERS : readLayers(sampler, set, query);
    if (sampled === undefined) return undefined;
    const values = { sampled, ranges: NO_RANGES };
    results.push({ hazard, scenarios: scenarios.map((scenario) => toScenarioResult(query, scenario, values)) });
  }
  return toResult(query, results);
}

function toResult(query: HazardQuery, results: HazardResult["results"]): HazardResult {
  const { latitude, longitude, radius, aggregation_method: method } = query;
  const location = { latitude, longitude };
  return radius === 0 ? { location, results } : { location, aggregation: { radius_km: radius, method }, results };
}

async function answer(sampler: Sampler, plans: PlanCache, input: unknown, run: QueryRun = {}): Promise<HazardResult> {
  checkQueryOptions(run);
  const query = parseHazardQuery(input);
  const { signal, timeSlice } = run;
  const results: HazardResult["results"][number][] = [];
  const sources: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const hazard of query.hazards) {
    const plan = plans.get(hazard, query);
    const sampled = plan.set === undefined ? NO_LAYERS : await sampleLayers(sampler, plan.set, query, timeSlice);
    signal?.throwIfAborted();
    const ranges = query.detail ? await sampleRanges(sampler, hazard, query, run) : NO_RANGES;
    signal?.throwIfAborted();
    results.push({
      hazard,
      scenarios: plan.scenarios.map((scenario) => toScenarioResult(query, scenario, { sampled, ranges })),
    });
    if (query.detail) for (const { years } of plan.scenarios) addSources(years, sources);
  }
  const result = toResult(query, results);
  return query.detail ? { ...result, sources } : result;
}

function estimateWork(sampler: Sampler, plans: PlanCache, query: HazardQuery | CurveQuery): CircleWork {
  let [cellVectorCount, coldTileVectorCount] = [0, 0];
  for (const set of circleSetsOf(sampler, plans, query)) {
    const work = sampler.estimateCircleWork(set, circleOf(query));
    cellVectorCount += work.cellVectorCount;
    coldTileVectorCount += work.coldTileVectorCount;
  }
  return { cellVectorCount, coldTileVectorCount };
}

/** Returns the number of cell vectors that the query's circle would read cell by cell. */
function estimateCellVectors(sampler: Sampler, plans: PlanCache, query: HazardQuery | CurveQuery): number {
  return circleSetsOf(sampler, plans, query).reduce(
    (count, set) => count + sampler.estimateCellVectors(set, circleOf(query)),
    0,
  );
}

function circleOf({ latitude, longitude, radius }: HazardQuery | CurveQuery): Circle {
  return { latDeg: latitude, lonDeg: longitude, radiusM: radius * 1000 };
}

/** Returns the sets of layers that a query samples over its circle; none for a point. */
function circleSetsOf(sampler: Sampler, plans: PlanCache, query: HazardQuery | CurveQuery): readonly LayerSet[] {
  if (query.radius === 0) return [];
  if (!("total_hazard" in query)) return curveSetsOf(sampler, query);
  return query.hazards.flatMap((hazard) => {
    const { set } = plans.get(hazard, query);
    const rangeSets = [...plannedRanges(sampler, hazard, query).values()].map((range) => range.set);
    return set === undefined ? rangeSets : [set, ...rangeSets];
  });
}
