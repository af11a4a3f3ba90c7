/**
 * Reads damaged files of every format: each must be rejected with its name, or read. `ISOTHERM_FUZZ_FILES` sets the number of
 * files of each format (20,000 for a full run).
 */
import { randomUUID } from "node:crypto";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { MapFiles } from "../../../src/ingest/readers/mapFiles.ts";
import { randomFrom, type SeededRandom } from "../../seededRandom.ts";
import { makeGeoTiff } from "../makeGeoTiff.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/arrays/", import.meta.url));
const FILE_COUNT = Number(process.env["ISOTHERM_FUZZ_FILES"] ?? 120);
/** The metadata of an HDF5 file are given up after 30 seconds. */
const FILE_SECONDS_MAX = 60;
/** Growth of resident memory over a whole run; the WebAssembly memory of h5wasm is never returned. */
const GROWTH_BYTES_MAX = 700 << 20;
const folder = join(tmpdir(), `isotherm-fuzz-${randomUUID()}`);

beforeAll(async () => {
  await mkdir(folder);
  await cp(FIXTURES, folder, { recursive: true });
  const values = Array.from({ length: 240 }, (_, cell) => (cell % 7 === 0 ? -9999 : cell % 5));
  const spec = { rowCount: 12, columnCount: 20, tiePoint: [5, 50], pixelScale: [0.25, 0.25] } as const;
  await writeFile(join(folder, "map.tif"), makeGeoTiff({ ...spec, nodata: "-9999", rowsPerStrip: 5, values }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const FILES: readonly { readonly name: string; readonly damaged: readonly string[]; readonly isBanded?: boolean }[] = [
  { name: "map.tif", damaged: ["map.tif"], isBanded: true },
  { name: "netcdf4.nc", damaged: ["netcdf4.nc"] },
  { name: "netcdf3.nc", damaged: ["netcdf3.nc"] },
  { name: "hdf5.h5", damaged: ["hdf5.h5"] },
  {
    name: "zarr2.zarr",
    damaged: ["depth/.zarray", "depth/.zattrs", "depth/1.0.0", "depth/1.1.1", "lat/.zarray", "lat/0", "lon/0"].map(
      (key) => `zarr2.zarr/${key}`,
    ),
  },
  { name: "maps.zip/maps/netcdf4.nc", damaged: ["maps.zip"] },
  { name: "maps.zip/maps/netcdf3.nc", damaged: ["maps.zip"] },
  { name: "maps.zip/zarr2.zarr", damaged: ["maps.zip"] },
];

/** Damages bytes: flipped bits, a lying number, a truncation, a part that is repeated or removed. */
function damage(original: Uint8Array, random: SeededRandom): Uint8Array {
  const bytes = Uint8Array.from(original);
  // Headers are at the start and at the end; most damage there has more effect than in cells.
  const position = (): number =>
    random.chance(0.6)
      ? random.below(Math.min(bytes.length, 1024))
      : random.chance(0.3)
        ? bytes.length - 1 - random.below(Math.min(bytes.length, 512))
        : random.below(bytes.length);
  switch (random.below(5)) {
    case 0:
      for (let i = random.below(8); i >= 0; i--) {
        const at = position();
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      }
      return bytes;
    case 1: {
      const lie = random.pick([0, 1, 0x7f, 0x80, 0xff]);
      bytes.fill(lie, position(), position() + random.pick([1, 2, 4, 8]));
      const at = position();
      bytes.fill(lie, at, at + random.pick([1, 2, 4, 8]));
      return bytes;
    }
    case 2:
      return bytes.subarray(0, random.below(bytes.length));
    case 3: {
      const at = position();
      const count = 1 + random.below(64);
      return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + count)]);
    }
    default: {
      const [from, to] = [position(), position()];
      bytes.copyWithin(to, from, from + random.below(64));
      return bytes;
    }
  }
}

test.each(FILES)(
  "$name with damaged bytes is rejected or read, in bounded time and memory",
  async ({ name, damaged, isBanded = false }) => {
    const random = randomFrom(20_261_122);
    const originals = await Promise.all(damaged.map((path) => readFile(join(folder, path))));
    const copy = join(folder, "damaged");
    const before = process.memoryUsage().rss;
    const outcomes = { rejected: 0, read: 0 };
    let slowestSeconds = 0;
    for (let i = 0; i < FILE_COUNT; i++) {
      const which = random.below(damaged.length);
      const [stored = "", original = new Uint8Array(0)] = [damaged[which], originals[which]];
      await rm(copy, { recursive: true, force: true });
      // Only the folder or file that is damaged is copied.
      const top = stored.split("/")[0] ?? "";
      await mkdir(dirname(join(copy, stored)), { recursive: true });
      await cp(join(folder, top), join(copy, top), { recursive: true });
      await writeFile(join(copy, stored), damage(original, random));
      const startedMs = performance.now();
      const maps = new MapFiles();
      try {
        const options = isBanded ? {} : { variable: "depth", select: { return_period: 100 } };
        const raster = await maps.open(join(copy, name), options);
        const { rowCount, columnCount } = raster.grid;
        const window = {
          firstRow: 0,
          rowCount: Math.min(rowCount, 64),
          firstColumn: 0,
          columnCount: Math.min(columnCount, 4096),
        };
        const values = await raster.readWindow({ ...window, band: 1 });
        expect(values).toHaveLength(window.rowCount * window.columnCount);
        outcomes.read++;
      } catch (error) {
        if (!isFault(error, "source_invalid")) throw new Error(`file ${i} of ${name} (${stored})`, { cause: error });
        expect(error.message).toContain(copy);
        outcomes.rejected++;
      } finally {
        await maps.close();
      }
      slowestSeconds = Math.max(slowestSeconds, (performance.now() - startedMs) / 1000);
    }
    const growthBytes = process.memoryUsage().rss - before;
    console.log(
      `${name}: ${JSON.stringify(outcomes)}, slowest ${slowestSeconds.toFixed(2)} s, growth ${growthBytes >> 20} MiB`,
    );
    expect(outcomes.rejected).toBeGreaterThan(FILE_COUNT / 10);
    expect(slowestSeconds).toBeLessThan(FILE_SECONDS_MAX);
    expect(growthBytes).toBeLessThan(GROWTH_BYTES_MAX);
  },
  FILE_COUNT * 1000 + 60_000,
);
