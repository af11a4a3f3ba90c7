import type { Command } from "commander";
import { ledgerCommand, type LedgerFlags, printJson, withLedger } from "./ledgerCommand.ts";
import { headText } from "./usageAudit.ts";

/** `isotherm usage accept-restored`: accepts a ledger that does not match its anchor. */
export function usageAcceptRestoredCommand(): Command {
  return ledgerCommand("accept-restored")
    .description("accept an older ledger that was restored from a backup: replace the anchor, which it does not match")
    .addHelpText(
      "after",
      "\nRun isotherm usage audit first. The previous anchor stays in the file as evidence.\n\n" +
        "Example:\n  isotherm usage accept-restored",
    )
    .action(async (flags: LedgerFlags) => {
      const options = { mustExist: true, isChainChecked: false, anchorFolder: flags.data };
      const head = await withLedger(flags, (ledger) => ledger.acceptRestored(), options);
      if (flags.json === true) printJson(head);
      else process.stdout.write(`The ledger is accepted with head ${headText(head)}\n`);
    });
}

/** `isotherm usage reset-clock`: sets the ledger's time back after a wrong clock has set it to the future. */
export function usageResetClockCommand(): Command {
  return ledgerCommand("reset-clock")
    .description(
      "set the time of the ledger to the clock of this machine, after a wrong clock has set it to the future",
    )
    .addHelpText(
      "after",
      "\nUsage that was recorded with the wrong time keeps it. Restart running services afterwards.\n\n" +
        "Example:\n  isotherm usage reset-clock",
    )
    .action(async (flags: LedgerFlags) => {
      const { from, to } = await withLedger(flags, (ledger) => ledger.resetClock());
      if (flags.json === true) printJson({ from, to });
      else process.stdout.write(`The time of the ledger was set from ${from} to ${to}\n`);
    });
}
