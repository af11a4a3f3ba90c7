import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { reportPage } from "../../../src/places/summary/report/reportPage.ts";
import { summarizeTable } from "../../../src/places/summary/summarizePlaceFile.ts";
import { longRows, memoryTable, randomPlaces } from "./randomScores.ts";
import { STATED_RUN } from "./statedRun.ts";

const CHROMIUM = process.env["ISOTHERM_CHROMIUM"] ?? "/usr/bin/chromium";
const isInstalled = existsSync(CHROMIUM);
if (!isInstalled) {
  // On CI, a skipped test would hide a missing installation.
  if (process.env["CI"] === "true") throw new Error(`Chromium is required on CI (not found at ${CHROMIUM})`);
  console.warn(`skipped: the report test needs Chromium (not found at ${CHROMIUM}; set ISOTHERM_CHROMIUM)`);
}
/** Folder that screenshots are written to for inspection. */
const SCREENSHOTS = process.env["ISOTHERM_SCREENSHOTS"];

describe.skipIf(!isInstalled)("report in Chromium", () => {
  let browser: Browser;
  let folder: string;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-report-"));
    const options = { above: [], topCount: 10, by: [], groupBy: "country", sampleCount: 500 };
    const columns = { id: "site", latitude: "latitude", longitude: "longitude" };
    const summary = await summarizeTable(memoryTable(longRows(randomPlaces(1, 800))), options, { columns });
    const file = join(folder, "report.html");
    const context = { fileName: "scores.csv", run: STATED_RUN, reportedOn: "2026-01-31" };
    await writeFile(file, reportPage(summary, context));
    url = pathToFileURL(file).href;
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--headless", "--no-sandbox", "--disable-gpu"],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true });
  });

  /** Opens the report and records its requests and errors. */
  async function openReport(
    colorScheme: "light" | "dark",
    width = 1100,
  ): Promise<{
    readonly tab: Page;
    readonly requestedUrls: readonly string[];
    readonly errors: readonly string[];
  }> {
    const tab = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
    const requestedUrls: string[] = [];
    const errors: string[] = [];
    tab.on("request", (request) => requestedUrls.push(request.url()));
    tab.on("pageerror", (error) => errors.push(error.message));
    tab.on("console", (message) => errors.push(message.text()));
    await tab.goto(url);
    if (SCREENSHOTS !== undefined) {
      await tab.screenshot({ path: join(SCREENSHOTS, `report-${colorScheme}-${width}.png`), fullPage: true });
    }
    return { tab, requestedUrls, errors };
  }

  test.each(["light", "dark"] as const)("makes no request and has no error in %s colors", async (colorScheme) => {
    const { tab, requestedUrls, errors } = await openReport(colorScheme);
    expect(requestedUrls).toStrictEqual([url]);
    expect(errors).toStrictEqual([]);
    const background = await tab.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(background).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(18, 24, 30)");
    await tab.close();
  });

  test("can be read on a phone: charts and tables scroll, and their text stays legible", async () => {
    const { tab } = await openReport("light", 390);
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(390);
    const heights = await tab.evaluate<number[]>(
      "[...document.querySelectorAll('figure svg text')].map((text) => text.getBoundingClientRect().height)",
    );
    expect(heights.length).toBeGreaterThan(50);
    expect(Math.min(...heights)).toBeGreaterThan(9);
    await tab.close();
  });
});
