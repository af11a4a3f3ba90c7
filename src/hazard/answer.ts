import { type GridEntry, gridEntryOf, type GroupEntry, type LayerEntry } from "../atlas/catalogue.ts";
import { Turns } from "../atlas/manyPlaces.ts";
import type { FieldLayer } from "../atlas/residentField.ts";
import type { CellSample, CircleSample, CircleValue, LayerSet, Sampler } from "../atlas/sampler.ts";
import type { TileOrigin, TileUse } from "../atlas/tileUse.ts";
import { Fault, isFault } from "../errors.ts";
import type { Location } from "../kernel/grid.ts";
import { STEPS_MAX, STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import {
  BASELINE,
  HAZARD_NAMES,
  type HazardName,
  HAZARDS,
  layerOf,
  type MetricName,
  type Scenario,
} from "./hazards.ts";
import { askedBy, type HazardQuery, type HazardQueryInput, readHazardQuery } from "./query.ts";
import {
  sample,
  type SampleRequest,
  type SampleResult,
  sampleSteps,
  type StepsRequest,
  type StepsResult,
} from "./sample.ts";

/** Why a value is null. Never a zero, and a zero is never a null. */
export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/** How an analysis year's numbers were made; with `detail`. */
export interface AnswerDetail {
  /**
   * Cells of the atlas's grid that the answer looked at: 1 at a point, those of the circle otherwise. Beyond the edge of
   * the grid there are none.
   */
  readonly cells: number;
  /** 0 to 1: area with data / area of all those cells; the least of the metrics'. Nothing is said of what lies beyond the grid. */
  readonly valid_share: number;
  /** The cell that answered at a point. */
  readonly cell_centre?: { readonly latitude: number; readonly longitude: number };
  /** Where the layer comes from, as its atlas states it. */
  readonly source: Readonly<Record<string, unknown>>;
  /** The numbers its metrics were made with. */
  readonly rules: Readonly<Record<string, unknown>>;
}

export interface AnalysisYearResult {
  readonly analysis_year: number;
  readonly metrics: Readonly<Partial<Record<MetricName, number | null>>>;
  /** There exactly when a metric is null. */
  readonly no_data?: NoDataReason;
  readonly detail?: AnswerDetail;
}

export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly analysis_years: readonly AnalysisYearResult[];
}

export interface HazardResult {
  readonly location: { readonly latitude: number; readonly longitude: number };
  /** There exactly when a radius above 0 was asked for. */
  readonly aggregation?: { readonly radius_km: number; readonly method: "max" | "mean" };
  /** One element a hazard, scenario and year, each in the order asked for. */
  readonly results: readonly { readonly hazard: HazardName; readonly scenarios: readonly ScenarioResult[] }[];
}

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
const BATCH_PARALLEL = 16;
/**
 * Looking at so many takes a third of a millisecond with their tiles in memory, and ten times that where tiles of the demo
 * have to be made first, which the next circle there finds made.
 */
const SHORT_CELL_VECTORS_MAX = 32_768;
/** Queries of a batch between two words of progress. */
const QUERIES_PER_TELL = 64;
/** Queries between two looks at the clock, each of which takes a tenth of a place's time. */
const QUERIES_PER_LOOK = 4;

