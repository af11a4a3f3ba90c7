/** The map of the explorer and its settings, driven in Chromium against the demo. */
import type { Locator } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { scaleOf } from "../../src/explorer/map/legendModel.ts";
import { pixelColor, pixelValue } from "../../src/explorer/map/paint.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { axeFindings } from "./axeFindings.ts";
import { closeExplorers, PHONE } from "./explorerPage.ts";
import {
  depthText,
  drawn,
  expectValueAt,
  firstPixel,
  fragmentOf,
  locate,
  openMap,
  readCanvases,
  tileReader,
  writtenFragment,
} from "./mapOnScreen.ts";

/** A coast with flooded and dry cells, at a zoom at which pixels are cells. */
const COAST = "hazard=coastal_floods&metric=depth_meters&scenario=rcp8p5&year=2050&map=9/52.5/4.8";

/** Returns whether the text of a select is wider than the space for it. */
function isCut(select: Locator): Promise<boolean> {
  return select.evaluate((element: HTMLSelectElement) => {
    const { font, paddingInlineStart, paddingInlineEnd } = getComputedStyle(element);
    const context = document.createElement("canvas").getContext("2d");
    if (context === null) throw new Error("there is no canvas");
    context.font = font;
    const arrowPx = 20;
    const spacePx = element.clientWidth - parseFloat(paddingInlineStart) - parseFloat(paddingInlineEnd) - arrowPx;
    return context.measureText(element.selectedOptions[0]?.text ?? "").width > spacePx;
  });
}

