import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Atlas } from "../hazard/answer.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { HttpRequestContext } from "./http/requestContext.ts";
import type { PipelineResponse } from "./pipeline.ts";
import type { WorkState } from "./work/workforce.ts";

export interface Metrics {
  /** Counts an answer. */
  readonly measure: (exchange: HttpRequestContext, outcome: PipelineResponse, durationS: number) => void;
  /** Counts a request that was refused, or given up, because there was too much to do. */
  readonly onShed: (reason: string) => void;
  /** All of it, as Prometheus reads it. */
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** Listens to atlas and ledger no more. */
  readonly close: () => void;
}

/** What is watched besides the answers. */
export interface MetricSources {
  readonly atlas: Pick<Atlas, "tileUse">;
  readonly ledger: Pick<Ledger, "onCommit">;
  /** What the workers have to do, asked when it is read; undefined where there are none. */
  readonly workState: () => WorkState | undefined;
}

/** Seconds: from a point in memory to the longest that work may take. */
const DURATION_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Rows, up to the most that a transaction takes. */
const BATCH_ROW_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 5000];

/** What is counted of the service. Never by account, customer, key or path: those are nobody's business but theirs. */
export function openMetrics({ atlas: { tileUse }, ledger, workState }: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "From a request's head to the last byte of its answer.",
    labelNames: ["method", "route", "status"],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const units = new Counter({
    name: "isotherm_units_total",
    help: "Units written down as usage.",
    labelNames: ["meter"],
    registers,
  });
  const errors = new Counter({
    name: "isotherm_errors_total",
    help: "Answers that were problems.",
    labelNames: ["code"],
    registers,
  });
  const shed = new Counter({
    name: "isotherm_shed_total",
    help: "Requests refused to keep the service quick for the others.",
    labelNames: ["reason"],
    registers,
  });
  const commits = new Histogram({
    name: "isotherm_ledger_commit_duration_seconds",
    help: "Of a transaction that puts usage on disk, from its beginning to its end.",
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const batches = new Histogram({
    name: "isotherm_ledger_batch_rows",
    help: "Rows of usage that such a transaction writes.",
    buckets: BATCH_ROW_BUCKETS,
    registers,
  });
  const tileReads = new Histogram({
    name: "isotherm_tile_read_duration_seconds",
    help: "Of fetching the tiles together that an answer needs and memory lacks; the demo makes them.",
    labelNames: ["source"],
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const gauge = (name: string, help: string, valueNow: () => number): void => {
    const collect = function (this: Gauge): void {
      this.set(valueNow());
    };
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
  };
  gauge("isotherm_cache_bytes", "Decoded tiles in memory, of all threads.", () => tileUse.cachedBytes);
  gauge("isotherm_work_jobs", "Requests that workers have in work.", () => workState()?.jobCount ?? 0);
  gauge("isotherm_work_held_bytes", "Bodies and growing answers of those requests.", () => workState()?.heldBytes ?? 0);
  gauge(
    "isotherm_worker_deaths",
    "Worker threads that have ended without having been told to.",
    () => workState()?.workerDeathCount ?? 0,
  );
  const ends = [
    ledger.onCommit(({ rowCount, durationMs }) => {
      batches.observe(rowCount);
      commits.observe(durationMs / 1000);
    }),
    tileUse.onFetch((durationMs) => tileReads.observe({ source: tileUse.origin }, durationMs / 1000)),
  ];
  return {
    measure({ request, target }, { status, units: unitCount = 0, failure }, durationS) {
      const route = target?.template ?? "none";
      // A method of the client's own making is no label.
      const method = target === undefined ? "other" : (request.method ?? "");
      durations.observe({ method, route, status }, durationS);
      const meter = target?.route.metered?.meter;
      if (meter !== undefined && unitCount > 0) units.inc({ meter }, unitCount);
      if (failure === undefined) return;
      errors.inc({ code: failure.code });
      if (failure.code === "rate_limited") shed.inc({ reason: failure.code });
    },
    onShed: (reason) => shed.inc({ reason }),
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    close: () => ends.forEach((end) => end()),
  };
}
