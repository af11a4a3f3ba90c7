/**
 * The HTTP host, as a library: hand it an open atlas and an open ledger.
 *
 *   const running = await serve({ atlas: await openAtlas("data/atlas"), ledger, host: "127.0.0.1", port: 8080 });
 *   console.log(running.address.url);
 *   await running.close();
 */
import { DEFAULT_ALIGNMENT_LIMITS } from "../alignment/entity.ts";
import { Fault } from "../errors.ts";
import type { Atlas } from "../hazard/answer.ts";
import { DEFAULT_HAZARD_LIMITS } from "../hazard/query.ts";
import { KeyGate } from "../ledger/gate.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { requirePackages } from "../optionalPackages.ts";
import { version } from "../version.ts";
import { startAdmin } from "./admin.ts";
import { DEFAULT_LOAD, Load, type LoadLimits } from "./load.ts";
import type { Log } from "./log.ts";
import type { Metrics, Watched } from "./metrics.ts";
import { Origins } from "./origins.ts";
import { Pipeline } from "./pipeline.ts";
import { AccountRates } from "./rates.ts";
import type { HostLimits } from "./route.ts";
import { ROUTES } from "./routeList.ts";
import { DEFAULT_PATIENCE, type ListeningServer, type ServerPatience, startServer } from "./server.ts";
import { warmUp } from "./warmUp.ts";
import { type Workforce, workforceBehind } from "./work/workforce.ts";

export type { LoadLimits } from "./load.ts";
export type { Log, LoggedError, LogRecord } from "./log.ts";
export type { Problem, ProblemCode } from "./problem.ts";
export type { HostLimits } from "./route.ts";
export type { ServerPatience } from "./server.ts";

export interface ServeOptions {
  /** Stays the caller's: closing the host does not close it. */
  readonly atlas: Atlas;
  /** Keys, customers and usage; stays the caller's too. */
  readonly ledger: Ledger;
  /** The address to listen on, or a name for one. */
  readonly host: string;
  /** 0 to 65535; 0 takes a free one. */
  readonly port: number;
  /** Where /metrics is answered, on 127.0.0.1 alone; 0 takes a free one. Absent: nowhere. */
  readonly adminPort?: number;
  /** Does what takes long. Absent: the workers that the atlas was opened with, or where it has none the event loop. */
  readonly workforce?: Workforce;
  readonly limits?: Partial<HostLimits>;
  readonly load?: Partial<LoadLimits>;
  readonly patience?: Partial<ServerPatience>;
  /** Origins whose scripts may ask, such as `https://example.org`, or `*` for all. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Whether to ask the atlas a few things before /readyz says yes, which makes the first answers quick. Default true. */
  readonly warmUp?: boolean;
  /** Called once for each answer. Without one nothing is written down. */
  readonly log?: Log;
}

export interface RunningServer {
  readonly address: ListeningServer["address"];
  /** Where metrics are read; there exactly when an admin port was asked for. */
  readonly adminUrl?: string;
  /** Resolves when /readyz has begun to say yes. */
  readonly ready: Promise<void>;
  /**
   * Resolves with the cause when the ledger has stopped for good. Nothing that is counted is answered from then on: the
   * process is to close the server and end with a failure.
   */
  readonly failed: Promise<Error>;
  /**
   * Has /readyz say no, waits for the drain delay, takes no more connections, leaves those that are idle for as long
   * again (2 s at most), finishes what is under way, and resolves when the last connection has closed.
   *
   * @param options `drainDelayMs` instead of that of `patience`
   */
  close(options?: { readonly drainDelayMs?: number }): Promise<void>;
}

/** What one request may ask for unless whoever runs the service says otherwise. */
export const DEFAULT_LIMITS: HostLimits = {
  hazardValueCount: DEFAULT_HAZARD_LIMITS.valueCount,
  batchCount: 10_000,
  entityCount: DEFAULT_ALIGNMENT_LIMITS.entityCount,
  alignmentValueCount: DEFAULT_ALIGNMENT_LIMITS.valueCount,
  detailCount: 10_000,
  bodySizeBytes: 8 << 20,
  requestsPerS: 50,
  requestBurst: 100,
};

