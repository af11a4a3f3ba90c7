/** Which combinations of hazard, metric, scenario, year and comparison the atlas offers. */
import type {
  CatalogHazard,
  CatalogLayer,
  HazardCatalog,
  HazardName,
  MetricName,
  Scenario,
} from "../../contract/wireTypes.ts";
import { METRIC_NAMES } from "../../contract/names.ts";
import type { LayerAddress } from "../data/explorerData.ts";
import { hazardTitle, metricTitle, scenarioTitle } from "../format.ts";
import type { Comparison } from "../state.ts";

/** What the user has chosen for the map. */
export interface LayerChoice {
  readonly hazard: HazardName;
  readonly metric: string;
  readonly scenario: Scenario;
  readonly year: number;
  readonly comparison: Comparison;
}

/** An entry of a list of choices. */
export interface ChoiceOption<T> {
  readonly value: T;
  readonly label: string;
  /** Why it cannot be chosen; undefined if it can. */
  readonly unavailable: string | undefined;
}

export interface ChoiceOptions {
  readonly hazards: readonly ChoiceOption<HazardName>[];
  readonly metrics: readonly ChoiceOption<string>[];
  readonly scenarios: readonly ChoiceOption<Scenario>[];
  readonly years: readonly ChoiceOption<number>[];
  readonly comparisons: readonly ChoiceOption<Comparison>[];
}

/** The baseline is a single layer, which is used for this year under every scenario. */
const BASELINE = { scenario: "baseline", year: 1980 } as const;

export function isSameChoice(a: LayerChoice, b: LayerChoice): boolean {
  return (
    a.hazard === b.hazard &&
    a.metric === b.metric &&
    a.scenario === b.scenario &&
    a.year === b.year &&
    a.comparison === b.comparison
  );
}

/** Returns the hazard of the catalog. */
export function catalogHazard(catalog: HazardCatalog, hazard: HazardName): CatalogHazard {
  const found = catalog.hazards.find((entry) => entry.hazard === hazard);
  if (found === undefined) throw new Error(`the catalog has no hazard ${hazard}`);
  return found;
}

/** Returns the layer of the catalog for a scenario and year; undefined if the atlas does not have it. */
export function catalogLayer(hazard: CatalogHazard, scenario: Scenario, year: number): CatalogLayer | undefined {
  const stored = scenario === BASELINE.scenario || year === BASELINE.year ? BASELINE : { scenario, year };
  return hazard.layers.find((layer) => layer.scenario === stored.scenario && layer.analysis_year === stored.year);
}

/** Returns the metrics of a layer: those of the hazard, then the values at the return periods of its curve. */
export function metricsOf(layer: CatalogLayer): readonly string[] {
  const periods = layer.curve_return_periods ?? [];
  return [...layer.metrics, ...periods.map((years) => `rp_${years}`)];
}

/** Returns the return period of a metric `rp_T`, years; undefined for other metrics. */
export function returnPeriodOf(metric: string): number | undefined {
  return metric.startsWith("rp_") ? Number(metric.slice(3)) : undefined;
}

/** Returns the metric of the hazard that a metric is measured as: for `rp_T`, that of the return-period curve. */
export function scaleMetricOf(hazard: CatalogHazard, metric: string): MetricName {
  const named = METRIC_NAMES.find((name) => name === metric);
  if (named !== undefined) return named;
  return ownMetricOf(hazard);
}

/** Returns the metric that only this hazard has, such as the flood depth. */
export function ownMetricOf({ metrics }: CatalogHazard): MetricName {
  const shared = new Set<MetricName>(["intensity", "probability", "total_hazard"]);
  return metrics.find(({ metric }) => !shared.has(metric))?.metric ?? "intensity";
}

/** Returns the name of a metric in words. */
export function metricLabel(hazard: CatalogHazard, metric: string): string {
  const years = returnPeriodOf(metric);
  const title = metricTitle(scaleMetricOf(hazard, metric));
  return years === undefined ? title : `${title}, return period ${years} years`;
}

/** Returns the name of a metric in a list of metrics, where the metric of return periods need not be repeated. */
function optionLabel(hazard: CatalogHazard, metric: string): string {
  const years = returnPeriodOf(metric);
  return years === undefined ? metricLabel(hazard, metric) : `Return period ${years} years`;
}

