import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import Fastify from "fastify";
import { afterEach, expect, test } from "vitest";
import { createHandler, type Handler } from "../../src/host/main.ts";
import { ENTITY } from "../host/entities.ts";
import { fakeAtlas } from "../host/testHost.ts";
import { MemoryLedger } from "../host/memoryLedger.ts";

const ALIGNMENT = "/api/v1/temperature-alignment-projections";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function embed(
  prefix: string,
): Promise<{ readonly handler: Handler; readonly headers: Readonly<Record<string, string>> }> {
  const ledger = new MemoryLedger();
  const { accountId } = await ledger.createAccount({ name: "Tests" });
  const { secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "tests" });
  const handler = createHandler({ atlas: fakeAtlas(), ledger, prefix, warmUp: false });
  stops.push(() => handler.close());
  return { handler, headers: { "X-API-Key": secret, "X-Customer-ID": customer.customerId } };
}

async function urlOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, "listening");
  stops.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Posts a valid alignment request. @returns status, code and detail of the response */
async function postTo(base: string, headers: Readonly<Record<string, string>>): Promise<readonly unknown[]> {
  const response = await fetch(base + ALIGNMENT, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify([ENTITY]),
  });
  const { code, detail } = (await response.json()) as { readonly code?: string; readonly detail?: string };
  return code === undefined ? [response.status] : [response.status, code, detail];
}

const CONSUMED = [500, "internal_error", expect.stringContaining("Mount the handler before body parsers")];

test("Express: the handler reads bodies before express.json, and reports an error after it", async () => {
  const [before, after] = [await embed("/before"), await embed("/after")];
  const app = express().use("/before", before.handler).use(express.json()).use("/after", after.handler);
  const url = await urlOf(app.listen(0, "127.0.0.1"));
  expect(await postTo(`${url}/before`, before.headers)).toEqual([200]);
  expect(await postTo(`${url}/after`, after.headers)).toEqual(CONSUMED);
});

test("Express: rejecting a request whose body has been consumed keeps the connection open", async () => {
  const { handler } = await embed("/climate");
  const url = await urlOf(express().use(express.json()).use("/climate", handler).listen(0, "127.0.0.1"));
  const response = await fetch(`${url}/climate${ALIGNMENT}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify([ENTITY]),
  });
  expect([response.status, response.headers.get("connection")]).toEqual([401, "keep-alive"]);
});

test("Express: nested routers need the whole prefix", async () => {
  const { handler, headers } = await embed("/v2/climate");
  const router = express.Router().use("/climate", handler);
  const url = await urlOf(express().use("/v2", router).listen(0, "127.0.0.1"));
  expect(await postTo(`${url}/v2/climate`, headers)).toEqual([200]);
});

test("Express: a mount path other than the prefix results in a 404 that names the prefix", async () => {
  const { handler, headers } = await embed("/climate");
  const url = await urlOf(express().use("/risk", handler).listen(0, "127.0.0.1"));
  expect(await postTo(`${url}/risk`, headers)).toEqual([
    404,
    "route_not_found",
    "No route has this path; data routes start with /climate/api/v1/.",
  ]);
});

test("Fastify: the handler reads bodies in onRequest, and reports an error in a route", async () => {
  const [before, after] = [await embed("/before"), await embed("/after")];
  const app = Fastify({ forceCloseConnections: true });
  app.addHook("onRequest", (request, reply, done) => {
    if (!before.handler.matches(request.raw)) return done();
    reply.hijack();
    before.handler(request.raw, reply.raw);
    return undefined;
  });
  app.all("/after/*", (request, reply) => {
    reply.hijack();
    after.handler(request.raw, reply.raw);
  });
  stops.push(() => app.close());
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  expect(await postTo(`${url}/before`, before.headers)).toEqual([200]);
  expect(await postTo(`${url}/after`, after.headers)).toEqual(CONSUMED);
});
