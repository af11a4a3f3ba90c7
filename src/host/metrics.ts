import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { WireExchange } from "./exchange.ts";
import type { Outcome } from "./pipeline.ts";
import type { WorkState } from "./work.ts";

export interface Metrics {
  /** Counts an answer. */
  readonly measure: (exchange: WireExchange, outcome: Outcome, durationS: number) => void;
  /** Counts how long an answer waited for its usage to be on disk. */
  readonly onRecorded: (durationS: number) => void;
  /** Counts a request that was refused, or given up, because there was too much to do. */
  readonly onShed: (reason: string) => void;
  /** All of it, as Prometheus reads it. */
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Seconds: from a point in memory to the longest that work may take. */
const DURATION_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * What is counted of the service. Never by account, customer, key or path: those are nobody's business but theirs.
 * @param workState what the workers have to do, asked when it is read; undefined where there are none
 */
export function openMetrics(workState: () => WorkState | undefined): Metrics {
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
  const recordings = new Histogram({
    name: "isotherm_ledger_commit_duration_seconds",
    help: "From the moment an answer's usage is handed to the ledger until it is on disk.",
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const watched = {
    isotherm_work_jobs: ["Requests that workers have in work.", "jobCount"],
    isotherm_work_held_bytes: ["Bodies and growing answers of those requests.", "heldBytes"],
    isotherm_worker_deaths: ["Worker threads that have ended without having been told to.", "workerDeathCount"],
  } as const;
  for (const [name, [help, figure]] of Object.entries(watched)) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(workState()?.[figure] ?? 0);
        },
      }),
    );
  }
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
    onRecorded: (durationS) => recordings.observe(durationS),
    onShed: (reason) => shed.inc({ reason }),
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
