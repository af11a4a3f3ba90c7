import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas, type PackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { verifyAtlas } from "../../src/atlas/verify.ts";
import { readCatalogue, writePack } from "../../src/atlas/writer.ts";
import { Fault, isFault } from "../../src/errors.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { FLOOD_LAYERS, makeAtlas, type MadeHazard, packInputOf, patchyCells, withFolder } from "./makeAtlas.ts";

/** Two by two pyramid tiles, neither edge on a tile's: every kind of leftover is in it. */
const GRID: Grid = {
  northDeg: 20,
  westDeg: 30,
  cellSizeLatDeg: 0.01,
  cellSizeLonDeg: 0.02,
  rowCount: 530,
  columnCount: 590,
};
const LAYERS = FLOOD_LAYERS.slice(0, 2);
const MADE: MadeHazard = {
  hazard: "riverine_floods",
  grid: GRID,
  groups: [
    { scenario: "baseline", year: 1980, layers: LAYERS, cells: patchyCells(GRID, { layerCount: 2, seed: 1 }) },
    { scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells: patchyCells(GRID, { layerCount: 4, seed: 2 }) },
  ],
};
/** Nothing but one state: no tile is stored at all. */
const EMPTY: MadeHazard = {
  hazard: "coastal_floods",
  grid: { ...GRID, rowCount: 70, columnCount: 65 },
  groups: [{ scenario: "baseline", year: 1980, layers: LAYERS, cells: new Uint16Array(70 * 65 * 2).fill(65_535) }],
};

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

async function withAtlas<T>(folder: string, use: (atlas: PackedAtlas, blobs: Blobs) => Promise<T>): Promise<T> {
  const blobs = diskBlobs(folder);
  try {
    return await use(await openPackedAtlas(kernel, blobs, { headerCacheBytes: 1 << 16 }), blobs);
  } finally {
    await blobs.close();
  }
}

/** Deep equality of a million numbers takes seconds; the first difference is all that is wanted. */
function expectSame(found: Uint16Array, expected: Uint16Array = new Uint16Array()): void {
  expect(found.length).toBe(expected.length);
  const at = found.findIndex((steps, i) => steps !== expected[i]);
  expect([at, found[at]]).toEqual([-1, undefined]);
}

/** Every cell of a group, read tile by tile. */
async function readAll(atlas: PackedAtlas, made: MadeHazard, group: number): Promise<Uint16Array> {
  const source = atlas.packs.find(({ hazard }) => hazard === made.hazard)?.source;
  const layers = made.groups[group]?.layers.length ?? 0;
  if (source === undefined) throw new Error("no such pack");
  const cells = new Uint16Array(made.grid.rowCount * made.grid.columnCount * layers);
  const slot = kernel.reserve(64 * 64 * layers * 2);
  const constants = { zero: 0, nodata: 65_535, outside: 65_534 };
  for (let tileRow = 0; tileRow * 64 < made.grid.rowCount; tileRow++) {
    for (let tileColumn = 0; tileColumn * 64 < made.grid.columnCount; tileColumn++) {
      const request = { group, tileRow, tileColumn };
      const [state] = await source.resolve([request]);
      if (state === "cells") await source.load([{ ...request, slot }]);
      else kernel.u16(slot).fill(constants[state ?? "outside"]);
      const tile = kernel.u16(slot).slice();
      const rows = Math.min(64, made.grid.rowCount - tileRow * 64);
      const width = Math.min(64, made.grid.columnCount - tileColumn * 64) * layers;
      for (let row = 0; row < rows; row++) {
        const to = ((tileRow * 64 + row) * made.grid.columnCount + tileColumn * 64) * layers;
        cells.set(tile.subarray(row * 64 * layers, row * 64 * layers + width), to);
      }
    }
  }
  return cells;
}

