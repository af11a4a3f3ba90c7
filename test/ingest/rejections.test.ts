import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CATALOG_NAME } from "../../src/atlas/catalog.ts";
import { ingestLayers, isFault } from "../../src/ingest/ingest.ts";
import type { LayersOptions } from "../../src/ingest/ingest.ts";
import type { RejectedMap } from "../../src/ingest/rejectionList.ts";
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
  test("lists the values of all maps with their places and reasons, and publishes nothing", async () => {
    await map("rp50.tif", (cell) => (cell === 100 ? -0.5 : cell === 3000 ? Infinity : 1));
    await map("rp100.tif", (cell) => (cell === 5599 ? -0.25 : 2));
    await map("intensity.tif", (cell) => (cell === 7 ? 1.5 : 0.5));
    await map("depth.tif", () => 1);
    const fault = await rejection([
      curve(50, "rp50.tif"),
      curve(100, "rp100.tif"),
      { ...LAYER, year: 2050, metric: "depth_meters", file: "depth.tif" },
      { ...LAYER, year: 2050, metric: "probability", file: "intensity.tif" },
    ]);
    expect(mapsOf(fault)).toMatchObject([
      {
        file: `${folder}/rp50.tif`,
        band: 1,
        counts: { negative: 1, infinite: 1 },
        places: [
          { row: 1, column: 20, latitude: 19.85, longitude: 12.05, value: -0.5, reason: "negative" },
          { row: 37, column: 40, value: "Infinity", reason: "infinite" },
        ],
        errors: [],
      },
      { file: `${folder}/rp100.tif`, counts: { negative: 1 }, places: [{ row: 69, column: 79, value: -0.25 }] },
      { file: `${folder}/intensity.tif`, counts: { "above-range": 1 }, places: [{ row: 0, column: 7, value: 1.5 }] },
    ]);
    const lines = fault.message.split("\n");
    expect(lines[0]).toMatch(
      /^.*rp50\.tif: row 1, column 20 .*below zero.* In total, 4 values of 3 maps are rejected; nothing was published:$/,
    );
    expect(lines.slice(1)).toEqual([
      `${folder}/rp50.tif, band 1: 1 infinite, 1 below zero`,
      "  row 1, column 20 (latitude 19.85000, longitude 12.05000): -0.5, below zero",
      "  row 37, column 40 (latitude 16.25000, longitude 14.05000): Infinity, infinite",
      `${folder}/rp100.tif, band 1: 1 below zero`,
      "  row 69, column 79 (latitude 13.05000, longitude 17.95000): -0.25, below zero",
      `${folder}/intensity.tif, band 1: 1 above the largest value that a layer stores`,
      "  row 0, column 7 (latitude 19.95000, longitude 10.75000): 1.5, above the largest value that a layer stores",
    ]);
    expect((await readdir(out)).filter((name) => !name.startsWith("."))).toEqual([]);
  });

  test("counts all values of a map, and lists the first twenty from north to south", async () => {
    await map("depth.tif", (cell) => (cell % 7 === 3 ? -32768 : cell % 7 === 5 ? -3 : 1));
    const fault = await rejection([{ ...LAYER, metric: "depth_meters", file: "depth.tif" }], { clampNegative: true });
    const [rejected] = mapsOf(fault);
    expect(rejected?.counts).toEqual({ "missing-marker": 800, "below-tolerance": 800 });
    expect(cellsOf(rejected as RejectedMap)).toEqual(
      Array.from({ length: 10 }, (_, index) => [7 * index + 3, 7 * index + 5]).flat(),
    );
    expect(fault.message).toMatch(/depth\.tif, band 1: 800 too far below zero to be noise, 800 a number that commonly/);
    expect(fault.message).toMatch(/\n {2}and 1580 more$/);
  });

  test("lists depths that cannot be stored, but not those that no metric has", async () => {
    await map("rp50.tif", () => 1);
    await map("rp100.tif", (cell) => (cell === 9 ? 70 : cell === 4000 ? 80 : 2));
    // Values of the longest return period do not determine the depth with a return period of 100 years.
    await map("rp1000.tif", () => 500);
    const layers = [curve(50, "rp50.tif"), curve(100, "rp100.tif"), curve(1000, "rp1000.tif")];
    const fault = await rejection(layers);
    expect(mapsOf(fault).map(({ file }) => file)).toEqual([`${folder}/rp100.tif`]);
    expect(mapsOf(fault)[0]).toMatchObject({ counts: { "above-range": 2 } });
    expect(cellsOf(mapsOf(fault)[0] as RejectedMap)).toEqual([9, 4000]);
  });

  test("lists depths whose mean over models cannot be stored", async () => {
    await map("a.tif", (cell) => (cell === 1 || cell === 2 || cell === 3 ? 100 : 2));
    await map("b.tif", (cell) => (cell === 1 || cell === 3 ? 40 : 2));
    const fault = await rejection([curve(100, "a.tif", { model: "a" }), curve(100, "b.tif", { model: "b" })]);
    // The mean of 100 m and 2 m can be stored.
    expect(cellsOf(mapsOf(fault)[0] as RejectedMap)).toEqual([1, 3]);
    expect(mapsOf(fault)).toHaveLength(1);
  });

  test("lists a map that several years share once", async () => {
    await map("rp100.tif", (cell) => (cell === 5 ? -1 : cell === 6 ? 90 : 1));
    const fault = await rejection([curve(100, "rp100.tif"), curve(100, "rp100.tif", { year: 2050 })]);
    expect(mapsOf(fault)).toMatchObject([{ counts: { negative: 1, "above-range": 1 } }]);
  });

  test("lists cells of a mosaic in which files contradict each other, and the values of the others", async () => {
    await map("west.tif", () => 1);
    await map("east.tif", (cell) => (cell === 10 || cell === 1000 ? 3 : cell === 2000 ? -2 : 1), {
      tiePoint: [11, 20],
    });
    const files = ["west.tif", "east.tif"];
    const fault = await rejection([{ ...LAYER, metric: "depth_meters", files }]);
    const [mosaic] = mapsOf(fault);
    expect(mosaic?.errors).toEqual([
      expect.stringMatching(/east\.tif: row 0, column 20 .* has the value 3, but 1 in .*west\.tif/),
      expect.stringMatching(/east\.tif: row 12, column 50 .* has the value 3, but 1 in .*west\.tif/),
      expect.stringMatching(/east\.tif: row 25, column 10 .* has the value -2, but 1 in .*west\.tif/),
    ]);
    expect(fault.message).toContain("and 3 errors of reading; nothing was published");
  });

  test("counts at least the values in the parts of a map that can be read", async () => {
    await map("west.tif", (cell) => (cell === 5 || cell === 3205 ? -1 : 1));
    await map("east.tif", (cell) => (cell === 1000 ? 3 : 1), { tiePoint: [11, 20] });
    const fault = await rejection([{ ...LAYER, metric: "depth_meters", files: ["west.tif", "east.tif"] }]);
    expect(fault.message).toMatch(/In total, at least 2 values of 1 map are rejected, and 1 error of reading;/);
    expect(fault.message).toMatch(/, band 1: at least 2 below zero\n/);
  });

  test("is reported with the first value if the check of all maps fails", async () => {
    const file = await map("depth.tif", (cell) => (cell % 2 === 0 ? -1 : 1));
    const fault = await rejection([{ ...LAYER, metric: "depth_meters", file: "depth.tif" }], {
      // The atlas is damaged in the meantime, so that the check cannot start.
      onRejection: () => writeFileSync(join(out, CATALOG_NAME), "{"),
    });
    expect(fault.message).toMatch(/^\S+depth\.tif: row 0, column 0 [^\n]*below zero[^\n]*$/);
    expect(fault.details["file"]).toBe(file);
  });

  test("reports the only rejected value as before", async () => {
    await map("depth.tif", (cell) => (cell === 7 ? -1 : 1));
    const { message, details } = await rejection([{ ...LAYER, metric: "depth_meters", file: "depth.tif" }]);
    expect(message).toMatch(/^\S+depth\.tif: row 0, column 7 [^\n]*--clamp-negative\.$/);
    expect(details).toEqual({ file: `${folder}/depth.tif`, row: 0, column: 7, band: 1, value: -1 });
  });

  test("announces the check of all maps, and stops it when it is aborted", async () => {
    await map("depth.tif", (cell) => (cell % 2 === 0 ? -1 : 1));
    const stopping = new AbortController();
    const announced: Fault[] = [];
    const run = rejection([{ ...LAYER, metric: "depth_meters", file: "depth.tif" }], {
      signal: stopping.signal,
      onRejection(first) {
        announced.push(first);
        stopping.abort(new Error("enough"));
      },
    });
    await expect(run).rejects.toThrow("enough");
    expect(announced.map(({ message }) => message)).toEqual([expect.stringMatching(/row 0, column 0 /)]);
  });
});
