import { boundsOf, mayHideBounds } from "./bounds.ts";
import { changeOfSteps, type PlannedLayer, type SampledLayers, valueOfSteps } from "./sampledLayers.ts";
import type { MetricName } from "./hazards.ts";
import type { PlannedMetric, PlannedScenario, PlannedYear } from "./plan.ts";
import type { HazardQuery } from "./query.ts";
import { NO_RANGES, rangeKey, type SampledRanges } from "./modelRange.ts";
import type {
  AnalysisYearResult,
  AnswerDetail,
  HazardResult,
  MetricDetail,
  ModelRanges,
  NoDataReason,
  ScenarioResult,
} from "../contract/wireTypes.ts";

/** Returns the result of one scenario: values, bounds, and the reasons for nulls. */
export function toScenarioResult(
  query: HazardQuery,
  { scenario, years }: PlannedScenario,
  { sampled, ranges }: { readonly sampled: SampledLayers; readonly ranges: SampledRanges },
): ScenarioResult {
  return {
    scenario,
    analysis_years: years.map((year) => {
      const range = ranges === NO_RANGES ? undefined : ranges.get(rangeKey(scenario, year.year));
      return toYearResult(query, year, { sampled, range });
    }),
  };
}

function toYearResult(
  query: HazardQuery,
  planned: PlannedYear,
  { sampled, range }: { readonly sampled: SampledLayers; readonly range: ModelRanges | undefined },
): AnalysisYearResult {
  const metrics: Partial<Record<MetricName, number | null>> = {};
  let firstReason: NoDataReason | undefined;
  for (const plannedMetric of planned.metrics) {
    const { metric, own, reference } = plannedMetric;
    const reason = reasonFor(query, plannedMetric, sampled);
    firstReason ??= reason;
    metrics[metric] = reason !== undefined || own === undefined ? null : metricValue(own, reference, sampled);
  }
  const { year } = planned;
  const isMean = query.radius > 0 && query.aggregation_method === "mean";
  const bounds = planned.bounds === undefined ? undefined : boundsOf(planned.bounds, sampled, isMean);
  if (!query.detail) {
    // The members are assigned separately because conditional spreads take a tenth of the time of a point query.
    if (firstReason !== undefined) {
      return bounds === undefined
        ? { analysis_year: year, metrics, no_data: firstReason }
        : { analysis_year: year, metrics, bounds, no_data: firstReason };
    }
    return bounds === undefined ? { analysis_year: year, metrics } : { analysis_year: year, metrics, bounds };
  }
  return {
    analysis_year: year,
    metrics,
    ...(bounds === undefined ? {} : { bounds }),
    ...(firstReason === undefined ? {} : { no_data: firstReason }),
    detail: hazardDetailOf(query, planned, { sampled, range, reasonOf: (metric) => reasonFor(query, metric, sampled) }),
  };
}

function reasonFor(
  query: HazardQuery,
  { own, reference }: PlannedMetric,
  sampled: SampledLayers,
): NoDataReason | undefined {
  return missingReason(own, sampled) ?? (query.anthropogenic ? missingReason(reference, sampled) : undefined);
}

function missingReason(layer: PlannedLayer | undefined, sampled: SampledLayers): NoDataReason | undefined {
  if (layer === undefined) return "layer_missing";
  return sampled.stepsOf(layer.position) === undefined ? sampled.reasonOf(layer.position) : undefined;
}

/** Returns a layer's value, or its change if there is a reference. */
function metricValue(own: PlannedLayer, reference: PlannedLayer | undefined, sampled: SampledLayers): number {
  const steps = sampled.stepsOf(own.position) ?? NaN;
  if (reference === undefined) return valueOfSteps(steps, own.entry);
  return changeOfSteps(steps, own.entry, sampled.stepsOf(reference.position) ?? NaN, reference.entry);
}

/** Returns why a metric of an analysis year is null; undefined if it has a value. */
type ReasonOf = (metric: PlannedMetric) => NoDataReason | undefined;

