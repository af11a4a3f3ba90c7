import { Command } from "commander";
import { mergeParts } from "../places/run/mergeParts.ts";
import { workFolderOf } from "../places/run/workFolder.ts";
import { checkOutput } from "./fileIo.ts";
import { indentedJson, printError, untilStopped } from "./terminal.ts";
import { formatPlaceReport, warnIfSynthetic } from "./portfolioReport.ts";
import { progressBar } from "./progress.ts";

interface MergeFlags {
  readonly restart?: boolean;
  readonly json?: boolean;
}

/** `isotherm portfolio merge`: joins the parts of a sharded run. */
export function portfolioMergeCommand(): Command {
  return new Command("merge")
    .description("join the parts that isotherm portfolio --shard has written")
    .argument("<out>", "file to write (replaced if it exists)")
    .argument("<parts...>", "all parts, in any order, with their manifests next to them")
    .option("--restart", "discard the unfinished output of an earlier run")
    .option("--json", "print the report as JSON, and show no progress")
    .addHelpText(
      "after",
      `
The parts must be of the same input, options, release, rules and version of this program, and none may be missing, given twice
or damaged. The result is the file that a run without --shard writes, byte for byte.

Example:
  isotherm portfolio merge scores.parquet part-*.parquet`,
    )
    .action(run);
}

async function run(
  output: string,
  parts: readonly string[],
  { restart = false, json = false }: MergeFlags,
): Promise<void> {
  await checkOutput(output, undefined);
  const bar = progressBar("bytes");
  try {
    const report = await untilStopped(
      (signal) =>
        mergeParts({
          output,
          parts,
          restart,
          signal,
          onProgress: ({ doneBytes, sizeBytes }) => {
            if (!json) bar.update(doneBytes, sizeBytes);
          },
        }),
      () => {
        bar.stop();
        printError(`Stopped. Run the same command again to continue; ${workFolderOf(output)} has the finished part.`);
      },
    );
    bar.stop();
    if (report === undefined) return;
    warnIfSynthetic(report);
    process.stdout.write(json ? indentedJson(report) : formatPlaceReport(report));
  } finally {
    bar.stop();
  }
}
