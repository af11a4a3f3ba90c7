import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prefersHtml, markUpCode } from "../../../src/host/routes/htmlPage.ts";
import { PROBLEM_CODES, describeProblem } from "../../../src/host/problems/problemTexts.ts";
import { docs, docsFile } from "../../../src/host/routes/docs.ts";
import { openApi } from "../../../src/host/routes/openApi.ts";
import { problemPage } from "../../../src/host/routes/problemPage.ts";
import { root } from "../../../src/host/routes/root.ts";
import { RouteCaller } from "../routeCaller.ts";
import { type TestHost, startTestHost } from "../testHost.ts";

const PACKAGE = new URL("../../../package.json", import.meta.url);
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const WITHOUT_EXPLORER = { explorer: undefined };

test.each([
  [undefined, false],
  ["*/*", false],
  ["application/json", false],
  [BROWSER, true],
  ["text/html", true],
  ["TEXT/HTML", true],
  ["text/*", true],
  ["text/html;q=0.5, application/json", false],
  ["text/html, application/json;q=0.5", true],
  ["text/html, application/json", false],
  ["text/html;q=0, */*", false],
  ["text/html;q=high", false],
  ["", false],
])("prefersHtml of Accept: %s is %s", (accept, isHtml) => {
  expect(prefersHtml(accept)).toBe(isHtml);
});

/** Asserts that the content security policy allows only the style of the page, and that the page loads nothing external. */
function expectSelfContainedPage(text: string, headers: Readonly<Record<string, string>>): void {
  const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  expect(headers["Content-Security-Policy"]).toContain(`style-src 'sha256-${hash}'`);
  expect(headers["Content-Security-Policy"]).toContain("default-src 'none'");
  expect(text).not.toMatch(/<script|(?:src|href)="(?:https?:)?\/\//);
}

test.each([
  ["plain text", "plain text"],
  ["send `a` and `b`", "send <code>a</code> and <code>b</code>"],
  ["`<b>` & `\"'`", "<code>&lt;b&gt;</code> &amp; <code>&quot;&#39;</code>"],
  ["<code>`x`</code>", "&lt;code&gt;<code>x</code>&lt;/code&gt;"],
  ["a lone ` stays", "a lone ` stays"],
  ["`a` and a lone ` stays", "<code>a</code> and a lone ` stays"],
  ["empty `` stays", "empty `` stays"],
  ["`a``b`", "<code>a</code><code>b</code>"],
  ["", ""],
])("converts backticks to code elements: %j", (text, markup) => {
  expect(markUpCode(text).html).toBe(markup);
});

describe("GET /problems/:code", () => {
  test.each(PROBLEM_CODES)("explains %s as JSON and as HTML", async (code) => {
    const routes = new RouteCaller();
    const path = { code };
    const { text, contentType, status, headers } = await routes.call(problemPage, { path });
    expect([status, contentType, headers["Vary"]]).toStrictEqual([200, "application/json", "Accept"]);
    const description = describeProblem(code);
    expect(JSON.parse(text)).toStrictEqual(description);
    expect([description.meaning, description.remedy].every((sentence) => /^[A-Z].{10,}\.$/s.test(sentence))).toBe(true);

    const page = await routes.call(problemPage, { path, accept: BROWSER });
    expect([page.status, page.contentType]).toStrictEqual([200, "text/html; charset=utf-8"]);
    const toMarkup = (text: string): string =>
      text
        .replaceAll("&", "&amp;")
        .replaceAll("'", "&#39;")
        .replaceAll('"', "&quot;")
        .replaceAll(/`([^`]+)`/g, "<code>$1</code>");
    const { title, status: usualStatus, meaning, remedy } = description;
    for (const part of [code, title, String(usualStatus), meaning, remedy]) {
      expect(page.text).toContain(toMarkup(part));
    }
    expect(page.text).not.toContain("`");
    expectSelfContainedPage(page.text, page.headers);
  });

  test.each(["no_such", "__proto__", "constructor", ""])("returns route_not_found for '%s'", async (code) => {
    const routes = new RouteCaller();
    await expect(routes.call(problemPage, { path: { code } })).rejects.toMatchObject({ code: "route_not_found" });
  });
});

