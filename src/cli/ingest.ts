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

/** `isotherm ingest`: fills an atlas from public hazard maps. */
export function ingestCommand(): Command {
  const command = new Command("ingest").description("fill an atlas from hazard maps (GeoTIFF)");
  withOptions(
    command
      .command("aqueduct-floods")
      .description("WRI Aqueduct Floods: river and coastal flood maps of the release, told apart by their file names")
      .argument("<source...>", "files, folders or http(s) addresses of the maps"),
  )
    .addHelpText(
      "after",
      `
River maps: the mean over the climate models given. Coast maps: with land subsidence, 95th percentile of sea level;
the baseline is the historical map without subsidence. Other variants are set aside, and listed.

Example:
  isotherm ingest aqueduct-floods maps/aqueduct --out data/atlas --bbox 40,-5,52,13`,
    )
    .action(async (sources: string[], flags: Flags) => {
      await run(flags, (options) => ingestAqueductFloods({ ...options, sources }));
    });
  withOptions(
    command
      .command("layers")
      .description("any other maps: one file or band a metric or return period, described in a JSON manifest")
      .argument("<manifest>", "the JSON manifest; docs/ingest.md describes it"),
  )
    .addHelpText(
      "after",
      `
A manifest in short:
  { "hazard": "cyclones", "source": { "name": "...", "licence": "..." },
    "layers": [{ "scenario": "baseline", "year": 1980, "return_period_years": 100, "file": "rp100.tif" }] }

Example:
  isotherm ingest layers maps/storm.json --out data/atlas`,
    )
    .action(async (manifest: string, flags: Flags) => {
      await run(flags, (options) => ingestLayers({ ...options, manifest }));
    });
  return command;
}

interface Flags {
  readonly out: string;
  readonly bbox?: BoundingBox;
  readonly holdFlat?: boolean;
  readonly clampNegative?: boolean;
  readonly clampTolerance?: number;
  readonly nodata?: number;
  readonly assumeWgs84?: boolean;
  readonly keepMeridian?: "west" | "east";
  readonly release?: string;
  readonly json?: boolean;
}

function withOptions(command: Command): Command {
  return command
    .requiredOption("--out <folder>", "the atlas; made where there is none, added to where there is one")
    .option("--bbox <W,S,E,N>", "take only the cells that this box of degrees touches", readBox)
    .option("--hold-flat", "where the maps do not span the design return period, take the nearest map's value for it")
    .option("--clamp-negative", "take values just below zero for zero, instead of refusing them")
    .option(
      "--clamp-tolerance <value>",
      "with --clamp-negative: how far below zero, in the metric's unit; what is further below is refused (default: 1)",
      readNumber,
    )
    .option(
      "--nodata <value>",
      "a marker of missing values beside those that the files declare; Infinity and -Infinity too",
      readMarker,
    )
    .option("--assume-wgs84", "take files that state no coordinate system for WGS84 degrees")
    .addOption(
      new Option(
        "--keep-meridian <column>",
        "where a world map's last column stands for the same meridian as its first and differs from it: which counts",
      ).choices(["west", "east"]),
    )
    .option("--release <name>", "the name of the new release (default: made from date and content)")
    .option("--json", "the report as JSON");
}

/** A marker may be infinite: the messages about infinite cells advise to give them as markers. */
function readMarker(text: string): number {
  return /^[-+]?inf(inity)?$/i.test(text) ? Number(text.replace(/inf(inity)?/i, "Infinity")) : readNumber(text);
}

function readNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) throw new InvalidArgumentError("It must be a number.");
  return value;
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
    throw new InvalidArgumentError("It must be four numbers: west,south,east,north, in degrees.");
  }
  return { westDeg, southDeg, eastDeg, northDeg };
}

async function run(
  { json = false, ...flags }: Flags,
  ingest: (options: IngestOptions) => Promise<IngestReport>,
): Promise<void> {
  const bar = progressBar("rows");
  const onProgress = ({ rowsDone, rowCount }: IngestProgress): void => bar.update(rowsDone, rowCount);
  const stopping = new AbortController();
  // Once: a second signal ends the process at once, as it does everywhere.
  const stop = (signal: StopSignal): void => stopping.abort(new Stopped(signal));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  let report: IngestReport;
  try {
    report = await ingest({ ...flags, onProgress, signal: stopping.signal });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    bar.stop();
    process.stderr.write("Stopped. The same command goes on from here; until it is done the atlas stays as it was.\n");
    process.exitCode = 128 + constants.signals[error.signal];
    return;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    bar.stop();
  }
  process.stdout.write(json ? `${JSON.stringify(wireOf(report), undefined, 2)}\n` : describe(report));
}

type StopSignal = "SIGINT" | "SIGTERM";

/** Somebody wants it to end. */
class Stopped extends Error {
  override readonly name = "Stopped";
  readonly signal: StopSignal;
  constructor(signal: StopSignal) {
    super(`Stopped by ${signal}.`);
    this.signal = signal;
  }
}

/** The report in the words of every other JSON that we write. */
function wireOf({ atlas, release, groups, setAside, durationMs }: IngestReport): Record<string, unknown> {
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
    set_aside: setAside,
    seconds: durationMs / 1000,
  };
}

function describe({ atlas, release, groups, setAside, durationMs }: IngestReport): string {
  const table = new Table({
    head: ["hazard", "scenario", "year", "valid", "of them 0", "no data", "largest rounding", ""],
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
  const lines = [table.toString(), ...aside(setAside)];
  lines.push(`release ${release} of ${atlas}, in ${(durationMs / 1000).toFixed(1)} s`);
  return `${lines.join("\n")}\n`;
}

function remarks({ cells, metrics, replaced }: GroupReport): readonly string[] {
  const lines: string[] = [];
  if (replaced) lines.push("replaced");
  if (!metrics.includes("probability")) lines.push("no probability: no return periods given");
  if (cells.clampedNegative > 0) lines.push(`${cells.clampedNegative} cells with values below 0 taken for 0`);
  if (cells.partlyMissing > 0) lines.push(`${cells.partlyMissing} cells missing on some maps only: missing`);
  if (cells.raised > 0) lines.push(`${cells.raised} curves made non-decreasing`);
  if (cells.reachedAtFirst > 0) {
    lines.push(`${cells.reachedAtFirst} cells reach the threshold on the first map: probability is a lower bound`);
  }
  return lines;
}

/** Files set aside, by reason: a release has hundreds of them. */
function aside(setAside: IngestReport["setAside"]): readonly string[] {
  const reasons = [...new Set(setAside.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const files = setAside.filter((other) => other.reason === reason).map(({ file }) => file);
    const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
    return `set aside: ${files[0]}${more}: ${reason}`;
  });
}
