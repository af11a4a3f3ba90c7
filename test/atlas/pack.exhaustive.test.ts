import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas, type PackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { verifyAtlas } from "../../src/atlas/verify.ts";
import { readCatalog, type WorkSteps, writePack } from "../../src/atlas/writer.ts";
import { Fault, isFault } from "../../src/errors.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture, packInputOf, patchyCells, withTempFolder } from "./makeAtlas.ts";

/** Two by two pyramid tiles with partial tiles and blocks at both edges. */
const GRID: Grid = {
  northDeg: 20,
  westDeg: 30,
  cellSizeLatDeg: 0.01,
  cellSizeLonDeg: 0.02,
  rowCount: 530,
  columnCount: 590,
};
const LAYERS = FLOOD_LAYERS.slice(0, 2);
const FLOODS: HazardFixture = {
  hazard: "riverine_floods",
  grid: GRID,
  groups: [
    { scenario: "baseline", year: 1980, layers: LAYERS, cells: patchyCells(GRID, { layerCount: 2, seed: 1 }) },
    { scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells: patchyCells(GRID, { layerCount: 4, seed: 2 }) },
  ],
};
/** All nodata, so that no tile is stored. */
const EMPTY: HazardFixture = {
  hazard: "coastal_floods",
  grid: { ...GRID, rowCount: 70, columnCount: 65 },
  groups: [{ scenario: "baseline", year: 1980, layers: LAYERS, cells: new Uint16Array(70 * 65 * 2).fill(65_535) }],
};

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

async function withAtlas<T>(folder: string, act: (atlas: PackedAtlas, blobs: Blobs) => Promise<T>): Promise<T> {
  const blobs = diskBlobs(folder);
  try {
    return await act(await openPackedAtlas(kernel, blobs, { headerCacheBytes: 1 << 16 }), blobs);
  } finally {
    await blobs.close();
  }
}

/** Expects equality and reports only the first difference, because deep equality of a million numbers takes seconds. */
function expectSame(actual: Uint16Array, expected: Uint16Array = new Uint16Array()): void {
  expect(actual.length).toBe(expected.length);
  const index = actual.findIndex((steps, i) => steps !== expected[i]);
  expect([index, actual[index]]).toEqual([-1, undefined]);
}

/** Returns every cell of a group, read tile by tile. */
async function readAll(atlas: PackedAtlas, fixture: HazardFixture, group: number): Promise<Uint16Array> {
  const source = atlas.packs.find(({ hazard }) => hazard === fixture.hazard)?.source;
  const layers = fixture.groups[group]?.layers.length ?? 0;
  if (source === undefined) throw new Error("no such pack");
  const cells = new Uint16Array(fixture.grid.rowCount * fixture.grid.columnCount * layers);
  const constants = { zero: 0, nodata: 65_535, outside: 65_534 };
  for (let tileRow = 0; tileRow * 64 < fixture.grid.rowCount; tileRow++) {
    for (let tileColumn = 0; tileColumn * 64 < fixture.grid.columnCount; tileColumn++) {
      const request = { group, tileRow, tileColumn };
      const [state] = await source.resolve([request]);
      let tile: Uint16Array = new Uint16Array(64 * 64 * layers);
      if (state === "cells") [tile = tile] = await source.load([request]);
      else tile.fill(constants[state ?? "outside"]);
      const rows = Math.min(64, fixture.grid.rowCount - tileRow * 64);
      const width = Math.min(64, fixture.grid.columnCount - tileColumn * 64) * layers;
      for (let row = 0; row < rows; row++) {
        const to = ((tileRow * 64 + row) * fixture.grid.columnCount + tileColumn * 64) * layers;
        cells.set(tile.subarray(row * 64 * layers, row * 64 * layers + width), to);
      }
    }
  }
  return cells;
}

