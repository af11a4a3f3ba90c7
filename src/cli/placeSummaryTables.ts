/** `isotherm portfolio summary` as text. */
import { QUANTILE_SHARES } from "../places/summary/distribution.ts";
import { type GroupSummary, largestQuantileError, type MetricSummary, omissionOf, type PartitionSummary, partsByMean, type PlaceSummary, type SeriesPlaces } from "../places/summary/placeSummary.ts";
import { leadingMetric, scoreKeyText, unitOfMetric } from "../places/summary/scoreColumns.ts";
import type { StatedRun } from "../places/summary/statedRun.ts";
import { SCORE_STATUSES } from "../hazard/scoring/scoreRequest.ts";
import { printable } from "./printableText.ts";
import { formatTable } from "./textTable.ts";
import { formatNumber } from "./queryText.ts";

const QUANTILE_HEADS = QUANTILE_SHARES.map((share) => `${share * 100} %`);
const PARTS_LISTED_MAX = 50;

/** Returns a summary as tables: one for each hazard, one for each list of places and one for each division by a column. */
export function formatSummary(
  summary: PlaceSummary,
  { fileName, run }: { readonly fileName: string; readonly run: StatedRun | undefined },
): string {
  const { partition } = summary;
  const hazards = [...new Set(summary.groups.map(({ hazard }) => hazard))];
  return [
    heading(summary, fileName, run),
    ...hazards.map((hazard) =>
      hazardTables(
        hazard,
        summary.groups.filter((group) => group.hazard === hazard),
      ),
    ),
    ...summary.series.map((series) => topTable(series, summary.shownColumns)),
    ...(partition === undefined ? [] : partTables(partition, summary.series)),
    legend(summary),
  ].join("\n");
}

function heading({ placeCount, invalidRowCount }: PlaceSummary, fileName: string, run: StatedRun | undefined): string {
  const atlas = run === undefined ? "" : ` (atlas ${printable(run.release)})`;
  const lines = [
    `${printable(fileName)}: ${count(placeCount, "place")}, ${count(invalidRowCount, "invalid row")}${atlas}`,
  ];
  if (run?.isSynthetic === true) lines.push("  SYNTHETIC: not real data");
  if (run?.options["anthropogenic"] === true) lines.push("  Values are changes since the baseline.");
  return `${lines.join("\n")}\n`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function hazardTables(hazard: string, groups: readonly GroupSummary[]): string {
  const rows = groups.flatMap((group) =>
    shownMetrics(group).map((metric) => [group.scenario, String(group.analysisYear), ...metricCells(metric)]),
  );
  const head = ["scenario", "year", "metric", "values", "minimum", ...QUANTILE_HEADS, "maximum", "mean", "at or above"];
  return `${hazard}\n${statusText(groups)}\n${tableText(head, rows, ["scenario", "metric"])}\n`;
}

/** Returns the hazard's own metric and the probabilities. The others follow from them; JSON and the report have them. */
function shownMetrics({ hazard, metrics }: GroupSummary): readonly MetricSummary[] {
  const leading = leadingMetric(
    hazard,
    metrics.map(({ metric }) => metric),
  );
  return metrics.filter(({ metric }) => [leading, "probability", "exceedance_probability"].includes(metric));
}

/** Counts the statuses of all scenarios and years. */
function statusText(groups: readonly GroupSummary[]): string {
  const counts = SCORE_STATUSES.map((status, i) => {
    const total = groups.reduce((sum, { statusCounts }) => sum + (statusCounts[i] ?? 0), 0);
    return total === 0 ? [] : [`${total} ${status}`];
  });
  return `  statuses: ${counts.flat().join(", ") || "none"}`;
}

function metricCells({ metric, unit, distribution, thresholds }: MetricSummary): readonly string[] {
  const name = unit === "1" ? metric : `${metric} [${unit}]`;
  if (distribution === undefined) return [name, "0", ...Array.from({ length: QUANTILE_HEADS.length + 4 }, () => "-")];
  const { count: valueCount, minimum, quantiles, maximum, mean, aboveCounts } = distribution;
  const shares = thresholds.map(
    (threshold, i) => `${formatNumber(threshold)}: ${percent((aboveCounts[i] ?? 0) / valueCount)}`,
  );
  const quantileCells = quantiles.length === 0 ? QUANTILE_HEADS.map(() => "-") : quantiles.map(formatNumber);
  const values = [formatNumber(minimum), ...quantileCells, formatNumber(maximum), formatNumber(mean)];
  return [name, String(valueCount), ...values, shares.length === 0 ? "-" : shares.join(", ")];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function topTable(series: SeriesPlaces, shownColumns: readonly string[]): string {
  const { top, hazard, metric } = series;
  const name = `${scoreKeyText(series)}.${metric}`;
  if (top.length === 0) return `${name}: no place has a value above 0\n`;
  const unit = unitOfMetric(hazard, metric);
  const coordinate = (degrees: number): string => (Number.isFinite(degrees) ? degrees.toFixed(4) : "-");
  const rows = top.map(({ id, rowNumber, latitude, longitude, shown, value }, i) => [
    String(i + 1),
    id ?? `row ${rowNumber}`,
    ...shown.map((cell) => cell ?? ""),
    coordinate(latitude),
    coordinate(longitude),
    formatNumber(value),
  ]);
  const head = ["", "place", ...shownColumns, "latitude", "longitude", unit === "1" ? metric : `${metric} [${unit}]`];
  return `Largest values of ${name}\n${tableText(head, rows, ["place", ...shownColumns])}\n`;
}

function partTables(partition: PartitionSummary, series: readonly SeriesPlaces[]): readonly string[] {
  const omission = omissionOf(partition);
  const note = omission === undefined ? [] : [`${printable(omission)}\n`];
  return [...series.map((selected) => partTable(partition, selected)), ...note];
}

/** Returns the statistics of a column of values by the values of the kept column, the largest means first. */
function partTable(partition: PartitionSummary, series: SeriesPlaces): string {
  const parts = partsByMean(partition, series);
  const rows = parts.slice(0, PARTS_LISTED_MAX).map(({ part: { value, placeCount }, summary }) => {
    const cells = summary === undefined ? [] : metricCells(summary).slice(1);
    return [value ?? "(empty)", String(placeCount), ...cells];
  });
  const head = [partition.column, "places", "values", "minimum", ...QUANTILE_HEADS, "maximum", "mean", "at or above"];
  const listed = parts.length > rows.length ? ` (the ${rows.length} largest means of ${parts.length})` : "";
  const name = `${scoreKeyText(series)}.${series.metric}`;
  return `${name} by ${printable(partition.column)}${listed}\n${tableText(head, rows, [partition.column])}\n`;
}

function legend(summary: PlaceSummary): string {
  const error = largestQuantileError(summary);
  const accuracy = error === 0 ? "" : `, within ${(100 * error).toPrecision(2)} % if there are many different values`;
  return (
    `The columns ${QUANTILE_HEADS[0]} to ${QUANTILE_HEADS.at(-1)} are quantiles over the places that have a value${accuracy}.\n` +
    '"at or above" is the share of these places. --json and --html have all metrics.\n'
  );
}

function tableText(head: readonly string[], rows: readonly (readonly string[])[], texts: readonly string[]): string {
  return formatTable({
    head: head.map(printable),
    rows: rows.map((row) => row.map(printable)),
    isNumeric: (column) => !texts.includes(head[column] ?? ""),
  });
}
