import { createServer } from "node:http";
import { isIP, Server as NetServer } from "node:net";
import { addressOf, listen } from "./listen.ts";
import type { ListeningServer } from "./server.ts";

export interface AdminServerOptions {
  /** IP address or host name to listen on. */
  readonly host: string;
  readonly port: number;
  /** Names that requests may address the server by, besides IP addresses, `localhost` and `host`. */
  readonly allowedHosts: readonly string[];
  readonly readMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Scrapers need few connections; further ones are closed. */
const CONNECTION_COUNT_MAX = 64;
const HEAD_TIMEOUT_MS = 5_000;
const CHECK_INTERVAL_MS = 1_000;

/**
 * Starts the admin server, which serves only GET /metrics.
 *
 * It rejects requests whose Host header has another name: a page in the browser of an operator could make its own name
 * resolve to the address of the server, and then read the metrics (DNS rebinding).
 * @throws Fault `configuration_invalid` if the service cannot listen on the address
 */
export async function startAdminServer(
  options: AdminServerOptions,
): Promise<Pick<ListeningServer, "address" | "close">> {
  const { host, port, allowedHosts, readMetrics } = options;
  const names = new Set(["localhost", host, ...allowedHosts].map((name) => name.toLowerCase()));
  let reading: ReturnType<typeof readMetrics> | undefined;
  const respond = async (request: { method?: string; url?: string; headers: { host?: string } }) => {
    if (!isAllowedHost(request.headers.host, names)) {
      const text = "The Host header must be an IP address or a name that --admin-allowed-host lists.\n";
      return { status: 421, contentType: "text/plain", text };
    }
    if (request.url !== "/metrics" || (request.method !== "GET" && request.method !== "HEAD")) {
      return { status: 404, contentType: "text/plain", text: "Metrics are at GET /metrics.\n" };
    }
    // Requests at the same time share one reading.
    reading ??= readMetrics().finally(() => (reading = undefined));
    return { status: 200, ...(await reading) };
  };
  const server = createServer(
    {
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: HEAD_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_INTERVAL_MS,
      // `isAllowedHost` gives the reason.
      requireHostHeader: false,
    },
    ({ method = "", url = "", headers }, response) => {
      respond({ method, url, headers: headers.host === undefined ? {} : { host: headers.host } }).then(
        ({ status, contentType, text }) => {
          const fields = ["Content-Type", contentType, "Content-Length", String(Buffer.byteLength(text))];
          response.writeHead(status, [...fields, "X-Content-Type-Options", "nosniff"]);
          response.end(text);
        },
        () => response.destroy(),
      );
    },
  );
  server.maxConnections = CONNECTION_COUNT_MAX;
  await listen(server, { host, port });
  return {
    address: addressOf(server),
    close: () =>
      new Promise((resolve) => {
        server.once("close", () => resolve());
        NetServer.prototype.close.call(server);
        server.closeAllConnections();
      }),
  };
}

/** Returns whether a Host header has one of the names or an IP address, with any port. */
function isAllowedHost(field: string | undefined, names: ReadonlySet<string>): boolean {
  const [, bracketed, plain = ""] = /^(?:\[([^\]]+)\]|([^:]+?)\.?)(?::[0-9]{1,5})?$/.exec(field ?? "") ?? [];
  return bracketed === undefined ? isIP(plain) !== 0 || names.has(plain.toLowerCase()) : isIP(bracketed) !== 0;
}
