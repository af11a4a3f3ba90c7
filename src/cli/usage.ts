import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { csvLine } from "../text/csv.ts";
import { Fault } from "../errors.ts";
import { type Ledger, type RecordedEntry, USAGE_LINE_COUNT_MAX, type UsageLine } from "../ledger/ledger.ts";
import { toUsageRecord } from "../ledger/usageRecord.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";
import { USAGE_GROUPS } from "../contract/names.ts";
import type { UsageGroup } from "../contract/wireTypes.ts";
import { usageAuditCommand } from "./usageAudit.ts";
import { EVENT_COLUMNS, eventCsvLine, eventJson } from "./usageEvents.ts";
import { usagePruneCommand } from "./usagePrune.ts";
import { usageAcceptRestoredCommand, usageResetClockCommand } from "./usageRepair.ts";

interface PeriodFlags extends LedgerFlags {
  readonly from?: string;
  readonly to?: string;
}

/** `isotherm usage`: reports, exports, audits and archives metered usage. */
export function usageCommand(): Command {
  return new Command("usage")
    .addCommand(
      withPeriod(ledgerCommand("report"))
        .description("sum up the requests and units of an account")
        .requiredOption("--account <account>", "account id")
        .option("--customer <customer>", "only this customer")
        .addOption(
          new Option("--group-by <list>", `grouping, separated by commas: ${USAGE_GROUPS.join(", ")}`)
            .argParser(readGroups)
            .default(["customer", "meter"], "customer,meter"),
        )
        .addHelpText(
          "after",
          "\nExample:\n  isotherm usage report --account 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77 \\\n" +
            "    --from 2026-01-01 --to 2026-02-01 --group-by customer,meter,day",
        )
        .action(runUsageReport),
    )
    .addCommand(
      withPeriod(ledgerCommand("export"))
        .description("write every metered response as CSV, in the order of recording")
        .option("--account <account>", "only this account")
        .addHelpText(
          "after",
          "\nWith --json, one JSON object per line instead.\n\nExample:\n" +
            "  isotherm usage export --from 2026-01-01 --to 2026-02-01 > january.csv",
        )
        .action(runUsageExport),
    )
    .addCommand(usageAuditCommand())
    .addCommand(usagePruneCommand())
    .addCommand(usageAcceptRestoredCommand())
    .addCommand(usageResetClockCommand());
}

function withPeriod(command: Command): Command {
  return command
    .option("--from <day>", "first day, UTC, as YYYY-MM-DD (default: no limit)")
    .option("--to <day>", "day after the last one, UTC, as YYYY-MM-DD (default: no limit)");
}

async function runUsageReport(
  flags: PeriodFlags & {
    readonly account: string;
    readonly customer?: string;
    readonly groupBy: readonly UsageGroup[];
  },
): Promise<void> {
  const lines = await withLedger(flags, (ledger) => allLines(ledger, flags));
  if (flags.json === true) {
    printJson({ items: lines.map(toUsageRecord) });
    return;
  }
  const { groupBy } = flags;
  const hasPeriod = groupBy.includes("day") || groupBy.includes("month");
  const columns: readonly (readonly [string, (line: UsageLine) => string | number])[] = [
    ...(hasPeriod ? [["period", ({ period = "" }: UsageLine) => period] as const] : []),
    ...(groupBy.includes("customer")
      ? ([
          ["customer", ({ customerId = "" }: UsageLine) => customerId],
          ["internal id", ({ internalId = "" }: UsageLine) => internalId],
        ] as const)
      : []),
    ...(groupBy.includes("meter") ? [["meter", ({ meter }: UsageLine) => meter ?? ""] as const] : []),
    ["requests", ({ requests }) => requests],
    ["units", ({ units }) => units],
  ];
  printTable(
    columns.map(([name]) => name),
    lines.map((line) => columns.map(([, read]) => read(line))),
  );
}

async function allLines(
  ledger: Ledger,
  flags: PeriodFlags & {
    readonly account: string;
    readonly customer?: string;
    readonly groupBy: readonly UsageGroup[];
  },
): Promise<readonly UsageLine[]> {
  const { account: accountId, customer: customerId, groupBy, from, to } = flags;
  // Rejects an unknown account, which the ledger would report as having no usage.
  await ledger.listKeys({ accountId });
  if (customerId !== undefined && (await ledger.findCustomer({ accountId, customerId })) === undefined) {
    const message = `account ${accountId} has no customer ${customerId}; isotherm customers list shows its customers.`;
    throw new Fault("customer_not_found", message);
  }
  const lines: UsageLine[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await ledger.usage({
      accountId,
      groupBy,
      limit: USAGE_LINE_COUNT_MAX,
      ...(customerId === undefined ? {} : { customerId }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    lines.push(...page.items);
    cursor = page.next;
    if (cursor === undefined) return lines;
  }
}

async function runUsageExport(flags: PeriodFlags & { readonly account?: string }): Promise<void> {
  await withLedger(flags, async (ledger) => {
    const { account: accountId, from, to } = flags;
    if (accountId !== undefined) await ledger.listKeys({ accountId });
    const events = ledger.events({
      ...(accountId === undefined ? {} : { accountId }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    });
    const text = flags.json === true ? jsonLines(events) : eventCsvLines(events);
    await pipeline(Readable.from(text), process.stdout, { end: false });
  });
}

async function* jsonLines(events: AsyncIterable<RecordedEntry>): AsyncGenerator<string> {
  for await (const event of events) yield `${JSON.stringify(eventJson(event))}\n`;
}

async function* eventCsvLines(events: AsyncIterable<RecordedEntry>): AsyncGenerator<string> {
  // The header is written with the first event, so that a rejected query writes nothing.
  let head = csvLine(EVENT_COLUMNS);
  for await (const event of events) {
    yield head + eventCsvLine(event);
    head = "";
  }
  yield head;
}

function readGroups(text: string): readonly UsageGroup[] {
  const groups = text === "" ? [] : text.split(",");
  for (const group of groups) {
    if (!(USAGE_GROUPS as readonly string[]).includes(group)) {
      throw new InvalidArgumentError(`It must be a comma-separated list of ${USAGE_GROUPS.join(", ")}.`);
    }
  }
  return groups as readonly UsageGroup[];
}
