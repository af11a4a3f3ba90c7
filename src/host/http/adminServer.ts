import { createServer } from "node:http";
import { Server as NetServer } from "node:net";
import { addressOf, listen } from "./listen.ts";
import type { ListeningServer } from "./server.ts";

/**
 * Starts the admin server, which serves only GET /metrics, on 127.0.0.1.
 * @throws Fault `configuration_invalid` if the service cannot listen on the port
 */
export async function startAdminServer({
  port,
  readMetrics,
}: {
  readonly port: number;
  readonly readMetrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}): Promise<ListeningServer> {
  const server = createServer((request, response) => {
    const isKnown = request.url === "/metrics" && (request.method === "GET" || request.method === "HEAD");
    const result = isKnown
      ? readMetrics().then(({ contentType, text }) => ({ status: 200, contentType, text }))
      : Promise.resolve({ status: 404, contentType: "text/plain", text: "Metrics are at GET /metrics.\n" });
    result.then(
      ({ status, contentType, text }) => {
        response.writeHead(status, ["Content-Type", contentType, "Content-Length", String(Buffer.byteLength(text))]);
        response.end(text);
      },
      () => response.destroy(),
    );
  });
  await listen(server, { host: "127.0.0.1", port });
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
