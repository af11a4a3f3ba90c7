import { appendFile, cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { folder, manifest, out, readCatalog, snapshot, useIngestFolder, withAtlas } from "./ingestFixture.ts";

useIngestFolder();

const FIXTURES = fileURLToPath(new URL("../fixtures/arrays/", import.meta.url));
const FILES = ["netcdf4.nc", "netcdf3.nc", "hdf5.h5", "zarr2.zarr", "maps.zip/maps/netcdf4.nc", "maps.zip/zarr2.zarr"];
const maps = join(folder, "maps");

beforeEach(async () => {
  await mkdir(maps);
  await cp(FIXTURES, maps, { recursive: true });
});

const layersOf = (file: string, more: Record<string, unknown> = {}): Record<string, unknown>[] =>
  [10, 100, 1000].map((return_period) => ({
    scenario: "baseline",
    year: 1980,
    return_period_years: return_period,
    file: `maps/${file}`,
    variable: "depth",
    select: { return_period },
    ...more,
  }));

/** Returns the files with cells; their names contain a hash of the content. The catalog has the names of the sources. */
async function packFiles(): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(Object.entries(await snapshot()).filter(([name]) => name.startsWith("riverine_floods-")));
}

describe("an ingest of maps in arrays", () => {
  let expected: Readonly<Record<string, string>> | undefined;

  test.each(FILES)("%s gives the same cells as every other format", async (file) => {
    const options = { out, release: "test" };
    if (expected === undefined) {
      await ingestLayers({ manifest: await manifest({ layers: layersOf("netcdf4.nc") }), ...options });
      expected = await packFiles();
      await rm(out, { recursive: true });
    }
    await ingestLayers({ manifest: await manifest({ layers: layersOf(file) }), ...options });
    const read = await packFiles();
    expect(Object.keys(expected)).toHaveLength(3);
    expect(read).toEqual(expected);
    const { provenance } = (await readCatalog()).hazards[0]?.packs[0]?.groups[0] ?? {};
    const [map] =
      (provenance as { return_period_maps: { maps: Record<string, unknown>[] }[] }).return_period_maps[0]?.maps ?? [];
    expect(map).toMatchObject({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      notes: { variable: "depth", coordinates: { return_period: 10 } },
    });
  });

  test("a depth of the file is the answer for its cell", async () => {
    await ingestLayers({ manifest: await manifest({ layers: layersOf("netcdf3.nc") }), out });
    await withAtlas(async (atlas) => {
      const { results } = await atlas.hazardRisk({
        latitude: 49.875,
        longitude: 5.375,
        hazards: ["riverine_floods"],
        scenarios: ["baseline"],
        analysis_years: [1980],
      });
      // The second cell of the first row: 4 m at 100 years.
      expect(results[0]?.scenarios[0]?.analysis_years[0]?.metrics).toMatchObject({ depth_meters: 4 });
    });
  });

  test("the hash of a folder depends on the content and the names of its files", async () => {
    const versionOf = async (): Promise<unknown> => {
      await rm(out, { recursive: true, force: true });
      await ingestLayers({ manifest: await manifest({ layers: layersOf("zarr2.zarr") }), out });
      const text = JSON.stringify((await readCatalog()).hazards[0]?.packs[0]?.groups[0]?.provenance);
      return /"sha256":"([0-9a-f]{64})"/.exec(text)?.[1];
    };
    const first = await versionOf();
    expect(await versionOf()).toBe(first);
    await writeFile(join(maps, "zarr2.zarr", "note.txt"), "x");
    const second = await versionOf();
    expect(second).not.toBe(first);
    await rename(join(maps, "zarr2.zarr", "note.txt"), join(maps, "zarr2.zarr", "notes.txt"));
    const third = await versionOf();
    expect(third).not.toBe(second);
    await appendFile(join(maps, "zarr2.zarr", "notes.txt"), "y");
    expect(await versionOf()).not.toBe(third);
  });

  test.each([
    [[100], "", "wrong_type", "return/period must be a number, or text that is not empty, or an object with index"],
    [true, "", "wrong_type", "(got true)"],
    [null, "", "wrong_type", "(got null)"],
    ["", "", "out_of_range", "return/period must be text that is not empty"],
    [{ index: -1 }, "/index", "out_of_range", "index must be at least 0 (got -1)."],
    [{ index: 1, value: 2 }, "/value", "unknown", 'Unknown member "value" (known: index).'],
  ])("rejects the selection %j with its pointer, once", async (position, member, code, detail) => {
    const [layer, ...others] = layersOf("netcdf4.nc");
    const layers = [{ ...layer, select: { "return/period": position } }, ...others];
    const run = ingestLayers({ manifest: await manifest({ layers }), out });
    const pointer = `/layers/0/select/return~1period${member}`;
    await expect(run).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer, code, detail: expect.stringContaining(detail) as string }],
    });
  });
});
