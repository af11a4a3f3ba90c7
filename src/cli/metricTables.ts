import type { AnalysisYearResult, Bound, HazardResult } from "../contract/wireTypes.ts";
import { HAZARDS } from "../hazard/hazards.ts";
import { BOUND_LEGEND, BOUND_SIGNS, formatHeading, formatNumber, formatReason, type NamedAtlas } from "./queryText.ts";
import { formatTable } from "./textTable.ts";

/** Returns a result of hazards as text, with one table per hazard. */
export function formatMetrics(result: HazardResult, atlas: NamedAtlas): string {
  const tables = result.results.map(({ hazard, scenarios }) => {
    const years = scenarios.flatMap(({ scenario, analysis_years }) =>
      analysis_years.map((year) => ({ scenario, ...year })),
    );
    const metrics = Object.keys(years[0]?.metrics ?? {});
    const units = new Map<string, string>(HAZARDS[hazard].metrics.map(({ metric, unit }) => [metric, unit]));
    const table = formatTable({
      head: ["scenario", "year", ...metrics.map((metric) => metricHeading(metric, units.get(metric)))],
      rows: years.map((year) => [
        year.scenario,
        String(year.analysis_year),
        ...metrics.map((metric) => formatMetric(year, metric)),
      ]),
      isNumeric: (column) => column > 0,
    });
    return `\n${hazard}\n${table}\n`;
  });
  return `${formatHeading(result, atlas)}${tables.join("")}${formatLegend(result)}`;
}

function metricHeading(metric: string, unit: string | undefined): string {
  return unit === undefined || unit === "1" ? metric : `${metric} [${unit}]`;
}

function formatMetric(row: AnalysisYearResult, metric: string): string {
  const value = (row.metrics as Readonly<Record<string, number | null | undefined>>)[metric];
  if (value === null || value === undefined) return `- (${formatReason(row.no_data)})`;
  const bound = (row.bounds as Readonly<Record<string, Bound | undefined>> | undefined)?.[metric];
  if (bound === undefined) return formatNumber(value);
  return bound.bound === "indeterminate"
    ? `${formatNumber(value)} ?`
    : `${BOUND_SIGNS[bound.bound]} ${formatNumber(bound.limit)}`;
}

/** Explains the bound signs that occur in the tables. */
function formatLegend({ results }: HazardResult): string {
  const years = results.flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years));
  const boundKinds = new Set(years.flatMap(({ bounds }) => (bounds === undefined ? [] : bounds.probability.bound)));
  const lines = [
    ...(boundKinds.has("at_least") || boundKinds.has("at_most") ? [BOUND_LEGEND] : []),
    ...(boundKinds.has("indeterminate")
      ? ["? marks the difference of two bounds: the actual change may be larger or smaller."]
      : []),
  ];
  return lines.map((line) => `\n${line}\n`).join("");
}
