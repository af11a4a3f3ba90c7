/** The options of `isotherm portfolio` on the command line and in a JSON file. */
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { type Command, InvalidArgumentError, Option } from "commander";
import { METRIC_NAMES } from "../contract/names.ts";
import type { PlaceFileOptions } from "../contract/wireTypes.ts";
import { Fault, isFault } from "../errors.ts";
import { HAZARD_NAMES, SCENARIOS } from "../hazard/hazards.ts";
import { parseJson } from "../text/json/json.ts";
import { parseNumber } from "../validation/parameters.ts";
import { PLACE_FORMATS, type PlaceFormat } from "../places/readers/openPlaceSource.ts";
import { OUTPUT_FORMATS, type OutputFormat, type Shard } from "../places/run/placeJob.ts";
import { LAYOUTS, type Layout } from "../places/writers/outputColumns.ts";
import { parsePlaceFileOptions } from "../places/scores/placeOptions.ts";
import { quote } from "../validation/schemaErrors.ts";

export interface PortfolioFlags {
  readonly atlas?: string;
  readonly lat?: string;
  readonly lon?: string;
  readonly id?: string;
  readonly hazards?: readonly string[];
  readonly scenarios?: readonly string[];
  readonly years?: readonly (string | number)[];
  readonly radius?: string | number;
  readonly radiusColumn?: string;
  readonly method?: string;
  readonly metrics?: readonly string[];
  readonly threshold?: Readonly<Record<string, number | string>>;
  readonly totalHazard?: boolean;
  readonly anthropogenic?: boolean;
  readonly layout?: Layout;
  readonly from?: PlaceFormat;
  readonly to?: OutputFormat;
  readonly geo?: boolean;
  readonly options?: string;
  readonly shard?: Shard;
  readonly restart?: boolean;
  readonly workers: number;
  readonly cache?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function addPortfolioFlags(command: Command): Command {
  return (
    command
      // Not mandatory for commander, which would require it of the subcommands as well.
      .addOption(
        new Option("--atlas <folder>", '(required) atlas: a folder, an http(s) address, or "demo"').env(
          "ISOTHERM_ATLAS",
        ),
      )
      .option("--lat <column>", "column with the latitudes (default: found by usual names)")
      .option("--lon <column>", "column with the longitudes (default: found by usual names)")
      .option("--id <column>", "column that identifies the places (default: found by usual names)")
      .option("--hazards <list>", `hazards, separated by commas: ${HAZARD_NAMES.join(", ")} (default: all)`, readList)
      .option("--scenarios <list>", `scenarios, separated by commas: ${SCENARIOS.join(", ")} (default: all)`, readList)
      .option("--years <list>", "analysis years, separated by commas (default: all)", readNumbers)
      .option(
        "--radius <km>",
        "aggregate all cells within this geodesic distance, 0 to 100, instead of the single cell",
        parseNumber,
      )
      .option(
        "--radius-column <column>",
        "column with the radius of each place, in kilometers; --radius is that of empty cells",
      )
      .option("--method <name>", "aggregation within the radius: max (default) or mean")
      .option(
        "--metrics <list>",
        `metrics, separated by commas: ${METRIC_NAMES.join(", ")} (default: all but total_hazard)`,
        readList,
      )
      .option(
        "--threshold <hazard=value>",
        "add the annual probability of reaching this value, from the curves of the atlas; may be repeated",
        readThreshold,
      )
      .option("--total-hazard", "add total_hazard, intensity x probability")
      .option("--anthropogenic", "write the change since the 1980 baseline instead of the value")
      .addOption(
        new Option(
          "--layout <name>",
          "long: one row per place, hazard, scenario and year; wide: one row per place (default: long)",
        ).choices(LAYOUTS),
      )
      .addOption(new Option("--from <format>", "format of IN (default: from the extension)").choices(PLACE_FORMATS))
      .addOption(new Option("--to <format>", "format of OUT (default: from the extension)").choices(OUTPUT_FORMATS))
      .option("--geo", "write GeoParquet: Parquet with the places as points in the column geometry")
      .option(
        "--options <file>",
        "JSON file with options; flags take precedence, see docs/schemas/portfolio-options.json",
      )
      .option("--shard <i/n>", "write part i of n, to be joined by isotherm portfolio merge", readShard)
      .option("--restart", "discard the unfinished output of an earlier run; replace a part of another number of parts")
      .addOption(
        new Option("--workers <count>", "number of worker threads; 0 computes on the main thread")
          .default(Math.max(1, availableParallelism()), "number of processors")
          .argParser(readCount),
      )
      .option("--cache <MiB>", "memory for decoded tiles (default: 512)", readCount)
      .option("--dry-run", "print columns, groups and estimated size, and write nothing")
      .option("--json", "print the report as JSON, and show no progress")
  );
}

/**
 * Returns the options of the file and the flags, which take precedence.
 * @throws Fault `invalid_request` with all errors, `configuration_invalid` if the file cannot be read
 */
export async function placeFileOptionsOf(flags: PortfolioFlags): Promise<PlaceFileOptions> {
  const { lat, lon, id, hazards, scenarios, years, radius, radiusColumn, method, metrics, threshold } = flags;
  const { totalHazard, anthropogenic, layout, options: file } = flags;
  const fromFile = file === undefined ? {} : await readOptions(file);
  if (typeof fromFile !== "object" || fromFile === null || Array.isArray(fromFile))
    return parsePlaceFileOptions(fromFile);
  // A radius on the command line replaces both the radius and its column in the file.
  const replaced =
    radius !== undefined || radiusColumn !== undefined ? { radius: undefined, radius_column: undefined } : {};
  return parsePlaceFileOptions(
    definedMembers({
      ...fromFile,
      ...replaced,
      ...definedMembers({
        hazards,
        scenarios,
        analysis_years: years,
        radius,
        radius_column: radiusColumn,
        aggregation_method: method,
        metrics,
        thresholds: mergedMembers("thresholds" in fromFile ? fromFile.thresholds : undefined, threshold ?? {}),
        total_hazard: totalHazard,
        anthropogenic,
        layout,
        columns: mergedMembers("columns" in fromFile ? fromFile.columns : undefined, {
          id,
          latitude: lat,
          longitude: lon,
        }),
      }),
    }),
  );
}

/** Returns an object of the options file with the members of the flags, or undefined if there are no flags. */
function mergedMembers(fromFile: unknown, fromFlags: Readonly<Record<string, unknown>>): unknown {
  const members = definedMembers(fromFlags);
  if (Object.keys(members).length === 0) return undefined;
  // Returned unchanged if it is no object, so that it is rejected with the other errors.
  if (fromFile !== undefined && (typeof fromFile !== "object" || fromFile === null || Array.isArray(fromFile)))
    return fromFile;
  return { ...fromFile, ...members };
}

function definedMembers(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

async function readOptions(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8");
  try {
    return parseJson(text);
  } catch (error) {
    if (!isFault(error)) throw error;
    throw new Fault(error.code, `${file}: ${error.message}`, { details: error.details, cause: error });
  }
}

function readList(text: string): readonly string[] {
  return text.split(",").map((item) => item.trim());
}

function readNumbers(text: string): readonly (string | number)[] {
  return readList(text).map(parseNumber);
}

/** Adds a threshold to those of the options before. @throws InvalidArgumentError */
function readThreshold(
  text: string,
  others: Readonly<Record<string, number | string>> | undefined,
): Readonly<Record<string, number | string>> {
  const [hazard = "", value, ...rest] = text.split("=");
  if (value === undefined || rest.length > 0) {
    throw new InvalidArgumentError(
      `it must be a hazard and a value, such as riverine_floods=0.5 (got ${quote(text)}).`,
    );
  }
  if (others !== undefined && Object.hasOwn(others, hazard)) {
    throw new InvalidArgumentError(`${hazard} has two thresholds; give one.`);
  }
  return { ...others, [hazard]: parseNumber(value) };
}

/** @throws InvalidArgumentError */
function readShard(text: string): Shard {
  const match = /^([1-9][0-9]{0,5})\/([1-9][0-9]{0,5})$/.exec(text);
  const [index, count] = [Number(match?.[1]), Number(match?.[2])];
  if (match !== null && index <= count) return { index, count };
  throw new InvalidArgumentError(`it must be a part and the number of parts, such as 1/8 or 8/8 (got ${quote(text)}).`);
}

/** @throws InvalidArgumentError */
function readCount(text: string): number {
  if (/^[0-9]{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`it must be an integer (got ${quote(text)}).`);
}
