/** GDAL reads the files of `isotherm atlas export`. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exportLayer } from "../../src/cli/atlasExport.ts";
import type { BoundingBox } from "../../src/ingest/ingest.ts";
import { folder, useIngestFolder } from "../ingest/ingestFixture.ts";
import { describeWithGdal, GDAL_PYTHON } from "../ingest/readers/mapPython.ts";
import { depthAt, withPackedAtlas, worldDepthAt, writeFloodAtlas, writeWorldAtlas } from "./atlasFixture.ts";

const READ = `
import json, sys
from osgeo import gdal
gdal.UseExceptions()
file = gdal.Open(sys.argv[1])
band = file.GetRasterBand(1)
values = band.ReadAsArray().flatten().tolist()
print(json.dumps({
  "transform": file.GetGeoTransform(), "code": file.GetSpatialRef().GetAuthorityCode(None),
  "type": gdal.GetDataTypeName(band.DataType), "unit": band.GetUnitType(), "description": band.GetDescription(),
  "nodata": str(band.GetNoDataValue()), "metadata": file.GetMetadata(),
  "values": [None if value != value else value for value in values],
}))
`;

useIngestFolder();

/** Writes a part of the layer of the fixtures, and returns what GDAL reads from the file. */
async function readByGdal(bbox?: BoundingBox): Promise<Readonly<Record<string, unknown>>> {
  const file = join(folder, "export.tif");
  const layer = { hazard: "riverine_floods", scenario: "rcp4p5", year: 2030, metric: "depth_meters" };
  await withPackedAtlas((atlas) => exportLayer(atlas, { ...layer, bbox, file }));
  const text = execFileSync(GDAL_PYTHON ?? "", ["-c", READ, file], { encoding: "utf8" });
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

describeWithGdal("GDAL", () => {
  test("reads the values, grid, coordinate system, unit and attribution of an exported layer", async () => {
    await writeFloodAtlas();
    const read = await readByGdal();
    expect(read).toMatchObject({
      code: "4326",
      type: "Float32",
      unit: "m",
      description: "depth_meters, riverine_floods, rcp4p5 2030",
      nodata: "nan",
      metadata: {
        AREA_OR_POINT: "Area",
        ISOTHERM_RELEASE: "test-1",
        PRODUCT: "River maps <test> & more",
        LICENSE: "CC BY 4.0",
        ATTRIBUTION: "Ward et al. (2020)",
      },
    });
    const transform = [10, 0.1, 0, 20, 0, -0.1];
    expect(read["transform"]).toEqual(transform.map((value) => expect.closeTo(value, 9) as number));
    const expected = Array.from({ length: 70 * 80 }, (_, cell) => {
      const depth = depthAt(cell);
      return depth === undefined ? null : Math.fround(depth);
    });
    expect(read["values"]).toEqual(expected);
  });

  test("reads a box across the antimeridian as one map in longitudes beyond 180", async () => {
    await writeWorldAtlas();
    const read = await readByGdal({ westDeg: 175, southDeg: -21, eastDeg: -170, northDeg: -10 });
    expect(read["transform"]).toEqual([174, 2, 0, -10, 0, -2]);
    const expected = Array.from({ length: 6 * 8 }, (_, cell) => {
      const depth = worldDepthAt(50 + Math.floor(cell / 8), (177 + (cell % 8)) % 180);
      return depth === undefined ? null : Math.fround(depth);
    });
    expect(read["values"]).toEqual(expected);
  });
});
