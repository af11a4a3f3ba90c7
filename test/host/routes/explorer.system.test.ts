/** The built explorer over HTTP, as an embedded service with a prefix serves it. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as hostModule from "../../../src/host/main.ts";
import type { Handler } from "../../../src/host/handler.ts";
import { fakeAtlas } from "../testHost.ts";
import { MemoryLedger } from "../memoryLedger.ts";

const { createHandler } = (await import(
  new URL("../../../dist/host/main.js", import.meta.url).href
)) as typeof hostModule;
const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe.each(["", "/climate"])("the explorer under the prefix %j", (prefix) => {
  let handler: Handler;
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    handler = createHandler({ atlas: fakeAtlas(), ledger: new MemoryLedger(), ...(prefix === "" ? {} : { prefix }) });
    server = createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await handler?.close();
    server?.close();
  });

  test.each(["", "/"])("every file of the page at the prefix with %j is found, with its type", async (end) => {
    if (prefix + end === "") return;
    const page = await fetch(`${origin}${prefix}${end}`, { headers: BROWSER });
    expect([page.status, page.headers.get("content-type")]).toStrictEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    const addresses = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? "");
    const files = addresses.filter((address) => address.includes("/explorer/"));
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      const response = await fetch(new URL(file, page.url));
      expect([file, response.status]).toStrictEqual([file, 200]);
      const type = file.endsWith(".js") ? "text/javascript" : file.endsWith(".css") ? "text/css" : "image/svg+xml";
      expect(response.headers.get("content-type")).toMatch(type);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect((await response.text()).length).toBeGreaterThan(100);
    }
  });

  test("files are compressed and cached, and others are not found", async () => {
    const page = await (await fetch(`${origin}${prefix}/`, { headers: BROWSER })).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "";
    const response = await fetch(`${origin}${script}`, { headers: { "Accept-Encoding": "gzip" } });
    const text = await response.text();
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const tag = response.headers.get("etag") ?? "";
    const again = await fetch(`${origin}${script}`, { headers: { "If-None-Match": tag } });
    expect([again.status, await again.text()]).toStrictEqual([304, ""]);
    const head = await fetch(`${origin}${script}`, { method: "HEAD", headers: { "Accept-Encoding": "identity" } });
    expect(Number(head.headers.get("content-length"))).toBe(Buffer.byteLength(text));
    for (const path of ["none.js", "..%2f..%2fpackage.json", "%2e%2e%2findex.html", "index.html", ""]) {
      const missing = await fetch(`${origin}${prefix}/explorer/${path}`, { headers: { "If-None-Match": "*" } });
      expect([path, missing.status]).toStrictEqual([path, 404]);
      await missing.text();
    }
  });
});
