/**
 * The HTTP host as a library. It takes an open atlas and an open ledger.
 *
 *   const ledger = await openLedger({ data: "isotherm-data" });
 *   const running = await serve({ atlas: await openAtlas("data/atlas"), ledger, host: "127.0.0.1", port: 8080 });
 *   console.log(running.address.url);
 *   await running.close();
 */
import { Authenticator } from "../ledger/authenticator.ts";
import { requirePackages } from "../optionalPackages.ts";
import { version } from "../version.ts";
import { startAdminServer } from "./http/adminServer.ts";
import { ConcurrencyLimiter } from "./admission/concurrencyLimiter.ts";
import type { Metrics, MetricSources } from "./metrics.ts";
import { checkCloseOptions, readServeOptions, type ServeOptions } from "./options.ts";
import { CorsPolicy } from "./http/cors.ts";
import { Pipeline } from "./pipeline.ts";
import { AccountRateLimiter } from "./admission/accountRateLimiter.ts";
import { ROUTES } from "./routes/routeList.ts";
import { type ListeningServer, startServer } from "./http/server.ts";
import { warmUp } from "./warmUp.ts";
import { type Workforce, workforceBehind } from "./work/workforce.ts";

export { type LedgerAddress, type LedgerOptions, openLedger } from "../ledger/openLedger.ts";
export type { Account, ApiKey, Customer, IssuedKey, Ledger } from "../ledger/ledger.ts";
export type { LoadLimits } from "./admission/concurrencyLimiter.ts";
export type { Log, LoggedError, LogRecord } from "./log.ts";
export type { Problem, ProblemCode } from "./problems/problem.ts";
export type { ServeOptions } from "./options.ts";
export type { HostLimits } from "./routes/route.ts";
export type { ServerTimeouts } from "./http/server.ts";

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
   * @param options `drainDelayMs` instead of that of `timeouts`
   */
  close(options?: { readonly drainDelayMs?: number }): Promise<void>;
}

/**
 * Answers HTTP until closed.
 *
 * @throws Fault `configuration_invalid` with everything that is wrong with the options, or when the address cannot be
 *   listened on
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { limits, load, timeouts } = readServeOptions(options);
  const { atlas, ledger, host, port, adminPort, log } = options;
  const readiness = { isReady: false };
  const metrics: Metrics | undefined =
    adminPort === undefined ? undefined : await loadMetrics({ atlas, ledger, workState: () => workforce?.state });
  const onShed = metrics?.onShed ?? (() => undefined);
  const workforce: Workforce | undefined = options.workforce ?? workforceBehind(atlas, { limits, onShed });
  const authenticator = new Authenticator(ledger);
  const pipeline = new Pipeline({
    routes: ROUTES,
    services: { atlas, ledger, limits, readiness },
    authenticator,
    rates: new AccountRateLimiter(limits),
    load: new ConcurrencyLimiter(load, onShed),
    origins: new CorsPolicy(options.corsOrigins ?? []),
    workforce,
    version,
  });
  const listening: ListeningServer[] = [];
  const closing = new AbortController();
  const close = async (drainDelayMs?: number): Promise<void> => {
    closing.abort();
    readiness.isReady = false;
    const [server, ...others] = listening;
    await server?.close(drainDelayMs);
    await workforce?.close();
    authenticator.close();
    metrics?.close();
    await Promise.all(others.map((other) => other.close()));
  };
  try {
    // Not left to name resolution: a hosts file may have other ideas of what is local.
    const address = host === "localhost" ? "127.0.0.1" : host;
    listening.push(await startServer({ pipeline, host: address, port, timeouts, log, measure: metrics?.measure }));
    if (metrics !== undefined && adminPort !== undefined) {
      listening.push(await startAdminServer({ port: adminPort, read: metrics.read }));
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
    async close(closeOptions = {}) {
      checkCloseOptions(closeOptions);
      await (closed ??= close(closeOptions.drainDelayMs));
    },
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
async function loadMetrics(watched: MetricSources): Promise<Metrics> {
  requirePackages("The admin port, which serves metrics,", ["prom-client"]);
  const { openMetrics } = await import("./metrics.ts");
  return openMetrics(watched);
}
