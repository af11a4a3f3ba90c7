import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HEADERS, type Hosted, hosted } from "../hosting.ts";

const CHROMIUM = process.env["ISOTHERM_CHROMIUM"] ?? "/usr/bin/chromium";
const isHere = existsSync(CHROMIUM);
if (!isHere) {
  // On CI a skipped test would be a check that cannot fail.
  if (process.env["CI"] === "true") throw new Error(`Chromium is needed on CI; there is none at ${CHROMIUM}.`);
  console.warn(`skipped: there is no Chromium at ${CHROMIUM} (ISOTHERM_CHROMIUM names another place), so no page test`);
}

// Pages treat a service on this machine as one in the making, so that it goes by another name here.
const HOST = "service.test";
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", `--host-resolver-rules=MAP ${HOST} 127.0.0.1`];

/** Written to the folder that ISOTHERM_SCREENSHOTS names, to be looked at. */
const SCREENSHOTS = process.env["ISOTHERM_SCREENSHOTS"];
async function screenshot(tab: Page, name: string): Promise<void> {
  if (SCREENSHOTS !== undefined) await tab.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

describe.skipIf(!isHere)("the interactive page in Chromium", () => {
  let host: Hosted;
  let browser: Browser;
  beforeAll(async () => {
    host = await hosted();
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

  test("shows every call, lets one be tried with a key, and asks nobody else", async () => {
    const tab = await browser.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    tab.on("request", (request) => asked.push(request.url()));
    tab.on("pageerror", (error) => complaints.push(error.message));
    tab.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    const origin = `http://${HOST}:${host.address.port}`;
    await tab.goto(`${origin}/docs`);
    await tab.locator(".opblock").first().waitFor();
    const document = (await (await fetch(`${host.address.url}/openapi.json`)).json()) as { paths: object };
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

    const call = tab.locator("#operations-Hazard_risk-getHazardRisk");
    await call.locator(".opblock-summary-control").click();
    const answered = tab.waitForResponse((response) => response.url().includes("/api/v1/hazard-risk?"));
    await call.locator(".execute").click();
    const response = await answered;
    expect(response.status()).toBe(200);
    expect(new URL(response.url()).searchParams.get("hazards")).toBe("riverine_floods,coastal_floods");
    expect(await response.json()).toMatchObject({ location: { latitude: 11.59, longitude: 43.15 } });
    expect(host.ledger.entries).toHaveLength(1);
    await call.locator(".live-responses-table").first().waitFor();
    await screenshot(tab, "docs-answered");

    const elsewhere = asked.filter((url) => !url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url));
    expect(elsewhere).toStrictEqual([]);
    expect(complaints).toStrictEqual([]);
  });

  test("shows a problem with its names as code, and asks nobody else", async () => {
    const tab = await browser.newPage();
    const asked: string[] = [];
    tab.on("request", (request) => asked.push(request.url()));
    const origin = `http://${HOST}:${host.address.port}`;
    await tab.goto(`${origin}/problems/customer_id_missing`);
    expect(await tab.locator("dd code").allTextContents()).toStrictEqual([
      "POST /latest/api/v1/customers",
      "customer_id",
      "X-Customer-ID",
    ]);
    expect(await tab.locator("body").innerText()).not.toContain("`");
    await screenshot(tab, "problem");
    expect(asked).toStrictEqual([`${origin}/problems/customer_id_missing`]);
  });
});
