import { readFile } from "node:fs/promises";
import type { Route } from "playwright-core";
import { afterAll, afterEach, expect, test } from "vitest";
import { describeInChromium } from "../browser/chromium.ts";
import { axeFindings } from "./axeFindings.ts";
import { closeExplorers } from "./explorerPage.ts";
import { depthText, DJIBOUTI, DJIBOUTI_QUERY, headline, PlacePages } from "./placePages.ts";

describeInChromium("the list of places", () => {
  const pages = new PlacePages();
  afterEach(() => pages.close());
  afterAll(closeExplorers);

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
    const page = await pages.open({ fragment: PLACES });
    await page.getByLabel("Paste a list").fill(LIST);
    await page.getByRole("button", { name: "Use the list" }).click();
    await page.getByText("3 places, 2 faulty rows").waitFor();
    await page.getByText("Line 5: latitude").waitFor();
    await page.getByLabel("Radius (km)").fill("-1");
    await page.keyboard.press("Tab");
    await page.getByText("The last valid radius, 0 km, stays in effect.").waitFor();
    expect(await page.getByLabel("Radius (km)").inputValue()).toBe("-1");
    await page.getByLabel("Radius (km)").fill("0");
    await page.keyboard.press("Tab");
    await expect.poll(() => page.getByText("The last valid radius").count()).toBe(0);
    await page.getByLabel("Name of a place").selectOption("site");
    await page.getByRole("button", { name: "Compute 3 values" }).click();
    await page.getByText("3 of 3 places computed.").waitFor();
    const expected = depthText(await pages.answerTo(DJIBOUTI_QUERY));
    const table = page.getByRole("table", { name: "Places and their values" });
    await table.getByRole("row", { name: "00042" }).getByText(expected.replace(" m", ""), { exact: true }).waitFor();
    await table.getByRole("row", { name: "sea" }).getByText("no data in the source").first().waitFor();
    await table.getByRole("row", { name: "wrong" }).getByText("faulty row", { exact: true }).waitFor();
    // One reason for all metrics is stated once.
    expect(await table.getByRole("row", { name: "sea" }).getByText("no data in the source").count()).toBe(1);
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

  test("says how many places beyond the edges of the map are drawn at them", async () => {
    const page = await pages.open({ fragment: PLACES });
    await page.getByLabel("Paste a list").fill("lat,lon\n89,20\n11.59,43.15\n-88,0\n");
    await page.getByRole("button", { name: "Use the list" }).click();
    await page.getByText("3 places, located by").waitFor();
    await page.getByText("The map ends at 85.05° N and S; 2 places beyond are drawn at its edges.").waitFor();
  });

  test("computes the values of a return period, and offers the download when all are there", async () => {
    const page = await pages.open({ fragment: PLACES.replace("metric=depth_meters", "metric=rp_100") });
    await page.getByLabel("Paste a list").fill(LIST);
    await page.getByRole("button", { name: "Use the list" }).click();
    const held: Route[] = [];
    await page.route("**/hazard-risk/curve/batch", (route) => void held.push(route));
    await page.getByRole("button", { name: "Compute 3 values" }).click();
    await expect.poll(() => held.length).toBe(1);
    const download = page.getByRole("button", { name: "Download as CSV" });
    expect(await download.isDisabled()).toBe(true);
    await page.getByText("Available when all values have been computed, or after Cancel.").waitFor();
    await held[0]?.continue();
    await page.getByText("3 of 3 places computed.").waitFor();
    const text = page.waitForEvent("download");
    await download.click();
    const lines = (await readFile(await (await text).path(), "utf8")).split("\r\n");
    expect(lines[0]).toMatch(/,aggregation_method,rp_100,status,error$/);
    const { results } = await pages.curveAt(DJIBOUTI_QUERY);
    const { curve } = results[0]?.scenarios[0]?.analysis_years[0] ?? {};
    const depthM = curve?.find(({ return_period }) => return_period === 100)?.value ?? NaN;
    expect(lines[1]).toContain(`,2050,0,,${depthM},value,`);
    await page.getByRole("row", { name: "line 2" }).getByText(depthM.toFixed(2), { exact: true }).waitFor();
  });

  test("forgetting the key cancels the computation and removes the list", async () => {
    const page = await pages.open({ fragment: PLACES });
    // Two requests, so that a computation that continues would send the second one.
    const rows = Array.from({ length: 150 }, (_, index) => `${(index / 10).toFixed(1)},43.15`);
    await page.getByLabel("Paste a list").fill(["lat,lon", ...rows].join("\n"));
    await page.getByRole("button", { name: "Use the list" }).click();
    const held: Route[] = [];
    await page.route("**/hazard-risk/batch", (route) => void held.push(route));
    await page.getByRole("button", { name: "Compute 150 values" }).click();
    await expect.poll(() => held.length).toBe(1);
    await page.getByRole("button", { name: "Forget key" }).click();
    await expect.poll(() => held[0]?.request().failure()?.errorText).toBe("net::ERR_ABORTED");
    await page.getByLabel("API key").fill(pages.credentials.api_key);
    await page.getByLabel("Customer ID").fill(pages.credentials.customer_id);
    await page.getByRole("button", { name: "Open the explorer" }).click();
    await page.getByLabel("Paste a list").waitFor();
    expect(held).toHaveLength(1);
  });

  test("reads an uploaded file, and asks for columns that have other names", async () => {
    const page = await pages.open({ fragment: PLACES });
    await page.getByLabel("or choose a CSV file").setInputFiles({
      name: "places.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("north,east\n11.59,43.15\n"),
    });
    await page.getByText("No column has a usual name of the latitude").waitFor();
    await page.getByLabel("Latitude column").selectOption("north");
    await page.getByLabel("Longitude column").selectOption("east");
    await page.getByRole("button", { name: "Use these columns" }).click();
    await page.getByRole("button", { name: "Compute 1 value" }).waitFor();
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
