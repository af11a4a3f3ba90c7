import { createHash } from "node:crypto";
import { type FileHandle, link, mkdir, open, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Command } from "commander";
import { Fault } from "../errors.ts";
import { hashFile, syncFolder } from "../files/files.ts";
import type { PrunePlan } from "../ledger/chainReport.ts";
import type { ArchivedBatch } from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, withLedger } from "./ledgerCommand.ts";
import { progressBar } from "./progress.ts";
import { ARCHIVE_HEADER } from "./usageArchive.ts";
import { headText } from "./usageAudit.ts";
import { eventCsvLine } from "./usageEvents.ts";

interface PruneFlags extends LedgerFlags {
  readonly before: string;
  readonly archive: string;
  readonly dryRun?: boolean;
}

/** `isotherm usage prune`: moves old records from the ledger to a CSV file; their sums stay. */
export function usagePruneCommand(): Command {
  return ledgerCommand("prune")
    .description("move the individual records before a day from the ledger to a CSV file; sums and reports stay")
    .requiredOption("--before <day>", "first day to keep, UTC, as YYYY-MM-DD")
    .requiredOption("--archive <folder>", "folder for the CSV file; created if it does not exist")
    .option("--dry-run", "only print what would be archived")
    .addHelpText(
      "after",
      "\nThe records are deleted only after the file is complete and on disk. After an interruption, run the same command " +
        "again.\n\nExample:\n  isotherm usage prune --before 2026-01-01 --archive /srv/archive --dry-run",
    )
    .action(runUsagePrune);
}

async function runUsagePrune(flags: PruneFlags): Promise<void> {
  const { before, archive, dryRun = false } = flags;
  await withLedger(
    flags,
    async (ledger) => {
      const plan = await ledger.prunePlan({ before });
      const file = join(archive, archiveName(plan));
      if (dryRun) {
        print(flags, {
          plan,
          file,
          text: plan.batchCount === 0 ? nothingText(plan) : `Would archive ${planText(plan)}`,
        });
        return;
      }
      const progress = progressBar("records");
      const total = plan.eventCount + plan.undeletedCount;
      const head = await ledger
        .prune(
          plan,
          (batches) => writeArchive(file, batches),
          (deletedCount) => progress.update(Math.min(deletedCount, total), total),
        )
        .finally(progress.stop);
      const text = plan.batchCount === 0 ? nothingText(plan) : `Archived ${planText(plan)} in ${file}`;
      print(flags, { plan, file, text: `${text}\nHead: ${headText(head)}` });
    },
    { mustExist: true, anchorFolder: flags.data },
  );
}

function archiveName({ before, firstBatch, head }: PrunePlan): string {
  return `usage-before-${before}-batches-${firstBatch}-${head.batch}.csv`;
}

function planText({ before, eventCount, postdatedCount, batchCount, head }: PrunePlan): string {
  const postdated = postdatedCount === 0 ? "" : ` (${postdatedCount} of them dated later by a wrong clock)`;
  return `${eventCount} records in ${batchCount} batches before ${before}${postdated}, up to ${headText(head)}`;
}

function nothingText({ before, undeletedCount }: PrunePlan): string {
  const rest =
    undeletedCount === 0 ? "" : `; ${undeletedCount} archived records of an interrupted run are to be deleted`;
  return `There are no records to archive before ${before}${rest}`;
}

function print(
  { json, dryRun = false }: PruneFlags,
  { plan, file, text }: { readonly plan: PrunePlan; readonly file: string; readonly text: string },
): void {
  if (json !== true) {
    process.stdout.write(`${text}\n`);
    return;
  }
  const { before, eventCount, postdatedCount, batchCount, undeletedCount, head } = plan;
  printJson({
    dry_run: dryRun,
    before,
    event_count: eventCount,
    postdated_count: postdatedCount,
    batch_count: batchCount,
    undeleted_count: undeletedCount,
    archived_head: head,
    file: batchCount === 0 ? null : file,
  });
}

/**
 * Writes the archive: a file that is complete and on disk before it gets its name.
 * @throws Fault `configuration_invalid` if a file with this name and other contents exists
 */
async function writeArchive(
  path: string,
  batches: AsyncIterable<ArchivedBatch>,
): Promise<{ readonly name: string; readonly sha256: string }> {
  const folder = join(path, "..");
  await mkdir(folder, { recursive: true });
  const temporaryPath = `${path}.writing-${process.pid}`;
  const hash = createHash("sha256");
  const file = await open(temporaryPath, "w", 0o600);
  try {
    try {
      const write = (text: string): Promise<void> => writeText(file, hash.update(text) && text);
      await write(ARCHIVE_HEADER);
      for await (const batch of batches) {
        await write(batch.events.map((event) => eventCsvLine(event, [batch.batch, batch.hash])).join(""));
      }
      await file.sync();
    } finally {
      await file.close();
    }
    const sha256 = hash.digest("hex");
    await publish(temporaryPath, path, sha256);
    await syncFolder(folder);
    return { name: basename(path), sha256 };
  } finally {
    await rm(temporaryPath, { force: true });
  }
}

async function writeText(file: FileHandle, text: string): Promise<void> {
  if (text !== "") await file.writeFile(text);
}

/** Gives a file its name, unless an interrupted run has left the same file. */
async function publish(temporaryPath: string, path: string, sha256: string): Promise<void> {
  try {
    await link(temporaryPath, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if ((await hashFile(path)) === sha256) return;
    const message = `${path} exists and has other contents; give another folder as --archive.`;
    throw new Fault("configuration_invalid", message, { cause: error });
  }
}
