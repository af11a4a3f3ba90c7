import { constants } from "node:os";
import Table from "cli-table3";
import { Command, InvalidArgumentError, Option } from "commander";
import {
  type BoundingBox,
  type GroupReport,
  ingestAqueductFloods,
  ingestLayers,
  type IngestOptions,
  type IngestProgress,
  type IngestReport,
} from "../ingest/ingest.ts";
import { progressBar } from "./progress.ts";

/** `isotherm ingest`: writes an atlas from public hazard maps. */
export function ingestCommand(): Command {
  const command = new Command("ingest").description("write an atlas from hazard maps (GeoTIFF, NetCDF, HDF5, Zarr)");
  withOptions(
    command
      .command("aqueduct-floods")
      .description("ingest river and coastal flood maps of WRI Aqueduct Floods, identified by their file names")
      .argument("<source...>", "maps: files, folders or http(s) addresses"),
  )
    .addHelpText(
      "after",
      `
River maps: the mean over the given climate models. Coastal maps: with land subsidence, 95th percentile of sea level;
the baseline is the historical map without subsidence. Other variants are skipped and listed.

Example:
  isotherm ingest aqueduct-floods maps/aqueduct --out data/atlas --bbox 40,-5,52,13`,
    )
    .action(async (sources: string[], flags: IngestFlags) => {
      await runIngest(flags, (options) => ingestAqueductFloods({ ...options, sources }));
    });
  withOptions(
    command
      .command("layers")
      .description("ingest other maps described in a JSON manifest, one file or band per metric or return period")
      .argument("<manifest>", "JSON manifest, see docs/ingest.md"),
  )
    .addHelpText(
      "after",
      `
Example of a manifest:
  { "hazard": "cyclones", "source": { "name": "...", "licence": "..." },
    "layers": [{ "scenario": "baseline", "year": 1980, "return_period_years": 100, "file": "rp100.tif" }] }

Example:
  isotherm ingest layers maps/storm.json --out data/atlas`,
    )
    .action(async (manifest: string, flags: IngestFlags) => {
      await runIngest(flags, (options) => ingestLayers({ ...options, manifest }));
    });
  return command;
}

interface IngestFlags {
  readonly out: string;
  readonly bbox?: BoundingBox;
  readonly holdFlat?: boolean;
  readonly clampNegative?: boolean;
  readonly clampTolerance?: number;
  readonly nodata?: number;
  readonly assumeWgs84?: boolean;
  readonly viaGdal?: boolean;
  readonly keepMeridian?: "west" | "east";
  readonly cellSize?: number;
  readonly maxDistortion?: number;
  readonly release?: string;
  readonly json?: boolean;
}

function withOptions(command: Command): Command {
  return command
    .requiredOption("--out <folder>", "folder of the atlas; created if it does not exist, otherwise extended")
    .option("--bbox <W,S,E,N>", "ingest only the cells that intersect this box, in degrees", readBox)
    .option("--hold-flat", "if the maps do not span the design return period, use the value of the nearest map")
    .option("--clamp-negative", "replace values slightly below zero with zero instead of rejecting them")
    .option(
      "--clamp-tolerance <value>",
      "with --clamp-negative: values further below zero than this, in the unit of the metric, are rejected (default: 0.01 for intensity and probability, otherwise 1)",
      readNumber,
    )
    .option(
      "--nodata <value>",
      "additional nodata value besides those that the files declare; may be Infinity or -Infinity",
      readNodata,
    )
    .option("--assume-wgs84", "treat files without a coordinate system as WGS84 degrees")
    .option("--via-gdal", "convert maps in other formats, such as GRIB, with an installed GDAL")
    .addOption(
      new Option(
        "--keep-meridian <column>",
        "column to keep if the first and last columns of a world map are at the same meridian and have different values",
      ).choices(["west", "east"]),
    )
    .option(
      "--cell-size <degrees>",
      "cell size of maps that are reprojected from other coordinate systems, such as 0.01 or 1/120 (default: that of the atlas, or one that keeps the resolution at the center of the map)",
      readFraction,
    )
    .option(
      "--max-distortion <cells>",
      "reject reprojected maps if neighboring cells are more cells of the source apart than this anywhere (default: 2)",
      readNumber,
    )
    .option("--release <name>", "name of the new release (default: derived from date and content)")
    .option("--json", "print the report as JSON");
}

/** Parses a nodata value, which may be infinite. */
function readNodata(text: string): number {
  return /^[-+]?inf(inity)?$/i.test(text) ? Number(text.replace(/inf(inity)?/i, "Infinity")) : readNumber(text);
}

function readNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
}

/** Parses a number or a fraction such as 1/120. */
function readFraction(text: string): number {
  const [numerator = "", denominator, ...others] = text.split("/");
  if (others.length > 0) throw new InvalidArgumentError("It must be a number or a fraction such as 1/120.");
  return denominator === undefined ? readNumber(text) : readNumber(numerator) / readNumber(denominator);
}

