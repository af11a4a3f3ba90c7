/**
 * A daily series in every order of dimensions and division into chunks gives the same atlas, on any number of threads. Uses the
 * built library, because threads run built files.
 */
import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ingestRecipe } from "../../../src/ingest/ingest.ts";
import { folder, out, snapshot, useIngestFolder } from "../ingestFixture.ts";
import { arrayPython, describeWithArrayPython } from "../readers/mapPython.ts";

/** Writes the same series of 365 days on 24 x 30 cells in six layouts. */
const SCRIPT = `
import sys, numpy as np, netCDF4
folder = sys.argv[1]
random = np.random.default_rng(5)
fwi = random.gamma(2, 12, (365, 24, 30)).astype("f4")
fwi[:, :, 0] = np.nan
fwi[200, 3, 4] = np.nan
layouts = {
  "contiguous": ("time lat lon", None, False),
  "days": ("time lat lon", (1, 24, 30), False),
  "months": ("time lat lon", (31, 10, 20), False),
  "series": ("lat lon time", (10, 10, 365), False),
  "south": ("time lat lon", (100, 7, 11), True),
  "transposed": ("lon time lat", (7, 50, 5), True),
}
for name, (order, chunks, south) in layouts.items():
  file = netCDF4.Dataset(f"{folder}/{name}.nc", "w")
  for dimension, size in (("time", 365), ("lat", 24), ("lon", 30)): file.createDimension(dimension, size)
  def coordinate(name, units, values):
    variable = file.createVariable(name, "f8", (name,)); variable.units = units; variable[:] = values
  lat = 20 - (np.arange(24) + 0.5) / 10
  coordinate("time", "days since 1991-01-01", np.arange(365))
  coordinate("lat", "degrees_north", lat[::-1] if south else lat)
  coordinate("lon", "degrees_east", 10 + (np.arange(30) + 0.5) / 10)
  crs = file.createVariable("crs", "i4")
  crs.grid_mapping_name, crs.semi_major_axis, crs.inverse_flattening = "latitude_longitude", 6378137.0, 298.257223563
  dimensions = order.split()
  variable = file.createVariable("FWI", "f4", dimensions, chunksizes=chunks, zlib=chunks is not None, contiguous=chunks is None)
  variable.grid_mapping = "crs"
  data = fwi[:, ::-1, :] if south else fwi
  variable[:] = np.transpose(data, [("time", "lat", "lon").index(dimension) for dimension in dimensions])
  file.close()
`;

useIngestFolder();

const LIBRARY = new URL("../../../dist/ingest/ingest.js", import.meta.url).href;

describeWithArrayPython("the layout of a daily series", () => {
  test("does not change the atlas, nor do threads", async () => {
    execFileSync(arrayPython(), ["-c", SCRIPT, folder]);
    const library = (await import(LIBRARY)) as { ingestRecipe: typeof ingestRecipe };
    const cells: string[] = [];
    for (const layout of ["contiguous", "days", "months", "series", "south", "transposed"]) {
      for (const threads of layout === "months" ? [0, 3] : [0]) {
        const manifest = join(folder, "fwi.json");
        const daily = { files: `${layout}.nc`, missing_days: "no_danger" };
        const groups = [{ scenario: "baseline", year: 1980, daily }];
        await writeFile(manifest, JSON.stringify({ source: { name: "Test", licence: "none" }, groups }));
        await rm(out, { recursive: true, force: true });
        const { groups: reports } = await library.ingestRecipe("fire-weather", { sources: [manifest], out, threads });
        expect(reports[0]?.cells).toMatchObject({ valid: 24 * 29, nodata: 24 });
        const files = Object.entries(await snapshot()).filter(([name]) => name !== "atlas.json");
        expect(files.length).toBe(3);
        cells.push(JSON.stringify(files));
      }
    }
    expect(new Set(cells).size).toBe(1);
  });
});
