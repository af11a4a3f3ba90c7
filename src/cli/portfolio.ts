import { Command } from "commander";
import { Fault } from "../errors.ts";
import { openAtlas } from "../openAtlas.ts";
import type { OutputDisk } from "../places/run/outputDisk.ts";
import { rejectStandardInput } from "../places/readers/openPlaceSource.ts";
import { placeOutputFormat } from "../places/run/outputFormat.ts";
import { previewPlaceFile } from "../places/run/previewPlaceFile.ts";
import { scorePlaceFile } from "../places/run/scorePlaceFile.ts";
import { workFolderOf } from "../places/run/workFolder.ts";
import { checkOutput, statInput } from "./fileIo.ts";
import { indentedJson, printError, untilStopped } from "./terminal.ts";
import { addPortfolioFlags, placeFileOptionsOf, type PortfolioFlags } from "./portfolioFlags.ts";
import { portfolioMergeCommand } from "./portfolioMerge.ts";
import { formatPlacePreview, formatPlaceReport, warnIfSynthetic } from "./portfolioReport.ts";
import { portfolioSummaryCommand } from "./portfolioSummary.ts";
import { progressBar } from "./progress.ts";

/** Parts that tests replace to inject faults. */
interface PortfolioParts {
  readonly disk?: OutputDisk;
}

/** `isotherm portfolio`: scores a file of places. */
export function portfolioCommand({ disk }: PortfolioParts = {}): Command {
  const command = new Command("portfolio")
    .argument("<in>", "places: a .csv, .tsv, .ndjson, .jsonl, .geojson, .parquet or .geoparquet file")
    .argument("<out>", "scores: a .csv, .ndjson, .jsonl, .parquet or .geoparquet file (replaced if it exists)")
    // Otherwise options after the name of a subcommand would belong to this command.
    .enablePositionalOptions()
    .addHelpText("after", HELP);
  return addPortfolioFlags(command)
    .action((input: string, output: string, flags: PortfolioFlags) => run(input, output, { flags, disk }))
    .addCommand(portfolioMergeCommand())
    .addCommand(portfolioSummaryCommand());
}

const HELP = `
The columns of IN are kept, and the scores are added. The latitude, the longitude and the identifier are found by usual names,
those of OED location files included. A row without a usable location is written with the status invalid_row and the reason,
and is not an error: the exit code is 0. See docs/places.md.

OUT appears when it is complete, together with OUT.manifest.json and OUT.report.json. A run that was interrupted is continued
by the same command, and writes the same bytes; OUT.partial has the unfinished part.

Examples:
  isotherm portfolio examples/places.csv scores.csv --atlas demo
  isotherm portfolio sites.parquet scores.parquet --atlas data/atlas --hazards riverine_floods,coastal_floods \\
    --scenarios rcp4p5,rcp8p5 --years 2030,2050 --radius-column uncertainty_km --layout wide
  isotherm portfolio sites.csv part-3.parquet --atlas data/atlas --shard 3/8
  isotherm portfolio merge scores.parquet part-*.parquet`;

async function run(
  input: string,
  output: string,
  { flags, disk }: { readonly flags: PortfolioFlags; readonly disk: OutputDisk | undefined },
): Promise<void> {
  const options = await placeFileOptionsOf(flags);
  rejectStandardInput(input);
  const outputFormat = placeOutputFormat(output, flags);
  await checkOutput(output, await statInput(input));
  const {
    atlas: address,
    workers,
    cache,
    shard,
    restart = false,
    from: inputFormat,
    dryRun = false,
    json = false,
  } = flags;
  if (address === undefined) throw new Fault("configuration_invalid", "no atlas given; set --atlas or ISOTHERM_ATLAS.");
  const atlas = await openAtlas(address, { workers, ...(cache === undefined ? {} : { cacheBytes: cache * 2 ** 20 }) });
  const bar = progressBar("bytes");
  try {
    const text = await untilStopped(
      async (signal) => {
        const settings = { input, output, inputFormat, outputFormat, options, shard, signal, disk };
        if (dryRun) {
          const preview = await previewPlaceFile(atlas, settings);
          return json ? indentedJson(preview) : formatPlacePreview(preview);
        }
        const report = await scorePlaceFile(atlas, {
          ...settings,
          restart,
          onProgress: ({ readBytes, inputSizeBytes }) => {
            if (!json) bar.update(Math.min(readBytes, inputSizeBytes), inputSizeBytes);
          },
        });
        return json ? indentedJson(report) : formatPlaceReport(report);
      },
      () => {
        bar.stop();
        printError(`Stopped. Run the same command again to continue; ${workFolderOf(output)} has the finished part.`);
      },
    );
    bar.stop();
    if (text === undefined) return;
    warnIfSynthetic({ synthetic: atlas.synthetic, atlas });
    process.stdout.write(text);
  } finally {
    bar.stop();
    await atlas.close();
  }
}
