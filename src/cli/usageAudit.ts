import { type Command, InvalidArgumentError, Option } from "commander";
import type { ChainHead, ChainReport } from "../ledger/chainReport.ts";
import type { AuditReport } from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";
import { progressBar } from "./progress.ts";
import { readArchive } from "./usageArchive.ts";

interface AuditFlags extends LedgerFlags {
  readonly head?: boolean;
  readonly expect?: ChainHead;
  readonly archive?: string;
}

/** `isotherm usage audit`: verifies that recorded usage is unchanged. */
export function usageAuditCommand(): Command {
  return ledgerCommand("audit")
    .description("verify the hash chain over the individual records, and recompute all sums from them")
    .option("--head", "only print the last batch and its hash, to be kept elsewhere")
    .addOption(
      new Option("--expect <batch:hash>", "also verify that the chain contains this head, printed earlier").argParser(
        readHead,
      ),
    )
    .option("--archive <folder>", "also verify the archived records, whose files are in this folder")
    .addHelpText(
      "after",
      "\nExits with 1 if anything was changed, is missing, or differs.\n" +
        "The audit is INCOMPLETE without --archive if records are archived. It then exits with 0, but with 1 if\n" +
        "records were archived after the head of --expect, which does not prove that they are in an archive.\n" +
        "If --archive proves records that were archived on another machine, this one will know their archives.\n\n" +
        "Examples:\n  isotherm usage audit\n  isotherm usage audit --head >> /mnt/elsewhere/heads.txt",
    )
    .action(runUsageAudit);
}

async function runUsageAudit(flags: AuditFlags): Promise<void> {
  const options = { mustExist: true, isChainChecked: false, anchorFolder: flags.data };
  if (flags.head === true) {
    const head = await withLedger(flags, (ledger) => ledger.chainHead(), options);
    if (flags.json === true) printJson(head);
    else process.stdout.write(`${headText(head)}\n`);
    return;
  }
  const progress = progressBar("batches");
  const { expect: expectedHead, archive } = flags;
  const audit = {
    onProgress: progress.update,
    ...(expectedHead === undefined ? {} : { expectedHead }),
    ...(archive === undefined ? {} : { readArchive: (name: string) => readArchive(archive, name) }),
  };
  const report = await withLedger(flags, (ledger) => ledger.audit(audit), options).finally(progress.stop);
  if (!isConsistent(report)) process.exitCode = 1;
  if (flags.json === true) printJson(auditJson(report));
  else printAudit(report);
}

function isConsistent({ chain, differences, sumDifferences }: AuditReport): boolean {
  return chain.problems.length === 0 && differences.length === 0 && sumDifferences.length === 0;
}

/** Formats a head as `--expect` reads it. */
export function headText({ batch, hash }: ChainHead): string {
  return `${batch}:${hash}`;
}

function readHead(text: string): ChainHead {
  const [, batch = "", hash = ""] = /^([0-9]{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === "") {
    throw new InvalidArgumentError("It must be BATCH:HASH as printed by isotherm usage audit --head.");
  }
  return { batch: Number(batch), hash };
}

function resultText(report: AuditReport, counts: string): string {
  const { archives, areArchivesVerified, problems } = report.chain;
  const changes = problems.filter(({ code }) => code !== "archive_unverified");
  const isChanged = !isConsistent({ ...report, chain: { ...report.chain, problems: changes } });
  if (isChanged) return `DIFFERENCES FOUND: ${counts}`;
  if (archives.length === 0 || areArchivesVerified) return `No differences: ${counts}`;
  const archivedCount = archives.reduce((sum, { eventCount }) => sum + eventCount, 0);
  return `INCOMPLETE: ${counts} without differences, but ${archivedCount} archived records were not verified`;
}

function printAudit(report: AuditReport): void {
  const { chain, eventCount, rollupCount, differences, sumDifferences } = report;
  const counts = `${eventCount} records, ${rollupCount} sums`;
  process.stdout.write(`${resultText(report, counts)}\n`);
  printChain(chain);
  if (sumDifferences.length > 0) {
    printTable(
      ["period", "account", "customer", "meter", "units by hours", "sum", "requests by hours", "sum"],
      sumDifferences.map(({ period = "all", accountId, customerId = "all", meter, ...difference }) => [
        period,
        accountId,
        customerId,
        meter,
        difference.hourlyUnits,
        difference.units,
        difference.hourlyRequests,
        difference.requests,
      ]),
    );
  }
  if (differences.length === 0) return;
  printTable(
    ["hour", "account", "customer", "meter", "units by records", "sum", "requests by records", "sum"],
    differences.map((difference) => [
      difference.hour,
      difference.accountId,
      difference.customerId,
      difference.meter,
      difference.eventUnits,
      difference.rollupUnits,
      difference.eventRequests,
      difference.rollupRequests,
    ]),
  );
}

function printChain({ head, batchCount, archives, areArchivesVerified, anchor, problems }: ChainReport): void {
  for (const { detail } of problems) process.stdout.write(`${detail}\n`);
  process.stdout.write(`Chain: ${batchCount} batches verified, head ${headText(head)}\n`);
  if (anchor !== undefined) process.stdout.write(`Anchor: batch ${anchor.batch}, written ${anchor.writtenAt}\n`);
  for (const { before, eventCount, name, sha256 } of archives) {
    process.stdout.write(`Archived: ${eventCount} records before ${before} in ${name}, SHA-256 ${sha256}\n`);
  }
  if (archives.length > 0 && !areArchivesVerified) {
    process.stdout.write("Archived records were not verified; give the folder of the archives with --archive.\n");
  }
}

function chainJson(chain: ChainReport): object {
  const { ledgerId, head, batchCount, eventCount, archives, areArchivesVerified, anchor, problems } = chain;
  return {
    ledger_id: ledgerId,
    head,
    batch_count: batchCount,
    event_count: eventCount,
    archives: archives.map((archive) => ({
      before: archive.before,
      head: archive.head,
      event_count: archive.eventCount,
      name: archive.name,
      sha256: archive.sha256,
    })),
    are_archives_verified: areArchivesVerified,
    anchor:
      anchor === undefined
        ? null
        : { batch: anchor.batch, hash: anchor.hash, sequence: anchor.sequence, written_at: anchor.writtenAt },
    problems,
  };
}

function auditJson({ chain, eventCount, rollupCount, differences, sumDifferences }: AuditReport): object {
  return {
    chain: chainJson(chain),
    event_count: eventCount,
    rollup_count: rollupCount,
    differences: differences.map((difference) => ({
      account_id: difference.accountId,
      customer_id: difference.customerId,
      meter: difference.meter,
      hour: difference.hour,
      event_units: difference.eventUnits,
      rollup_units: difference.rollupUnits,
      event_requests: difference.eventRequests,
      rollup_requests: difference.rollupRequests,
    })),
    sum_differences: sumDifferences.map(({ accountId, customerId = null, meter, period = null, ...difference }) => ({
      account_id: accountId,
      customer_id: customerId,
      meter,
      period,
      hourly_units: difference.hourlyUnits,
      units: difference.units,
      hourly_requests: difference.hourlyRequests,
      requests: difference.requests,
    })),
  };
}
