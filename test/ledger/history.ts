import type { Ledger, Meter, RecordedEntry } from "../../src/ledger/ledger.ts";

/** A request as its client saw it. */
export interface ClientRequest {
  readonly accountId: string;
  readonly customerId: string;
  readonly meter: Meter;
  /** What its answer costs, or would. */
  readonly units: number;
  /**
   * `ok`: answered with its units. `refused`: answered with 4xx or 503, or with 0 units. `unknown`: the answer did not
   * come, or not as a whole.
   */
  readonly outcome: "ok" | "refused" | "unknown";
  /** As the answer named it, or as the client had given it; who got no answer may not know it. */
  readonly receipt?: string;
}

/** Findings that are listed; more tell nothing new. */
const FINDING_COUNT_MAX = 100;

/**
 * Compares what clients saw with what the ledger holds of their accounts, when nothing is under way any more: each `ok`
 * has exactly one event with the right units, each `refused` none, each `unknown` at most one; nothing else is there;
 * rollups, usage and, where it is given, the CSV export say the same as the events.
 *
 * @param csv the export of all events, with its header line
 * @returns what is wrong, a line each; nothing when all is well
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
  const own = events.filter(({ accountId }) => accountIds.has(accountId));

  findings.push(...compareRequests(log, own), ...compareOrder(events));
  for (const difference of (await ledger.audit()).differences) {
    findings.push(`rollup and events differ: ${JSON.stringify(difference)}`);
  }
  for (const accountId of accountIds) {
    const counted = totals(own.filter((event) => event.accountId === accountId));
    findings.push(...compareTotals(`usage of account ${accountId}`, await reportedTotals(ledger, accountId), counted));
  }
  if (csv !== undefined) findings.push(...compareCsv(csv, events));
  return findings.slice(0, FINDING_COUNT_MAX);
}

function compareRequests(log: readonly ClientRequest[], events: readonly RecordedEntry[]): string[] {
  const findings: string[] = [];
  const left = new Map<string, RecordedEntry>();
  for (const event of events) {
    if (left.has(event.receipt)) findings.push(`receipt ${event.receipt} stands there twice`);
    left.set(event.receipt, event);
  }
  const nameless: ClientRequest[] = [];
  for (const request of log) {
    const { outcome, receipt } = request;
    if (receipt === undefined) {
      if (outcome === "ok") findings.push(`an answer had no receipt: ${JSON.stringify(request)}`);
      if (outcome === "unknown") nameless.push(request);
      continue;
    }
    const event = left.get(receipt);
    left.delete(receipt);
    if (event === undefined) {
      if (outcome === "ok") findings.push(`answered and not recorded: ${receipt}`);
    } else if (outcome === "refused") findings.push(`refused and recorded: ${receipt}`);
    else if (whatOf(event) !== whatOf(request)) {
      findings.push(`recorded as ${whatOf(event)}, answered as ${whatOf(request)}: ${receipt}`);
    }
  }
  // Of those without a receipt each may have brought one event of its kind, and nobody else may.
  const possible = countBy(nameless.map(whatOf));
  for (const event of left.values()) {
    const count = possible.get(whatOf(event)) ?? 0;
    if (count === 0) findings.push(`recorded and asked for by nobody: ${event.receipt}, ${whatOf(event)}`);
    else possible.set(whatOf(event), count - 1);
  }
  return findings;
}

function compareOrder(events: readonly RecordedEntry[]): string[] {
  const findings: string[] = [];
  for (const [i, event] of events.entries()) {
    const before = events[i - 1];
    if (before === undefined) continue;
    if (event.seq <= before.seq) findings.push(`seq goes from ${before.seq} to ${event.seq}`);
    if (event.recordedAt < before.recordedAt) findings.push(`time goes back at seq ${event.seq}`);
  }
  return findings;
}

/** Requests and units by customer and meter. */
type Totals = ReadonlyMap<string, string>;

function totals(events: readonly RecordedEntry[]): Totals {
  const sums = new Map<string, { requests: number; units: number }>();
  for (const { customerId, meter, units } of events) {
    const sum = sums.get(`${customerId} ${meter}`) ?? { requests: 0, units: 0 };
    sums.set(`${customerId} ${meter}`, { requests: sum.requests + 1, units: sum.units + units });
  }
  return new Map([...sums].map(([place, { requests, units }]) => [place, `${requests} requests, ${units} units`]));
}

async function reportedTotals(ledger: Ledger, accountId: string): Promise<Totals> {
  const reported = new Map<string, string>();
  for (let cursor: string | undefined; ;) {
    const more = cursor === undefined ? {} : { cursor };
    const page = await ledger.usage({ accountId, groupBy: ["customer", "meter"], limit: 500, ...more });
    for (const { customerId = "", meter = "", requests, units } of page.items) {
      reported.set(`${customerId} ${meter}`, `${requests} requests, ${units} units`);
    }
    cursor = page.next;
    if (cursor === undefined) return reported;
  }
}

function compareTotals(what: string, said: Totals, counted: Totals): string[] {
  return [...new Set([...said.keys(), ...counted.keys()])]
    .filter((place) => said.get(place) !== counted.get(place))
    .map((place) => `${what}, ${place}: ${said.get(place) ?? "nothing"}; events: ${counted.get(place) ?? "none"}`);
}

function compareCsv(csv: string, events: readonly RecordedEntry[]): string[] {
  const [head = "", ...lines] = csv.trimEnd().split("\n");
  const names = head.split(",");
  const said = lines.map((line) => {
    const cells = line.split(",");
    return ["seq", "receipt", "units"].map((name) => cells[names.indexOf(name)]).join(" ");
  });
  const counted = events.map(({ seq, receipt, units }) => `${seq} ${receipt} ${units}`);
  const isSame = said.length === counted.length && said.every((line, i) => line === counted[i]);
  return isSame ? [] : [`the CSV export has ${said.length} events of which ${counted.length} are there, or others`];
}

function whatOf({ accountId, customerId, meter, units }: ClientRequest | RecordedEntry): string {
  return `${accountId} ${customerId} ${meter} ${units}`;
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
