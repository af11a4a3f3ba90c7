import { afterAll, afterEach, expect, test } from "vitest";
import { describeInChromium } from "../browser/chromium.ts";
import { axeFindings } from "./axeFindings.ts";
import { closeExplorers, PHONE } from "./explorerPage.ts";
import { depthText, DJIBOUTI, DJIBOUTI_QUERY, headline, PlacePages } from "./placePages.ts";

describeInChromium("the panel of a place", () => {
  const pages = new PlacePages();
  afterEach(() => pages.close());
  afterAll(closeExplorers);

  test("finds a city by its local name, with the keyboard only", async () => {
    const page = await pages.open({
      fragment: "view=hazards&hazard=cyclones&metric=wind_speed_mps&scenario=rcp8p5&year=2050",
    });
    const field = page.getByRole("combobox", { name: "Place" });
    await field.focus();
    await page.keyboard.type("muenchen");
    await page.getByRole("option", { name: "Munich, Germany München" }).waitFor();
    expect(await field.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("ArrowDown");
    const listed = page.getByRole("listbox", { name: "Places" });
    expect(await field.getAttribute("aria-activedescendant")).toBe(
      await listed.getByRole("option", { selected: true }).getAttribute("id"),
    );
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Munich, Germany" }).waitFor();
    await headline(page).waitFor();
    expect(await field.getAttribute("aria-expanded")).toBe("false");
    await expect.poll(() => new URL(page.url()).hash).toMatch(/place=48\.1\d+,11\.5\d+,Munich/);
  });

  test("takes coordinates, and explains errors in them", async () => {
    const page = await pages.open({
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
    const expected = await pages.answerTo(DJIBOUTI_QUERY);
    await headline(page).getByText(depthText(expected)).waitFor();
  });

  test("shows the place that is clicked on the map, and removes it", async () => {
    const page = await pages.open({ fragment: `${DJIBOUTI.replace(/&place=.*/, "")}&map=6/11.59/43.15` });
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
    await expect.poll(() => new URL(page.url()).hash).not.toContain("place=");
  });

  test("says that a place beyond the edge of the map is drawn at the edge", async () => {
    const page = await pages.open({ fragment: DJIBOUTI.replace(/place=.*/, "place=89,20") });
    await headline(page).waitFor();
    await page.getByText("The map ends at 85.05° N; the place is drawn at its edge.").waitFor();
    // Half of the marker of the place is inside the map.
    const map = await page.locator(".map-container").boundingBox();
    const markers = page.locator(".leaflet-overlay-pane path[fill='#a3004f'][stroke='#ffffff']:not([d='M0 0'])");
    const marker = await markers.boundingBox();
    const centerY = (marker?.y ?? NaN) + (marker?.height ?? NaN) / 2;
    expect(Math.abs(centerY - (map?.y ?? NaN))).toBeLessThanOrEqual(1);
    await page.getByRole("combobox", { name: "Place" }).fill("-80 20");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "80° S, 20° E" }).waitFor();
    expect(await page.getByText("The map ends at").count()).toBe(0);
  });

  test("aggregates over a radius as the API does, with max and mean, and draws the circle", async () => {
    const page = await pages.open({ fragment: `${DJIBOUTI}&map=7/11.6/43.1` });
    const query = { ...DJIBOUTI_QUERY, radius: "25" };
    await headline(page).waitFor();
    await page.getByRole("spinbutton", { name: "Radius in kilometers" }).fill("25");
    await page.keyboard.press("Tab");
    await headline(page)
      .getByText(depthText(await pages.answerTo(query)))
      .waitFor();
    await page.getByRole("combobox", { name: "Value" }).selectOption("mean");
    const mean = await pages.answerTo({ ...query, aggregation_method: "mean", detail: "true" });
    await headline(page).getByText(depthText(mean)).waitFor();
    expect(depthText(mean)).not.toBe(depthText(await pages.answerTo(query)));
    const cells = mean.results[0]?.scenarios[0]?.analysis_years[0]?.detail?.cells;
    await page
      .locator(".pairs div", { hasText: "Cells" })
      .getByText(`${cells?.toLocaleString("en-US")}`)
      .waitFor();
    // The circle and its casing, in the copies of the world that are visible; the place has a separate marker.
    await expect.poll(() => page.locator(".leaflet-overlay-pane path[stroke='#a3004f']").count()).toBeGreaterThan(0);
    await expect.poll(() => new URL(page.url()).hash).toContain("radius=25&method=mean");
    for (const text of ["101", "-1", ""]) {
      const field = page.getByRole("spinbutton", { name: "Radius in kilometers" });
      await field.fill(text);
      await page.keyboard.press("Tab");
      const error = page.getByRole("alert").getByText("The radius must be a number between 0 and 100 km.");
      expect(await error.innerText()).toContain("The last valid radius, 25 km, stays in effect.");
      expect(await field.inputValue()).toBe(text);
      await expect.poll(() => new URL(page.url()).hash).toContain("radius=25&method=mean");
    }
    // Another control changes the radius.
    await page.getByRole("slider", { name: "Radius" }).fill("30");
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    expect(await page.getByRole("spinbutton", { name: "Radius in kilometers" }).inputValue()).toBe("30");
  });

  test("sends one request for many changes of the radius", async () => {
    const page = await pages.open({ fragment: DJIBOUTI });
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
    const expected = await pages.answerTo({ ...DJIBOUTI_QUERY, radius: "30" });
    await headline(page).getByText(depthText(expected)).waitFor();
    await expect.poll(() => page.locator(".place-panel").getAttribute("aria-busy")).toBe("false");
    expect(requests).toHaveLength(1);
    expect(new URL(requests[0] ?? "").searchParams.get("radius")).toBe("30");
  });

  test("shows all metrics by scenario and year, changes and total hazard", async () => {
    const page = await pages.open({ fragment: DJIBOUTI });
    await headline(page).waitFor();
    const table = page.getByRole("table", { name: "Annual probability by year and scenario, %" });
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
    await hazards.waitFor();
    expect(await hazards.getByRole("row").count()).toBe(4);
    await hazards.getByRole("button", { name: "Cyclones" }).click();
    await headline(page).getByText("Cyclones, RCP 8.5 2050, change since 1980").waitFor();
  });

  test("gives the reason for missing values", async () => {
    const page = await pages.open({ fragment: DJIBOUTI.replace("11.59,43.15", "0,-30") });
    await headline(page).waitFor();
    expect(await headline(page).getByText("no data in the source").count()).toBe(3);
    expect(await page.locator(".metric canvas").count()).toBe(0);
  });

  test("shows the return-period curve and the probability of a threshold", async () => {
    const page = await pages.open({ fragment: DJIBOUTI });
    await headline(page).waitFor();
    await page.getByText("Return-period curve").click();
    const table = page.getByRole("table", { name: "Flood depth by return period, m" });
    await table.waitFor();
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
    expect(await page.getByLabel("Threshold (m)").inputValue()).toBe("-1");
  });

  test("asks to load the page again when the service answers from another release of the atlas", async () => {
    const page = await pages.open({ fragment: DJIBOUTI });
    await headline(page).waitFor();
    expect(await page.getByText("another release of the atlas").count()).toBe(0);
    // All responses from now on, because the page shows the release of the latest one, also of a tile.
    await page.waitForLoadState("networkidle");
    await page.route("**/api/v1/**", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), "x-atlas-release": "next" } });
    });
    await page.getByRole("spinbutton", { name: "Radius in kilometers" }).fill("25");
    await page.keyboard.press("Tab");
    await page.getByText("another release of the atlas (next)").waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await page.getByRole("button", { name: "Load the page again" }).click();
    await page.getByText("another release of the atlas").waitFor({ state: "detached" });
    await headline(page).waitFor();
  });

  test("takes a threshold below 1 that is typed digit by digit", async () => {
    const page = await pages.open({ fragment: DJIBOUTI });
    await page.getByText("Return-period curve").click();
    const threshold = page.getByLabel("Threshold (m)");
    await threshold.focus();
    await page.keyboard.type("0");
    expect(await threshold.inputValue()).toBe("0");
    // The text may become a number above 0, so it is not reported before the field is left.
    expect(await page.getByText("The threshold must be a number above 0.").count()).toBe(0);
    await page.keyboard.type(".5");
    expect(await threshold.inputValue()).toBe("0.5");
    await page.getByText("0.50 m or more").first().waitFor();
    await threshold.fill("");
    await page.keyboard.type("0");
    await page.keyboard.press("Tab");
    await page.getByText("The threshold must be a number above 0.").waitFor();
    expect(await threshold.inputValue()).toBe("0");
  });

  test("opens the curve if the map shows a return period, and marks it", async () => {
    const page = await pages.open({ fragment: DJIBOUTI.replace("depth_meters", "rp_100") });
    await headline(page).getByText("The map shows “Flood depth, return period 100 years”").waitFor();
    const table = page.getByRole("table", { name: "Flood depth by return period, m" });
    await table.getByRole("rowheader", { name: "100 on the map", exact: true }).waitFor();
    // A link with a place and without a position of the map shows the place.
    await expect.poll(() => new URL(page.url()).hash).toContain("map=9/11.59/43.15");
  });

  test.each([
    ["a phone in dark colors", { viewport: PHONE, colorScheme: "dark" }],
    ["a desktop in light colors", {}],
  ] as const)("fits %s, and axe finds nothing", async (_, options) => {
    const page = await pages.open({ ...options, fragment: `${DJIBOUTI}&radius=20` });
    if ("viewport" in options) {
      await page.getByRole("button", { name: "Show the values of the place" }).click();
      const tab = page.getByRole("button", { name: "Place", exact: true });
      expect(await tab.getAttribute("aria-pressed")).toBe("true");
    }
    await headline(page).waitFor();
    await page.locator(".details details").evaluateAll((all) => {
      for (const details of all) (details as HTMLDetailsElement).open = true;
    });
    await page.getByRole("table", { name: "Flood depth by return period, m" }).waitFor();
    await page.getByRole("table", { name: "RCP 8.5 2050" }).waitFor();
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    expect(widths[0]).toBe(widths[1]);
    expect(await axeFindings(page)).toEqual([]);
  });
});
