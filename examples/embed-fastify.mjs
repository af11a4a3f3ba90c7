/**
 * Mounts Isotherm under /climate in a Fastify application. The values of the atlas `demo` are invented.
 *
 *   npm install fastify
 *   ISOTHERM_ATLAS=demo node examples/embed-fastify.mjs
 *   curl http://127.0.0.1:3000/climate/readyz
 */
import Fastify from "fastify";
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

const app = Fastify({ requestTimeout: 30_000 });
app.get("/", () => "The rest of the service.\n");
// The hook passes the request to Isotherm before Fastify parses the body. Fastify does not process the request further.
app.addHook("onRequest", (request, reply, done) => {
  if (!isotherm.matches(request.raw)) return done();
  reply.hijack();
  isotherm(request.raw, reply.raw);
});
app.addHook("onClose", () => isotherm.close());

await app.listen({ port: Number(PORT), host: "127.0.0.1" });
console.log(`http://127.0.0.1:${app.server.address().port}${prefix}/docs`);

process.once("SIGTERM", () => void app.close());