/** Returns the bounds of all stored pyramid tiles of a group, then their totals. */
async function readPyramid(atlas: PackedAtlas, fixture: HazardFixture, group: number): Promise<ArrayLike<number>[]> {
  const source = atlas.packs.find(({ hazard }) => hazard === fixture.hazard)?.source;
  if (source === undefined) throw new Error("no such pack");
  const all = [0, 1].flatMap((pyramidRow) => [0, 1].map((pyramidColumn) => ({ group, pyramidRow, pyramidColumn })));
  const states = source.pyramid.resolve(all);
  const stored = all.filter((_, i) => states[i] === "cells");
  return [...(await source.pyramid.loadBounds(stored)), ...(await source.pyramid.loadTotals(stored))];
}

/** Computes the expected result of `readPyramid` cell by cell. */
function pyramidByDefinition({ grid, groups }: HazardFixture, group: number): number[][] {
  const { layers, cells } = groups[group] ?? { layers: [], cells: new Uint16Array() };
  const count = layers.length;
  const places = [0, 512].flatMap((top) => [0, 512].map((west) => ({ top, west })));
  const bounds = places.map(({ top, west }) => {
    const out = Array.from({ length: 64 * 64 * count }, () => 0);
    for (let row = top; row < Math.min(top + 512, grid.rowCount); row++) {
      for (let index = west * count; index < Math.min(west + 512, grid.columnCount) * count; index++) {
        const steps = cells[row * grid.columnCount * count + index] ?? NaN;
        const block = ((row - top) >> 3) * 64 + ((Math.floor(index / count) - west) >> 3);
        const to = block * count + (index % count);
        if (steps <= 65_533) out[to] = Math.max(out[to] ?? 0, steps + 1);
      }
    }
    return out;
  });
  const totals = places.map(({ top, west }) => {
    const out = Array.from({ length: 512 * 8 * count }, () => 0);
    for (let row = top; row < Math.min(top + 512, grid.rowCount); row++) {
      for (let index = west * count; index < Math.min(west + 512, grid.columnCount) * count; index++) {
        const steps = cells[row * grid.columnCount * count + index] ?? NaN;
        const to = ((row - top) * 8 + ((Math.floor(index / count) - west) >> 6)) * count + (index % count);
        if (steps <= 65_533) out[to] = (out[to] ?? 0) + 2 ** 22 + steps;
      }
    }
    return out;
  });
  return [...bounds, ...totals];
}

function firstDifference(found: readonly ArrayLike<number>[], expected: readonly ArrayLike<number>[]): unknown {
  if (found.length !== expected.length) return `${found.length} sections instead of ${expected.length}`;
  for (const [section, numbers] of found.entries()) {
    for (let index = 0; index < Math.max(numbers.length, expected[section]?.length ?? 0); index++) {
      if (numbers[index] !== expected[section]?.[index])
        return { section, index, found: numbers[index], expected: expected[section]?.[index] };
    }
  }
  return undefined;
}

