import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { ingestLayers, isFault } from "../../src/ingest/ingest.ts";
import type { LayersOptions } from "../../src/ingest/ingest.ts";
import type { RejectedMap } from "../../src/ingest/badValues.ts";
import type { Fault } from "../../src/errors.ts";
import { folder, manifest, map, out, useIngestFolder } from "./ingestFixture.ts";

useIngestFolder();

const LAYER = { scenario: "rcp4p5", year: 2030 } as const;

async function rejection(layers: readonly object[], options: Partial<LayersOptions> = {}): Promise<Fault> {
  try {
    await ingestLayers({ manifest: await manifest({ layers }), out, ...options });
  } catch (error) {
    if (isFault(error, "source_invalid")) return error;
    throw error;
  }
  throw new Error("The ingest was not rejected.");
}

const mapsOf = (fault: Fault): readonly RejectedMap[] => fault.details["rejected_maps"] as readonly RejectedMap[];
const cellsOf = ({ places }: RejectedMap) => places.map(({ row, column }) => row * 80 + column);
const curve = (return_period_years: number, file: string, more: object = {}) => ({
  ...LAYER,
  return_period_years,
  file,
  ...more,
});

describe("an ingest with several rejected values", () => {
  test("lists the values of the maps that were being read with their places and reasons, and publishes nothing", async () => {
    await map("rp50.tif", (cell) => (cell === 100 ? -0.5 : cell === 3000 ? Infinity : 1));
    await map("rp100.tif", (cell) => (cell === 4879 ? -0.25 : 2));
    await map("intensity.tif", (cell) => (cell === 7 || cell === 8 ? 1.5 : 0.5));
    await map("depth.tif", () => 1);
    const metrics = [
      { ...LAYER, year: 2050, metric: "depth_meters", file: "depth.tif" },
      { ...LAYER, year: 2050, metric: "probability", file: "intensity.tif" },
    ];
    const fault = await rejection([curve(50, "rp50.tif"), curve(100, "rp100.tif"), ...metrics]);
    expect(mapsOf(fault)).toMatchObject([
      {
        file: `${folder}/rp50.tif`,
        band: 1,
        counts: { negative: 1, infinite: 1 },
        places: [
          { row: 1, column: 20, latitude: 19.85, longitude: 12.05, value: -0.5, reason: "negative" },
          { row: 37, column: 40, value: "Infinity", reason: "infinite" },
        ],
      },
      { file: `${folder}/rp100.tif`, counts: { negative: 1 }, places: [{ row: 60, column: 79, value: -0.25 }] },
    ]);
    const lines = fault.message.split("\n");
    expect(lines[0]).toMatch(
      /^.*rp50\.tif: row 1, column 20 .*below zero.* In rows 0 to 62 and columns 0 to 79, 3 values of 2 maps are rejected; nothing was published:$/,
    );
    expect(lines.slice(1)).toEqual([
      `${folder}/rp50.tif, band 1: 1 infinite, 1 below zero`,
      "  row 1, column 20 (latitude 19.85000, longitude 12.05000): -0.5, below zero",
      "  row 37, column 40 (latitude 16.25000, longitude 14.05000): Infinity, infinite",
      `${folder}/rp100.tif, band 1: 1 below zero`,
      "  row 60, column 79 (latitude 13.95000, longitude 17.95000): -0.25, below zero",
    ]);
    expect((await readdir(out)).filter((name) => !name.startsWith("."))).toEqual([]);
    expect(mapsOf(await rejection(metrics))).toMatchObject([
      {
        file: `${folder}/intensity.tif`,
        counts: { "above-range": 2 },
        places: [{ column: 7 }, { column: 8, value: 1.5 }],
      },
    ]);
  });

  test("counts all values of the rows that were being read, and lists the first twenty from north to south", async () => {
    await map("depth.tif", (cell) => (cell % 7 === 3 ? -32768 : cell % 7 === 5 ? -3 : 1));
    const fault = await rejection([{ ...LAYER, metric: "depth_meters", file: "depth.tif" }], { clampNegative: true });
    const [rejected] = mapsOf(fault);
    expect(rejected?.counts).toEqual({ "missing-marker": 720, "below-tolerance": 720 });
    expect(cellsOf(rejected as RejectedMap)).toEqual(
      Array.from({ length: 10 }, (_, index) => [7 * index + 3, 7 * index + 5]).flat(),
    );
    expect(fault.message).toMatch(/depth\.tif, band 1: 720 too far below zero to be noise, 720 a number that commonly/);
    expect(fault.message).toMatch(/\n {2}and 1420 more$/);
  });

  test("lists the values of one model, or of the maps of metrics in which they are", async () => {
    await map("a.tif", (cell) => (cell === 5 || cell === 3000 ? -1 : 1));
    await map("b.tif", (cell) => (cell === 6 ? -1 : 1));
    const models = [curve(100, "a.tif", { model: "a" }), curve(100, "b.tif", { model: "b" })];
    expect(mapsOf(await rejection(models))).toMatchObject([{ file: `${folder}/a.tif`, counts: { negative: 2 } }]);
    const kept = await rejection([curve(50, "b.tif"), curve(100, "a.tif")], { keepCurves: true });
    expect(mapsOf(kept).map(({ file }) => file)).toEqual([`${folder}/b.tif`, `${folder}/a.tif`]);
  });

  test("lists the values of the part of a map that was read, counted from the northwest of the map", async () => {
    await map("depth.tif", (cell) => (cell % 80 === 5 || cell === 2407 ? -2 : 1));
    const bbox = { westDeg: 10.7, southDeg: 16, eastDeg: 12, northDeg: 18 };
    const layers = [{ ...LAYER, metric: "depth_meters", file: "depth.tif" }];
    const { message, details } = await rejection(layers, { bbox: { ...bbox, westDeg: 10.5 } });
    expect(message).toMatch(
      /row 20, column 5 .* In rows 20 to 39 and columns 5 to 19, 21 values of 1 map are rejected/,
    );
    expect(details).toMatchObject({ row: 20, column: 5 });
    expect((await rejection(layers, { bbox })).details).toMatchObject({ row: 30, column: 7, value: -2 });
  });

  test("names the first depth that cannot be stored, of the maps that determine it", async () => {
    await map("rp50.tif", () => 1);
    await map("rp100.tif", (cell) => (cell === 9 ? 70 : cell === 4000 ? 80 : 2));
    // Values of the longest return period do not determine the depth with a return period of 100 years.
    await map("rp1000.tif", () => 500);
    const fault = await rejection([curve(50, "rp50.tif"), curve(100, "rp100.tif"), curve(1000, "rp1000.tif")]);
    expect(fault.details).toMatchObject({ file: `${folder}/rp100.tif`, row: 0, column: 9, value: 70 });
  });

  test("names the first cell whose mean over models cannot be stored", async () => {
    await map("a.tif", (cell) => (cell >= 81 && cell <= 83 ? 100 : 2));
    await map("b.tif", (cell) => (cell === 82 || cell === 83 ? 40 : 2));
    const fault = await rejection([curve(100, "a.tif", { model: "a" }), curve(100, "b.tif", { model: "b" })]);
    // The mean of 100 m and 2 m can be stored.
    expect(fault.details).toMatchObject({ file: `${folder}/a.tif`, row: 1, column: 2, value: 100 });
    expect(fault.message).toContain("the value 100 gives depth_meters 70 m");
  });

  test("reports the only rejected value as before", async () => {
    await map("depth.tif", (cell) => (cell === 7 ? -1 : 1));
    const { message, details } = await rejection([{ ...LAYER, metric: "depth_meters", file: "depth.tif" }]);
    expect(message).toMatch(/^\S+depth\.tif: row 0, column 7 [^\n]*--clamp-negative\.$/);
    expect(details).toEqual({ file: `${folder}/depth.tif`, row: 0, column: 7, band: 1, value: -1 });
  });
});
