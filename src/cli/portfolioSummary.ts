/** `isotherm portfolio summary` as text. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { Fault } from "../errors.ts";
import { parseNumber } from "../validation/parameters.ts";
import { workFolderOf } from "../places/run/workFolder.ts";
import { reportPage } from "../places/summary/report/reportPage.ts";
import {
  isSummaryMetric,
  leadingMetric,
  type MetricThreshold,
  parseSeriesName,
  scoreKeyText,
  type SeriesName,
  SUMMARY_METRICS,
  unitOfMetric,
} from "../places/summary/scoreColumns.ts";
import { summarizePlaceFile } from "../places/summary/summarizePlaceFile.ts";
import { summaryJson } from "../places/summary/summaryJson.ts";
import {
  type GroupSummary,
  largestQuantileError,
  type MetricSummary,
  omissionOf,
  type PartitionSummary,
  partsByMean,
  type PlaceSummary,
  type SeriesPlaces,
  TOP_COUNT_MAX,
} from "../places/summary/placeSummary.ts";
import { closestMatch } from "../validation/closestMatch.ts";
import { quote } from "../validation/schemaErrors.ts";
import { checkOutput, statInput, STDIO, writeOutput } from "./fileIo.ts";
import { indentedJson, printable } from "./terminal.ts";
import { progressBar } from "./progress.ts";
import { QUANTILE_SHARES } from "../places/summary/distribution.ts";
import type { StatedRun } from "../places/summary/statedRun.ts";
import { SCORE_STATUSES } from "../hazard/scoring/scoreRequest.ts";
import { formatTable } from "./textTable.ts";
import { formatNumber } from "./queryTables.ts";

interface SummaryFlags {
  readonly above?: readonly MetricThreshold[];
  readonly top: number;
  readonly by?: readonly SeriesName[];
  readonly groupBy?: string;
  readonly id?: string;
  readonly lat?: string;
  readonly lon?: string;
  readonly show?: readonly string[];
  readonly html?: string;
  readonly json?: boolean;
}

const TOP_COUNT_DEFAULT = 10;
/** Places on each map of the report; a place takes about 15 bytes. */
const MAP_PLACE_COUNT = 10_000;

/** `isotherm portfolio summary`: statistics of an output of `isotherm portfolio`. */
export function portfolioSummaryCommand(): Command {
  return new Command("summary")
    .description(
      "summarize an output of isotherm portfolio: statuses, distributions, shares above thresholds, top places",
    )
    .argument("<out>", "output of isotherm portfolio: a .csv, .ndjson, .jsonl, .parquet or .geoparquet file")
    .option(
      "--above <metric=value>",
      "count places at or above a value, such as depth_meters=0.5; repeatable (default: thresholds of the rules)",
      readThresholds,
    )
    .option(
      "--top <count>",
      `number of places with the largest values to list, 0 to ${TOP_COUNT_MAX}`,
      readTop,
      TOP_COUNT_DEFAULT,
    )
    .option(
      "--by <column>",
      "column of the largest values, such as riverine_floods.rcp8p5.2050.depth_meters; repeatable (default: for each " +
        "hazard its own metric in the last year of the last scenario)",
      readSeries,
    )
    .option("--group-by <column>", "kept column whose values divide the places, such as a country")
    .option("--id <column>", "column that identifies the places (default: that of the run, or found by usual names)")
    .option("--lat <column>", "column with the latitudes (default: that of the run, or found by usual names)")
    .option("--lon <column>", "column with the longitudes (default: that of the run, or found by usual names)")
    .option(
      "--show <column>",
      "kept column to show with each listed place; repeatable (the account of OED location files is always shown)",
      readColumn,
    )
    .option("--html <file>", "write a report with charts and maps, one file that makes no requests")
    .option("--json", "print JSON instead of tables")
    .addHelpText("after", SUMMARY_HELP)
    .action(run);
}