/** Returns the texts of the pairs of elements that cover each other. */
function overlaps(elements: Locator): Promise<readonly (readonly [string, string])[]> {
  return elements.evaluateAll((all) => {
    const boxes = all.map((element) => ({ text: element.textContent, box: element.getBoundingClientRect() }));
    return boxes.flatMap(({ text, box: a }, index) =>
      boxes
        .slice(index + 1)
        .filter(({ box: b }) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        .map((other): readonly [string, string] => [text, other.text]),
    );
  });
}

describeInChromium("hazard map", () => {
  afterAll(closeExplorers);

  test("every pixel has the color of the value that the service gives there", async () => {
    const explorer = await openMap({ fragment: COAST });
    const readTile = tileReader(explorer, "coastal_floods/rcp8p5/2050/depth_meters");
    const pixels = await readCanvases(explorer.page);
    expect(pixels.length).toBeGreaterThan(200);
    const rule = { scale: scaleOf("depth_meters", false), threshold: undefined };
    const kinds = new Set<string>();
    const first = await firstPixel(explorer.page);
    for (const { x, y, rgba } of pixels) {
      const { address, index } = locate(first, { x, y });
      const value = pixelValue({ tile: await readTile(address), other: undefined }, index);
      kinds.add(typeof value === "number" ? (value === 0 ? "zero" : "value") : value);
      const expected = pixelColor(value, index, rule);
      // A canvas stores premultiplied colors, so that those of transparent pixels are rounded.
      if (expected[3] === 255 || expected[3] === 0) expect(rgba, `${x}, ${y}`).toStrictEqual([...expected]);
      else expect(rgba[3], `${x}, ${y}`).toBe(expected[3]);
    }
    expect([...kinds].toSorted()).toStrictEqual(["no_data", "value", "zero"]);
    expect(explorer.problems).toStrictEqual([]);
  });

  test("the value under the cursor is the one that the service gives there", async () => {
    const explorer = await openMap({ fragment: COAST });
    const readTile = tileReader(explorer, "coastal_floods/rcp8p5/2050/depth_meters");
    const texts = new Set<string>();
    const first = await firstPixel(explorer.page);
    for (const position of (await readCanvases(explorer.page)).filter((_, i) => i % 23 === 0)) {
      const { address, index } = locate(first, position);
      const text = depthText(pixelValue({ tile: await readTile(address), other: undefined }, index));
      texts.add(text);
      await expectValueAt(explorer.page, position, text);
    }
    expect(texts.size).toBeGreaterThan(3);
  });

  test("chooses hazard, metric, scenario and year, and offers only what the atlas has", async () => {
    const { page, problems } = await openMap();
    await page.getByLabel("Hazard", { exact: true }).selectOption({ label: "Cyclones" });
    await drawn(page);
    // The metric of floods does not exist for cyclones.
    await expect
      .poll(() => Object.fromEntries(fragmentOf(page)))
      .toMatchObject({ hazard: "cyclones", metric: "wind_speed_mps" });
    await page.getByLabel("Metric", { exact: true }).selectOption({ label: "Return period 250 years" });
    await page.getByLabel("Scenario", { exact: true }).selectOption({ label: "RCP 2.6" });
    await page.getByLabel("Year", { exact: true }).selectOption({ label: "2040" });
    await drawn(page);
    expect(await page.locator(".legend h2").innerText()).toBe("Cyclones: Wind speed, return period 250 years (m/s)");
    expect(await page.locator(".legend").innerText()).toContain("RCP 2.6 2040");
    // Floods have neither RCP 2.6 nor 2040.
    await page.getByLabel("Hazard", { exact: true }).selectOption({ label: "River floods" });
    await drawn(page);
    await expect
      .poll(() => Object.fromEntries(fragmentOf(page)))
      .toMatchObject({ scenario: "rcp4p5", year: "2030", metric: "rp_250" });
    const replacement = page.getByRole("status").getByText("The map shows “River floods, RCP 4.5 2030”.");
    expect(await replacement.innerText()).toContain("The atlas does not have the layer “River floods, RCP 2.6 2040”.");
    await page.getByLabel("Scenario", { exact: true }).selectOption({ label: "Baseline" });
    await drawn(page);
    expect(await replacement.count()).toBe(0);
    const years = page.getByLabel("Year", { exact: true }).locator("option:not([disabled])");
    expect(await years.allInnerTexts()).toStrictEqual(["1980"]);
    for (const label of ["Scenario", "Year"]) {
      const select = page.getByLabel(label, { exact: true });
      expect(await isCut(select)).toBe(false);
    }
    expect(problems).toStrictEqual([]);
  });

  test("subtracts the baseline and another scenario, and names them in the legend", async () => {
    const explorer = await openMap({ fragment: COAST });
    const { page, problems } = explorer;
    await page.getByLabel("Subtract").selectOption({ label: "Baseline (1980)" });
    await drawn(page);
    expect(await page.locator(".legend").innerText()).toContain("RCP 8.5 2050 minus Baseline 1980");
    const readShown = tileReader(explorer, "coastal_floods/rcp8p5/2050/depth_meters");
    const readOther = tileReader(explorer, "coastal_floods/baseline/1980/depth_meters");
    const rule = { scale: scaleOf("depth_meters", true), threshold: undefined };
    let changedCount = 0;
    const first = await firstPixel(page);
    for (const { x, y, rgba } of await readCanvases(page)) {
      const { address, index } = locate(first, { x, y });
      const value = pixelValue({ tile: await readShown(address), other: await readOther(address) }, index);
      if (typeof value !== "number") continue;
      if (value !== 0) changedCount += 1;
      expect(rgba, `${x}, ${y}`).toStrictEqual([...pixelColor(value, index, rule)]);
    }
    expect(changedCount).toBeGreaterThan(20);

    await page.getByLabel("Subtract").selectOption({ label: "RCP 4.5, same year" });
    await drawn(page);
    expect(await page.locator(".legend").innerText()).toContain("RCP 8.5 2050 minus RCP 4.5 2050");
    await expect.poll(() => fragmentOf(page).get("minus")).toBe("rcp4p5");
    expect(problems).toStrictEqual([]);
  });

  test("the threshold hides smaller values", async () => {
    const explorer = await openMap({ fragment: COAST });
    const { page } = explorer;
    await page.getByLabel("Threshold in m").fill("1.5");
    await page.getByLabel("Threshold in m").press("Enter");
    await expect.poll(() => fragmentOf(page).get("threshold")).toBe("1.5");
    const readTile = tileReader(explorer, "coastal_floods/rcp8p5/2050/depth_meters");
    const counts = { drawn: 0, hidden: 0 };
    const first = await firstPixel(page);
    for (const { x, y, rgba } of await readCanvases(page)) {
      const { address, index } = locate(first, { x, y });
      const value = pixelValue({ tile: await readTile(address), other: undefined }, index);
      if (typeof value !== "number" || value === 0) continue;
      counts[value < 1.5 ? "hidden" : "drawn"] += 1;
      expect(rgba[3], `${x}, ${y}: ${value} m`).toBe(value < 1.5 ? 0 : 255);
    }
    expect(Math.min(counts.drawn, counts.hidden)).toBeGreaterThan(5);
    for (const text of ["-3", "1e999", ""]) {
      const field = page.getByLabel("Threshold in m");
      await field.press("Control+A");
      await field.press("Delete");
      await field.pressSequentially(text);
      await field.press("Enter");
      await page.getByText("The last valid threshold, 1.5 m, stays in effect.").waitFor();
      // A browser reports the text "1e999" of a number field only as not a number.
      const shown = await field.evaluate((element: HTMLInputElement) => [element.value, element.validity.badInput]);
      expect(shown).toStrictEqual(text === "1e999" ? ["", true] : [text, false]);
      expect(fragmentOf(page).get("threshold")).toBe("1.5");
    }
    await page.getByLabel("Hide values below (m)").fill("0");
    await expect.poll(() => fragmentOf(page).has("threshold")).toBe(false);
    expect(await page.getByText("The last valid threshold").count()).toBe(0);
    expect(await page.getByLabel("Threshold in m").inputValue()).toBe("0");
  });

  test("tiles that are loading or have failed are dotted, and the message names the pattern", async () => {
    const { page } = await openMap({ fragment: COAST });
    const undrawn = page.locator(".leaflet-values-pane canvas:not(.leaflet-tile-loaded)");
    const dotted = () =>
      undrawn.evaluateAll((tiles) =>
        tiles.map((tile) => {
          const { visibility, backgroundImage } = getComputedStyle(tile);
          return visibility === "visible" && backgroundImage.startsWith("radial-gradient");
        }),
      );
    let fail = (): void => undefined;
    const failing = new Promise<void>((resolve) => (fail = resolve));
    await page.route("**/api/v1/tiles/**", async (route) => {
      await failing;
      await route.abort();
    });
    await page.getByLabel("Year", { exact: true }).selectOption("2080");
    await page.getByText("Loading values").waitFor();
    expect(new Set(await dotted())).toStrictEqual(new Set([true]));
    await page.getByRole("img", { name: "Dotted areas:" }).waitFor();
    fail();
    await page.getByText("Values could not be loaded").waitFor();
    expect(new Set(await dotted())).toStrictEqual(new Set([true]));
    await page.getByRole("img", { name: "Dotted areas:" }).waitFor();
    await page.unroute("**/api/v1/tiles/**");
    await page.getByRole("button", { name: "Try again" }).click();
    await drawn(page);
    await expect.poll(() => undrawn.count()).toBe(0);
  });

  test("the crosshair and the focus outline have a light edge", async () => {
    const { page } = await openMap({ fragment: COAST });
    await page.getByRole("application").focus();
    await page.keyboard.press("ArrowRight");
    const crosshair = page.locator(".crosshair");
    expect(await crosshair.isVisible()).toBe(true);
    const colors = await crosshair.evaluate((element) => getComputedStyle(element).backgroundImage);
    expect(colors).toMatch(/rgb\(26, 32, 39\).*rgb\(255, 255, 255\)/);
    const frame = await page.getByRole("application").evaluate((element) => {
      const { borderTopColor, outlineColor, outlineStyle } = getComputedStyle(element, "::after");
      return { borderTopColor, outlineColor, outlineStyle };
    });
    expect(frame).toStrictEqual({
      borderTopColor: "rgb(255, 255, 255)",
      outlineColor: "rgb(11, 92, 173)",
      outlineStyle: "solid",
    });
  });

  test("is used with the keyboard alone", async () => {
    const { page } = await openMap({ fragment: COAST });
    const map = page.getByRole("application", { name: /^Hazard map\. The arrow keys pan/ });
    await map.focus();
    const announced = page.locator(".map [role=status]");
    // Exists before it has a text, so that screen readers announce the first one.
    expect(await announced.textContent()).toBe("");
    const before = (await writtenFragment(page)).get("map");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => fragmentOf(page).get("map")).not.toBe(before);
    await page.keyboard.press("+");
    await expect.poll(() => fragmentOf(page).get("map")).toMatch(/^10\//);
    await drawn(page);
    await expect.poll(() => announced.textContent()).toMatch(/°.* (?:[\d.]+ m|no data)/);
    await page.keyboard.press("Enter");
    await expect.poll(() => fragmentOf(page).get("place")).toMatch(/^5[\d.]+,[\d.]+$/);
    const [, latitude = 0, longitude = 0] = (fragmentOf(page).get("map") ?? "").split("/").map(Number);
    const [chosenLatitude = 0, chosenLongitude = 0] = (fragmentOf(page).get("place") ?? "").split(",").map(Number);
    // A pixel at zoom 10 is 0.0014 degrees wide.
    expect(Math.abs(chosenLatitude - latitude)).toBeLessThan(0.0014);
    expect(Math.abs(chosenLongitude - longitude)).toBeLessThan(0.0014);
    await page.getByRole("button", { name: "Zoom out" }).press("Enter");
    await expect.poll(() => fragmentOf(page).get("map")).toMatch(/^9\//);
  });

  test("a click chooses the place, and the panel has the value that the map shows there", async () => {
    const explorer = await openMap({ fragment: COAST });
    const { page } = explorer;
    const readTile = tileReader(explorer, "coastal_floods/rcp8p5/2050/depth_meters");
    const opaque = (await readCanvases(page)).filter(({ rgba }) => rgba[3] === 255);
    const position = opaque[Math.floor(opaque.length / 2)] ?? { x: 0, y: 0 };
    const { address, index } = locate(await firstPixel(page), position);
    const text = depthText(pixelValue({ tile: await readTile(address), other: undefined }, index));
    await expectValueAt(page, position, text);
    const box = await page.locator(".map-container").boundingBox();
    await page.mouse.click((box?.x ?? 0) + position.x, (box?.y ?? 0) + position.y);
    await page.getByRole("region", { name: "Place" }).getByText(text, { exact: true }).first().waitFor();
  });

  test("further out, the legend explains the pixels", async () => {
    const { page } = await openMap({ fragment: COAST.replace("9/", "3/") });
    await expect
      .poll(() => page.locator(".legend").innerText())
      .toContain("every pixel shows only the cell at its center");
    expect(await page.locator(".legend").innerText()).not.toContain("every pixel shows one cell");
  });

  test("on a phone, the map, its settings and the place are shown one at a time", async () => {
    const { page } = await openMap({ fragment: COAST, viewport: PHONE });
    expect(await page.locator(".map-container").isVisible()).toBe(true);
    expect(await page.getByLabel("Hazard", { exact: true }).isVisible()).toBe(false);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByLabel("Hazard", { exact: true }).selectOption({ label: "Wildfire" });
    await page.getByRole("button", { name: "Map", exact: true }).click();
    await drawn(page);
    await expect.poll(() => fragmentOf(page).get("map")).toBe("9/52.5/4.8");
    // There is no list yet, so that the view opens on the form for one.
    await page.getByRole("link", { name: "Places" }).click();
    await page.getByLabel("Paste a list").waitFor();
    expect(await page.locator(".map-container").isVisible()).toBe(false);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });

  test.each(["light", "dark"] as const)("on a phone, the map has a short legend, %s", async (colorScheme) => {
    const { page, problems } = await openMap({ fragment: `${COAST}&threshold=1.5`, viewport: PHONE, colorScheme });
    const legend = page.locator(".map-legend");
    expect(await legend.isVisible()).toBe(true);
    expect(await legend.locator("p").allInnerTexts()).toStrictEqual([
      "Coastal floods: Flood depth (m)",
      "RCP 8.5 2050; values below 1.50 m are hidden",
    ]);
    // The numbers of the full legend, which is on another tab.
    expect(await page.locator(".legend").isVisible()).toBe(false);
    const ticks = await legend.locator(".legend-ticks li").allInnerTexts();
    expect(ticks).toStrictEqual(await page.locator(".legend .legend-ticks li").allTextContents());
    expect(ticks.length).toBeGreaterThan(3);
    expect(await overlaps(legend.locator(".legend-ticks li"))).toStrictEqual([]);
    expect(await axeFindings(page)).toStrictEqual([]);
    await page.getByRole("button", { name: "Settings" }).click();
    expect(await page.getByRole("region", { name: "Legend" }).count()).toBe(1);
    await page.getByLabel("Subtract").selectOption({ label: "RCP 4.5, same year" });
    await page.getByRole("button", { name: "Map", exact: true }).click();
    await drawn(page);
    expect(await legend.innerText()).toContain("RCP 8.5 2050 minus RCP 4.5 2050");
    const others = page.locator(".map :is(.map-legend, .zoom, .readout, .attribution, .map-status:not(:empty))");
    expect(await others.count()).toBeGreaterThan(3);
    expect(await overlaps(others)).toStrictEqual([]);
    // A tap on the legend chooses the place below it.
    await legend.click({ force: true, position: { x: 30, y: 10 } });
    await expect.poll(() => fragmentOf(page).has("place")).toBe(true);
    expect(problems).toStrictEqual([]);
  });

  test("on a desktop, the map has no second legend", async () => {
    const { page } = await openMap({ fragment: COAST });
    expect(await page.locator(".legend").isVisible()).toBe(true);
    expect(await page.locator(".map-legend").isVisible()).toBe(false);
  });
});
