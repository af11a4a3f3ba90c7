import { Counter, Gauge, type Registry } from "prom-client";
import { diskSpaceReader } from "./diskSpace.ts";
import { type ConnectionCounts, REFUSAL_REASONS } from "./http/openConnections.ts";

/** The state of the service that metrics show when they are read. */
export interface ServiceState {
  /** Large requests in progress, and the memory that they hold. */
  readonly jobs: { readonly jobCount: number; readonly heldBytes: number };
  /** Requests in progress, and those that wait for an earlier one on their connection. */
  readonly requestCount: number;
  readonly keyLookupCount: number;
  readonly connections: ConnectionCounts;
  /** Whether the ledger can record usage at present. */
  readonly isLedgerWritable: () => Promise<boolean>;
  readonly waitingReportCount: number;
  /** How long the anchor of the ledger could not be written; 0 while it can be. */
  readonly anchorUnwrittenMs: number;
}

export interface ServiceGaugeSources {
  readonly readState: () => ServiceState;
  /** Folder whose file system has the ledger; absent if it is elsewhere. */
  readonly ledgerFolder?: string | undefined;
}

/** Registers the metrics of the service's state. */
export function registerServiceGauges(registry: Registry, { readState, ledgerFolder }: ServiceGaugeSources): void {
  const gauge = (name: string, help: string, readValue: () => number | Promise<number>): void => {
    const collect = async function (this: Gauge): Promise<void> {
      this.set(await readValue());
    };
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
  };
  gauge("isotherm_work_jobs", "Large requests in progress.", () => readState().jobs.jobCount);
  gauge(
    "isotherm_work_held_bytes",
    "Memory held by the bodies and partial responses of those requests.",
    () => readState().jobs.heldBytes,
  );
  gauge("isotherm_requests_open", "Requests that have not been answered completely.", () => readState().requestCount);
  gauge("isotherm_key_lookups", "API keys that are being looked up in the ledger.", () => readState().keyLookupCount);
  gauge("isotherm_connections_open", "Open connections.", () => readState().connections.open);
  gauge(
    "isotherm_connections_idle",
    "Open connections without a request in progress.",
    () => readState().connections.idle,
  );
  registry.registerMetric(
    new Counter({
      name: "isotherm_connections_evicted_total",
      help: "Idle connections that were closed to make room for new ones.",
      registers: [],
      collect() {
        this.reset();
        this.inc(readState().connections.evicted);
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: "isotherm_connections_refused_total",
      help: "Connections that were closed because there were too many.",
      labelNames: ["reason"],
      registers: [],
      collect() {
        this.reset();
        const { refused } = readState().connections;
        for (const reason of REFUSAL_REASONS) this.inc({ reason }, refused[reason]);
      },
    }),
  );
  gauge("isotherm_ledger_writable", "1 if the ledger can record usage, else 0.", async () =>
    (await readState().isLedgerWritable()) ? 1 : 0,
  );
  gauge(
    "isotherm_ledger_reports_waiting",
    "Usage reports and lists that wait for their turn.",
    () => readState().waitingReportCount,
  );
  gauge(
    "isotherm_ledger_anchor_unwritten_seconds",
    "How long the anchor of the ledger could not be written; 0 while it can be.",
    () => readState().anchorUnwrittenMs / 1000,
  );
  if (ledgerFolder !== undefined) {
    const readFreeBytes = diskSpaceReader(ledgerFolder);
    gauge("isotherm_ledger_disk_free_bytes", "Free space of the disk that has the ledger.", readFreeBytes);
  }
  // Both clocks started together: a difference means that the wall clock has been set since then.
  gauge(
    "isotherm_clock_drift_seconds",
    "How far the wall clock has moved ahead of the monotonic clock since the process started.",
    () => (Date.now() - performance.timeOrigin - performance.now()) / 1000,
  );
}
