/**
 * STORM winds of six basins and 28 return periods, made by GDAL from the public map of 10 years: winds rise with the logarithm of
 * the return period, so that every metric has a closed form. The basins have the extents of the product, between latitudes 5 and
 * 20; EP and NA overlap, and SP crosses longitude 180.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Atlas, openAtlas } from "../../../src/index.ts";
import { ingestRecipe } from "../../../src/ingest/ingest.ts";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { describeWithSharedData, SHARED_HAZARD_DATA } from "../../sharedData.ts";
import { describeWithGdal, GDAL_PYTHON } from "../readers/mapPython.ts";

const PUBLIC_MAP = join(SHARED_HAZARD_DATA, "storm/STORM_present_2020_rp10_global_0p1deg.tif");
const STORM_FOOTPRINTS = join(SHARED_HAZARD_DATA, "opengira/derived_PRI_max_wind_29storms_northup.tif");
/** Relative rise of the winds with ln(return period / 10 years). */
const RISE = 0.12;

const SCRIPT = `
import sys, zipfile, numpy as np
from osgeo import gdal
source, folder = sys.argv[1:]
world = gdal.Open(source)
winds, transform, projection = world.ReadAsArray(), world.GetGeoTransform(), world.GetProjection()
basins = {"EP": (180, 285, 1), "NA": (255, 359, 1), "NI": (30, 100, 1), "SI": (10, 135, -1), "SP": (135, 240, -1), "WP": (100, 180, 1)}
periods = [*range(10, 100, 10), *range(100, 1000, 100), *range(1000, 10001, 1000)]
with zipfile.ZipFile(f"{folder}/STORM_FIXED_RETURN_PERIODS_TIF_FILES.zip", "w", zipfile.ZIP_STORED) as archive:
  for basin, (west, east, side) in basins.items():
    columns = np.round((np.arange(round((east - west) * 10)) / 10 + west + 180) * 10).astype(int) % 3600
    north = 20 if side > 0 else -5
    rows = np.round((59.9 - (north - np.arange(151) / 10)) * 10).astype(int)
    part = winds[np.ix_(rows, columns)]
    for years in periods:
      path = f"/vsimem/{basin}{years}.tif"
      target = gdal.GetDriverByName("GTiff").Create(path, len(columns), len(rows), 1, gdal.GDT_Float32, ["COMPRESS=DEFLATE"])
      target.SetGeoTransform((west - 0.05, 0.1, 0, north + 0.05, 0, -0.1))
      target.SetProjection(projection)
      target.GetRasterBand(1).SetNoDataValue(float("nan"))
      target.GetRasterBand(1).WriteArray((part * (1 + ${RISE} * np.log(years / 10))).astype("f4"))
      target = None
      file = gdal.VSIFOpenL(path, "rb")
      archive.writestr(f"STORM_FIXED_RETURN_PERIODS_{basin}_{years}_YR_RP.tif", bytes(gdal.VSIFReadL(1, gdal.VSIStatL(path).size, file)))
      gdal.VSIFCloseL(file)
      gdal.Unlink(path)
`;

