/**
 * Clients that send one request without a key and then stay idle, in their own process: each process has as many
 * descriptors as the service, which needs one per connection, too.
 *
 *   node test/attack/idleClients.mjs '{ "port": 8080, "localAddress": "127.0.0.2", "count": 1000 }'
 *
 * Opens the connections one after the other. Prints JSON lines: the number of connections by status or error code once
 * all are open, then the position of each connection that the service closes. Ends when its standard input closes.
 */
import { connect } from "node:net";

const { port, localAddress, count } = JSON.parse(process.argv[2] ?? "{}");
process.stdin.resume().once("close", () => process.exit(0));

/** Prints a JSON line. */
function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Opens a connection and sends a request. @returns the status, the code of an error, or "closed" */
function openIdle(position) {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      const headEnd = text.indexOf("\r\n\r\n");
      const [, length = "0"] = /^content-length: (\d+)/im.exec(text) ?? [];
      if (headEnd >= 0 && text.length >= headEnd + 4 + Number(length)) resolve(text.slice(9, 12));
    });
    socket.on("error", ({ code }) => resolve(code));
    socket.on("close", () => {
      resolve("closed");
      print({ closed: position });
    });
    socket.write("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
  });
}

const opened = {};
for (let position = 0; position < count; position++) {
  const outcome = await openIdle(position);
  opened[outcome] = (opened[outcome] ?? 0) + 1;
}
print({ opened });