describe("GET / without the explorer", () => {
  test("describes the service as JSON and as HTML", async () => {
    const routes = new RouteCaller();
    const { text } = await routes.call(root(WITHOUT_EXPLORER));
    expect(JSON.parse(text)).toMatchObject({
      service: "isotherm",
      documentation: "/docs",
      openapi: "/openapi.json",
      atlas: { release: "test-1", synthetic: true },
    });
    const page = await routes.call(root(WITHOUT_EXPLORER), { accept: BROWSER });
    expect(page.text).toContain("All values of this atlas are invented.");
    expect(page.text).toContain("<code>test-1</code>");
    expectSelfContainedPage(page.text, page.headers);
  });

  test("labels only synthetic atlases as invented, and escapes the release name", async () => {
    const atlas = { ...new RouteCaller().services.atlas, synthetic: false, release: "<b>&'\"" };
    const { text } = await new RouteCaller({ atlas }).call(root(WITHOUT_EXPLORER), { accept: BROWSER });
    expect(text).not.toContain("invented");
    expect(text).toContain("<code>&lt;b&gt;&amp;&#39;&quot;</code>");
  });
});

describe("GET /docs", () => {
  test("explains how to install Swagger UI if it is missing, and then serves no files", async () => {
    const routes = new RouteCaller();
    const page = await routes.call(docs({ folder: undefined }));
    expect(page.status).toBe(501);
    const { peerDependencies } = JSON.parse(readFileSync(PACKAGE, "utf8")) as {
      peerDependencies: Record<string, string>;
    };
    expect(page.text).toContain(`npm install swagger-ui-dist@${peerDependencies["swagger-ui-dist"]}`);
    expectSelfContainedPage(page.text, page.headers);
    await expect(
      routes.call(docsFile({ folder: undefined }), { path: { file: "swagger-ui.css" } }),
    ).rejects.toMatchObject({
      code: "route_not_found",
    });
  });

  test.each(["package.json", "../package.json", "swagger-ui.js", "__proto__", ""])(
    "returns route_not_found for the file '%s'",
    async (file) => {
      const call = new RouteCaller().call(docsFile(), { path: { file } });
      await expect(call).rejects.toMatchObject({ code: "route_not_found" });
    },
  );

  test("serves the files that the page refers to", async () => {
    const routes = new RouteCaller();
    const page = await routes.call(docs());
    expect(page.headers["Content-Security-Policy"]).toMatch(/^default-src 'none'; script-src 'self'; /);
    const files = [...page.text.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(files).toHaveLength(3);
    for (const path of files) {
      const file = await routes.call(docsFile(), { path: { file: path.replace("/docs/", "") } });
      expect(file.status).toBe(200);
      expect(file.text.length).toBeGreaterThan(100);
      expect(file.contentType).toMatch(path.endsWith(".css") ? /^text\/css/ : /^text\/javascript/);
    }
  });
});

test("builds the OpenAPI document once and derives its revision from the text", async () => {
  let count = 0;
  const route = openApi(() => {
    count++;
    return [root(WITHOUT_EXPLORER)];
  });
  const routes = new RouteCaller();
  const { text } = await routes.call(route);
  expect((await routes.call(route)).text).toBe(text);
  expect(route.revision?.(routes.services)).toBe(createHash("sha256").update(text).digest("base64url"));
  expect(count).toBe(1);
});

describe("over a socket", () => {
  let host: TestHost;
  beforeAll(async () => {
    host = await startTestHost();
  });
  afterAll(() => host.close());
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${host.address.url}${path}`, { headers });

  test.each(["/", "/problems/rate_limited"])(
    "%s returns HTML to browsers and JSON to programs, without a key",
    async (path) => {
      const page = await get(path, { Accept: BROWSER });
      expect([page.status, page.headers.get("content-type")]).toStrictEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers.get("vary")).toContain("Accept");
      await page.text();
      const json = await get(path);
      expect([json.status, json.headers.get("content-type")]).toStrictEqual([200, "application/json"]);
      await json.text();
    },
  );

  test("serves /openapi.json with an ETag and /docs without a key", async () => {
    const document = await get("/openapi.json");
    expect([document.status, ((await document.json()) as { openapi: string }).openapi]).toStrictEqual([200, "3.1.0"]);
    const again = await get("/openapi.json", { "If-None-Match": document.headers.get("etag") ?? "" });
    expect([again.status, await again.text()]).toStrictEqual([304, ""]);
    const page = await get("/docs");
    expect([page.status, (await page.text()).includes('id="docs"')]).toStrictEqual([200, true]);
    const script = await get("/docs/swagger-ui-bundle.js");
    expect([script.status, script.headers.get("cache-control")]).toStrictEqual([200, "public, max-age=86400"]);
    expect((await script.text()).length).toBeGreaterThan(1_000_000);
  });
});
