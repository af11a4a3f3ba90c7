/**
 * Mounts Isotherm under /climate in an Express application. The values of the atlas `demo` are invented.
 *
 *   npm install express
 *   ISOTHERM_ATLAS=demo node examples/embed-express.mjs
 *   curl http://127.0.0.1:3000/climate/readyz
 */
import express from "express";
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

const app = express();
// Before body parsers, which would consume the bodies.
app.use(prefix, isotherm);
app.use(express.json());
app.get("/", (_request, response) => response.send("The rest of the service.\n"));

const server = app.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}${prefix}/docs`);
});

process.once("SIGTERM", () => {
  server.close();
  void isotherm.close().then(() => server.closeIdleConnections());
});