/** Returns the definition of a metric under the rules of the atlas, as a sentence or a formula; empty if there is none. */
export function metricMeaning(hazard: CatalogHazard, metric: string): string {
  const years = returnPeriodOf(metric);
  if (years !== undefined) {
    return `${metricTitle(scaleMetricOf(hazard, metric))} that is reached or exceeded once in ${years} years on average.`;
  }
  const meaning = hazard.metrics.find((entry) => entry.metric === metric)?.meaning ?? "";
  const isFormula = meaning === "" || /^[a-z]+\(/.test(meaning);
  return isFormula ? meaning : `${meaning.slice(0, 1).toUpperCase()}${meaning.slice(1)}.`;
}

/** Returns the layer that is drawn. */
export function shownLayer({ hazard, metric, scenario, year }: LayerChoice): LayerAddress {
  return addressOf(hazard, metric, scenario, year);
}

/** Returns the layer that is subtracted from it; undefined without a comparison. */
export function comparedLayer({ hazard, metric, year, comparison }: LayerChoice): LayerAddress | undefined {
  return comparison === "none" ? undefined : addressOf(hazard, metric, comparison, year);
}

function addressOf(hazard: HazardName, metric: string, scenario: Scenario, year: number): LayerAddress {
  const isBaseline = scenario === BASELINE.scenario || year === BASELINE.year;
  const layer = isBaseline ? BASELINE : { scenario, year };
  return { hazard, metric, scenario: layer.scenario, analysisYear: layer.year };
}

/** Returns everything that can be chosen next, with the reason for what cannot. */
export function choiceOptions(catalog: HazardCatalog, choice: LayerChoice): ChoiceOptions {
  const hazard = catalogHazard(catalog, choice.hazard);
  const layer = catalogLayer(hazard, choice.scenario, choice.year);
  const offered = new Set(layer === undefined ? [] : metricsOf(layer));
  const metrics = new Set([...hazard.metrics.map(({ metric }) => metric), ...hazard.layers.flatMap(metricsOf)]);
  return {
    hazards: catalog.hazards.map((entry) => ({
      value: entry.hazard,
      label: hazardTitle(entry.hazard),
      unavailable: entry.layers.length === 0 ? "not in this atlas" : undefined,
    })),
    metrics: [...metrics].map((metric) => ({
      value: metric,
      label: optionLabel(hazard, metric),
      unavailable: offered.has(metric) ? undefined : "not in this layer",
    })),
    scenarios: hazard.scenarios.map((scenario) => ({
      value: scenario,
      label: scenarioTitle(scenario),
      unavailable: yearsOf(hazard, scenario).length === 0 ? "not in this atlas" : undefined,
    })),
    years: hazard.analysis_years.map((year) => ({
      value: year,
      label: String(year),
      unavailable: yearReason(hazard, choice.scenario, year),
    })),
    comparisons: comparisonsOf(hazard, choice),
  };
}

function yearReason(hazard: CatalogHazard, scenario: Scenario, year: number): string | undefined {
  if (scenario === BASELINE.scenario && year !== BASELINE.year) return "the baseline is a single year";
  return catalogLayer(hazard, scenario, year) === undefined ? "not in this atlas" : undefined;
}

function comparisonsOf(hazard: CatalogHazard, choice: LayerChoice): readonly ChoiceOption<Comparison>[] {
  const shown = shownLayer(choice);
  const reason = (scenario: Scenario): string | undefined => {
    const other = addressOf(choice.hazard, choice.metric, scenario, choice.year);
    if (other.scenario === shown.scenario && other.analysisYear === shown.analysisYear) return "the layer shown";
    // In the baseline year, every scenario is the baseline.
    const layer = catalogLayer(hazard, scenario, choice.year);
    if (layer === undefined) return "not in this atlas";
    return metricsOf(layer).includes(choice.metric) ? undefined : "without this metric";
  };
  return [
    { value: "none", label: "Nothing", unavailable: undefined },
    ...hazard.scenarios.map((scenario) => ({
      value: scenario,
      label: scenario === BASELINE.scenario ? `Baseline (${BASELINE.year})` : `${scenarioTitle(scenario)}, same year`,
      unavailable: reason(scenario),
    })),
  ];
}

/** Years for which the atlas has a layer of a scenario, without the baseline year of the others. */
function yearsOf(hazard: CatalogHazard, scenario: Scenario): readonly number[] {
  return hazard.layers.filter((layer) => layer.scenario === scenario).map((layer) => layer.analysis_year);
}

/**
 * Returns a choice that the atlas offers and that is as close to the given one as possible: hazard, then scenario, year,
 * metric and comparison. Returns the given choice if the atlas has no layers.
 */
export function availableChoice(catalog: HazardCatalog, wanted: LayerChoice): LayerChoice {
  const named = catalogHazard(catalog, wanted.hazard);
  const hazard = named.layers.length > 0 ? named : catalog.hazards.find(({ layers }) => layers.length > 0);
  if (hazard === undefined) return wanted;
  const scenario = nearestScenario(hazard, wanted.scenario);
  const isKept = catalogLayer(hazard, scenario, wanted.year) !== undefined && scenario !== BASELINE.scenario;
  const years = yearsOf(hazard, scenario);
  const year = isKept ? wanted.year : nearest(years, wanted.year);
  const layer = catalogLayer(hazard, scenario, year);
  const metrics = layer === undefined ? [] : metricsOf(layer);
  const metric =
    [wanted.metric, ownMetricOf(hazard), ...metrics].find((name) => metrics.includes(name)) ?? wanted.metric;
  const choice: LayerChoice = { hazard: hazard.hazard, scenario, year, metric, comparison: "none" };
  const isOffered = comparisonsOf(hazard, choice).some(
    ({ value, unavailable }) => value === wanted.comparison && unavailable === undefined,
  );
  return isOffered ? { ...choice, comparison: wanted.comparison } : choice;
}

/** Radiative forcing in 2100 relative to preindustrial conditions, W/m2; 0 for the baseline, which has no projection. */
const FORCING_W_PER_M2: Readonly<Record<Scenario, number>> = {
  baseline: 0,
  rcp2p6: 2.6,
  rcp4p5: 4.5,
  rcp6p0: 6,
  rcp8p5: 8.5,
};

/** Returns the scenario with the closest forcing. The baseline replaces another scenario only if there is no projection. */
function nearestScenario(hazard: CatalogHazard, wanted: Scenario): Scenario {
  const offered = hazard.scenarios.filter((scenario) => yearsOf(hazard, scenario).length > 0);
  if (offered.includes(wanted)) return wanted;
  const projections = offered.filter((scenario) => scenario !== BASELINE.scenario);
  const distanceOf = (scenario: Scenario): number => Math.abs(FORCING_W_PER_M2[scenario] - FORCING_W_PER_M2[wanted]);
  const candidates = projections.length > 0 ? projections : offered;
  return candidates.toSorted((a, b) => distanceOf(a) - distanceOf(b))[0] ?? wanted;
}

function nearest(years: readonly number[], wanted: number): number {
  return years.reduce(
    (best, year) => (Math.abs(year - wanted) < Math.abs(best - wanted) ? year : best),
    years[0] ?? wanted,
  );
}
