/** Return-period curves of a place, as a table and as lines of a chart. */
import type {
  CatalogHazard,
  CurveQueryInput,
  CurveResult,
  CurveYearResult,
  Exceedance,
  MetricName,
  Scenario,
} from "../../contract/wireTypes.ts";
import { formatDecimals, formatMetricNumber, formatSignificant, reasonText, scenarioTitle } from "../format.ts";
import { BASELINE_YEAR, type PlaceChoice } from "./placeQuery.ts";

/** Returns whether the atlas keeps a curve of the hazard for any layer. */
export function keepsCurves({ layers }: CatalogHazard): boolean {
  return layers.some(({ curve_return_periods }) => curve_return_periods !== undefined);
}

/** Returns the metric that a curve has at each return period. */
export function curveMetric({ metrics }: CatalogHazard): MetricName {
  const own = metrics.find(({ metric }) => !["intensity", "probability", "total_hazard"].includes(metric));
  if (own === undefined) throw new Error("every hazard has a specific metric");
  return own.metric;
}

/** Returns the query for the curves of the baseline and of one year under every scenario. */
export function curveQuery(
  { hazard, scenarios }: CatalogHazard,
  { place, radiusKm, method }: PlaceChoice,
  { year, threshold }: { readonly year: number; readonly threshold: number | undefined },
): CurveQueryInput {
  return {
    latitude: place.latitude,
    longitude: place.longitude,
    hazards: [hazard],
    analysis_years: year === BASELINE_YEAR ? [BASELINE_YEAR] : [BASELINE_YEAR, year],
    scenarios: scenarios.filter((scenario) => scenario !== "baseline"),
    ...(radiusKm > 0 ? { radius: radiusKm, aggregation_method: method } : {}),
    ...(threshold === undefined ? {} : { threshold }),
    detail: true,
  };
}

/** A curve of one scenario and year; the baseline is the same in all scenarios. */
export interface NamedCurve {
  readonly title: string;
  readonly scenario: Scenario;
  readonly result: CurveYearResult;
}

/** Returns the baseline, then the curve of each scenario. */
export function namedCurves({ results }: CurveResult): readonly NamedCurve[] {
  const scenarios = results[0]?.scenarios ?? [];
  const baseline = scenarios[0]?.analysis_years.find(({ analysis_year }) => analysis_year === BASELINE_YEAR);
  return [
    ...(baseline === undefined
      ? []
      : [{ title: `Baseline ${BASELINE_YEAR}`, scenario: "baseline" as const, result: baseline }]),
    ...scenarios.flatMap(({ scenario, analysis_years }) =>
      analysis_years
        .filter(({ analysis_year }) => analysis_year !== BASELINE_YEAR)
        .map((result) => ({ title: `${scenarioTitle(scenario)} ${result.analysis_year}`, scenario, result })),
    ),
  ];
}

/** Returns all return periods of the curves, ascending. */
export function returnPeriodsOf(curves: readonly NamedCurve[]): readonly number[] {
  const periods = curves.flatMap(({ result }) => result.curve?.map(({ return_period }) => return_period) ?? []);
  return [...new Set(periods)].toSorted((a, b) => a - b);
}

export function valueAt({ result }: NamedCurve, returnPeriod: number): number | null {
  return result.curve?.find(({ return_period }) => return_period === returnPeriod)?.value ?? null;
}

/** Returns a value of a curve without its unit, or the reason why there is no curve. */
export function curveValueText(curve: NamedCurve, returnPeriod: number, metric: MetricName): string {
  const value = valueAt(curve, returnPeriod);
  return value === null ? reasonText(curve.result.no_data) : formatMetricNumber(metric, value);
}

/** Returns the annual probability of reaching the threshold in words, with the return period. */
export function exceedanceText(exceedance: Exceedance | undefined): string {
  if (exceedance === undefined) return "no value";
  const { probability, return_period, bound, limit } = exceedance;
  const shown = bound === undefined || limit === undefined ? probability : limit;
  const words = bound === undefined ? "" : bound === "at_least" ? "at least " : "at most ";
  const percent = `${words}${formatSignificant(shown * 100, { digits: 3, decimalsMax: 3 })} % a year`;
  const years = bound === undefined || limit === undefined ? return_period : 1 / limit;
  if (years === null) return percent;
  // A larger probability is a shorter return period.
  const often = bound === undefined ? "once in" : bound === "at_least" ? "once in at most" : "once in at least";
  return `${percent} (${often} ${periodText(years)} years on average)`;
}

export function periodText(years: number): string {
  return years >= 10 ? formatDecimals(years, 0) : formatSignificant(years, { digits: 2, decimalsMax: 1 });
}