const BOUNDED_CELLS =
  "probability is a mean over cells, and the values of some of them may be only bounds: at least 1/T of the shortest return period, or at most 1/T of the longest.";
const BOUNDED_MODELS =
  "probability is a mean over climate models, and the values of some of them may be only bounds: at least 1/T of the shortest return period, or at most 1/T of the longest.";
const DIFFERENT_CELLS =
  "A change of maxima compares the largest value of the scenario with the largest value of the baseline, which may be in different cells.";

/** Returns the `detail` member of an analysis year. */
function hazardDetailOf(
  query: HazardQuery,
  planned: PlannedYear,
  {
    sampled,
    reasonOf,
    range,
  }: {
    readonly sampled: SampledLayers;
    readonly reasonOf: ReasonOf;
    /** Range over climate models; undefined if the atlas does not have it. */
    readonly range: ModelRanges | undefined;
  },
): AnswerDetail {
  const { source, baselineSource, rules } = planned;
  const sources = {
    ...(source === undefined ? {} : { source: source.id }),
    ...(baselineSource === undefined ? {} : { baseline_source: baselineSource.id }),
  };
  const caveats = caveatsOf(query, planned, sampled);
  const provenance = {
    ...sources,
    rules,
    ...(range === undefined ? {} : { model_range: range }),
    ...(caveats.length === 0 ? {} : { caveats }),
  };
  if (source === undefined) return { cells: 0, valid_share: 0, ...provenance };
  const details = planned.metrics.map((metric) => metricDetailOf(metric, sampled, reasonOf(metric)));
  const shares = details.flatMap(({ valid_share }) => valid_share ?? []);
  const { center } = sampled;
  return {
    cells: sampled.cells,
    valid_share: shares.length === 0 ? 0 : Math.min(...shares),
    ...(areEqual(details) ? {} : { metrics: detailsByMetric(planned.metrics, details) }),
    ...(center === undefined ? {} : { cell_center: { latitude: center.latDeg, longitude: center.lonDeg } }),
    ...provenance,
  };
}

/** Adds the sources that the details of these analysis years refer to. */
export function addSources(years: readonly PlannedYear[], sources: Record<string, HazardSource>): void {
  for (const { source, baselineSource } of years) {
    for (const each of [source, baselineSource]) if (each !== undefined) sources[each.id] = each.record;
  }
}

type HazardSource = NonNullable<HazardResult["sources"]>[string];

function metricDetailOf(
  { own }: PlannedMetric,
  sampled: SampledLayers,
  reason: NoDataReason | undefined,
): MetricDetail {
  return {
    ...(own === undefined ? {} : { valid_share: sampled.shareOf(own.position) }),
    ...(reason === undefined ? {} : { no_data: reason }),
  };
}

function areEqual([first, ...others]: readonly MetricDetail[]): boolean {
  return others.every(({ valid_share, no_data }) => valid_share === first?.valid_share && no_data === first?.no_data);
}

function detailsByMetric(
  metrics: readonly PlannedMetric[],
  details: readonly MetricDetail[],
): Partial<Record<MetricName, MetricDetail>> {
  return Object.fromEntries(metrics.map(({ metric }, i) => [metric, details[i]]));
}

function caveatsOf(
  query: HazardQuery,
  { bounds, source, baselineSource, caveats }: PlannedYear,
  sampled: SampledLayers,
) {
  const allCaveats = [...caveats];
  const isCircle = query.radius > 0;
  const isChange = baselineSource !== undefined && source !== undefined && baselineSource.id !== source.id;
  if (isChange && isCircle && query.aggregation_method === "max") allCaveats.push(DIFFERENT_CELLS);
  if (bounds !== undefined && mayHideBounds(bounds, sampled)) {
    if (isCircle && query.aggregation_method === "mean") allCaveats.push(BOUNDED_CELLS);
    if (bounds.own.isModelMean || bounds.reference?.isModelMean === true) allCaveats.push(BOUNDED_MODELS);
  }
  return allCaveats;
}
