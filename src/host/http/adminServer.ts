import { createServer } from "node:http";
import { Server as NetServer } from "node:net";
import { addressOf, listen, type ListeningServer } from "./server.ts";

/**
 * Listens for whoever watches over the service: GET /metrics, and nothing else, on this machine alone.
 * @throws Fault `configuration_invalid` when the port cannot be listened on
 */
export async function startAdminServer({
  port,
  read,
}: {
  readonly port: number;
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
}): Promise<ListeningServer> {
  const server = createServer((request, response) => {
    const isKnown = request.url === "/metrics" && (request.method === "GET" || request.method === "HEAD");
    const answered = isKnown
      ? read().then(({ contentType, text }) => ({ status: 200, contentType, text }))
      : Promise.resolve({ status: 404, contentType: "text/plain", text: "Metrics are at GET /metrics.\n" });
    answered.then(
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
