/** Every view of the explorer driven as a user would, on the demo. */
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, afterEach, expect, test } from "vitest";
import type { HazardResult } from "../../src/contract/wireTypes.ts";
import { answerOf, metricValue, valueText } from "../../src/explorer/place/placeQuery.ts";
import { openAtlas } from "../../src/index.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { axeFindings } from "./axeFindings.ts";
import { closeExplorers, type ExplorerOptions, openExplorer, type OpenedExplorer, PHONE } from "./explorerPage.ts";
import { fragmentOf } from "./mapOnScreen.ts";

/** A view, and what it shows when its values have arrived. */
const VIEWS: readonly {
  readonly name: string;
  readonly fragment: string;
  readonly ready: (page: Page) => Promise<void>;
}[] = [
  {
    name: "the hazard map with a place",
    fragment: "view=hazards&place=14.6,120.98,Manila&radius=25",
    ready: (page) => page.locator(".headline dd").first().waitFor({ state: "attached" }),
  },
  {
    name: "the list of places",
    fragment: "view=places",
    ready: (page) => page.getByLabel("Paste a list").waitFor({ state: "attached" }),
  },
  {
    name: "temperature alignment",
    fragment: "view=alignment",
    ready: (page) => page.locator(".company-headline").waitFor(),
  },
  {
    name: "climate risk",
    fragment: "view=climate-risk",
    ready: (page) => page.locator(".company-headline").waitFor(),
  },
];
const MODES: readonly (readonly [string, Partial<ExplorerOptions>])[] = [
  ["light", {}],
  ["dark", { colorScheme: "dark" }],
  ["on a phone", { viewport: PHONE }],
];

describeInChromium("the explorer of the demo", () => {
  let opened: OpenedExplorer | undefined;
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  afterAll(closeExplorers);

  const open = async (options: ExplorerOptions): Promise<Page> => {
    opened = await openExplorer(options);
    return opened.page;
  };

  const cases = VIEWS.flatMap((view) => MODES.map(([mode, options]) => ({ ...view, mode, options })));
  test.each(cases)("$name, $mode: axe finds nothing, and the page does nothing forbidden", async (view) => {
    const page = await open({ fragment: view.fragment, ...view.options });
    await view.ready(page);
    expect(await axeFindings(page)).toEqual([]);
    if (view.options.viewport !== undefined) {
      // On a phone the parts of a hazard view are behind buttons.
      const parts = page.getByRole("group", { name: "Parts of the view" }).getByRole("button");
      for (const part of await parts.all()) {
        await part.click();
        expect(await axeFindings(page)).toEqual([]);
      }
    }
    const width = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(width).toBeLessThanOrEqual(0);
    await page.waitForLoadState("networkidle");
    expect(opened?.problems).toEqual([]);
  });

  test("a user chooses a layer and a city, and reads the values that the library computes", async () => {
    const page = await open({});
    await page.getByText("Synthetic data.").waitFor();
    await page.getByLabel("Hazard", { exact: true }).selectOption({ label: "Cyclones" });
    await page.getByLabel("Scenario", { exact: true }).selectOption({ label: "RCP 8.5" });
    await page.getByLabel("Year", { exact: true }).selectOption("2080");
    await page.getByRole("combobox", { name: "Place" }).fill("Manila");
    await page
      .getByRole("option", { name: /^Manila/ })
      .first()
      .click();
    await page.getByLabel("Radius in kilometers").fill("50");
    await page.getByLabel("Radius in kilometers").press("Enter");
    await page.getByLabel("Value", { exact: true }).selectOption("mean");
    // The last choice is the mean, so that the address has all others when it has this one.
    await expect.poll(() => fragmentOf(page).get("method")).toBe("mean");
    const [latitude = NaN, longitude = NaN] = (fragmentOf(page).get("place") ?? "").split(",").map(Number);
    const atlas = await openAtlas("demo");
    const result = await atlas.hazardRisk({
      latitude,
      longitude,
      hazards: ["cyclones"],
      analysis_years: [2080],
      scenarios: ["rcp8p5"],
      radius: 50,
      aggregation_method: "mean",
    });
    await atlas.close();
    await expectHeadline(page, result);
    const address = page.url();
    expect(address).not.toContain("key");
    await page.reload();
    await expectHeadline(page, result);
    expect(opened?.problems).toEqual([]);
  });

  async function expectHeadline(page: Page, result: HazardResult): Promise<void> {
    const answer = answerOf(result, "rcp8p5", 2080);
    if (answer === undefined) throw new Error("the result must have the layer");
    const headline = page.getByRole("region", { name: "Values of the layer on the map" });
    const texts = ["wind_speed_mps", "intensity", "probability"] as const;
    for (const metric of texts) {
      await expect.poll(() => headline.innerText()).toContain(valueText(metric, metricValue(answer, metric)));
    }
  }

  test("a user pastes places and downloads their values with their ids", async () => {
    const page = await open({
      fragment: "view=places&hazard=cyclones&metric=wind_speed_mps&scenario=rcp8p5&year=2050",
    });
    const places = ["id,latitude,longitude", "A-1,14.6,120.98", "B-2,25.76,-80.19", "C-3,95,0"];
    await page.getByLabel("Paste a list").fill(places.join("\n"));
    await page.getByRole("button", { name: "Use the list" }).click();
    await page.getByRole("button", { name: "Compute 2 values" }).click();
    const downloaded = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as CSV" }).click();
    const lines = (await readFile(await (await downloaded).path(), "utf8"))
      .replace(/^\ufeff/, "")
      .trim()
      .split(/\r?\n/);
    expect(lines).toHaveLength(4);
    expect(lines.slice(1).map((line) => line.split(",")[0])).toEqual(["A-1", "B-2", "C-3"]);
    const atlas = await openAtlas("demo");
    for (const [index, [latitude, longitude]] of [
      [14.6, 120.98],
      [25.76, -80.19],
    ].entries()) {
      const { results } = await atlas.hazardRisk({
        latitude: latitude ?? NaN,
        longitude: longitude ?? NaN,
        hazards: ["cyclones"],
        analysis_years: [2050],
        scenarios: ["rcp8p5"],
      });
      const { metrics } = results[0]?.scenarios[0]?.analysis_years[0] ?? {};
      expect(lines[index + 1]?.split(",")).toContain(String(metrics?.wind_speed_mps));
    }
    await atlas.close();
    expect(opened?.problems).toEqual([]);
  });
});