function readBox(text: string): BoundingBox {
  const parts = text.split(",").map(readNumber);
  const [westDeg, southDeg, eastDeg, northDeg] = parts;
  if (
    westDeg === undefined ||
    southDeg === undefined ||
    eastDeg === undefined ||
    northDeg === undefined ||
    parts.length > 4
  ) {
    throw new InvalidArgumentError("It must be four numbers in degrees: west,south,east,north.");
  }
  return { westDeg, southDeg, eastDeg, northDeg };
}

async function runIngest(
  { json = false, cellSize, ...flags }: IngestFlags,
  ingest: (options: IngestOptions) => Promise<IngestReport>,
): Promise<void> {
  const bar = progressBar("rows");
  const onProgress = ({ rowsDone, rowCount }: IngestProgress): void => bar.update(rowsDone, rowCount);
  const stopping = new AbortController();
  // A second signal ends the process immediately.
  const stop = (signal: StopSignal): void => stopping.abort(new StoppedBySignal(signal));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  let report: IngestReport;
  try {
    report = await ingest({
      ...flags,
      ...(cellSize === undefined ? {} : { cellSizeDeg: cellSize }),
      onProgress,
      signal: stopping.signal,
    });
  } catch (error) {
    if (!(error instanceof StoppedBySignal)) throw error;
    bar.stop();
    process.stderr.write(
      "Stopped. Run the same command again to continue; the atlas is unchanged until it completes.\n",
    );
    process.exitCode = 128 + constants.signals[error.signal];
    return;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    bar.stop();
  }
  process.stdout.write(
    json ? `${JSON.stringify(ingestReportJson(report), undefined, 2)}\n` : formatIngestReport(report),
  );
}

type StopSignal = "SIGINT" | "SIGTERM";

/** Aborts the ingest after a signal. */
class StoppedBySignal extends Error {
  override readonly name = "StoppedBySignal";
  readonly signal: StopSignal;
  constructor(signal: StopSignal) {
    super(`Stopped by ${signal}.`);
    this.signal = signal;
  }
}

/** Converts the report to JSON with snake_case members. */
function ingestReportJson({ atlas, release, groups, ignoredFiles, durationMs }: IngestReport): Record<string, unknown> {
  return {
    atlas,
    release,
    groups: groups.map(({ hazard, scenario, year, metrics, cells, largestRounding, replaced }) => ({
      hazard,
      scenario,
      year,
      metrics,
      cells: {
        valid: cells.valid,
        nodata: cells.nodata,
        zero: cells.zero,
        clamped_negative: cells.clampedNegative,
        partly_missing: cells.partlyMissing,
        at_first_return_period: cells.reachedAtFirst,
        made_non_decreasing: cells.raised,
      },
      largest_rounding: largestRounding,
      replaced,
    })),
    ignored_files: ignoredFiles,
    seconds: durationMs / 1000,
  };
}

function formatIngestReport({ atlas, release, groups, ignoredFiles, durationMs }: IngestReport): string {
  const table = new Table({
    head: ["hazard", "scenario", "year", "valid", "zero", "no data", "largest rounding", ""],
    colAligns: ["left", "left", "right", "right", "right", "right", "left", "left"],
    style: { head: [], border: [] },
  });
  for (const group of groups) {
    const { hazard, scenario, year, cells, largestRounding } = group;
    const rounding = Object.entries(largestRounding).map(([metric, error]) => `${metric} ${error.toPrecision(2)}`);
    table.push([
      hazard,
      scenario,
      String(year),
      String(cells.valid),
      String(cells.zero),
      String(cells.nodata),
      rounding.join("\n"),
      remarks(group).join("\n"),
    ]);
  }
  const lines = [table.toString(), ...ignoredFileLines(ignoredFiles)];
  lines.push(`release ${release} of ${atlas} written in ${(durationMs / 1000).toFixed(1)} s`);
  return `${lines.join("\n")}\n`;
}

function remarks({ cells, metrics, replaced }: GroupReport): readonly string[] {
  const lines: string[] = [];
  if (replaced) lines.push("replaced");
  if (!metrics.includes("probability")) lines.push("no probability: maps without return periods");
  if (cells.clampedNegative > 0) lines.push(`${cells.clampedNegative} cells with values below 0 set to 0`);
  if (cells.partlyMissing > 0) lines.push(`${cells.partlyMissing} cells set to no data because some maps lack them`);
  if (cells.raised > 0) lines.push(`${cells.raised} curves made non-decreasing`);
  if (cells.reachedAtFirst > 0) {
    lines.push(
      `${cells.reachedAtFirst} cells reach the threshold on the first map: their probability is a lower bound`,
    );
  }
  return lines;
}

/** Summarizes ignored files by reason, because a release of the product can have hundreds of them. */
function ignoredFileLines(ignoredFiles: IngestReport["ignoredFiles"]): readonly string[] {
  const reasons = [...new Set(ignoredFiles.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const files = ignoredFiles.filter((ignored) => ignored.reason === reason).map(({ file }) => file);
    const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
    return `ignored: ${files[0]}${more}: ${reason}`;
  });
}