describe("an atlas on disk", () => {
  test("gives back every cell that was written", async () => {
    await withFolder(async (folder) => {
      await makeAtlas(kernel, folder, [MADE, EMPTY]);
      await withAtlas(folder, async (atlas) => {
        expectSame(await readAll(atlas, MADE, 0), MADE.groups[0]?.cells);
        expectSame(await readAll(atlas, MADE, 1), MADE.groups[1]?.cells);
        expectSame(await readAll(atlas, EMPTY, 0), EMPTY.groups[0]?.cells);
      });
    });
  });

  test("stores no tile where all cells are the same, and tells zero, no data and outside apart", async () => {
    const grid = { ...GRID, rowCount: 64, columnCount: 64 * 4 };
    const cells = new Uint16Array(64 * 256 * 2);
    for (let i = 0; i < cells.length; i++) cells[i] = [0, 65_535, 65_534, 7][Math.floor(((i >> 1) % 256) / 64)] ?? 0;
    const made: MadeHazard = {
      hazard: "wildfire",
      grid,
      groups: [{ scenario: "baseline", year: 1980, layers: LAYERS, cells }],
    };
    await withFolder(async (folder) => {
      await makeAtlas(kernel, folder, [made, EMPTY]);
      await withAtlas(folder, async (atlas) => {
        const requests = [0, 1, 2, 3].map((tileColumn) => ({ group: 0, tileRow: 0, tileColumn }));
        expect(await atlas.packs[0]?.source.resolve(requests)).toEqual(["zero", "nodata", "outside", "cells"]);
        const sizes = atlas.catalogue.hazards.map(({ packs }) => packs[0]?.files.tiles.size_bytes);
        expect(sizes[0]).toBeGreaterThan(0);
        expect(sizes[1]).toBe(0);
      });
    });
  });

  test("is named by its content: the same input gives the same bytes and names", async () => {
    await withFolder(async (first) => {
      await withFolder(async (second) => {
        await makeAtlas(kernel, first, [MADE]);
        await makeAtlas(kernel, second, [MADE]);
        const names = (await readdir(first)).toSorted();
        expect((await readdir(second)).toSorted()).toEqual(names);
        for (const name of names) {
          expect((await readFile(join(second, name))).equals(await readFile(join(first, name)))).toBe(true);
        }
      });
    });
  });

  test("verifies, counting what it read", async () => {
    await withFolder(async (folder) => {
      await makeAtlas(kernel, folder, [MADE, EMPTY]);
      await withAtlas(folder, async (atlas, blobs) => {
        const report = await verifyAtlas(kernel, atlas, { blobs });
        expect(report).toMatchObject({ files: 6, problems: [] });
        expect(report.tiles).toBeGreaterThan(50);
      });
    });
  });

  test("an interrupted write goes on where it stopped and gives the same files", async () => {
    await withFolder(async (whole) => {
      await withFolder(async (broken) => {
        const expected = await writePack(kernel, whole, packInputOf(MADE));
        const input = packInputOf(MADE);
        const asked: number[] = [];
        let state = 0;
        const checkpoint = { save: () => state, restore: (saved: unknown) => (state = Number(saved)) };
        const stopping = {
          ...input,
          checkpoint,
          readBand: async (band: { firstRow: number; rowCount: number }) => {
            if (band.firstRow >= 512) throw new Error("the power is gone");
            state += band.rowCount;
            return input.readBand(band);
          },
        };
        await expect(writePack(kernel, broken, stopping)).rejects.toThrow("the power is gone");
        state = 0;
        const going = {
          ...stopping,
          readBand: async (band: { firstRow: number; rowCount: number }) => {
            asked.push(band.firstRow);
            state += band.rowCount;
            return input.readBand(band);
          },
        };
        expect(await writePack(kernel, broken, going)).toEqual(expected);
        expect(asked).toEqual([512]);
        expect(state).toBe(GRID.rowCount);
        expect((await readdir(broken)).toSorted()).toEqual((await readdir(whole)).toSorted());
      });
    });
  });

  test("leaves nothing behind of an input that is refused", async () => {
    await withFolder(async (folder) => {
      const refused = {
        ...packInputOf(MADE),
        readBand: () => Promise.reject(new Fault("source_invalid", "a value below zero")),
      };
      await expect(writePack(kernel, folder, refused)).rejects.toThrow("a value below zero");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test("refuses a grid that cannot be, before it writes anything", async () => {
    await withFolder(async (folder) => {
      const beyond = { ...MADE, grid: { ...GRID, northDeg: 95 } };
      await expect(writePack(kernel, folder, packInputOf(beyond))).rejects.toThrow(/between the poles/);
      const wide = { ...MADE, grid: { ...GRID, cellSizeLonDeg: 1 } };
      await expect(writePack(kernel, folder, packInputOf(wide))).rejects.toThrow(/more than one turn/);
      expect(await readdir(folder)).toEqual([]);
    });
  });
});

describe("a damaged atlas", () => {
  test("a flipped byte gives the same numbers or a refusal that names the file: never another number", async () => {
    await withFolder(async (folder) => {
      await makeAtlas(kernel, folder, [MADE]);
      const random = randomFrom(7);
      const names = (await readdir(folder)).toSorted();
      let refused = 0;
      for (const name of names) {
        const path = join(folder, name);
        const good = await readFile(path);
        for (let round = 0; round < 25; round++) {
          const at = round === 0 ? 0 : round === 1 ? good.length - 1 : Math.floor(random.next() * good.length);
          const bad = Buffer.from(good);
          bad[at] = (bad[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
          await writeFile(path, bad);
          try {
            await withAtlas(folder, async (atlas, blobs) => {
              for (const group of [0, 1]) expectSame(await readAll(atlas, MADE, group), MADE.groups[group]?.cells);
              const report = await verifyAtlas(kernel, atlas, { blobs });
              expect(report.problems.join(), `${name} at ${at}`).toContain(name);
            });
          } catch (error) {
            if (!isFault(error, "atlas_unavailable")) throw error;
            expect(error.message).toContain(name);
            refused += 1;
          }
        }
        await writeFile(path, good);
      }
      // The sections of the pyramid are not read by a query, so damage there leaves the numbers as they are.
      expect(refused).toBeGreaterThan(50);
    });
  });

  test("a truncated or missing file is refused when the atlas is opened, by name", async () => {
    await withFolder(async (folder) => {
      await makeAtlas(kernel, folder, [MADE]);
      for (const name of (await readdir(folder)).filter((file) => file !== "atlas.json")) {
        const good = await readFile(join(folder, name));
        await writeFile(join(folder, name), good.subarray(0, good.length - 1));
        await expect(withAtlas(folder, async () => undefined)).rejects.toThrow(
          `${name}: it has ${good.length - 1} bytes`,
        );
        await writeFile(join(folder, name), good);
      }
      const blobs = diskBlobs(folder);
      await expect(blobs.read("gone.tiles", { offset: 0, sizeBytes: 1 })).rejects.toThrow(
        "gone.tiles: there is no such file",
      );
      const name = (await readdir(folder)).find((file) => file.endsWith(".tiles")) ?? "";
      await expect(blobs.read(name, { offset: 1e9, sizeBytes: 5 })).rejects.toThrow("ends 5 bytes short");
      await blobs.close();
    });
  });

  test("a folder without a catalogue is no atlas, a catalogue that was edited is refused", async () => {
    await withFolder(async (folder) => {
      await expect(withAtlas(folder, async () => undefined)).rejects.toMatchObject({ code: "atlas_not_found" });
      await makeAtlas(kernel, folder, [MADE]);
      const path = join(folder, "atlas.json");
      const good = await readFile(path, "utf8");
      await writeFile(path, good.replace('"steps_per_unit": 1000', '"steps_per_unit": 1001'));
      await expect(readCatalogue(folder)).rejects.toThrow("does not carry its own SHA-256");
      await writeFile(path, good.replace('"format_version": 1', '"format_version": 2'));
      await expect(readCatalogue(folder)).rejects.toThrow("is of format version 2");
      await writeFile(path, good.slice(0, -3));
      await expect(readCatalogue(folder)).rejects.toThrow("is not JSON");
      await writeFile(path, good);
      expect((await readCatalogue(folder))?.release).toBe("made-1");
    });
  });
});
