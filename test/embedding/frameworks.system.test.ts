import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IsothermClient } from "../../src/client/client.ts";
import type * as host from "../../src/host/main.ts";
import { ENTITY } from "../host/entities.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PREFIX = "/climate";
const HAZARD_QUERY = {
  latitude: 11.59,
  longitude: 43.15,
  hazards: ["wildfire"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
} as const;

/** The built package: worker threads run built files only. */
const { createHandler, openAtlas, openLedger } = (await import(
  new URL("../../dist/host/main.js", import.meta.url).href
)) as typeof host;

interface Credentials {
  readonly apiKey: string;
  readonly customerId: string;
}

/** Creates a ledger with a key and a customer in a folder. */
async function credentialsIn(data: string): Promise<Credentials> {
  const ledger = await openLedger({ data });
  try {
    const { accountId } = await ledger.createAccount({ name: "Embedding" });
    const { secret } = await ledger.createKey({ accountId });
    const { customer } = await ledger.registerCustomer({ accountId, internalId: "embedding" });
    return { apiKey: secret, customerId: customer.customerId };
  } finally {
    await ledger.close();
  }
}

describe.each(["node-http", "express", "fastify"])("examples/embed-%s.mjs", (name) => {
  let data: string;
  let program: ReturnType<typeof spawn>;
  let origin: string;
  let base: string;
  let headers: Readonly<Record<string, string>>;
  let credentials: Credentials;

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), "isotherm-embed-"));
    credentials = await credentialsIn(data);
    headers = { "X-API-Key": credentials.apiKey, "X-Customer-ID": credentials.customerId };
    program = spawn(process.execPath, [`examples/embed-${name}.mjs`], {
      cwd: ROOT,
      env: { ...process.env, PORT: "0", ISOTHERM_DATA: data, ISOTHERM_ATLAS: "demo" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(program.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    const docsUrl = line.toString().trim();
    expect(docsUrl).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+\/climate\/docs$/);
    ({ origin } = new URL(docsUrl));
    base = origin + PREFIX;
  });
  afterAll(() => {
    program.kill("SIGKILL");
    rmSync(data, { recursive: true });
  });

  test("requires ISOTHERM_ATLAS", () => {
    const { ISOTHERM_ATLAS: _, ...env } = process.env;
    const { status, stderr } = spawnSync(process.execPath, [`examples/embed-${name}.mjs`], {
      cwd: ROOT,
      env: { ...env, PORT: "0", ISOTHERM_DATA: data },
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining("Set ISOTHERM_ATLAS to the folder")]);
  });

  const json = async (response: Response | Promise<Response>): Promise<Readonly<Record<string, unknown>>> =>
    (await (await response).json()) as Readonly<Record<string, unknown>>;
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(base + path, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });

  test("answers data requests, with usage in the ledger and ETags", async () => {
    const url = `${base}/api/v1/hazard-risk?latitude=11.59&longitude=43.15&hazards=wildfire&analysis_years=2050&scenarios=rcp8p5`;
    const response = await fetch(url, { headers });
    expect([response.status, response.headers.get("x-usage-units")]).toEqual([200, "1"]);
    const repeated = await fetch(url, { headers: { ...headers, "If-None-Match": response.headers.get("etag") ?? "" } });
    expect(repeated.status).toBe(304);
    const usage = await json(fetch(`${base}/latest/api/v1/usage?group_by=meter`, { headers }));
    expect(usage["items"]).toMatchObject([{ meter: "hazard_values", units: 1 }]);
  });

  test("reads a request body", async () => {
    const response = await post("/api/v1/temperature-alignment-projections", [ENTITY]);
    expect([response.status, ((await json(response))["results"] as unknown[]).length]).toEqual([200, 1]);
  });

  test("serves the client of the package", async () => {
    const client = new IsothermClient({
      baseUrl: base,
      apiKey: credentials.apiKey,
      customerId: credentials.customerId,
    });
    expect((await client.hazardRisk({ ...HAZARD_QUERY })).results).toHaveLength(1);
  });

  test("puts the prefix into problems, batch elements and the Location header", async () => {
    const problem = await json(fetch(`${base}/api/v1/hazard-risk`));
    expect(problem).toMatchObject({ type: "/climate/problems/api_key_missing", status: 401 });
    expect(await json(fetch(origin + String(problem["type"])))).toMatchObject({ code: "api_key_missing" });
    const notFound = await json(fetch(`${base}/unknown`));
    expect(notFound).toMatchObject({ type: "/climate/problems/route_not_found", status: 404 });
    expect(notFound["detail"]).toContain("/climate/api/v1/");

    const batch = await json(post("/api/v1/hazard-risk/batch", [{ latitude: 91 }]));
    expect(batch).toMatchObject({ results: [{ error: { type: "/climate/problems/invalid_request" } }] });

    const registered = await post("/latest/api/v1/customers", { internal_id: `of-${name}` });
    const location = registered.headers.get("location") ?? "";
    expect(location).toMatch(/^\/climate\/latest\/api\/v1\/customers\/[0-9a-f-]{36}$/);
    expect(await json(fetch(origin + location, { headers }))).toMatchObject({ internal_id: `of-${name}` });
  });

  test("links the pages and the OpenAPI document under the prefix", async () => {
    const about = await json(fetch(base));
    expect(about).toMatchObject({ documentation: "/climate/docs", openapi: "/climate/openapi.json" });
    for (const link of ["documentation", "openapi", "health"]) {
      expect((await fetch(origin + String(about[link]))).status).toBe(200);
    }
    expect((await fetch(origin + String(about["readiness"]))).status).toBeOneOf([200, 503]);
    const document = await json(fetch(`${base}/openapi.json`));
    expect(document).toMatchObject({ servers: [{ url: "/climate" }] });
    expect(JSON.stringify(document).match(/"type":"\/problems\/[^"]*"/g)).toBeNull();

    for (const page of ["/", "/docs", "/problems/route_not_found"]) {
      const html = await (await fetch(base + page, { headers: { Accept: "text/html" } })).text();
      const links = [...html.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = ""]) => link);
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) {
        expect(link).toMatch(/^\/climate\//);
        expect([link, (await fetch(origin + link)).status]).toEqual([link, 200]);
      }
    }
    expect((await json(fetch(`${base}/problems/route_not_found`)))["remedy"]).toContain("`/climate/openapi.json`");
    // The service never redirects: the prefix is the start page with and without a slash at the end.
    expect((await fetch(`${base}/`, { redirect: "manual" })).status).toBe(200);
  });

  test("answers HEAD and OPTIONS, and rejects an unsupported method or content type", async () => {
    expect((await fetch(`${base}/healthz`, { method: "HEAD" })).status).toBe(200);
    const options = await fetch(`${base}/healthz`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    const patch = await fetch(`${base}/healthz`, { method: "PATCH" });
    expect([patch.status, (await json(patch))["code"]]).toEqual([405, "method_not_allowed"]);
    const text = await fetch(`${base}/api/v1/hazard-risk/batch`, { method: "POST", headers, body: "text" });
    expect([text.status, (await json(text))["code"]]).toEqual([415, "content_type_unsupported"]);
  });

  test("leaves other paths to the server", async () => {
    expect(await (await fetch(`${origin}/`)).text()).toContain("The rest of the service.");
    const problems = await fetch(`${origin}/problems/rate_limited`);
    expect(problems.headers.get("x-request-id")).toBeNull();
  });

  test("exits on SIGTERM", async () => {
    const exited = once(program, "exit");
    program.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
});

test("a handler of an atlas with workers answers a large batch, with the prefix in its errors", async () => {
  const data = mkdtempSync(join(tmpdir(), "isotherm-embed-"));
  const { createServer } = await import("node:http");
  try {
    const { apiKey, customerId } = await credentialsIn(data);
    const [atlas, ledger] = [await openAtlas("demo", { workers: 1, cacheBytes: 16 << 20 }), await openLedger({ data })];
    const handler = createHandler({ atlas, ledger, prefix: PREFIX, ownsResources: true, warmUp: false });
    const server = createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const queries = [...Array.from({ length: 200 }, () => HAZARD_QUERY), { ...HAZARD_QUERY, latitude: 91 }];
    const response = await fetch(`http://127.0.0.1:${port}${PREFIX}/api/v1/hazard-risk/batch`, {
      method: "POST",
      headers: { "X-API-Key": apiKey, "X-Customer-ID": customerId, "Content-Type": "application/json" },
      body: JSON.stringify(queries),
    });
    const { results } = (await response.json()) as { results: { error?: { type: string } }[] };
    expect([response.status, response.headers.get("x-item-errors"), results.length]).toEqual([200, "1", 201]);
    expect(results.at(-1)?.error?.type).toBe("/climate/problems/invalid_request");
    server.close();
    await handler.close();
    server.closeAllConnections();
  } finally {
    rmSync(data, { recursive: true });
  }
});