/** The atlas as its users see it, over the cells of one. */
export function answeringAtlas(
  sampler: Sampler,
  about: { readonly release: string; readonly synthetic: boolean; close(): Promise<void> },
  tileOrigin: TileOrigin,
): Atlas {
  const plans = new Plans(sampler);
  let isClosed = false;
  /** What is in memory could still be given, and what is not could not: one who holds a closed atlas is told so. */
  const whileOpen = <Answer>(work: () => Promise<Answer>): Promise<Answer> =>
    isClosed ? Promise.reject(atlasClosed()) : work();
  return {
    release: about.release,
    synthetic: about.synthetic,
    holdings: holdingsOf(sampler),
    tileUse: {
      origin: tileOrigin,
      get cachedBytes() {
        return sampler.cachedBytes;
      },
      onFetch: (listener) => sampler.fetches.add(listener),
    },
    isLong: (query) => query.radius > 0 && cellVectorsOf(sampler, plans, query) > SHORT_CELL_VECTORS_MAX,
    hazardRisk: (input) => whileOpen(() => answer(sampler, plans, input)),
    async hazardRiskBatch(queries, { signal, onProgress } = {}) {
      if (isClosed) throw atlasClosed();
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
            const isToTell = queriesDone % QUERIES_PER_TELL === 0 || queriesDone === queries.length;
            if (isToTell) onProgress?.(queriesDone, queries.length);
            // With all tiles in memory nothing else would let others, and the signal, have the thread.
            if (turns.isPaused || (queriesDone % QUERIES_PER_LOOK === 0 && turns.isOver)) await turns.giveWay();
          }
        } catch (error) {
          next = queries.length; // nobody wants the rest any more
          throw error;
        }
      };
      await Promise.all(Array.from({ length: Math.min(BATCH_PARALLEL, queries.length) }, work));
      return results;
    },
    sample: (request) => whileOpen(() => sample(sampler, request)),
    sampleSteps: (request) => whileOpen(() => sampleSteps(sampler, request)),
    close() {
      isClosed = true;
      return about.close();
    },
  };
}

