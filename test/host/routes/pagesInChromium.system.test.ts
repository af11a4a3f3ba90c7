import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HEADERS, type TestHost, startTestHost } from "../testHost.ts";

const CHROMIUM = process.env["ISOTHERM_CHROMIUM"] ?? "/usr/bin/chromium";
const isInstalled = existsSync(CHROMIUM);
if (!isInstalled) {
  // On CI, a skipped test would hide a missing installation.
  if (process.env["CI"] === "true") throw new Error(`Chromium is required on CI (not found at ${CHROMIUM})`);
  console.warn(`skipped: the page tests need Chromium (not found at ${CHROMIUM}; set ISOTHERM_CHROMIUM)`);
}

// Swagger UI treats localhost as a development server, so the tests use another host name.
const HOST = "service.test";
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", `--host-resolver-rules=MAP ${HOST} 127.0.0.1`];

/** Folder that screenshots are written to for inspection. */
const SCREENSHOTS = process.env["ISOTHERM_SCREENSHOTS"];
async function screenshot(tab: Page, name: string): Promise<void> {
  if (SCREENSHOTS !== undefined) await tab.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

describe.skipIf(!isInstalled).each(["", "/climate"])("pages in Chromium under the prefix %j", (prefix) => {
  let host: TestHost;
  let browser: Browser;
  beforeAll(async () => {
    host = await startTestHost({ prefix });
    await host.ready;
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: FLAGS,
    });
  });
  afterAll(async () => {
    await browser?.close();
    await host?.close();
  });

  test("/docs shows every operation, executes one with a key, and sends no external request", async () => {
    const tab = await browser.newPage();
    const requestedUrls: string[] = [];
    const errors: string[] = [];
    tab.on("request", (request) => requestedUrls.push(request.url()));
    tab.on("pageerror", (error) => errors.push(error.message));
    tab.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    const origin = `http://${HOST}:${host.address.port}${prefix}`;
    await tab.goto(`${origin}/docs`);
    await tab.locator(".opblock").first().waitFor();
    const document = (await (await fetch(`${host.address.url}${prefix}/openapi.json`)).json()) as { paths: object };
    const operationCount = Object.values(document.paths).flatMap((methods) => Object.keys(methods as object)).length;
    expect(await tab.locator(".opblock").count()).toBe(operationCount);

    await tab.locator(".btn.authorize").click();
    for (const [name, value] of Object.entries(HEADERS)) {
      const scheme = tab.locator(".auth-container form").filter({ hasText: name });
      await scheme.locator("input").fill(value);
      await scheme.locator(".authorize").click();
    }
    await screenshot(tab, "docs-authorize");
    await tab.locator(".auth-btn-wrapper .btn-done").first().click();

    const operation = tab.locator("#operations-Hazard_risk-getHazardRisk");
    await operation.locator(".opblock-summary-control").click();
    const answered = tab.waitForResponse((response) => response.url().includes("/api/v1/hazard-risk?"));
    await operation.locator(".execute").click();
    const response = await answered;
    expect(response.status()).toBe(200);
    expect(new URL(response.url()).searchParams.get("hazards")).toBe("riverine_floods,coastal_floods");
    expect(await response.json()).toMatchObject({ location: { latitude: 11.59, longitude: 43.15 } });
    expect(host.ledger.entries).toHaveLength(1);
    await operation.locator(".live-responses-table").first().waitFor();
    await screenshot(tab, "docs-answered");

    const external = requestedUrls.filter((url) => !url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url));
    expect(external).toStrictEqual([]);
    expect(errors).toStrictEqual([]);
  });

  test("/problems/:code shows names as code and sends no external request", async () => {
    const tab = await browser.newPage();
    const requestedUrls: string[] = [];
    tab.on("request", (request) => requestedUrls.push(request.url()));
    const origin = `http://${HOST}:${host.address.port}${prefix}`;
    await tab.goto(`${origin}/problems/customer_id_missing`);
    expect(await tab.locator("dd code").allTextContents()).toStrictEqual([
      `POST ${prefix}/latest/api/v1/customers`,
      "customer_id",
      "X-Customer-ID",
    ]);
    expect(await tab.locator("body").innerText()).not.toContain("`");
    await screenshot(tab, "problem");
    expect(requestedUrls).toStrictEqual([`${origin}/problems/customer_id_missing`]);
  });
});
