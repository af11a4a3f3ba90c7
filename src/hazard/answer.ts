import type { GroupEntry, LayerEntry } from "../atlas/catalogue.ts";
import type { SampledGroup, SampledHazard, Sampler } from "../atlas/sampler.ts";
import { Fault, isFault } from "../errors.ts";
import type { CircleSummary } from "../kernel/radius.ts";
import { STEPS_MAX, STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import { BASELINE, type HazardName, HAZARDS, layerOf, type MetricName, type Scenario } from "./hazards.ts";
import { type HazardQuery, type HazardQueryInput, readHazardQuery } from "./query.ts";

/** Why a value is null. Never a zero, and a zero is never a null. */
export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/** How an analysis year's numbers were made; with `detail`. */
export interface AnswerDetail {
  /** Cells the answer looked at: 1 at a point, those of the circle otherwise. */
  readonly cells: number;
  /** Area with data / area of all those cells; the least of the metrics'. */
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

/** An open atlas. */
export interface Atlas {
  /** Names this set of numbers; another release may give others. */
  readonly release: string;
  /** True where the numbers are invented: the demo. */
  readonly synthetic: boolean;
  /** @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable` */
  hazardRisk(query: HazardQueryInput): Promise<HazardResult>;
  /**
   * One element a query, in order; a query that is wrong in itself is refused in its place.
   * @throws Fault `invalid_request` where the whole is no list of queries, `atlas_unavailable`
   */
  hazardRiskBatch(queries: readonly HazardQueryInput[]): Promise<readonly (HazardResult | RefusedElement)[]>;
  close(): Promise<void>;
}

/** Queries of a batch that are in work at the same time: enough to keep reads busy, few enough to bound memory. */
const BATCH_PARALLEL = 16;

/** The atlas as its users see it, over the cells of one. */
export function answeringAtlas(
  sampler: Sampler,
  about: { readonly release: string; readonly synthetic: boolean; close(): Promise<void> },
): Atlas {
  return {
    release: about.release,
    synthetic: about.synthetic,
    hazardRisk: async (input) => answer(sampler, readHazardQuery(input)),
    async hazardRiskBatch(queries) {
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
      let next = 0;
      const work = async (): Promise<void> => {
        for (let index = next++; index < queries.length; index = next++) {
          results[index] = await answerElement(sampler, queries[index]);
        }
      };
      await Promise.all(Array.from({ length: Math.min(BATCH_PARALLEL, queries.length) }, work));
      return results;
    },
    close: () => about.close(),
  };
}

async function answerElement(sampler: Sampler, input: unknown): Promise<HazardResult | RefusedElement> {
  try {
    return await answer(sampler, readHazardQuery(input));
  } catch (error) {
    if (isFault(error, "invalid_request") || isFault(error, "combination_unavailable")) return { error };
    throw error;
  }
}

async function answer(sampler: Sampler, query: HazardQuery): Promise<HazardResult> {
  const { latitude, longitude, radius, aggregation_method } = query;
  const results: HazardResult["results"][number][] = [];
  for (const hazard of query.hazards) {
    const sampled = sampler.hazards.get(hazard);
    const values = sampled === undefined ? undefined : await sampleLayers(sampler, sampled, query);
    results.push({
      hazard,
      scenarios: query.scenarios.map((scenario) => ({
        scenario,
        analysis_years: query.analysis_years.map((year) => shape(query, { hazard, scenario, year, sampled, values })),
      })),
    });
  }
  return {
    location: { latitude, longitude },
    ...(radius > 0 ? { aggregation: { radius_km: radius, method: aggregation_method } } : {}),
    results,
  };
}

/** One metric of one layer as sampled: steps, whole at a point or for a maximum, a fraction for a mean. */
interface SampledMetric {
  readonly layer: LayerEntry;
  readonly steps: number | undefined;
  readonly reason: NoDataReason | undefined;
  readonly validShare: number;
}

/** What was found of one (scenario, year). */
interface SampledLayer {
  readonly entry: GroupEntry;
  readonly cells: number;
  readonly centre: { readonly latDeg: number; readonly lonDeg: number } | undefined;
  readonly metrics: ReadonlyMap<string, SampledMetric>;
}

type LayerValues = ReadonlyMap<SampledGroup, SampledLayer>;

/** Samples each layer that the query needs once, however many of its scenarios and years that layer answers. */
async function sampleLayers(sampler: Sampler, sampled: SampledHazard, query: HazardQuery): Promise<LayerValues> {
  const groups = new Set<SampledGroup>();
  const add = (layer: { readonly scenario: string; readonly year: number }): void => {
    const group = sampled.group(layer.scenario, layer.year);
    if (group !== undefined) groups.add(group);
  };
  for (const scenario of query.scenarios) for (const year of query.analysis_years) add(layerOf(scenario, year));
  if (query.anthropogenic) add(BASELINE);

  const list = [...groups];
  const location = { latDeg: query.latitude, lonDeg: query.longitude };
  if (query.radius > 0) {
    const circle = { ...location, radiusM: query.radius * 1000 };
    const { cellCount, summaries } = await sampler.sampleCircle(sampled, circle, list);
    return layersOf(list, (entry, i) => ({
      entry,
      cells: cellCount,
      centre: undefined,
      metrics: metricsOf(entry, (layer) => summarised(layer, summaries[i], entry, query.aggregation_method)),
    }));
  }
  const found = await sampler.sampleCell(sampled, location, list);
  return layersOf(list, (entry, i) => ({
    entry,
    cells: found === undefined ? 0 : 1,
    centre: found?.centre,
    metrics: metricsOf(entry, (layer, at) => stepsMetric(layer, found?.steps[i]?.[at] ?? STEPS_OUTSIDE)),
  }));
}

function layersOf(
  groups: readonly SampledGroup[],
  read: (entry: GroupEntry, index: number) => SampledLayer,
): LayerValues {
  return new Map(groups.map((group, i) => [group, read(group.entry, i)]));
}

function metricsOf(
  entry: GroupEntry,
  read: (layer: LayerEntry, index: number) => SampledMetric,
): ReadonlyMap<string, SampledMetric> {
  return new Map(entry.layers.map((layer, i) => [layer.metric, read(layer, i)]));
}

function stepsMetric(layer: LayerEntry, steps: number): SampledMetric {
  if (steps <= STEPS_MAX) return { layer, steps, reason: undefined, validShare: 1 };
  const reason = steps === STEPS_OUTSIDE ? "outside_coverage" : "no_data";
  return { layer, steps: undefined, reason, validShare: 0 };
}

function summarised(
  layer: LayerEntry,
  summaries: readonly CircleSummary[] | undefined,
  entry: GroupEntry,
  method: "max" | "mean",
): SampledMetric {
  const summary = summaries?.[entry.layers.indexOf(layer)];
  const steps = method === "max" ? summary?.maxSteps : summary?.meanSteps;
  const missing = summary?.hasNodata === true ? "no_data" : "outside_coverage";
  return { layer, steps, reason: steps === undefined ? missing : undefined, validShare: summary?.validShare ?? 0 };
}

/** The object of one analysis year. */
function shape(
  query: HazardQuery,
  at: {
    readonly hazard: HazardName;
    readonly scenario: Scenario;
    readonly year: number;
    readonly sampled: SampledHazard | undefined;
    readonly values: LayerValues | undefined;
  },
): AnalysisYearResult {
  const find = (layer: { readonly scenario: string; readonly year: number }): SampledLayer | undefined => {
    const group = at.sampled?.group(layer.scenario, layer.year);
    return group === undefined ? undefined : at.values?.get(group);
  };
  const layer = find(layerOf(at.scenario, at.year));
  const reference = query.anthropogenic ? find(BASELINE) : undefined;

  const metrics: Partial<Record<MetricName, number | null>> = {};
  let reason: NoDataReason | undefined;
  let validShare = 1;
  for (const { metric } of HAZARDS[at.hazard].metrics) {
    if (metric === "total_hazard" && !query.total_hazard) continue;
    const own = valueOf(layer?.metrics.get(metric));
    const value = query.anthropogenic ? changeOf(own, valueOf(reference?.metrics.get(metric))) : own;
    metrics[metric] = value.value;
    reason ??= value.reason;
    validShare = Math.min(validShare, layer?.metrics.get(metric)?.validShare ?? 0);
  }
  return {
    analysis_year: at.year,
    metrics,
    ...(reason === undefined ? {} : { no_data: reason }),
    ...(query.detail ? { detail: detailOf(layer, { validShare, rules: at.sampled?.rules ?? {} }) } : {}),
  };
}

/** A number with what is needed to subtract it exactly, or the reason why there is none. */
type Valued =
  | { readonly value: number; readonly steps: number; readonly layer: LayerEntry; readonly reason?: undefined }
  | { readonly value: null; readonly reason: NoDataReason };

function valueOf(metric: SampledMetric | undefined): Valued {
  if (metric === undefined) return { value: null, reason: "layer_missing" };
  const { layer, steps, reason } = metric;
  if (steps === undefined) return { value: null, reason: reason ?? "no_data" };
  return { value: steps / layer.steps_per_unit + layer.offset, steps, layer };
}

/** Of two values on the same steps the steps are subtracted: 0.412 m less 0.4 m is then 0.012 m, not 0.01199…. */
function changeOf(own: Valued, reference: Valued): { readonly value: number | null; readonly reason?: NoDataReason } {
  if (own.reason !== undefined) return own;
  if (reference.reason !== undefined) return reference;
  const [a, b] = [own.layer, reference.layer];
  const isSame = a.steps_per_unit === b.steps_per_unit && a.offset === b.offset;
  return { value: isSame ? (own.steps - reference.steps) / a.steps_per_unit : own.value - reference.value };
}

function detailOf(
  layer: SampledLayer | undefined,
  { validShare, rules }: { readonly validShare: number; readonly rules: Readonly<Record<string, unknown>> },
): AnswerDetail {
  if (layer === undefined) return { cells: 0, valid_share: 0, source: {}, rules };
  const { entry, cells, centre } = layer;
  return {
    cells,
    valid_share: cells === 0 ? 0 : validShare,
    ...(centre === undefined ? {} : { cell_centre: { latitude: centre.latDeg, longitude: centre.lonDeg } }),
    source: { scenario: entry.scenario, analysis_year: entry.year, ...entry.provenance },
    rules,
  };
}