/** Why a call has no answer that was under way when the atlas was closed, or that came after. */
export function atlasClosed(): Fault {
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

async function answerElement(sampler: Sampler, plans: Plans, input: unknown): Promise<HazardResult | RefusedElement> {
  try {
    return await answer(sampler, plans, input);
  } catch (error) {
    if (isFault(error, "invalid_request") || isFault(error, "combination_unavailable")) return { error };
    throw error;
  }
}

async function answer(sampler: Sampler, plans: Plans, input: unknown): Promise<HazardResult> {
  const query = readHazardQuery(input);
  const { latitude, longitude, radius, aggregation_method } = query;
  const results: HazardResult["results"][number][] = [];
  for (const hazard of query.hazards) {
    const plan = plans.of(hazard, query);
    const found = plan.set === undefined ? NOTHING : await sampleLayers(sampler, plan.set, query);
    results.push({ hazard, scenarios: plan.scenarios.map((scenario) => shape(query, plan, scenario, found)) });
  }
  const location = { latitude, longitude };
  if (radius === 0) return { location, results };
  return { location, aggregation: { radius_km: radius, method: aggregation_method }, results };
}

/** All that a query's circle would have to have looked at, cell by cell. */
function cellVectorsOf(sampler: Sampler, plans: Plans, query: HazardQuery): number {
  const circle = { latDeg: query.latitude, lonDeg: query.longitude, radiusM: query.radius * 1000 };
  let count = 0;
  for (const hazard of query.hazards) {
    const { set } = plans.of(hazard, query);
    if (set !== undefined) count += sampler.cellVectorsOf(set, circle);
  }
  return count;
}

/** What has to be looked up for a query's hazard, scenarios and years, wherever the place is. */
interface Plan {
  /** Undefined where the atlas has none of the layers. */
  readonly set: LayerSet | undefined;
  readonly rules: Readonly<Record<string, unknown>>;
  readonly scenarios: readonly PlannedScenario[];
}

interface PlannedScenario {
  readonly scenario: Scenario;
  readonly years: readonly PlannedYear[];
}

interface PlannedYear {
  readonly year: number;
  /** The layers that answer; undefined where the atlas lacks them. */
  readonly entry: GroupEntry | undefined;
  readonly metrics: readonly PlannedMetric[];
}

interface PlannedMetric {
  readonly metric: MetricName;
  readonly own: PlannedLayer | undefined;
  /** What the change is counted from; undefined where no change is asked for, or where the atlas lacks it. */
  readonly reference: PlannedLayer | undefined;
}

interface PlannedLayer {
  readonly entry: LayerEntry;
  /** Position in the set. */
  readonly position: number;
}

/** So many plans are kept: portfolios ask the same of place after place. */
const PLAN_COUNT_MAX = 256;

/** The plans of an atlas, each made once. */
class Plans {
  readonly #sampler: Sampler;
  readonly #plans = new Map<string, Plan>();
  /** Those of queries that were written alike, by what these have in common. */
  readonly #byAsked = new WeakMap<object, Map<HazardName, Plan>>();

  constructor(sampler: Sampler) {
    this.#sampler = sampler;
  }

  of(hazard: HazardName, query: HazardQuery): Plan {
    const asked = askedBy(query);
    if (asked === undefined) return this.#named(hazard, query);
    let plans = this.#byAsked.get(asked);
    if (plans === undefined) {
      plans = new Map();
      this.#byAsked.set(asked, plans);
    }
    let plan = plans.get(hazard);
    if (plan === undefined) {
      plan = this.#named(hazard, query);
      plans.set(hazard, plan);
    }
    return plan;
  }

  #named(hazard: HazardName, query: HazardQuery): Plan {
    const { scenarios, analysis_years, total_hazard, anthropogenic } = query;
    const name = `${hazard} ${scenarios.join()} ${analysis_years.join()} ${total_hazard} ${anthropogenic}`;
    let plan = this.#plans.get(name);
    if (plan === undefined) {
      plan = makePlan(this.#sampler, hazard, query);
      if (this.#plans.size >= PLAN_COUNT_MAX) this.#plans.clear();
      this.#plans.set(name, plan);
    }
    return plan;
  }
}

function makePlan(sampler: Sampler, hazard: HazardName, query: HazardQuery): Plan {
  const sampled = sampler.hazards.get(hazard);
  const layers: FieldLayer[] = [];
  /** Each stored layer has one position, however many scenarios and years it answers. */
  const positions = new Map<string, PlannedLayer>();
  const layerFor = (at: StoredAt, metric: MetricName): PlannedLayer | undefined => {
    const group = sampled?.group(at.scenario, at.year);
    const layer = group?.entry.layers.findIndex((entry) => entry.metric === metric) ?? -1;
    const entry = group?.entry.layers[layer];
    if (group === undefined || entry === undefined) return undefined;
    const name = `${at.scenario} ${at.year} ${metric}`;
    let planned = positions.get(name);
    if (planned === undefined) {
      planned = { entry, position: layers.push({ source: group.source, group: group.group, layer, entry }) - 1 };
      positions.set(name, planned);
    }
    return planned;
  };
  const metrics = HAZARDS[hazard].metrics.filter(({ metric }) => metric !== "total_hazard" || query.total_hazard);
  const scenarios = query.scenarios.map((scenario) => ({
    scenario,
    years: query.analysis_years.map((year) => {
      const stored = layerOf(scenario, year);
      return {
        year,
        entry: sampled?.group(stored.scenario, stored.year)?.entry,
        metrics: metrics.map(({ metric }) => ({
          metric,
          own: layerFor(stored, metric),
          reference: query.anthropogenic ? layerFor(BASELINE, metric) : undefined,
        })),
      };
    }),
  }));
  // One set for all that is asked: its layers lie side by side in memory, and nothing else with them.
  const set = sampled === undefined || layers.length === 0 ? undefined : sampler.layerSet(sampled, layers);
  return { set, rules: sampled?.rules ?? {}, scenarios };
}

type StoredAt = ReturnType<typeof layerOf>;

/** What was found of a set of layers, by position. */
interface FoundLayers {
  readonly cells: number;
  readonly centre: Location | undefined;
  /** Whole at a point or for a maximum, a fraction for a mean; undefined where there is no value. */
  stepsOf(position: number): number | undefined;
  /** Of a layer without a value. */
  reasonOf(position: number): NoDataReason;
  shareOf(position: number): number;
}

const NOTHING: FoundLayers = {
  cells: 0,
  centre: undefined,
  stepsOf: () => undefined,
  reasonOf: () => "layer_missing",
  shareOf: () => 0,
};

class FoundInCircle implements FoundLayers {
  readonly cells: number;
  readonly centre = undefined;
  readonly #values: readonly CircleValue[];

  constructor({ cellCount, values }: CircleSample) {
    this.cells = cellCount ?? 0;
    this.#values = values;
  }

  stepsOf(position: number): number | undefined {
    return this.#values[position]?.steps;
  }

  reasonOf(position: number): NoDataReason {
    return this.#values[position]?.hasNodata === true ? "no_data" : "outside_coverage";
  }

  shareOf(position: number): number {
    return this.#values[position]?.validShare ?? 0;
  }
}

class FoundInCell implements FoundLayers {
  readonly cells: number;
  readonly centre: Location | undefined;
  readonly #steps: Uint16Array | undefined;

  constructor(found: CellSample | undefined) {
    this.cells = found === undefined ? 0 : 1;
    this.centre = found?.centre;
    this.#steps = found?.steps;
  }

  stepsOf(position: number): number | undefined {
    const steps = this.#stepsAt(position);
    return steps <= STEPS_MAX ? steps : undefined;
  }

  reasonOf(position: number): NoDataReason {
    return this.#stepsAt(position) === STEPS_OUTSIDE ? "outside_coverage" : "no_data";
  }

  shareOf(position: number): number {
    return this.#stepsAt(position) <= STEPS_MAX ? 1 : 0;
  }

  #stepsAt(position: number): number {
    return this.#steps?.[position] ?? STEPS_OUTSIDE;
  }
}

async function sampleLayers(sampler: Sampler, set: LayerSet, query: HazardQuery): Promise<FoundLayers> {
  const { latitude: latDeg, longitude: lonDeg, radius, aggregation_method: method, detail: shares } = query;
  if (radius === 0) return new FoundInCell(await sampler.sampleCell(set, { latDeg, lonDeg }));
  const circle = { latDeg, lonDeg, radiusM: radius * 1000 };
  return new FoundInCircle(await sampler.sampleCircle(set, circle, { method, shares }));
}

function shape(
  query: HazardQuery,
  plan: Plan,
  { scenario, years }: PlannedScenario,
  found: FoundLayers,
): ScenarioResult {
  return { scenario, analysis_years: years.map((year) => shapeYear(query, plan, year, found)) };
}

/** The object of one analysis year. */
function shapeYear(query: HazardQuery, plan: Plan, planned: PlannedYear, found: FoundLayers): AnalysisYearResult {
  const metrics: Partial<Record<MetricName, number | null>> = {};
  let reason: NoDataReason | undefined;
  for (const { metric, own, reference } of planned.metrics) {
    const why = missing(own, found) ?? (query.anthropogenic ? missing(reference, found) : undefined);
    reason ??= why;
    metrics[metric] = why !== undefined || own === undefined ? null : valueOf(own, reference, found);
  }
  const { year } = planned;
  if (reason === undefined && !query.detail) return { analysis_year: year, metrics };
  return {
    analysis_year: year,
    metrics,
    ...(reason === undefined ? {} : { no_data: reason }),
    ...(query.detail ? { detail: detailOf(plan, planned, found) } : {}),
  };
}

function missing(layer: PlannedLayer | undefined, found: FoundLayers): NoDataReason | undefined {
  if (layer === undefined) return "layer_missing";
  return found.stepsOf(layer.position) === undefined ? found.reasonOf(layer.position) : undefined;
}

/**
 * A layer's value, or its change where a reference is given. Of two values on the same steps the steps are subtracted:
 * 0.412 m less 0.4 m is then 0.012 m, not 0.01199….
 */
function valueOf(own: PlannedLayer, reference: PlannedLayer | undefined, found: FoundLayers): number {
  const steps = found.stepsOf(own.position) ?? NaN;
  const { steps_per_unit, offset } = own.entry;
  const value = steps / steps_per_unit + offset;
  if (reference === undefined) return value;
  const before = found.stepsOf(reference.position) ?? NaN;
  const isSame = reference.entry.steps_per_unit === steps_per_unit && reference.entry.offset === offset;
  if (isSame) return (steps - before) / steps_per_unit;
  return value - (before / reference.entry.steps_per_unit + reference.entry.offset);
}

function detailOf({ rules }: Plan, { entry, metrics }: PlannedYear, found: FoundLayers): AnswerDetail {
  if (entry === undefined) return { cells: 0, valid_share: 0, source: {}, rules };
  const shares = metrics.map(({ own }) => (own === undefined ? 0 : found.shareOf(own.position)));
  const { centre } = found;
  return {
    cells: found.cells,
    valid_share: Math.min(1, ...shares),
    ...(centre === undefined ? {} : { cell_centre: { latitude: centre.latDeg, longitude: centre.lonDeg } }),
    source: { scenario: entry.scenario, analysis_year: entry.year, ...entry.provenance },
    rules,
  };
}
