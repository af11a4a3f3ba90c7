/** The explorer on public maps: floods in Djibouti and cyclones of STORM, published and on a service. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AnalysisYearResult, HazardBatchAnswer } from "../../src/contract/wireTypes.ts";
import { formatMetric, reasonText } from "../../src/explorer/format.ts";
import { scaleOf } from "../../src/explorer/map/legendModel.ts";
import { pixelColor, type PixelValue } from "../../src/explorer/map/paint.ts";
import { pixelCenter } from "../../src/tiles/mercator.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { describeWithSharedData, readSamples, type Sample, SHARED_HAZARD_DATA } from "../sharedData.ts";
import { writePublicAtlas } from "./atlases.ts";
import { axeFindings } from "./axeFindings.ts";
import { closeExplorers, type OpenedExplorer, openExplorer } from "./explorerPage.ts";
import { expectValueAt, firstPixel, locate, openMap, readCanvases } from "./mapOnScreen.ts";

const FLOOD_SAMPLES = "aqueduct/djibouti_inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp00100.tif.samples.csv";
const WIND_SAMPLES = "storm/STORM_present_2020_rp10_global_0p1deg.tif.samples.csv";
const FLOOD_LAYER = "hazard=riverine_floods&metric=depth_meters&scenario=rcp4p5&year=2030";
const WIND_LAYER = "hazard=cyclones&metric=wind_speed_mps&scenario=baseline&year=1980";

/** Layers with values, zeros, and cells or places without a value, and a part of the map that shows all of them at native zoom. */
const LAYERS = [
  {
    hazard: "riverine_floods",
    metric: "depth_meters",
    scenario: "rcp4p5",
    year: 2030,
    fragment: FLOOD_LAYER,
    map: "8/11.85/42.8",
    samples: FLOOD_SAMPLES,
  },
  {
    hazard: "cyclones",
    metric: "wind_speed_mps",
    scenario: "baseline",
    year: 1980,
    fragment: WIND_LAYER,
    map: "4/15/125",
    samples: WIND_SAMPLES,
  },
] as const;
type Layer = (typeof LAYERS)[number];

interface Location {
  readonly latDeg: number;
  readonly lonDeg: number;
}

/** Requests the values of a layer as a program would, in the order of the locations. */
async function requestValues(
  { url, credentials }: OpenedExplorer,
  { hazard, scenario, year }: Layer,
  locations: readonly Location[],
): Promise<readonly AnalysisYearResult[]> {
  const response = await fetch(`${url}api/v1/hazard-risk/batch`, {
    method: "POST",
    headers: {
      "X-API-Key": credentials?.api_key ?? "",
      "X-Customer-ID": credentials?.customer_id ?? "",
      "Content-Type": "application/json",
    },
    body: JSON.stringify(
      locations.map(({ latDeg, lonDeg }) => ({
        latitude: latDeg,
        longitude: lonDeg,
        hazards: [hazard],
        scenarios: [scenario],
        analysis_years: [year],
      })),
    ),
  });
  expect(response.status).toBe(200);
  const { results } = (await response.json()) as HazardBatchAnswer;
  return results.map((result) => {
    const value = "error" in result ? undefined : result.results[0]?.scenarios[0]?.analysis_years[0];
    if (value === undefined) throw new Error(`a query was answered with ${JSON.stringify(result)}`);
    return value;
  });
}

/** Returns the value of a pixel for the answer of the API at its center. */
function pixelValueOf({ metrics, no_data }: AnalysisYearResult, { metric }: Layer): PixelValue {
  const value = (metrics as Partial<Record<string, number | null>>)[metric] ?? null;
  return value ?? (no_data === "no_data" ? "no_data" : "outside");
}

function textOf(value: PixelValue, { metric }: Layer): string {
  if (typeof value === "number") return formatMetric(metric, value);
  return reasonText(value === "no_data" ? "no_data" : "outside_coverage");
}

