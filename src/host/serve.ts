import { requirePackages } from "../optionalPackages.ts";
import { startAdminServer } from "./http/adminServer.ts";
import type { ServerAddress } from "./http/listen.ts";
import { type ListeningServer, startServer } from "./http/server.ts";
import { bodyRateOf } from "./http/timeouts.ts";
import type { Metrics, MetricSources } from "./metrics.ts";
import { checkCloseOptions, type CloseOptions, readServeOptions, type ServeOptions } from "./options.ts";
import { Service } from "./service.ts";

export interface RunningServer {
  readonly address: ServerAddress;
  /** URL of the admin server; present only if `adminPort` is given. */
  readonly adminUrl?: string;
  /** Resolves when the host has warmed up and /readyz reports ready. */
  readonly ready: Promise<void>;
  /**
   * Resolves with the cause when the ledger has failed permanently. From then on metered requests are rejected: close the
   * server and exit with an error.
   */
  readonly failed: Promise<Error>;
  /**
   * Shuts down: /readyz reports 503; after the drain delay no connections are accepted, and idle ones stay open for the
   * same time again (2 s at most); requests in progress are finished. Resolves when the last connection has closed.
   */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * Starts the service with its servers: the public one, and one for metrics if `adminPort` is given.
 *
 * @throws Fault `configuration_invalid` with all errors of the options, or if the service cannot listen on the address
 */
export async function startService(options: ServeOptions): Promise<RunningServer> {
  const { limits, load, timeouts } = readServeOptions(options);
  const { atlas, ledger, host, port, adminPort, prefix = "" } = options;
  const metrics: Metrics | undefined =
    adminPort === undefined ? undefined : await loadMetrics({ atlas, ledger, readJobs: () => service.jobs });
  const { workTimeoutMs, drainTimeoutMs } = timeouts;
  const { onShed, recordResponse } = metrics ?? {};
  const setup = {
    limits,
    load,
    workTimeoutMs,
    bodyRate: bodyRateOf(timeouts),
    isContinueDue: true,
    onShed,
    recordResponse,
  };
  const service: Service = new Service(options, setup);
  const listening: ListeningServer[] = [];
  const close = async (drainDelayMs?: number): Promise<void> => {
    service.announceClose();
    const [server, ...others] = listening;
    await server?.close(drainDelayMs);
    // The server has already waited for requests in progress.
    await service.close(server === undefined ? drainTimeoutMs : 0);
    metrics?.close();
    await Promise.all(others.map((other) => other.close()));
  };
  try {
    // Not resolved by name, because a hosts file may map localhost to another address.
    const address = host === "localhost" ? "127.0.0.1" : host;
    listening.push(await startServer({ listener: service.listener, host: address, port, timeouts, prefix }));
    if (metrics !== undefined && adminPort !== undefined) {
      listening.push(await startAdminServer({ port: adminPort, readMetrics: metrics.read }));
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  let closed: Promise<void> | undefined;
  const [server, admin] = listening;
  if (server === undefined) throw new Error("No server is listening.");
  return {
    address: server.address,
    ...(admin === undefined ? {} : { adminUrl: admin.address.url }),
    ready: service.ready,
    failed: ledger.failed,
    async close(closeOptions = {}) {
      checkCloseOptions(closeOptions);
      await (closed ??= close(closeOptions.drainDelayMs));
    },
  };
}

/** Imports the metrics on demand, because the package that they need is optional. */
async function loadMetrics(sources: MetricSources): Promise<Metrics> {
  requirePackages("The admin port, which serves metrics,", ["prom-client"]);
  const { openMetrics } = await import("./metrics.ts");
  return openMetrics(sources);
}
