/** The explorer on public maps: floods in Djibouti and cyclones of STORM, published and on a service. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatMetric, reasonText } from "../../src/explorer/format.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { describeWithSharedData, readSamples, type Sample, SHARED_HAZARD_DATA } from "../sharedData.ts";
import { writePublicAtlas } from "./atlases.ts";
import { axeFindings } from "./axeFindings.ts";
import { closeExplorers, openExplorer } from "./explorerPage.ts";

const FLOOD_SAMPLES = "aqueduct/djibouti_inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp00100.tif.samples.csv";
const WIND_SAMPLES = "storm/STORM_present_2020_rp10_global_0p1deg.tif.samples.csv";
const FLOOD_LAYER = "hazard=riverine_floods&metric=depth_meters&scenario=rcp4p5&year=2030";
const WIND_LAYER = "hazard=cyclones&metric=wind_speed_mps&scenario=baseline&year=1980";

/** Returns a few samples of each kind: values, zeros, missing and outside. */
function chosenSamples(file: string): readonly Sample[] {
  const samples = readSamples(join(SHARED_HAZARD_DATA, file)).filter(
    ({ alternative, lonDeg }) => alternative === undefined && Math.abs(lonDeg) <= 180,
  );
  const kinds = [
    samples.filter(({ nearest = 0 }) => nearest > 0),
    samples.filter(({ nearest }) => nearest === 0),
    samples.filter(({ isInside, nearest }) => isInside && nearest === undefined),
    samples.filter(({ isInside }) => !isInside),
  ];
  return kinds.flatMap((kind) => kind.slice(0, 2));
}

describeWithSharedData("the explorer on public maps", () => {
  describeInChromium("in Chromium", () => {
    let folder: string;
    let atlas: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "isotherm-public-maps-"));
      atlas = await writePublicAtlas(folder);
    });
    afterAll(async () => {
      await closeExplorers();
      await rm(folder, { recursive: true, force: true });
    });

    /** Goes to one place after another and compares the values that the page shows. */
    async function expectTexts(
      published: boolean,
      places: readonly { readonly id: string; readonly fragment: string; readonly text: string }[],
    ): Promise<void> {
      const { page, problems, close } = await openExplorer({ atlas, published, fragment: places[0]?.fragment ?? "" });
      for (const { id, fragment, text } of places) {
        await page.evaluate((hash) => (location.hash = hash), fragment);
        const headline = page.getByRole("region", { name: "Values of the layer on the map" });
        await expect.poll(() => headline.innerText(), { message: id }).toContain(text);
      }
      await page.waitForLoadState("networkidle");
      expect(problems).toEqual([]);
      await close();
    }

    const expectedText = (
      { nearest, isInside }: Sample,
      metric: "depth_meters" | "wind_speed_mps",
      toStored: (value: number) => number,
    ): string => {
      if (nearest !== undefined) return formatMetric(metric, toStored(nearest));
      return reasonText(isInside ? "no_data" : "outside_coverage");
    };

    test.each([{ published: true }, { published: false }])(
      "shows the depths of the map of Djibouti at its samples, $published",
      async ({ published }) => {
        const samples = chosenSamples(FLOOD_SAMPLES);
        expect(samples.length).toBeGreaterThan(4);
        const places = samples.map((sample) => ({
          id: sample.id,
          fragment: `${FLOOD_LAYER}&place=${sample.latDeg},${sample.lonDeg}&map=10/${sample.latDeg}/${sample.lonDeg}`,
          // Depths are stored in millimeters.
          text: expectedText(sample, "depth_meters", (depthM) => Math.round(depthM * 1000) / 1000),
        }));
        await expectTexts(published, places);
      },
    );

    test("shows the winds of STORM at its samples, as means over a minute", async () => {
      const samples = chosenSamples(WIND_SAMPLES);
      expect(samples.length).toBeGreaterThan(2);
      const places = samples.map((sample) => ({
        id: sample.id,
        fragment: `${WIND_LAYER}&place=${sample.latDeg},${sample.lonDeg}&map=6/${sample.latDeg}/${sample.lonDeg}`,
        text: expectedText(sample, "wind_speed_mps", (speed) => Math.round((speed / 0.88) * 100) / 100),
      }));
      await expectTexts(true, places);
    });

    test("shows the return-period curve that the atlas keeps, and its source", async () => {
      const sample = chosenSamples(FLOOD_SAMPLES).find(({ nearest = 0 }) => nearest > 0);
      const fragment = `${FLOOD_LAYER}&place=${sample?.latDeg},${sample?.lonDeg}`;
      const { page, problems, close } = await openExplorer({ atlas, published: true, fragment });
      await page.getByText("Return-period curve", { exact: true }).click();
      const depth = formatMetric("depth_meters", Math.round((sample?.nearest ?? NaN) * 1000) / 1000);
      const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: /^100\b/ }) });
      await expect.poll(() => row.first().innerText()).toContain(depth.replace(/ m$/, ""));
      await expect.poll(() => page.getByText(/Aqueduct/).count()).toBeGreaterThan(0);
      expect(await axeFindings(page)).toEqual([]);
      expect(problems).toEqual([]);
      await close();
    });
  });
});