describe("an atlas on disk", () => {
  test("stores the bounds of its blocks and the totals of its rows", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS]);
      await withAtlas(folder, async (atlas) => {
        for (const group of [0, 1]) {
          const found = await readPyramid(atlas, FLOODS, group);
          expect(firstDifference(found, pyramidByDefinition(FLOODS, group))).toBeUndefined();
        }
      });
    });
  });

  test("returns tiles in the order of the request, each in its own buffer", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS]);
      await withAtlas(folder, async (atlas) => {
        const source = atlas.packs[0]?.source;
        if (source === undefined) throw new Error("no such pack");
        const all = [1, 0].flatMap((group) =>
          [8, 0, 5, 3].flatMap((tileRow) => [9, 0, 2].map((tileColumn) => ({ group, tileRow, tileColumn }))),
        );
        const states = await source.resolve(all);
        const requests = all.filter((_, i) => states[i] === "cells");
        const together = await source.load([...requests, ...requests.slice(0, 2)]);
        expect(requests.length).toBeGreaterThan(10);
        expect(new Set(together.map(({ buffer }) => buffer)).size).toBe(requests.length + 2);
        for (const [i, request] of [...requests, ...requests.slice(0, 2)].entries()) {
          const [single] = await source.load([request]);
          expect(single?.length).toBe(64 * 64 * (request.group === 0 ? 2 : 4));
          expectSame(together[i] ?? new Uint16Array(), single);
        }
      });
    });
  });

  test("returns every cell that was written", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS, EMPTY]);
      await withAtlas(folder, async (atlas) => {
        expectSame(await readAll(atlas, FLOODS, 0), FLOODS.groups[0]?.cells);
        expectSame(await readAll(atlas, FLOODS, 1), FLOODS.groups[1]?.cells);
        expectSame(await readAll(atlas, EMPTY, 0), EMPTY.groups[0]?.cells);
      });
    });
  });

  test("stores no constant tiles, and distinguishes zero, nodata and outside", async () => {
    const grid = { ...GRID, rowCount: 64, columnCount: 64 * 4 };
    const cells = new Uint16Array(64 * 256 * 2);
    for (let i = 0; i < cells.length; i++) cells[i] = [0, 65_535, 65_534, 7][Math.floor(((i >> 1) % 256) / 64)] ?? 0;
    const constantTiles: HazardFixture = {
      hazard: "wildfire",
      grid,
      groups: [{ scenario: "baseline", year: 1980, layers: LAYERS, cells }],
    };
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [constantTiles, EMPTY]);
      await withAtlas(folder, async (atlas) => {
        const requests = [0, 1, 2, 3].map((tileColumn) => ({ group: 0, tileRow: 0, tileColumn }));
        expect(await atlas.packs[0]?.source.resolve(requests)).toEqual(["zero", "nodata", "outside", "cells"]);
        const sizes = atlas.catalog.hazards.map(({ packs }) => packs[0]?.files.tiles.size_bytes);
        expect(sizes[0]).toBeGreaterThan(0);
        expect(sizes[1]).toBe(0);
      });
    });
  });

  test("is named by its content: the same input gives the same bytes and names", async () => {
    await withTempFolder(async (first) => {
      await withTempFolder(async (second) => {
        await makeAtlas(kernel, first, [FLOODS]);
        await makeAtlas(kernel, second, [FLOODS]);
        const names = (await readdir(first)).toSorted();
        expect((await readdir(second)).toSorted()).toEqual(names);
        for (const name of names) {
          expect((await readFile(join(second, name))).equals(await readFile(join(first, name)))).toBe(true);
        }
      });
    });
  });

  test("passes verification, which counts files and tiles", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS, EMPTY]);
      await withAtlas(folder, async (atlas, blobs) => {
        const report = await verifyAtlas(atlas, { blobs });
        expect(report).toMatchObject({ files: 6, problems: [] });
        expect(report.tiles).toBeGreaterThan(50);
      });
    });
  });

  test("resumes an interrupted write with the same result", async () => {
    await withTempFolder(async (whole) => {
      await withTempFolder(async (broken) => {
        const expected = await writePack(kernel, whole, packInputOf(FLOODS));
        const input = packInputOf(FLOODS);
        const firstRows: number[] = [];
        let state = 0;
        const checkpoint = { save: () => state, restore: (saved: unknown) => (state = Number(saved)) };
        const interrupted = {
          ...input,
          checkpoint,
          readBand: async (band: { firstRow: number; rowCount: number }, steps: WorkSteps) => {
            if (band.firstRow >= 512) throw new Error("power failure");
            state += band.rowCount;
            return input.readBand(band, steps);
          },
        };
        await expect(writePack(kernel, broken, interrupted)).rejects.toThrow("power failure");
        state = 0;
        const resumed = {
          ...interrupted,
          readBand: async (band: { firstRow: number; rowCount: number }, steps: WorkSteps) => {
            firstRows.push(band.firstRow);
            state += band.rowCount;
            return input.readBand(band, steps);
          },
        };
        expect(await writePack(kernel, broken, resumed)).toEqual(expected);
        expect(firstRows).toEqual([512]);
        expect(state).toBe(GRID.rowCount);
        expect((await readdir(broken)).toSorted()).toEqual((await readdir(whole)).toSorted());
      });
    });
  });

  test("leaves no files behind if its input is rejected", async () => {
    await withTempFolder(async (folder) => {
      const invalidInput = {
        ...packInputOf(FLOODS),
        readBand: () => Promise.reject(new Fault("source_invalid", "a value below zero")),
      };
      await expect(writePack(kernel, folder, invalidInput)).rejects.toThrow("a value below zero");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test("rejects an invalid grid before it writes anything", async () => {
    await withTempFolder(async (folder) => {
      const beyondPole = { ...FLOODS, grid: { ...GRID, northDeg: 95 } };
      await expect(writePack(kernel, folder, packInputOf(beyondPole))).rejects.toThrow(/between the poles/);
      const wide = { ...FLOODS, grid: { ...GRID, cellSizeLonDeg: 1 } };
      await expect(writePack(kernel, folder, packInputOf(wide))).rejects.toThrow(
        /the width must be at most 360 degrees/,
      );
      expect(await readdir(folder)).toEqual([]);
    });
  });
});

describe("a damaged atlas", () => {
  test("with a flipped byte returns the same numbers or an error that names the file, never other numbers", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS]);
      const random = randomFrom(7);
      const names = (await readdir(folder)).toSorted();
      const pyramids = [0, 1].map((group) => pyramidByDefinition(FLOODS, group));
      let rejected = 0;
      for (const name of names) {
        const path = join(folder, name);
        const good = await readFile(path);
        for (let round = 0; round < 25; round++) {
          const index = round === 0 ? 0 : round === 1 ? good.length - 1 : Math.floor(random.next() * good.length);
          const bad = Buffer.from(good);
          bad[index] = (bad[index] ?? 0) ^ (1 << Math.floor(random.next() * 8));
          await writeFile(path, bad);
          try {
            await withAtlas(folder, async (atlas, blobs) => {
              for (const group of [0, 1]) {
                expectSame(await readAll(atlas, FLOODS, group), FLOODS.groups[group]?.cells);
                expect(firstDifference(await readPyramid(atlas, FLOODS, group), pyramids[group] ?? [])).toBeUndefined();
              }
              const report = await verifyAtlas(atlas, { blobs });
              expect(report.problems.join(), `${name} at ${index}`).toContain(name);
            });
          } catch (error) {
            if (!isFault(error, "atlas_unavailable")) throw error;
            expect(error.message).toContain(name);
            rejected += 1;
          }
        }
        await writeFile(path, good);
      }
      // Nearly every byte affects a number; the exceptions are a few bytes of the catalog and of the files.
      expect(rejected).toBeGreaterThan(90);
    });
  });

  test("with a truncated or missing file is rejected with the name of the file", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS]);
      for (const name of (await readdir(folder)).filter((file) => file !== "atlas.json")) {
        const good = await readFile(join(folder, name));
        await writeFile(join(folder, name), good.subarray(0, good.length - 1));
        await expect(withAtlas(folder, async () => undefined)).rejects.toThrow(
          `${name}: its size is ${good.length - 1} bytes`,
        );
        await writeFile(join(folder, name), good);
      }
      const blobs = diskBlobs(folder);
      await expect(blobs.read("gone.tiles", { offset: 0, sizeBytes: 1 })).rejects.toThrow(
        "gone.tiles: there is no such file",
      );
      const name = (await readdir(folder)).find((file) => file.endsWith(".tiles")) ?? "";
      await expect(blobs.read(name, { offset: 1e9, sizeBytes: 5 })).rejects.toThrow(
        "ends 5 bytes before the end of the requested range",
      );
      await blobs.close();
    });
  });

  test("without a catalog, or with an edited one, is rejected", async () => {
    await withTempFolder(async (folder) => {
      await expect(withAtlas(folder, async () => undefined)).rejects.toMatchObject({ code: "atlas_not_found" });
      await makeAtlas(kernel, folder, [FLOODS]);
      const path = join(folder, "atlas.json");
      const good = await readFile(path, "utf8");
      await writeFile(path, good.replace('"steps_per_unit": 1000', '"steps_per_unit": 1001'));
      await expect(readCatalog(folder)).rejects.toThrow("its SHA-256 does not match its content");
      await writeFile(path, good.replace('"format_version": 1', '"format_version": 2'));
      await expect(readCatalog(folder)).rejects.toThrow("has format version 2");
      await writeFile(path, good.slice(0, -3));
      await expect(readCatalog(folder)).rejects.toThrow("must be JSON in UTF-8");
      await writeFile(path, good);
      expect((await readCatalog(folder))?.release).toBe("made-1");
    });
  });
});
