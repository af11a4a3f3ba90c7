import { requirePackages } from "../validation/optionalPackages.ts";
import { startAdminServer } from "./http/adminServer.ts";
import type { ServerAddress } from "./http/listen.ts";
import type { ConnectionCounts } from "./http/openConnections.ts";
import { type ListeningServer, startServer } from "./http/server.ts";
import { bodyRateOf } from "./http/timeouts.ts";
import type { Metrics, MetricSources } from "./metrics.ts";
import { checkCloseOptions, type CloseOptions, readServeOptions, type ServeOptions } from "./options.ts";
import { Service } from "./service.ts";
import type { ServiceState } from "./serviceGauges.ts";

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

/** Before the server listens. */
const NO_CONNECTIONS: ConnectionCounts = {
  open: 0,
  idle: 0,
  evicted: 0,
  refused: { too_many_connections: 0, too_many_connections_of_address: 0, too_many_rejections_of_address: 0 },
};

/**
 * Starts the service with its servers: the public one, and one for metrics if `adminPort` is given.
 *
 * @throws Fault `configuration_invalid` with all errors of the options, or if the service cannot listen on the address
 */
export async function startService(options: ServeOptions): Promise<RunningServer> {
  const { limits, load, clients, timeouts } = readServeOptions(options);
  const { atlas, ledger, ledgerFolder, host, port, prefix = "" } = options;
  const { adminPort, adminHost = "127.0.0.1", adminAllowedHosts = [] } = options;
  const readState = (): ServiceState => ({ ...service.state, connections: server?.connectionCounts ?? NO_CONNECTIONS });
  const metrics: Metrics | undefined =
    adminPort === undefined ? undefined : await loadMetrics({ atlas, ledger, ledgerFolder, readState });
  const { workTimeoutMs, drainTimeoutMs } = timeouts;
  const { onShed, recordResponse } = metrics ?? {};
  const setup = {
    limits,
    load,
    clients,
    workTimeoutMs,
    bodyRate: bodyRateOf(timeouts),
    bodyTimeoutMs: timeouts.requestTimeoutMs,
    isContinueDue: true,
    onShed,
    recordResponse,
  };
  const service: Service = new Service(options, setup);
  let server: ListeningServer | undefined;
  let admin: Awaited<ReturnType<typeof startAdminServer>> | undefined;
  const close = async (drainDelayMs?: number): Promise<void> => {
    service.announceClose();
    await server?.close(drainDelayMs);
    // The server has already waited for requests in progress.
    await service.close(server === undefined ? drainTimeoutMs : 0);
    metrics?.close();
    await admin?.close();
  };
  try {
    const isAddressLimited = (remoteAddress: string): boolean => service.addresses.isConnectionLimited(remoteAddress);
    const { listener } = service;
    server = await startServer({ listener, host: numericHost(host), port, timeouts, prefix, isAddressLimited });
    if (metrics !== undefined && adminPort !== undefined) {
      admin = await startAdminServer({
        host: numericHost(adminHost),
        port: adminPort,
        allowedHosts: adminAllowedHosts,
        readMetrics: metrics.read,
      });
    }
  } catch (error) {
    await close(0);
    throw error;
  }
  let closed: Promise<void> | undefined;
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

/** Returns the address of a host. `localhost` is not resolved by name, because a hosts file may map it to another address. */
function numericHost(host: string): string {
  return host === "localhost" ? "127.0.0.1" : host;
}

/** Imports the metrics on demand, because the package that they need is optional. */
async function loadMetrics(sources: MetricSources): Promise<Metrics> {
  requirePackages("The admin port, which serves metrics,", ["prom-client"]);
  const { openMetrics } = await import("./metrics.ts");
  return openMetrics(sources);
}
