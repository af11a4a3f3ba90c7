/** The query for the panel of a place, and its answer as values by scenario and year. */
import type {
  AnalysisYearResult,
  Bound,
  CatalogHazard,
  HazardQueryInput,
  HazardResult,
  MetricName,
  ModelRange,
  NoDataReason,
  Scenario,
} from "../../contract/wireTypes.ts";
import {
  formatMetric,
  formatMetricChange,
  formatMetricChangeNumber,
  formatMetricNumber,
  reasonText,
} from "../format.ts";
import type { SelectedPlace } from "../state.ts";

export interface PlaceChoice {
  readonly place: SelectedPlace;
  readonly radiusKm: number;
  readonly method: "max" | "mean";
  readonly totalHazard: boolean;
  readonly anthropogenic: boolean;
}

/** Year of the baseline, which every scenario includes. */
export const BASELINE_YEAR = 1980;

/** Returns the query for all years and scenarios of a hazard. The baseline is the year 1980 of any scenario. */
export function placeQuery(
  { hazard, scenarios, analysis_years }: CatalogHazard,
  { place, radiusKm, method, totalHazard, anthropogenic }: PlaceChoice,
): HazardQueryInput {
  return {
    latitude: place.latitude,
    longitude: place.longitude,
    hazards: [hazard],
    analysis_years,
    scenarios: scenarios.filter((scenario) => scenario !== "baseline"),
    ...(radiusKm > 0 ? { radius: radiusKm, aggregation_method: method } : {}),
    ...(totalHazard ? { total_hazard: true } : {}),
    ...(anthropogenic ? { anthropogenic: true } : {}),
    detail: true,
  };
}

/** A value of a metric, or why there is none. */
export interface MetricValue {
  readonly value: number | null;
  readonly reason: NoDataReason | undefined;
  readonly bound: Bound | undefined;
  readonly range: ModelRange | undefined;
}

/** The values of a metric in one year: of the baseline, or by scenario in the order of `MetricTable.scenarios`. */
interface MetricRow {
  readonly year: number;
  /** One value in the year of the baseline, which all scenarios share. */
  readonly values: readonly MetricValue[];
}

export interface MetricTable {
  readonly metric: MetricName;
  readonly scenarios: readonly Scenario[];
  readonly rows: readonly MetricRow[];
}

/** Returns the values of a metric. Changes have no row of the baseline, from which they are counted. */
export function metricTable(result: HazardResult, metric: MetricName, isChange: boolean): MetricTable {
  const scenarios = result.results[0]?.scenarios ?? [];
  const years = scenarios[0]?.analysis_years.map(({ analysis_year }) => analysis_year) ?? [];
  const rows = years
    .toSorted((a, b) => a - b)
    .filter((year) => !(isChange && year === BASELINE_YEAR))
    .map((year) => {
      const results = scenarios.flatMap(({ analysis_years }) =>
        analysis_years.filter(({ analysis_year }) => analysis_year === year),
      );
      const values = results.map((answer) => metricValue(answer, metric));
      return { year, values: year === BASELINE_YEAR ? values.slice(0, 1) : values };
    });
  return { metric, scenarios: scenarios.map(({ scenario }) => scenario), rows };
}

export function metricValue(answer: AnalysisYearResult, metric: MetricName): MetricValue {
  const value = answer.metrics[metric] ?? null;
  return {
    value,
    reason: value === null ? (answer.detail?.metrics?.[metric]?.no_data ?? answer.no_data) : undefined,
    bound: metric === "probability" || metric === "total_hazard" ? answer.bounds?.[metric] : undefined,
    range: answer.detail?.model_range?.[metric],
  };
}

/** Returns a value in words: the number with its unit and its bound, or the reason why there is none. */
export function valueText(metric: MetricName, value: MetricValue, isChange = false): string {
  return textWith(isChange ? formatMetricChange : formatMetric, metric, value);
}

/** Returns a value in words without its unit, for tables that state the unit. */
export function numberText(metric: MetricName, value: MetricValue, isChange = false): string {
  return textWith(isChange ? formatMetricChangeNumber : formatMetricNumber, metric, value);
}

function textWith(
  format: (metric: MetricName, value: number) => string,
  metric: MetricName,
  { value, reason, bound }: MetricValue,
): string {
  if (value === null) return reasonText(reason);
  if (bound === undefined) return format(metric, value);
  if (bound.bound === "indeterminate") return `${format(metric, value)} (not known exactly)`;
  return `${bound.bound === "at_least" ? "at least" : "at most"} ${format(metric, bound.limit)}`;
}

/** Returns the range over the climate models in words, without the unit. */
export function rangeText(metric: MetricName, { minimum, maximum }: ModelRange): string {
  return `models ${formatMetricNumber(metric, minimum)} to ${formatMetricNumber(metric, maximum)}`;
}

/** Returns the answer for a scenario and year of the first hazard; the year of the baseline is the same in all scenarios. */
export function answerOf(result: HazardResult, scenario: Scenario, year: number): AnalysisYearResult | undefined {
  const scenarios = result.results[0]?.scenarios ?? [];
  const isBaseline = scenario === "baseline";
  const found = isBaseline ? scenarios[0] : scenarios.find((each) => each.scenario === scenario);
  const foundYear = isBaseline ? BASELINE_YEAR : year;
  return found?.analysis_years.find(({ analysis_year }) => analysis_year === foundYear);
}

/** A chart of values by year: one line for each scenario, which begins at the baseline. */
export interface MetricSeries {
  readonly years: readonly number[];
  readonly lines: readonly { readonly scenario: Scenario; readonly values: readonly (number | null)[] }[];
}

/** Returns the lines of a chart; scenarios without any value after the baseline have none. */
export function metricSeries({ scenarios, rows }: MetricTable): MetricSeries {
  const valueAt = ({ year, values }: MetricRow, index: number): number | null =>
    (year === BASELINE_YEAR ? values[0] : values[index])?.value ?? null;
  return {
    years: rows.map(({ year }) => year),
    lines: scenarios
      .map((scenario, index) => ({ scenario, values: rows.map((row) => valueAt(row, index)) }))
      .filter(({ values }) => values.some((value, index) => value !== null && rows[index]?.year !== BASELINE_YEAR)),
  };
}
