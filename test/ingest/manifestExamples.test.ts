/** Runs the complete manifests of docs/ingest/manifest.md on maps that fit their description. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { crsOfText } from "../../src/ingest/reprojection/crsText.ts";
import { openProjection } from "../../src/ingest/reprojection/projection.ts";
import { folder, map, out, readCatalog, rejectionMessage, useIngestFolder, withAtlas } from "./ingestFixture.ts";

useIngestFolder();

const PAGE = readFileSync(new URL("../../docs/ingest/manifest.md", import.meta.url), "utf8");

/** Returns the manifest below a heading of the page. */
function manifestBelow(heading: string): string {
  const [, text] = PAGE.split(`\n## ${heading}\n`);
  const json = /```json\n(.*?)```/s.exec(text ?? "")?.[1];
  if (json === undefined) throw new Error(`There is no manifest below ${heading}.`);
  return json;
}

async function metricsAt(latitude: number, longitude: number, hazard: "riverine_floods" | "cyclones") {
  return withAtlas(async (atlas) => {
    const query = { hazards: [hazard], scenarios: ["baseline" as const], analysis_years: [1980] };
    const { results } = await atlas.hazardRisk({ latitude, longitude, ...query });
    const [year] = results[0]?.scenarios[0]?.analysis_years ?? [];
    return year?.no_data ?? year?.metrics;
  });
}

describe("the examples of docs/ingest/manifest.md", () => {
  test("a UTM map", async () => {
    const utm = { tiePoint: [400_000, 5_500_000], pixelScale: [100, 100] } as const;
    await map("city_utm33_rp50.tif", () => 120, { ...utm, geoKeys: { 1024: 1, 3072: 32633 } });
    await map("city_utm33_rp100.tif", () => 250, { ...utm, geoKeys: null });
    const file = join(folder, "city.json");
    await writeFile(file, manifestBelow("Example: a UTM map"));
    await ingestLayers({ manifest: file, out });
    const projection = await openProjection(crsOfText("EPSG:32633", { assumeWgs84: false }).crs);
    const inside = projection.inverse(404_000, 5_496_500);
    const outside = projection.inverse(400_500, 5_500_500);
    expect(await metricsAt(inside?.latDeg ?? NaN, inside?.lonDeg ?? NaN, "riverine_floods")).toMatchObject({
      depth_meters: 2.5,
    });
    expect(await metricsAt(outside?.latDeg ?? NaN, outside?.lonDeg ?? NaN, "riverine_floods")).not.toMatchObject({
      depth_meters: 2.5,
    });
    const [hazard] = (await readCatalog()).hazards;
    expect(hazard?.grid).toMatchObject({ cell_size_lat_deg: 0.001, cell_size_lon_deg: 0.001 });
  });

  describe("a map in several files", () => {
    const WINDS = { rowCount: 10, pixelScale: [1, 1], rowsPerStrip: 5 } as const;
    const australia = { ...WINDS, columnCount: 72, tiePoint: [100, 0] } as const;
    const pacific = { ...WINDS, columnCount: 20, tiePoint: [170, 0] } as const;
    async function writeWinds(): Promise<void> {
      for (const years of [50, 100]) {
        const winds = (columnCount: number, speed: number) => Array.from({ length: 10 * columnCount }, () => speed);
        await map(`winds_australia_rp${years}.tif`, () => 0, { ...australia, values: winds(72, years / 2) });
        await map(`winds_pacific_rp${years}.tif`, () => 0, { ...pacific, values: winds(20, years / 4) });
      }
    }

    test("is joined across the antimeridian", async () => {
      await writeWinds();
      const file = join(folder, "winds.json");
      await writeFile(file, manifestBelow("Example: a map in several files"));
      await ingestLayers({ manifest: file, out });
      const speedAt = async (longitude: number) => {
        const metrics = (await metricsAt(-5.5, longitude, "cyclones")) as Readonly<Record<string, number>>;
        return metrics["wind_speed_mps"];
      };
      // 50 and 25 m/s with a return period of 100 years
      expect(await speedAt(120.5)).toBeCloseTo(50 * 1.13636, 2);
      expect(await speedAt(171.5)).toBeCloseTo(50 * 1.13636, 2);
      expect(await speedAt(-175.5)).toBeCloseTo(25 * 1.13636, 2);
      const [hazard] = (await readCatalog()).hazards;
      expect(hazard?.grid).toMatchObject({ west_deg: 100, column_count: 90 });
    });

    test("is rejected with the first contradiction if overlap is not given", async () => {
      await writeWinds();
      const file = join(folder, "winds.json");
      await writeFile(file, manifestBelow("Example: a map in several files").replaceAll('"overlap": "first",', ""));
      const message = await rejectionMessage(ingestLayers({ manifest: file, out }));
      expect(message).toMatch(/row 0, column 70 .* has the value 12\.5, but 25 in .*australia_rp50/);
    });
  });
});