/**
 * Answers HTTP until closed.
 *
 * @throws Fault `configuration_invalid` when the address cannot be listened on, or an option is out of range
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { atlas, ledger, host, port, adminPort, log } = options;
  refuseBadPort("port", port);
  if (adminPort !== undefined) refuseBadPort("admin port", adminPort);
  if (host === "")
    throw new Fault("configuration_invalid", "The host to listen on has no name.", { details: { host } });
  const limits = checkLimits({ ...DEFAULT_LIMITS, ...options.limits });
  const readiness = { isReady: false };
  const metrics: Metrics | undefined =
    adminPort === undefined ? undefined : await loadMetrics({ atlas, ledger, workState: () => workforce?.state });
  const onShed = metrics?.onShed ?? (() => undefined);
  const workforce: Workforce | undefined = options.workforce ?? workforceBehind(atlas, { limits, onShed });
  const gate = new KeyGate(ledger);
  const pipeline = new Pipeline({
    routes: ROUTES,
    services: { atlas, ledger, limits, readiness },
    gate,
    rates: new AccountRates(limits),
    load: new Load({ ...DEFAULT_LOAD, ...options.load }, onShed),
    origins: new Origins(options.corsOrigins ?? []),
    workforce,
    version,
  });
  const patience = { ...DEFAULT_PATIENCE, ...options.patience };
  const listening: ListeningServer[] = [];
  const closing = new AbortController();
  const close = async (drainDelayMs?: number): Promise<void> => {
    closing.abort();
    readiness.isReady = false;
    const [server, ...others] = listening;
    await server?.close(drainDelayMs);
    await workforce?.close();
    gate.close();
    metrics?.close();
    await Promise.all(others.map((other) => other.close()));
  };
  try {
    // Not left to name resolution: a hosts file may have other ideas of what is local.
    const address = host === "localhost" ? "127.0.0.1" : host;
    listening.push(await startServer({ pipeline, host: address, port, patience, log, measure: metrics?.measure }));
    if (metrics !== undefined && adminPort !== undefined) {
      listening.push(await startAdmin({ port: adminPort, read: metrics.read }));
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  const ready = becomeReady();
  void ledger.failed.then(() => (readiness.isReady = false));
  let closed: Promise<void> | undefined;
  const [server, admin] = listening;
  if (server === undefined) throw new Error("Nothing listens.");
  return {
    address: server.address,
    ...(admin === undefined ? {} : { adminUrl: admin.address.url }),
    ready,
    failed: ledger.failed,
    close: ({ drainDelayMs } = {}) => (closed ??= close(drainDelayMs)),
  };

  async function becomeReady(): Promise<void> {
    if (options.warmUp !== false) {
      // Workers that cannot be started now are started anew with the first work for them, whose answer says why not.
      await Promise.all([warmUp(atlas, closing.signal), workforce?.warmUp().catch(() => undefined)]);
    }
    readiness.isReady = !closing.signal.aborted && ledger.failure === undefined;
  }
}

/** Fetched when it is wanted: the package it needs may not be installed. */
async function loadMetrics(watched: Watched): Promise<Metrics> {
  requirePackages("The admin port, which serves metrics,", ["prom-client"]);
  const { openMetrics } = await import("./metrics.ts");
  return openMetrics(watched);
}

function refuseBadPort(what: string, port: number): void {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
  const message = `The ${what} must be a whole number from 0 to 65535, not ${port}.`;
  throw new Fault("configuration_invalid", message, { details: { port } });
}

function checkLimits(limits: HostLimits): HostLimits {
  for (const [name, value] of Object.entries(limits) as [string, number][]) {
    const isRate = name === "requestsPerS";
    if (isRate ? value > 0 && Number.isFinite(value) : Number.isSafeInteger(value) && value >= 1) continue;
    const message = `The limit ${name} must be a ${isRate ? "number above 0" : "whole number from 1"}, not ${value}.`;
    throw new Fault("configuration_invalid", message, { details: { [name]: value } });
  }
  return limits;
}