describeWithSharedData("storm-winds made from the public map of 10 years", () => {
  describeWithGdal("and GDAL", () => {
    let folder: string;
    let atlas: Atlas;
    let windAt: (latitude: number, longitude: number) => number;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "isotherm-storm-public-"));
      execFileSync(GDAL_PYTHON ?? "", ["-c", SCRIPT, PUBLIC_MAP, folder]);
      const out = join(folder, "atlas");
      const report = await ingestRecipe("storm-winds", { sources: [folder], out });
      expect(report.missingFiles).toEqual([]);
      atlas = await openAtlas(out);
      const map = await openGeoTiff(PUBLIC_MAP);
      const { rowCount, columnCount } = map.grid;
      const values = await map.readWindow({ band: 1, firstRow: 0, rowCount, firstColumn: 0, columnCount });
      await map.close();
      windAt = (latitude, longitude) =>
        values[Math.round((59.9 - latitude) * 10) * columnCount + (Math.round((longitude + 180) * 10) % 3600)] ?? NaN;
    }, 240_000);
    afterAll(async () => {
      await atlas.close();
      await rm(folder, { recursive: true, force: true });
    });

    const metricsAt = async (latitude: number, longitude: number, detail = false) => {
      const { results } = await atlas.hazardRisk({
        latitude,
        longitude,
        hazards: ["cyclones"],
        scenarios: ["baseline"],
        analysis_years: [1980],
        detail,
      });
      return results[0]?.scenarios[0]?.analysis_years[0];
    };

    test("has the closed form of wind speed and probability at 600 cells", async () => {
      let [valid, missing] = [0, 0];
      for (let i = 0; i < 600; i++) {
        const latitude = Number(((i % 2 === 0 ? 1 : -1) * (5.1 + ((i * 7) % 148) / 10)).toFixed(1));
        const longitude = Number((-180 + ((i * 611) % 3600) / 10).toFixed(1));
        const ten = windAt(latitude, longitude);
        const metrics = (await metricsAt(latitude, longitude))?.metrics;
        if (metrics?.wind_speed_mps === null || metrics === undefined) {
          missing++;
          continue;
        }
        valid++;
        expect(metrics.wind_speed_mps).toBeCloseTo((ten * (1 + RISE * Math.log(10))) / 0.88, 1);
        // 33 m/s are reached where ten x (1 + RISE x ln(T / 10)) = 33 x 0.88.
        const years = 10 * Math.exp(((33 * 0.88) / ten - 1) / RISE);
        const expected = years > 10_000 ? 0 : Math.min(0.1, 1 / years);
        expect(Math.abs((metrics.probability ?? NaN) - expected)).toBeLessThan(1e-5);
      }
      expect(valid).toBeGreaterThan(100);
      expect(missing).toBeGreaterThan(100);
    });

    test("gives a lower bound at Puerto Rico, to which the storms of 22 years are no contradiction", async () => {
      // The public map has 31.75 m/s over 10 minutes at 10 years: 36.1 m/s over 1 minute, which is above 33 m/s.
      const island = { latDeg: 18.2, lonDeg: -66.5 };
      const ten = windAt(island.latDeg, island.lonDeg);
      expect(ten / 0.88).toBeCloseTo(36.08, 1);
      const answer = await metricsAt(island.latDeg, island.lonDeg, true);
      const probability = answer?.metrics.probability ?? NaN;
      expect(probability).toBe(0.1);
      expect(JSON.stringify(answer)).toContain("at_least");
      const observed = await stormWindsAt(island);
      expect(observed).toHaveLength(29);
      const stormCount = observed.filter((wind) => wind >= 33).length;
      expect(stormCount).toBe(1);
      expect(1 - Math.exp(-stormCount / 22)).toBeCloseTo(0.0444, 4);
      // 0.0253 and 5.5716 are the 95 % limits of the mean of a Poisson distribution with one event.
      expect(probability).toBeGreaterThan(1 - Math.exp(-0.0253 / 22));
      expect(probability).toBeLessThan(1 - Math.exp(-5.5716 / 22));
    });
  });
});

/** Returns the largest wind of each storm of 2001 to 2022 in the cell of a location. */
async function stormWindsAt({ latDeg, lonDeg }: { readonly latDeg: number; readonly lonDeg: number }) {
  const storms = await openGeoTiff(STORM_FOOTPRINTS);
  try {
    const { grid, bands } = storms;
    const firstRow = Math.floor((grid.northDeg - latDeg) / grid.cellSizeLatDeg);
    const firstColumn = Math.floor((lonDeg - grid.westDeg) / grid.cellSizeLonDeg);
    const winds: number[] = [];
    for (let band = 1; band <= bands.length; band++) {
      const cell = { band, firstRow, rowCount: 1, firstColumn, columnCount: 1 };
      winds.push(...(await storms.readWindow(cell)));
    }
    return winds;
  } finally {
    await storms.close();
  }
}
