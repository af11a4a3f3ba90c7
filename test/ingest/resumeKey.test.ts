import { describe, expect, test } from "vitest";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import { dryFilledRaster, interpolatedCurve } from "../../src/ingest/derivedRasters.ts";
import type { MapSource } from "../../src/ingest/plan.ts";
import type { FileSpec, Raster, RasterSpec } from "../../src/ingest/raster.ts";
import { resumeKeyOf } from "../../src/ingest/packWriter.ts";
import type { SourceVersions } from "../../src/ingest/sourceVersions.ts";

const GRID = { northDeg: 1, westDeg: 0, cellSizeLatDeg: 1, cellSizeLonDeg: 1, rowCount: 1, columnCount: 1 };
const WINDOW = { firstRow: 0, rowCount: 1, firstColumn: 0, columnCount: 1 };
const BAND = { name: undefined, type: "float32", nodata: [], scale: 1, offset: 0, unit: undefined, coordinates: {} };

function raster(file: string, spec: Partial<FileSpec> | RasterSpec = {}): Raster {
  return {
    spec: { kind: "file", file, options: {}, ...spec } as RasterSpec,
    file,
    grid: GRID,
    crs: "EPSG:4326",
    bands: [BAND, BAND] as Raster["bands"],
    blockRowCount: 1,
    blockColumnCount: 1,
    notes: {},
    readWindow: () => Promise.resolve(new Float32Array(1)),
    close: () => Promise.resolve(),
  };
}

const source = (map: Raster, more: Partial<MapSource> = {}): MapSource => ({
  raster: map,
  band: 1,
  unitFactor: 1,
  ...more,
});

function keyOf(map: Raster, versions: Readonly<Record<string, string>> = {}): string {
  const maps = [{ ...source(map), returnPeriodYears: 100 }];
  const content = { kind: "curves", models: [{ model: "", maps }] } as const;
  const group = { scenario: "rcp8p5", year: 2030, provenance: {}, content } as const;
  const plan = { hazard: "coastal_floods", rules: HAZARDS.coastal_floods.rules, groups: [group] } as const;
  const sources = { versionOf: (file: string) => ({ sha256: versions[file] ?? "0" }) } as unknown as SourceVersions;
  return resumeKeyOf(
    { plan, window: WINDOW, grid: GRID, offset: { row: 0, column: 0 } },
    { options: { out: "atlas" }, sources },
  );
}

const [earlier, later] = [raster("a.tif"), raster("b.tif")];
const interpolated = (first: MapSource, weight = 0.5): Raster =>
  interpolatedCurve([first], [source(later)], weight)[0] as Raster;

describe("the key of unfinished work", () => {
  test("is the same for the same maps, whatever the temporary files of converted maps are called", () => {
    expect(keyOf(interpolated(source(raster("a.tif"))))).toBe(keyOf(interpolated(source(earlier))));
    const converted = (path: string) => interpolated(source(raster("a.grib", { path })));
    expect(keyOf(converted("/tmp/1.tif"))).toBe(keyOf(converted("/tmp/2.tif")));
  });

  const mosaic = (order: "first" | "largest") =>
    raster("a.tif", { kind: "mosaic", parts: [earlier.spec as FileSpec], grid: GRID, order });
  const selected = (index: number, nodata = Infinity) =>
    raster("a.nc", { options: { select: { path: { index } }, nodata: [nodata] } });
  test.each<[string, Raster, Raster]>([
    ["weight", interpolated(source(earlier)), interpolated(source(earlier), 0.25)],
    ["unit factor", interpolated(source(earlier)), interpolated(source(earlier, { unitFactor: 0.01 }))],
    ["band", interpolated(source(earlier)), interpolated(source(earlier, { band: 2 }))],
    [
      "rule of missing cells",
      interpolated(source(earlier)),
      interpolated(source(dryFilledRaster(source(earlier), source(later)))),
    ],
    ["order of a mosaic", interpolated(source(mosaic("first"))), interpolated(source(mosaic("largest")))],
    ["position in a dimension", selected(1), selected(2)],
    [
      "position in a dimension of an interpolated map",
      interpolated(source(selected(1))),
      interpolated(source(selected(2))),
    ],
    ["infinite nodata value", selected(1, Infinity), selected(1, -Infinity)],
  ])("changes with the %s", (_, a, b) => {
    expect(keyOf(a)).not.toBe(keyOf(b));
  });

  test("changes with the content of either map", () => {
    const map = interpolated(source(earlier));
    const keys = [keyOf(map), keyOf(map, { "a.tif": "1" }), keyOf(map, { "b.tif": "1" })];
    expect(new Set(keys).size).toBe(3);
  });
});
