import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Ledger } from "../ledger/ledger.ts";
import type { HostAtlas } from "../pool/hostAtlas.ts";
import type { Exchange } from "./http/exchange.ts";
import { registerServiceGauges, type ServiceGaugeSources } from "./serviceGauges.ts";

export interface Metrics {
  /** Records a response in the metrics. */
  readonly recordResponse: (exchange: Exchange, durationS: number) => void;
  /** Counts a request that was rejected or abandoned because of overload. */
  readonly onShed: (reason: string) => void;
  /** Returns all metrics in the Prometheus text format. */
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Stops listening to the atlas and the ledger. */
  readonly close: () => void;
}

/** The sources of metrics other than responses. */
export interface MetricSources extends ServiceGaugeSources {
  readonly atlas: HostAtlas;
  readonly ledger: Pick<Ledger, "onCommit">;
}

/** Buckets in seconds, from the time of a cached point query to the longest time that a request may take. */
const DURATION_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Buckets in rows, up to the largest transaction. */
const BATCH_ROW_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 5000];

/** Creates the metrics of the service. No label identifies an account, customer, key or path: those are confidential. */
export function openMetrics({ atlas: { tileUse, executor }, ledger, ...gaugeSources }: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "Time from receiving the head of a request to sending the last byte of its response.",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const units = new Counter({
    name: "isotherm_units_total",
    help: "Units recorded as usage.",
    labelNames: ["meter"],
    registers,
  });
  const errors = new Counter({
    name: "isotherm_errors_total",
    help: "Problem responses.",
    labelNames: ["code"],
    registers,
  });
  const shed = new Counter({
    name: "isotherm_shed_total",
    help: "Requests rejected because of overload or rate limits.",
    labelNames: ["reason"],
    registers,
  });
  const commits = new Histogram({
    name: "isotherm_ledger_commit_duration_seconds",
    help: "Duration of transactions that write usage to disk.",
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const batches = new Histogram({
    name: "isotherm_ledger_batch_rows",
    help: "Rows of usage per transaction.",
    buckets: BATCH_ROW_BUCKETS,
    registers,
  });
  const tileReads = new Histogram({
    name: "isotherm_tile_read_duration_seconds",
    help: "Time to read all tiles of a request that are not in the cache; the demo source generates them.",
    labelNames: ["source"],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const gauge = (name: string, help: string, readValue: () => number): void => {
    const collect = function (this: Gauge): void {
      this.set(readValue());
    };
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
  };
  gauge("isotherm_cache_bytes", "Decoded tiles in memory, all threads together.", () => tileUse?.cachedBytes ?? 0);
  gauge("isotherm_worker_deaths", "Worker threads that ended unexpectedly.", () => executor?.deathCount ?? 0);
  registerServiceGauges(registry, gaugeSources);
  const unsubscribers = [
    ledger.onCommit(({ rowCount, durationMs }) => {
      batches.observe(rowCount);
      commits.observe(durationMs / 1000);
    }),
    tileUse?.onFetch((durationMs) => tileReads.observe({ source: tileUse.origin }, durationMs / 1000)),
  ];
  return {
    recordResponse({ method: requestMethod, target, status, units: unitCount = 0, failure }, durationS) {
      const route = target?.template ?? "none";
      // Clients can send arbitrary methods, which must not become labels.
      const method = target === undefined ? "other" : requestMethod;
      durations.observe({ method, route, status }, durationS);
      const meter = target?.route.metered?.meter;
      if (meter !== undefined && unitCount > 0) units.inc({ meter }, unitCount);
      if (failure === undefined) return;
      errors.inc({ code: failure.code });
      if (failure.code === "rate_limited") shed.inc({ reason: failure.code });
    },
    onShed: (reason) => shed.inc({ reason }),
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    close: () => unsubscribers.forEach((unsubscribe) => unsubscribe?.()),
  };
}