function kindOf(value: PixelValue): string {
  return typeof value === "number" ? (value === 0 ? "zero" : "value") : value;
}

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

    test.each(LAYERS)("the map of $hazard has the values of the API, as colors and below the cursor", async (layer) => {
      const explorer = await openMap({ atlas, fragment: `${layer.fragment}&map=${layer.map}` });
      const first = await firstPixel(explorer.page);
      const pixels = await readCanvases(explorer.page);
      const centers = pixels.map(({ x, y }) =>
        pixelCenter({ z: first.z, column: Math.floor(first.column + x), row: Math.floor(first.row + y) }),
      );
      const values = (await requestValues(explorer, layer, centers)).map((answer) => pixelValueOf(answer, layer));
      const rule = { scale: scaleOf(layer.metric, false), threshold: undefined };
      const byKind = new Map<string, number[]>();
      for (const [i, { x, y, rgba }] of pixels.entries()) {
        const value = values[i] ?? "outside";
        byKind.set(kindOf(value), [...(byKind.get(kindOf(value)) ?? []), i]);
        const expected = pixelColor(value, locate(first, { x, y }).index, rule);
        // A canvas stores premultiplied colors, so that those of transparent pixels are rounded.
        if (expected[3] === 255 || expected[3] === 0) expect(rgba, `${x}, ${y}`).toStrictEqual([...expected]);
        else expect(rgba[3], `${x}, ${y}`).toBe(expected[3]);
      }
      expect(byKind.get("value")?.length).toBeGreaterThan(5);
      expect(byKind.size).toBeGreaterThan(1);
      for (const indices of byKind.values()) {
        for (const i of [indices[0] ?? 0, indices.at(indices.length / 2) ?? 0]) {
          const { x, y } = pixels[i] ?? { x: 0, y: 0 };
          await expectValueAt(explorer.page, { x, y }, textOf(values[i] ?? "outside", layer));
        }
      }
      expect(explorer.problems).toEqual([]);
    });

    test.each(LAYERS)(
      "a list of places has the values of the API for $hazard, on the page and as CSV",
      async (layer) => {
        const explorer = await openMap({ atlas, fragment: `view=places&${layer.fragment}&map=${layer.map}` });
        const { page } = explorer;
        const samples = chosenSamples(layer.samples);
        const answers = await requestValues(explorer, layer, samples);
        const rows = samples.map(({ id, latDeg, lonDeg }) => `${id},${latDeg},${lonDeg}`);
        await page.getByLabel("Paste a list").fill(["id,latitude,longitude", ...rows].join("\n"));
        await page.getByRole("button", { name: "Use the list" }).click();
        await page.getByRole("button", { name: `Compute ${samples.length} values` }).click();
        await page.getByText(`${samples.length} of ${samples.length} places computed.`).waitFor();
        const download = page.waitForEvent("download");
        await page.getByRole("button", { name: "Download as CSV" }).click();
        const text = await readFile(await (await download).path(), "utf8");
        const csv = text.replace(/^\ufeff/, "").split("\r\n");
        const [header = [], ...lines] = csv.map((line) => line.split(","));
        const cellOf = (line: readonly string[], name: string): string => line[header.indexOf(name)] ?? "";
        const table = page.getByRole("table", { name: "Places and their values" });
        for (const [i, { id }] of samples.entries()) {
          const answer = answers[i];
          if (answer === undefined) throw new Error("the API must answer every query");
          const value = pixelValueOf(answer, layer);
          const line = lines[i] ?? [];
          expect([cellOf(line, "id"), cellOf(line, layer.metric), cellOf(line, "status")]).toEqual([
            id,
            typeof value === "number" ? String(value) : "",
            answer.no_data ?? kindOf(value),
          ]);
          const shown = textOf(value, layer).replace(/ m(\/s)?$/, "");
          const row = table.getByRole("row").filter({ has: page.getByRole("rowheader", { name: id, exact: true }) });
          expect(await row.innerText()).toContain(shown);
        }
        expect(explorer.problems).toEqual([]);
      },
    );
  });
});
