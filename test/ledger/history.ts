import type { Ledger, RecordedEntry } from "../../src/ledger/ledger.ts";
import type { Meter } from "../../src/contract/wireTypes.ts";

/** A request as observed by its client. */
export interface ClientRequest {
  readonly accountId: string;
  readonly customerId: string;
  readonly meter: Meter;
  /** Units that the response is metered with, or would have been. */
  readonly units: number;
  /**
   * `ok`: a response with these units. `refused`: a response with status 4xx or 503, or with 0 units. `unknown`: no
   * response, or an incomplete one.
   */
  readonly outcome: "ok" | "refused" | "unknown";
  /** Receipt from the response or chosen by the client; undefined if the client knows none. */
  readonly receipt?: string;
}

/** Maximum number of findings that are returned. */
const FINDING_COUNT_MAX = 100;

/**
 * Compares the clients' observations with the ledger, once no requests are in flight: each `ok` has exactly one event
 * with the right units, each `refused` none, each `unknown` at most one; there are no other events; and rollups, usage,
 * the hash chain with its anchor, and the CSV export (if given) match the events.
 *
 * @param csv the export of all events, with its header line
 * @returns one line per inconsistency; empty if there are none
 */
export async function checkHistory(
  log: readonly ClientRequest[],
  ledger: Ledger,
  { csv }: { readonly csv?: string } = {},
): Promise<readonly string[]> {
  const findings: string[] = [];
  const accountIds = new Set(log.map(({ accountId }) => accountId));
  const events: RecordedEntry[] = [];
  for await (const event of ledger.events({})) events.push(event);
  const clientEvents = events.filter(({ accountId }) => accountIds.has(accountId));

  findings.push(...compareRequests(log, clientEvents), ...compareOrder(events));
  const { chain, differences, sumDifferences } = await ledger.audit();
  for (const { detail } of chain.problems) findings.push(`hash chain: ${detail}`);
  for (const difference of differences) findings.push(`rollup and events differ: ${JSON.stringify(difference)}`);
  for (const difference of sumDifferences) findings.push(`sum and rollups differ: ${JSON.stringify(difference)}`);
  for (const accountId of accountIds) {
    const expected = totalsOf(clientEvents.filter((event) => event.accountId === accountId));
    findings.push(...compareTotals(`usage of account ${accountId}`, await reportedTotals(ledger, accountId), expected));
  }
  if (csv !== undefined) findings.push(...compareCsv(csv, events));
  return findings.slice(0, FINDING_COUNT_MAX);
}

function compareRequests(log: readonly ClientRequest[], events: readonly RecordedEntry[]): string[] {
  const findings: string[] = [];
  const unmatched = new Map<string, RecordedEntry>();
  for (const event of events) {
    if (unmatched.has(event.receipt)) findings.push(`receipt recorded twice: ${event.receipt}`);
    unmatched.set(event.receipt, event);
  }
  const withoutReceipt: ClientRequest[] = [];
  for (const request of log) {
    const { outcome, receipt } = request;
    if (receipt === undefined) {
      if (outcome === "ok") findings.push(`response without a receipt: ${JSON.stringify(request)}`);
      if (outcome === "unknown") withoutReceipt.push(request);
      continue;
    }
    const event = unmatched.get(receipt);
    unmatched.delete(receipt);
    if (event === undefined) {
      if (outcome === "ok") findings.push(`answered but not recorded: ${receipt}`);
    } else if (outcome === "refused") findings.push(`refused but recorded: ${receipt}`);
    else if (chargeOf(event) !== chargeOf(request)) {
      findings.push(`recorded as ${chargeOf(event)}, answered as ${chargeOf(request)}: ${receipt}`);
    }
  }
  // Each request without a receipt explains at most one remaining event with the same charge.
  const explainable = countBy(withoutReceipt.map(chargeOf));
  for (const event of unmatched.values()) {
    const count = explainable.get(chargeOf(event)) ?? 0;
    if (count === 0) findings.push(`recorded but not requested: ${event.receipt}, ${chargeOf(event)}`);
    else explainable.set(chargeOf(event), count - 1);
  }
  return findings;
}

function compareOrder(events: readonly RecordedEntry[]): string[] {
  const findings: string[] = [];
  for (const [i, event] of events.entries()) {
    const previous = events[i - 1];
    if (previous === undefined) continue;
    if (event.seq <= previous.seq) findings.push(`seq goes from ${previous.seq} to ${event.seq}`);
    if (event.recordedAt < previous.recordedAt) findings.push(`time decreases at seq ${event.seq}`);
  }
  return findings;
}

/** Requests and units by customer and meter. */
type Totals = ReadonlyMap<string, string>;

function totalsOf(events: readonly RecordedEntry[]): Totals {
  const sums = new Map<string, { requests: number; units: number }>();
  for (const { customerId, meter, units } of events) {
    const sum = sums.get(`${customerId} ${meter}`) ?? { requests: 0, units: 0 };
    sums.set(`${customerId} ${meter}`, { requests: sum.requests + 1, units: sum.units + units });
  }
  return new Map([...sums].map(([key, { requests, units }]) => [key, `${requests} requests, ${units} units`]));
}

async function reportedTotals(ledger: Ledger, accountId: string): Promise<Totals> {
  const reported = new Map<string, string>();
  for (let cursor: string | undefined; ;) {
    const position = cursor === undefined ? {} : { cursor };
    const page = await ledger.usage({ accountId, groupBy: ["customer", "meter"], limit: 500, ...position });
    for (const { customerId = "", meter = "", requests, units } of page.items) {
      reported.set(`${customerId} ${meter}`, `${requests} requests, ${units} units`);
    }
    cursor = page.next;
    if (cursor === undefined) return reported;
  }
}

function compareTotals(name: string, reported: Totals, expected: Totals): string[] {
  return [...new Set([...reported.keys(), ...expected.keys()])]
    .filter((key) => reported.get(key) !== expected.get(key))
    .map((key) => `${name}, ${key}: ${reported.get(key) ?? "nothing"}; events: ${expected.get(key) ?? "none"}`);
}

function compareCsv(csv: string, events: readonly RecordedEntry[]): string[] {
  const [header = "", ...lines] = csv.trimEnd().split("\n");
  const names = header.split(",");
  const exported = lines.map((line) => {
    const cells = line.split(",");
    return ["seq", "receipt", "units"].map((name) => cells[names.indexOf(name)]).join(" ");
  });
  const expected = events.map(({ seq, receipt, units }) => `${seq} ${receipt} ${units}`);
  const isSame = exported.length === expected.length && exported.every((line, i) => line === expected[i]);
  return isSame ? [] : [`the CSV export (${exported.length} lines) does not match the ${expected.length} events`];
}

/** Returns account, customer, meter and units of a request as a comparable string. */
function chargeOf({ accountId, customerId, meter, units }: ClientRequest | RecordedEntry): string {
  return `${accountId} ${customerId} ${meter} ${units}`;
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
