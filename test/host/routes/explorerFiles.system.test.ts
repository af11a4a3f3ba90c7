import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXPLORER_POLICY, explorerFile, findExplorer } from "../../../src/host/routes/explorer.ts";
import { root } from "../../../src/host/routes/root.ts";
import { RouteCaller } from "../routeCaller.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const PAGE = `<link href="./explorer/icon.svg" /><script src="./explorer/main-B7k2x_9Q.js"></script><a href="./docs">./x</a>`;
const FILES = {
  "main-B7k2x_9Q.js": "text/javascript; charset=utf-8",
  "main-C0ffee12.css": "text/css; charset=utf-8",
  "kernel-abcdefgh.wasm": "application/wasm",
  "countries-12345678.json": "application/json",
  "icon.svg": "image/svg+xml",
} as const;

let folder: string;
let url: URL;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-explorer-"));
  url = pathToFileURL(`${folder}/`);
  mkdirSync(join(folder, "explorer"));
  writeFileSync(join(folder, "index.html"), PAGE);
  for (const name of Object.keys(FILES)) writeFileSync(join(folder, "explorer", name), `content of ${name}`);
  writeFileSync(join(folder, "explorer", ".secret"), "secret");
  writeFileSync(join(folder, "explorer", "main.js.map"), "map");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("GET /", () => {
  test("returns the explorer to browsers, and JSON to programs", async () => {
    const routes = new RouteCaller();
    const route = root({ explorer: findExplorer(url) });
    const page = await routes.call(route, { accept: BROWSER });
    expect([page.status, page.contentType]).toStrictEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers).toStrictEqual({
      "Content-Security-Policy": EXPLORER_POLICY,
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-cache",
      Vary: "Accept",
    });
    expect(JSON.parse((await routes.call(route)).text)).toMatchObject({ service: "isotherm" });
  });

  test.each(["", "/climate"])("addresses in the page are below the prefix %j", async (prefix) => {
    const routes = new RouteCaller();
    const services = { ...routes.services, prefix };
    const route = root({ explorer: findExplorer(url) });
    const { text } = await routes.call(
      { ...route, handle: (request, context) => route.handle(request, { ...context, services }) },
      { accept: BROWSER },
    );
    expect(text).toBe(
      `<link href="${prefix}/explorer/icon.svg" /><script src="${prefix}/explorer/main-B7k2x_9Q.js"></script><a href="${prefix}/docs">./x</a>`,
    );
  });

  test("the policy allows no inline code, no evaluation and no other origin", () => {
    expect(EXPLORER_POLICY).toMatch(/^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; /);
    expect(EXPLORER_POLICY).not.toMatch(/'unsafe-(?:inline|eval)'|https?:|\*/);
  });
});

describe("GET /explorer/:file", () => {
  test.each(Object.entries(FILES))("serves %s as %s", async (file, contentType) => {
    const reply = await new RouteCaller().call(explorerFile({ explorer: findExplorer(url) }), { path: { file } });
    expect([reply.status, reply.contentType, reply.text]).toStrictEqual([200, contentType, `content of ${file}`]);
    const isHashed = file !== "icon.svg";
    expect(reply.headers["Cache-Control"]).toBe(
      isHashed ? "public, max-age=31536000, immutable" : "public, max-age=86400",
    );
  });

  test.each([
    "../index.html",
    "..%2Findex.html",
    "../../etc/passwd",
    "/etc/passwd",
    ".secret",
    "main.js.map",
    "index.html",
    "__proto__",
    "",
    "main-B7k2x_9Q.js\0",
  ])("returns route_not_found for %j, also before an ETag is compared", async (file) => {
    const routes = new RouteCaller();
    const route = explorerFile({ explorer: findExplorer(url) });
    await expect(routes.call(route, { path: { file } })).rejects.toMatchObject({ code: "route_not_found" });
    expect(() => route.checkAvailability?.(file, routes.services)).toThrow("The explorer has no file");
  });

  test("returns route_not_found if the explorer is not installed", async () => {
    const call = new RouteCaller().call(explorerFile({ explorer: undefined }), { path: { file: "icon.svg" } });
    await expect(call).rejects.toMatchObject({ code: "route_not_found" });
  });

  test("the revision changes with the files", () => {
    const routes = new RouteCaller();
    const explorer = findExplorer(url);
    if (explorer === undefined) throw new Error("the explorer must be found");
    const names = new Set([...explorer.names, "main-D3adb33f.js"]);
    const [before, after] = [explorer, { ...explorer, names }].map((files) =>
      explorerFile({ explorer: files }).revision?.(routes.services),
    );
    expect(before).not.toBe(after);
  });
});

test("a folder without a built explorer has none", () => {
  expect(findExplorer(new URL("missing/", url))).toBeUndefined();
  expect(findExplorer(new URL("../../../src/explorer/", import.meta.url))).toBeUndefined();
});
