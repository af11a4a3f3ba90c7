import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { Fault } from "../errors.ts";
import { parseNumber } from "../validation/parameters.ts";
import { workFolderOf } from "../places/run/workFolder.ts";
import { reportPage } from "../places/summary/report/reportPage.ts";
import { isSummaryMetric, type MetricThreshold, parseSeriesName, type SeriesName, SUMMARY_METRICS } from "../places/summary/scoreColumns.ts";
import { summarizePlaceFile } from "../places/summary/summarizePlaceFile.ts";
import { summaryJson } from "../places/summary/summaryJson.ts";
import { TOP_COUNT_MAX } from "../places/summary/placeSummary.ts";
import { closestMatch } from "../validation/closestMatch.ts";
import { quote } from "../validation/schemaErrors.ts";
import { STDIO } from "./fileFormats.ts";
import { checkOutput, statInput, writeOutput } from "./fileIo.ts";
import { indentedJson } from "./indentedJson.ts";
import { formatSummary } from "./placeSummaryTables.ts";
import { progressBar } from "./progress.ts";

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