const SUMMARY_HELP = `
Both layouts are accepted. The manifest beside OUT, if there is one, states the rules, sources and options.
See docs/places.md.

Examples:
  isotherm portfolio summary scores.csv
  isotherm portfolio summary scores.parquet --group-by country --show BuildingTIV --html report.html
  isotherm portfolio summary scores.csv --above depth_meters=1 --top 20 --by coastal_floods.rcp8p5.2080.depth_meters`;

/** @throws InvalidArgumentError */
function readThresholds(text: string, previous: readonly MetricThreshold[] = []): readonly MetricThreshold[] {
  const [metric = "", number = "", ...others] = text.split("=");
  if (!isSummaryMetric(metric) || others.length > 0) {
    const suggestion = closestMatch(metric, SUMMARY_METRICS);
    const hint = suggestion === undefined ? "" : ` Did you mean ${suggestion}?`;
    throw new InvalidArgumentError(
      `it must be METRIC=VALUE, with one of ${SUMMARY_METRICS.join(", ")} (got ${quote(text)}).${hint}`,
    );
  }
  const value = parseNumber(number);
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new InvalidArgumentError(`the value of ${metric} must be a number (got ${quote(number)}).`);
  }
  return [...previous, { metric, value }];
}

/** @throws InvalidArgumentError */
function readTop(text: string): number {
  const value = parseNumber(text);
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOP_COUNT_MAX) return value;
  throw new InvalidArgumentError(`it must be an integer from 0 to ${TOP_COUNT_MAX} (got ${quote(text)}).`);
}

/** @throws InvalidArgumentError */
function readSeries(text: string, previous: readonly SeriesName[] = []): readonly SeriesName[] {
  const name = parseSeriesName(text);
  if (name !== undefined) return [...previous, name];
  throw new InvalidArgumentError(
    `it must be HAZARD.SCENARIO.YEAR.METRIC, such as riverine_floods.rcp8p5.2050.depth_meters (got ${quote(text)}).`,
  );
}

function readColumn(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, text];
}

async function run(output: string, flags: SummaryFlags, command: Command): Promise<void> {
  if (output === STDIO) command.error("error: <out> must be a file, not standard input");
  if (!existsSync(output) && existsSync(workFolderOf(output))) {
    const detail = `${workFolderOf(output)} has the finished part of its run; run isotherm portfolio as before to continue it.`;
    throw new Fault("configuration_invalid", `${output} is not complete: ${detail}`);
  }
  const stats = await statInput(output, { mayBeEmpty: true }); // NDJSON without rows is empty
  if (flags.html !== undefined) await checkOutput(flags.html, stats);
  const sizeBytes = stats?.size ?? 0;
  const bar = progressBar("bytes");
  let bytesRead = 0;
  const onBytes = (size: number): void => {
    bytesRead += size;
    bar.update(bytesRead, sizeBytes);
  };
  const options = {
    above: flags.above ?? [],
    topCount: flags.top,
    by: flags.by ?? [],
    groupBy: flags.groupBy,
    sampleCount: flags.html === undefined ? 0 : MAP_PLACE_COUNT,
  };
  const columns = { id: flags.id, latitude: flags.lat, longitude: flags.lon, shown: flags.show };
  let summarized;
  try {
    summarized = await summarizePlaceFile({ path: output, sizeBytes, onBytes }, options, columns);
  } finally {
    bar.stop();
  }
  const { summary, run: statedRun } = summarized;
  const context = { fileName: basename(output), run: statedRun };
  if (flags.html !== undefined) {
    const reportedOn = new Date().toISOString().slice(0, 10);
    await writeOutput(flags.html, textChunks(reportPage(summary, { ...context, reportedOn })));
  }
  if (flags.html === STDIO) return;
  const text = flags.json === true ? indentedJson(summaryJson(summary, context)) : formatSummary(summary, context);
  process.stdout.write(text);
}

async function* textChunks(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

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
