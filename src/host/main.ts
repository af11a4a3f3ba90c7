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
export type { ServerTimeouts } from "./http/timeouts.ts";

export interface RunningServer {
  readonly address: ListeningServer["address"];
  /** URL of the admin server; present exactly when `adminPort` is given. */
  readonly adminUrl?: string;
  /** Resolves when the host has warmed up and /readyz reports ready. */
  readonly ready: Promise<void>;
  /**
   * Resolves with the cause when the ledger has failed permanently. From then on metered requests are refused: close the
   * server and exit with an error.
   */
  readonly failed: Promise<Error>;
  /**
   * Shuts down: /readyz reports 503; after the drain delay no connections are accepted, and idle ones stay open for the
   * same time again (2 s at most); requests in progress are finished. Resolves when the last connection has closed.
   *
   * @param options `drainDelayMs` overrides the one in `timeouts`
   */
  close(options?: { readonly drainDelayMs?: number }): Promise<void>;
}

/**
 * Serves HTTP until closed.
 *
 * @throws Fault `configuration_invalid` with all errors of the options, or when the address cannot be listened on
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
    rateLimiter: new AccountRateLimiter(limits),
    concurrencyLimiter: new ConcurrencyLimiter(load, onShed),
    cors: new CorsPolicy(options.corsOrigins ?? []),
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
    // Not resolved by name, because a hosts file may map localhost to another address.
    const address = host === "localhost" ? "127.0.0.1" : host;
    const { recordResponse } = metrics ?? {};
    listening.push(await startServer({ pipeline, host: address, port, timeouts, log, recordResponse }));
    if (metrics !== undefined && adminPort !== undefined) {
      listening.push(await startAdminServer({ port: adminPort, readMetrics: metrics.read }));
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  const ready = becomeReady();
  void ledger.failed.then(() => (readiness.isReady = false));
  let closed: Promise<void> | undefined;
  const [server, admin] = listening;
  if (server === undefined) throw new Error("No server is listening.");
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
      // Workers that fail to start are started again with their first job, which reports the error.
      await Promise.all([warmUp(atlas, closing.signal), workforce?.warmUp().catch(() => undefined)]);
    }
    readiness.isReady = !closing.signal.aborted && ledger.failure === undefined;
  }
}

/** Imports the metrics on demand, because the package that they need is optional. */
async function loadMetrics(sources: MetricSources): Promise<Metrics> {
  requirePackages("The admin port, which serves metrics,", ["prom-client"]);
  const { openMetrics } = await import("./metrics.ts");
  return openMetrics(sources);
}
