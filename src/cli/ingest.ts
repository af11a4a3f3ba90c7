import { Argument, Command, InvalidArgumentError, Option } from "commander";
import {
  type BoundingBox,
  ingestLayers,
  type IngestOptions,
  type IngestPreview,
  ingestRecipe,
  type IngestReport,
  previewLayers,
  previewRecipe,
  type RecipeName,
} from "../ingest/ingest.ts";
import { MANIFEST_RECIPES, type ManifestRecipe, manifestSchemaText } from "../ingest/recipes/recipeList.ts";
import { formatIngestPreview, formatIngestReport, ingestPreviewJson, ingestReportJson } from "./ingestReport.ts";
import { ingestProgress } from "./ingestProgress.ts";
import { readNumber, readNumbers, readPairs, recipeCommands } from "./ingestRecipes.ts";
import { indentedJson, printError, untilStopped } from "./terminal.ts";

/** `isotherm ingest`: writes an atlas from public hazard maps. */
export function ingestCommand(): Command {
  const command = new Command("ingest");
  for (const { name, command: recipe } of recipeCommands()) {
    command.addCommand(
      withOptions(recipe).action(async (sources: string[], flags: IngestFlags) => {
        await runIngest(flags, {
          ingest: (options) => ingestRecipe(name, { ...options, sources }),
          preview: (options) => previewRecipe(name, { ...options, sources }),
        });
      }),
    );
  }
  // Not listed; the error of a recipe of earlier releases names what replaces it.
  command
    .command("osc-zarr", { hidden: true })
    .argument("[sources...]")
    .allowUnknownOption()
    .action(async () => {
      await ingestRecipe("osc-zarr" as RecipeName, { sources: [], out: "" });
    });
  withOptions(
    command
      .command("layers")
      .description("ingest other maps described in a JSON manifest, one file or band per metric or return period")
      .argument("<manifest>", "JSON manifest, see docs/ingest/manifest.md"),
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
      await runIngest(flags, {
        ingest: (options) => ingestLayers({ ...options, manifest }),
        preview: (options) => previewLayers({ ...options, manifest }),
      });
    });
  command
    .command("schema")
    .description("print the JSON Schema of the manifest of a recipe, for editors and validators")
    .addArgument(new Argument("<recipe>", "recipe with a manifest").choices(MANIFEST_RECIPES))
    .addHelpText("after", "\nExample:\n  isotherm ingest schema layers > layers-manifest.json")
    .action((recipe: ManifestRecipe) => void process.stdout.write(manifestSchemaText(recipe)));
  return command;
}

/** Options of the command line that are options of the library under the same names. */
type SharedFlags = Pick<
  IngestOptions,
  | "out"
  | "bbox"
  | "holdFlat"
  | "clampNegative"
  | "clampTolerance"
  | "nodata"
  | "assumeWgs84"
  | "viaGdal"
  | "keepMeridian"
  | "maxDistortion"
  | "keepCurves"
  | "keepRange"
  | "release"
  | "depthStepsPerMeter"
  | "threads"
>;

interface IngestFlags extends SharedFlags {
  readonly cellSize?: number;
  readonly dryRun?: boolean;
  readonly quiet?: boolean;
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
    .option(
      "--depth-steps-per-meter <number>",
      "steps in which depths are stored; fewer steps store larger depths (default: 1000, which stores up to 65.533 m, or that of the atlas)",
      readNumber,
    )
    .option(
      "--keep-curves",
      "also store the value at each return period, for isotherm query --curve; reads return-period maps twice",
    )
    .option(
      "--keep-range",
      "also store the smallest and largest value over climate models; reads return-period maps twice",
    )
    .option(
      "--interpolate-years <years>",
      "years that the maps lack, interpolated linearly between the curves of the years before and after; recorded in the layers",
      readNumbers,
    )
    .option("--interpolate-from-baseline", "also interpolate between the baseline and the first year of a scenario")
    .option(
      "--proxy-scenario <ours=theirs>",
      "use the layers of another scenario for one that the maps lack, such as rcp6p0=rcp4p5; recorded as proxy_of",
      readPairs,
    )
    .option("--threads <number>", "threads that read maps; 0 uses none (default: processors, at most 4)", readNumber)
    .option("--release <name>", "name of the new release (default: derived from date and content)")
    .option("--dry-run", "list what would be read and written, and write nothing")
    .option("--quiet", "show no progress")
    .option("--json", "print the report as JSON, and show no progress");
}

/** Parses a nodata value, which may be infinite. */
function readNodata(text: string): number {
  return /^[-+]?inf(inity)?$/i.test(text) ? Number(text.replace(/inf(inity)?/i, "Infinity")) : readNumber(text);
}

/** Parses a number or a fraction such as 1/120. */
function readFraction(text: string): number {
  const [numerator = "", denominator, ...others] = text.split("/");
  if (others.length > 0) throw new InvalidArgumentError("It must be a number or a fraction such as 1/120.");
  return denominator === undefined ? readNumber(text) : readNumber(numerator) / readNumber(denominator);
}

/** Parses a box: west,south,east,north. */
export function readBox(text: string): BoundingBox {
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

interface Recipe {
  ingest(options: IngestOptions): Promise<IngestReport>;
  preview(options: IngestOptions): Promise<IngestPreview>;
}

async function runIngest(
  { json = false, quiet = false, dryRun = false, cellSize, ...flags }: IngestFlags,
  recipe: Recipe,
): Promise<void> {
  const progress = ingestProgress(process.stderr, { isShown: !json && !quiet && !dryRun });
  try {
    const output = await untilStopped(
      async (signal) => {
        const options: IngestOptions = {
          ...flags,
          ...(cellSize === undefined ? {} : { cellSizeDeg: cellSize }),
          onProgress: (done) => progress.update(done),
          signal,
        };
        if (dryRun) {
          const preview = await recipe.preview(options);
          return json ? indentedJson(ingestPreviewJson(preview)) : formatIngestPreview(preview);
        }
        const report = await recipe.ingest(options);
        return json ? indentedJson(ingestReportJson(report)) : formatIngestReport(report);
      },
      () => {
        progress.stop();
        printError("Stopped. Run the same command again to continue; the atlas is unchanged until it completes.");
      },
    );
    progress.stop();
    if (output !== undefined) process.stdout.write(output);
  } finally {
    progress.stop();
  }
}
