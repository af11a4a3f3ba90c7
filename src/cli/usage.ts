import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { csvLine } from "../csvText.ts";
import { Fault } from "../errors.ts";
import {
  type AuditReport,
  type Ledger,
  type RecordedEntry,
  USAGE_GROUPS,
  USAGE_LINE_COUNT_MAX,
  type UsageGroup,
  type UsageLine,
} from "../ledger/ledger.ts";
import { ledgerCommand, type LedgerFlags, printJson, printTable, withLedger } from "./ledgerCommand.ts";

interface SpanFlags extends LedgerFlags {
  readonly from?: string;
  readonly to?: string;
}

/** `isotherm usage`: what was answered, to whom, and what it counts. */
export function usageCommand(): Command {
  return new Command("usage")
    .description("what was answered, to whom, and what it counts")
    .addCommand(
      withSpan(ledgerCommand("report"))
        .description("requests and units of an account, summed")
        .requiredOption("--account <account>", "the account's id")
        .option("--customer <customer>", "of this customer alone")
        .addOption(
          new Option("--group-by <list>", `separated by commas: ${USAGE_GROUPS.join(", ")}`)
            .argParser(readGroups)
            .default(["customer", "meter"], "customer,meter"),
        )
        .addHelpText(
          "after",
          "\nExample:\n  isotherm usage report --account 0d3c6a5e-5f0b-4a35-9d6f-0c5b4f1c2a77 \\\n" +
            "    --from 2026-01-01 --to 2026-02-01 --group-by customer,meter,day",
        )
        .action(report),
    )
    .addCommand(
      withSpan(ledgerCommand("export"))
        .description("every answer that was counted, in the order they were recorded, as CSV")
        .option("--account <account>", "of this account alone")
        .addHelpText(
          "after",
          "\nWith --json a JSON object a line instead.\n\nExample:\n" +
            "  isotherm usage export --from 2026-01-01 --to 2026-02-01 > january.csv",
        )
        .action(exportEvents),
    )
    .addCommand(
      ledgerCommand("audit")
        .description("add up all answers anew, and compare with the sums that reports are made of")
        .addHelpText("after", "\nExits with 1 when they differ.\n\nExample:\n  isotherm usage audit")
        .action(audit),
    );
}

function withSpan(command: Command): Command {
  return command
    .option("--from <day>", "first day, UTC, as YYYY-MM-DD (default: the beginning)")
    .option("--to <day>", "the day after the last, UTC (default: now)");
}

async function report(
  flags: SpanFlags & { readonly account: string; readonly customer?: string; readonly groupBy: readonly UsageGroup[] },
): Promise<void> {
  const lines = await withLedger(flags, (ledger) => allLines(ledger, flags));
  if (flags.json === true) {
    printJson({ items: lines.map(lineOf) });
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
  flags: SpanFlags & { readonly account: string; readonly customer?: string; readonly groupBy: readonly UsageGroup[] },
): Promise<readonly UsageLine[]> {
  const { account: accountId, customer: customerId, groupBy, from, to } = flags;
  // Of an account that is not there nothing was used either; whoever mistyped it should hear so.
  await ledger.listKeys({ accountId });
  if (customerId !== undefined && (await ledger.findCustomer({ accountId, customerId })) === undefined) {
    const message = `Account ${accountId} has no customer ${customerId}; isotherm customers list has them all.`;
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

async function exportEvents(flags: SpanFlags & { readonly account?: string }): Promise<void> {
  await withLedger(flags, async (ledger) => {
    const { account: accountId, from, to } = flags;
    if (accountId !== undefined) await ledger.listKeys({ accountId });
    const events = ledger.events({
      ...(accountId === undefined ? {} : { accountId }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    });
    const text = flags.json === true ? jsonLines(events) : csvLines(events);
    await pipeline(Readable.from(text), process.stdout, { end: false });
  });
}

async function* jsonLines(events: AsyncIterable<RecordedEntry>): AsyncGenerator<string> {
  for await (const event of events) yield `${JSON.stringify(eventOf(event))}\n`;
}

async function* csvLines(events: AsyncIterable<RecordedEntry>): AsyncGenerator<string> {
  // Not before the first of them: a question that is refused leaves no file that looks like an answer.
  let head = csvLine(EVENT_COLUMNS);
  for await (const event of events) {
    const cells = eventOf(event);
    yield head + csvLine(EVENT_COLUMNS.map((name) => cells[name]));
    head = "";
  }
  yield head;
}

const EVENT_COLUMNS = [
  "seq",
  "recorded_at",
  "receipt",
  "account_id",
  "customer_id",
  "key_id",
  "meter",
  "units",
  "route",
  "atlas_release",
] as const;

function eventOf(event: RecordedEntry): Readonly<Record<(typeof EVENT_COLUMNS)[number], string | number | null>> {
  return {
    seq: event.seq,
    recorded_at: event.recordedAt,
    receipt: event.receipt,
    account_id: event.accountId,
    customer_id: event.customerId,
    key_id: event.keyId,
    meter: event.meter,
    units: event.units,
    route: event.route,
    atlas_release: event.atlasRelease ?? null,
  };
}

async function audit(flags: LedgerFlags): Promise<void> {
  const found = await withLedger(flags, (ledger) => ledger.audit());
  if (found.differences.length > 0) process.exitCode = 1;
  if (flags.json === true) printJson(auditOf(found));
  else tellAudit(found);
}

function tellAudit({ eventCount, rollupCount, differences }: AuditReport): void {
  const read = `${eventCount} answers, ${rollupCount} sums`;
  process.stdout.write(differences.length === 0 ? `all is well: ${read}\n` : `THEY DIFFER: ${read}\n`);
  if (differences.length === 0) return;
  printTable(
    ["hour", "account", "customer", "meter", "units: answers", "sum", "requests: answers", "sum"],
    differences.map((each) => [
      each.hour,
      each.accountId,
      each.customerId,
      each.meter,
      each.eventUnits,
      each.rollupUnits,
      each.eventRequests,
      each.rollupRequests,
    ]),
  );
}

function auditOf({ eventCount, rollupCount, differences }: AuditReport): object {
  return {
    event_count: eventCount,
    rollup_count: rollupCount,
    differences: differences.map((each) => ({
      account_id: each.accountId,
      customer_id: each.customerId,
      meter: each.meter,
      hour: each.hour,
      event_units: each.eventUnits,
      rollup_units: each.rollupUnits,
      event_requests: each.eventRequests,
      rollup_requests: each.rollupRequests,
    })),
  };
}

function lineOf({ customerId, internalId, meter, period, requests, units }: UsageLine): object {
  return {
    ...(customerId === undefined ? {} : { customer_id: customerId }),
    ...(internalId === undefined ? {} : { internal_id: internalId }),
    ...(meter === undefined ? {} : { meter }),
    ...(period === undefined ? {} : { period }),
    requests,
    units,
  };
}

function readGroups(text: string): readonly UsageGroup[] {
  const groups = text === "" ? [] : text.split(",");
  for (const group of groups) {
    if (!(USAGE_GROUPS as readonly string[]).includes(group)) {
      throw new InvalidArgumentError(`It must be of ${USAGE_GROUPS.join(", ")}, separated by commas.`);
    }
  }
  return groups as readonly UsageGroup[];
}
