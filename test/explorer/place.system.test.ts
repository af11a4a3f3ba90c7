import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { HazardResult } from "../../src/contract/wireTypes.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { closeExplorers, type ExplorerOptions, openExplorer, type OpenedExplorer, PHONE } from "./explorerPage.ts";

const run = promisify(execFile);
const DJIBOUTI = "view=hazards&hazard=riverine_floods&metric=depth_meters&scenario=rcp8p5&year=2050&place=11.59,43.15";

describeInChromium("the panel of a place", () => {
  let opened: OpenedExplorer | undefined;
  /** Inside the repository, so that programs find the package by its name. */
  let programs: string;

  beforeAll(async () => {
    const build = fileURLToPath(new URL("../../build", import.meta.url));
    await mkdir(build, { recursive: true });
    programs = await mkdtemp(join(build, "snippets-"));
  });
  afterEach(async () => {
    const problems = opened?.problems ?? [];
    await opened?.close();
    opened = undefined;
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    await closeExplorers();
    await rm(programs, { recursive: true, force: true });
  });

  async function open(options: ExplorerOptions): Promise<Page> {
    opened = await openExplorer(options);
    await opened.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    return opened.page;
  }

  /** Asks the service as a program would. */
  async function answerTo(query: Readonly<Record<string, string>>): Promise<HazardResult> {
    if (opened?.credentials === undefined) throw new Error("the page must be that of a service");
    const { url, credentials } = opened;
    const response = await fetch(`${url}api/v1/hazard-risk?${new URLSearchParams(query).toString()}`, {
      headers: { "x-api-key": credentials.api_key, "x-customer-id": credentials.customer_id },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as HazardResult;
  }

  const headline = (page: Page): Locator => page.locator(".headline");
  const depthOf = ({ results }: HazardResult): string =>
    `${results[0]?.scenarios[0]?.analysis_years[0]?.metrics.depth_meters?.toFixed(2)} m`;

  test("finds a city by its local name, with the keyboard only", async () => {
    const page = await open({
      fragment: "view=hazards&hazard=cyclones&metric=wind_speed_mps&scenario=rcp8p5&year=2050",
    });
    const field = page.getByRole("combobox", { name: "Place" });
    await field.focus();
    await page.keyboard.type("muenchen");
    await page.getByRole("option", { name: "Munich, Germany München" }).waitFor();
    expect(await field.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("ArrowDown");
    expect(await field.getAttribute("aria-activedescendant")).toBe(
      await page.getByRole("option", { selected: true }).getAttribute("id"),
    );
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Munich, Germany" }).waitFor();
    await headline(page).waitFor();
    expect(await field.getAttribute("aria-expanded")).toBe("false");
    expect(new URL(page.url()).hash).toMatch(/place=48\.1\d+,11\.5\d+,Munich/);
  });

  test("takes coordinates, and says what is wrong with others", async () => {
    const page = await open({
      fragment: "view=hazards&hazard=riverine_floods&metric=depth_meters&scenario=rcp8p5&year=2050",
    });
    const field = page.getByRole("combobox", { name: "Place" });
    await field.fill("11,589 43,145");
    await field.press("Enter");
    await page.getByText("Write decimals with a point, not with a comma: 11.589 43.145").waitFor();
    await field.fill("Xyzzyville");
    await field.press("Enter");
    await page.getByText('No city is called "Xyzzyville".').waitFor();
    await field.fill("11°35'24\"N 43°9'E");
    await field.press("Enter");
    await page.getByRole("heading", { name: "11.59° N, 43.15° E" }).waitFor();
    const expected = await answerTo({
      latitude: "11.59",
      longitude: "43.15",
      hazards: "riverine_floods",
      scenarios: "rcp8p5",
      analysis_years: "2050",
    });
    await headline(page).getByText(depthOf(expected)).waitFor();
  });

  test("shows the place that is clicked on the map, and removes it", async () => {
    const page = await open({ fragment: `${DJIBOUTI.replace(/&place=.*/, "")}&map=6/11.59/43.15` });
    const map = page.getByRole("application");
    await map.click();
    await headline(page).waitFor();
    const [latitude, longitude] = await page
      .locator(".place-panel h2")
      .textContent()
      .then((text) => (text ?? "").match(/[\d.]+/g)?.map(Number) ?? []);
    expect(latitude).toBeCloseTo(11.59, 0);
    expect(longitude).toBeCloseTo(43.15, 0);
    await page.getByRole("button", { name: "Remove the place" }).click();
    await page.getByText("Choose a place: click on the map").waitFor();
    expect(new URL(page.url()).hash).not.toContain("place=");
  });

  test("aggregates over a radius as the API does, with max and mean, and draws the circle", async () => {
    const page = await open({ fragment: `${DJIBOUTI}&map=7/11.6/43.1` });
    const query = {
      latitude: "11.59",
      longitude: "43.15",
      hazards: "riverine_floods",
      scenarios: "rcp8p5",
      analysis_years: "2050",
      radius: "25",
    };
    await headline(page).waitFor();
    await page.getByRole("spinbutton", { name: "Radius in kilometers" }).fill("25");
    await page.keyboard.press("Tab");
    await headline(page)
      .getByText(depthOf(await answerTo(query)))
      .waitFor();
    await page.getByRole("combobox", { name: "Value" }).selectOption("mean");
    const mean = await answerTo({ ...query, aggregation_method: "mean", detail: "true" });
    await headline(page).getByText(depthOf(mean)).waitFor();
    expect(depthOf(mean)).not.toBe(depthOf(await answerTo(query)));
    const cells = mean.results[0]?.scenarios[0]?.analysis_years[0]?.detail?.cells;
    await page
      .locator(".pairs div", { hasText: "Cells" })
      .getByText(`${cells?.toLocaleString("en-US")}`)
      .waitFor();
    // The circle and its casing, in the copies of the world that are visible; the place has markers of its own.
    await expect.poll(() => page.locator(".leaflet-overlay-pane path[stroke='#a3004f']").count()).toBeGreaterThan(0);
    expect(new URL(page.url()).hash).toContain("radius=25&method=mean");
    await page.getByRole("spinbutton", { name: "Radius in kilometers" }).fill("101");
    await page.keyboard.press("Tab");
    await page.getByText("The radius must be between 0 and 100 km.").waitFor();
  });

  test("sends one request for many changes of the radius", async () => {
    const page = await open({ fragment: DJIBOUTI });
    await headline(page).waitFor();
    const requests: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/api/v1/hazard-risk?")) requests.push(request.url());
    });
    // All changes are made before the browser can run a timer.
    await page.getByRole("slider", { name: "Radius" }).evaluate((slider: HTMLInputElement) => {
      for (let radiusKm = 1; radiusKm <= 30; radiusKm++) {
        slider.value = String(radiusKm);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      }
    });
    const expected = await answerTo({
      latitude: "11.59",
      longitude: "43.15",
      hazards: "riverine_floods",
      scenarios: "rcp8p5",
      analysis_years: "2050",
      radius: "30",
    });
    await headline(page).getByText(depthOf(expected)).waitFor();
    await expect.poll(() => page.locator(".place-panel").getAttribute("aria-busy")).toBe("false");
    expect(requests).toHaveLength(1);
    expect(new URL(requests[0] ?? "").searchParams.get("radius")).toBe("30");
  });

  test("shows all metrics by scenario and year, changes and total hazard", async () => {
    const page = await open({ fragment: DJIBOUTI });
    await headline(page).waitFor();
    const table = page.getByRole("table", { name: "Annual probability by year and scenario" });
    expect(await table.getByRole("columnheader").allTextContents()).toEqual(["Year", "RCP 4.5", "RCP 8.5"]);
    expect(await table.getByRole("rowheader").allTextContents()).toEqual(["1980 (baseline)", "2030", "2050", "2080"]);
    await page.locator(".metric canvas").nth(2).waitFor();
    await page.getByLabel("Total hazard (intensity times probability)").check();
    await page.getByRole("table", { name: "Total hazard by year and scenario" }).waitFor();
    await page.getByLabel("Change since 1980").check();
    await headline(page)
      .getByText(/^\+[\d.]+ m$/)
      .waitFor();
    await page.getByText("All hazards at this place").click();
    const hazards = page.getByRole("table", { name: /RCP 8\.5 2050/ });
    expect(await hazards.getByRole("row").count()).toBe(4);
    await hazards.getByRole("button", { name: "Cyclones" }).click();
    await headline(page).getByText("Cyclones, RCP 8.5 2050, change since 1980").waitFor();
  });

  test("says why there are no values", async () => {
    const page = await open({ fragment: DJIBOUTI.replace("11.59,43.15", "0,-30") });
    await headline(page).waitFor();
    expect(await headline(page).getByText("no data in the source").count()).toBe(3);
    expect(await page.locator(".metric canvas").count()).toBe(0);
  });

  test("shows the return-period curve and the probability of a threshold", async () => {
    const page = await open({ fragment: DJIBOUTI });
    await headline(page).waitFor();
    await page.getByText("Return-period curve").click();
    const table = page.getByRole("table", { name: "Flood depth by return period" });
    expect(await table.getByRole("columnheader").allTextContents()).toEqual([
      "Years",
      "Baseline 1980",
      "RCP 4.5 2050",
      "RCP 8.5 2050",
    ]);
    await page.getByLabel("Threshold (m)").fill("1");
    await page.getByText("39.4 % a year (once in 2.5 years on average)").waitFor();
    await page.getByLabel("Threshold (m)").fill("50");
    await page.getByText("at most 0.1 % a year (once in at least 1,000 years on average)").first().waitFor();
    await page.getByLabel("Threshold (m)").fill("-1");
    await page.getByText("The threshold must be a number above 0.").waitFor();
  });

  const copied = async (page: Page, language: string): Promise<string> => {
    const section = page.locator(".place-panel > div > details", { hasText: "Copy this query" });
    await section.getByRole("button", { name: language, exact: true }).click();
    await section.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText(`${language} copied.`).waitFor();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const copiedAnswer = async (page: Page): Promise<unknown> => {
    const section = page.locator(".place-panel > div > details", { hasText: "Copy this query" });
    await section.getByRole("button", { name: "Copy the answer as JSON" }).click();
    await page.getByText("Answer copied.").waitFor();
    return JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  };

  test("copies programs that return the values of the panel when they are run", async () => {
    const page = await open({ fragment: `${DJIBOUTI}&radius=12.5&method=mean&total=true` });
    await headline(page).waitFor();
    await page.getByText("Copy this query").last().click();
    const answer = await copiedAnswer(page);
    expect(answer).toMatchObject({ aggregation: { radius_km: 12.5, method: "mean" } });
    const { credentials, url } = opened ?? {};
    if (credentials === undefined || url === undefined) throw new Error("the page must be that of a service");
    const env = {
      ...process.env,
      ISOTHERM_KEY: credentials.api_key,
      ISOTHERM_CUSTOMER: credentials.customer_id,
    };
    const texts = {
      curl: await copied(page, "curl"),
      typescript: await copied(page, "TypeScript"),
      python: await copied(page, "Python"),
      json: await copied(page, "JSON"),
    };
    for (const text of Object.values(texts)) {
      expect(text).not.toContain(credentials.api_key);
      expect(text).not.toContain(credentials.customer_id);
    }
    const python = join(programs, "query.py");
    const program = join(programs, "query.mjs");
    const typescript = join(programs, "query.ts");
    await writeFile(python, texts.python);
    await writeFile(program, texts.typescript);
    await writeFile(typescript, texts.typescript);
    const printed = await Promise.all([
      run("bash", ["-c", texts.curl], { env }),
      run("python3", [python], { env }),
      run(process.execPath, [program], { env }),
    ]);
    for (const { stdout } of printed) expect(JSON.parse(stdout)).toEqual(answer);
    const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
    await run(process.execPath, [
      tsc,
      ...["--ignoreConfig", "--noEmit", "--strict", "--module", "nodenext", "--types", "node"],
      typescript,
    ]);
    const batch = await fetch(`${url}api/v1/hazard-risk/batch`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": credentials.api_key,
        "x-customer-id": credentials.customer_id,
      },
      body: texts.json,
    });
    expect(await batch.json()).toEqual({ results: [answer] });
  });

  test("copies a program for the library on a published atlas, and says why there is no other", async () => {
    const page = await open({ fragment: DJIBOUTI, published: true });
    await headline(page).waitFor();
    await page.getByText("Copy this query").last().click();
    const program = join(programs, "published.mjs");
    await writeFile(program, await copied(page, "TypeScript"));
    const answer = await copiedAnswer(page);
    const { stdout } = await run(process.execPath, [program]);
    expect(JSON.parse(stdout)).toEqual(answer);
    await page.getByRole("button", { name: "curl", exact: true }).click();
    await page.getByText("A published atlas has no HTTP service").waitFor();
  });

  test.each([
    ["a phone in dark colors", { viewport: PHONE, colorScheme: "dark" }],
    ["a desktop in light colors", {}],
  ] as const)("fits %s, and axe finds nothing", async (_, options) => {
    const page = await open({ ...options, fragment: `${DJIBOUTI}&radius=20` });
    if ("viewport" in options) await page.getByRole("button", { name: "Place", exact: true }).click();
    await headline(page).waitFor();
    await page.locator(".details details").evaluateAll((all) => {
      for (const details of all) (details as HTMLDetailsElement).open = true;
    });
    await page.getByRole("table", { name: "Flood depth by return period" }).waitFor();
    await page.getByRole("table", { name: "RCP 8.5 2050" }).waitFor();
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    expect(widths[0]).toBe(widths[1]);
    expect(await axeFindings(page)).toEqual([]);
  });

  const LIST = [
    "site;Lat;Lon;note",
    "00042;11.59;43.15;first",
    '"A, B";14.604;120.982;=1+2',
    "wrong;95;10;x",
    "comma;12,5;10;y",
    "sea;0;-30;z",
  ].join("\n");
  const PLACES = DJIBOUTI.replace("view=hazards", "view=places").replace(/&place=.*/, "");

  test("computes a pasted list, sorts it, and downloads it with all its columns", async () => {
    const page = await open({ fragment: PLACES });
    await page.getByLabel("Paste a list").fill(LIST);
    await page.getByRole("button", { name: "Use the list" }).click();
    await page.getByText("3 places, 2 faulty rows").waitFor();
    await page.getByText("Line 5: latitude").waitFor();
    await page.getByLabel("Name of a place").selectOption("site");
    await page.getByRole("button", { name: "Compute 3 values" }).click();
    await page.getByText("3 of 3 places computed.").waitFor();
    const expected = depthOf(
      await answerTo({
        latitude: "11.59",
        longitude: "43.15",
        hazards: "riverine_floods",
        scenarios: "rcp8p5",
        analysis_years: "2050",
      }),
    );
    const table = page.getByRole("table", { name: "Places and their values" });
    await table.getByRole("row", { name: "00042" }).getByText(expected).waitFor();
    await table.getByRole("row", { name: "sea" }).getByText("no data in the source").first().waitFor();
    await page.getByRole("button", { name: "Flood depth (m)" }).click();
    expect(await table.getByRole("columnheader", { name: "Flood depth" }).getAttribute("aria-sort")).toBe("descending");
    expect(await table.getByRole("rowheader").allTextContents()).toEqual(["00042", "A, B", "wrong", "comma", "sea"]);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as CSV" }).click();
    const text = await readFile(await (await download).path(), "utf8");
    const lines = text.replace(/^\ufeff/, "").split("\r\n");
    expect(lines[0]).toMatch(/^site,Lat,Lon,note,hazard,scenario,analysis_year,radius_km,/);
    expect(lines[1]).toMatch(/^00042,11\.59,43\.15,first,riverine_floods,rcp8p5,2050,0,,7\.\d+,/);
    expect(lines[2]).toMatch(/^"A, B",14\.604,120\.982,'=1\+2,/);
    expect(lines.map((line) => /(value|zero|no_data|invalid_row),/.exec(line)?.[1])).toEqual([
      undefined,
      "value",
      "zero",
      "invalid_row",
      "invalid_row",
      "no_data",
      undefined,
    ]);
    await table.getByRole("button", { name: "00042" }).click();
    await page.getByRole("heading", { name: "00042" }).waitFor();
    await headline(page).getByText(expected).waitFor();
  });

  test("reads an uploaded file, and asks for columns that have other names", async () => {
    const page = await open({ fragment: PLACES });
    await page.getByLabel("or choose a CSV file").setInputFiles({
      name: "places.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("north,east\n11.59,43.15\n"),
    });
    await page.getByText("No column has a usual name of the latitude").waitFor();
    await page.getByLabel("Latitude column").selectOption("north");
    await page.getByLabel("Longitude column").selectOption("east");
    await page.getByRole("button", { name: "Use these columns" }).click();
    await page.getByRole("button", { name: "Compute 1 values" }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Remove the list" }).click();
    await page.getByLabel("or choose a CSV file").setInputFiles({
      name: "places.xlsx",
      mimeType: "application/octet-stream",
      buffer: Buffer.from([0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe]),
    });
    await page.getByText("The file must be CSV in UTF-8.").waitFor();
  });
});

/** Returns what axe finds on the page. The policy of the page forbids inline scripts, so axe is evaluated by the debugger. */
async function axeFindings(page: Page): Promise<readonly string[]> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
}
