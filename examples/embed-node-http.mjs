/**
 * Mounts Isotherm under /climate in a plain node:http server. The values of the atlas `demo` are invented.
 *
 *   ISOTHERM_ATLAS=demo node examples/embed-node-http.mjs
 *   curl http://127.0.0.1:3000/climate/readyz
 */
import { createServer } from "node:http";
import { createHandler, openAtlas, openLedger } from "isotherm/host";

const { ISOTHERM_ATLAS, ISOTHERM_DATA = "isotherm-data", PORT = "3000" } = process.env;
const prefix = "/climate";
if (ISOTHERM_ATLAS === undefined) {
  console.error('Set ISOTHERM_ATLAS to the folder or http(s) address of an atlas, or to "demo" for invented values.');
  process.exit(1);
}

// Large requests run on the worker, not on the event loop.
const atlas = await openAtlas(ISOTHERM_ATLAS, { workers: 1 });
const ledger = await openLedger({ data: ISOTHERM_DATA });
const isotherm = createHandler({ atlas, ledger, prefix, ownsResources: true });

const server = createServer((request, response) => {
  if (isotherm.matches(request)) isotherm(request, response);
  else response.end("The rest of the service.\n");
});
// The server must set the limits on connections: see docs/embedding.md.
server.headersTimeout = 5_000;
server.requestTimeout = 30_000;
server.timeout = 35_000;

server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}${prefix}/docs`);
});

process.once("SIGTERM", () => {
  server.close();
  void isotherm.close().then(() => server.closeIdleConnections());
});
