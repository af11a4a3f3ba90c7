/** Chromium decodes the images of map tiles to the colors of their steps. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAtlas } from "../../../src/openAtlas.ts";
import { colorOf, colorScaleOf } from "../../../src/tiles/colorScales.ts";
import { decodeValueTile, STEP_NO_DATA, STEP_OUTSIDE, valueOfStep } from "../../../src/tiles/valueTile.ts";
import type { TileJson } from "../../../src/contract/wireTypes.ts";
import { startTestHost, type TestHost } from "../testHost.ts";

const CHROMIUM = process.env["ISOTHERM_CHROMIUM"] ?? "/usr/bin/chromium";
const isInstalled = existsSync(CHROMIUM);
if (!isInstalled) {
  if (process.env["CI"] === "true") throw new Error(`Chromium is required on CI (not found at ${CHROMIUM})`);
  console.warn(`skipped: the test of images needs Chromium (not found at ${CHROMIUM}; set ISOTHERM_CHROMIUM)`);
}

describe.skipIf(!isInstalled)("images of map tiles in Chromium", () => {
  let host: TestHost;
  let browser: Browser;
  beforeAll(async () => {
    host = await startTestHost({ atlas: await openAtlas("demo"), ownsResources: true });
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--headless", "--no-sandbox", "--disable-gpu"],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await host?.close();
  });

  test.each([
    { layer: "riverine_floods/rcp8p5/2050/depth_meters", metric: "depth_meters", at: "8/158/119" },
    { layer: "wildfire/rcp4p5/2080/probability", metric: "probability", at: "2/2/1" },
    { layer: "cyclones/rcp8p5/2080/rp_250", metric: "wind_speed_mps", at: "0/0/0" },
  ] as const)("of $layer have the colors of the value tile", async ({ layer, metric, at }) => {
    const json = (await (await host.ask(`/api/v1/tiles/${layer}.json`)).json()) as TileJson;
    const [z = "", x = "", y = ""] = at.split("/");
    const url = (json.tiles[0] ?? "").replace("{z}", z).replace("{x}", x).replace("{y}", y);
    const tab = await browser.newPage();
    await tab.goto(`${host.address.url}/healthz`);
    const pixels = await tab.evaluate(async (address) => {
      const bitmap = await createImageBitmap(await (await fetch(address)).blob(), { premultiplyAlpha: "none" });
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      context?.drawImage(bitmap, 0, 0);
      return [...(context?.getImageData(0, 0, bitmap.width, bitmap.height).data ?? [])];
    }, url);
    await tab.close();
    const response = await host.ask(`/api/v1/tiles/${layer}/${at}.bin`);
    const tile = decodeValueTile(new Uint8Array(await response.arrayBuffer()));
    expect(pixels).toHaveLength(4 * tile.steps.length);
    let opaqueCount = 0;
    const differing: number[] = [];
    for (const [pixel, step] of tile.steps.entries()) {
      const seen = pixels.slice(4 * pixel, 4 * pixel + 4);
      if (step === STEP_NO_DATA) {
        // The canvas rounds translucent colors.
        if (seen[3] === 0 || seen[3] === 255) differing.push(pixel);
        continue;
      }
      const color =
        step === STEP_OUTSIDE ? [0, 0, 0, 0] : colorOf(colorScaleOf(metric), valueOfStep(tile, step) ?? NaN);
      if (color[3] === 255) opaqueCount += 1;
      if (seen.join() !== color.join()) differing.push(pixel);
    }
    expect(differing).toEqual([]);
    expect(opaqueCount).toBeGreaterThan(1000);
  });
});
