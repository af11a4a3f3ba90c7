import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { CATALOG_NAME, type Catalog, decodeCatalog, gridEntryOf, type PackEntry } from "../../src/atlas/catalog.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { type PackInput, publish, readCatalog, writePack } from "../../src/atlas/writer.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { randomFrom } from "../seededRandom.ts";
import { Fault } from "../../src/errors.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { crc32ByZlib } from "../oracle/checksum.ts";
import { boundByDefinition, readPackByFormat, type StepsAt, totalByDefinition } from "../oracle/pyramid.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture, packInputOf, patchyCells, withTempFolder } from "./makeAtlas.ts";

/** Two by two pyramid tiles with partial tiles at both edges. */
const GRID: Grid = {
  northDeg: 20,
  westDeg: 30,
  cellSizeLatDeg: 0.01,
  cellSizeLonDeg: 0.02,
  rowCount: 530,
  columnCount: 590,
};
/** Adds an all-nodata tile, which `patchyCells` never produces. */
function withMissingTile(cells: Uint16Array, layerCount: number): Uint16Array {
  for (let row = 0; row < 64; row++)
    cells.fill(65_535, row * GRID.columnCount * layerCount, (row * GRID.columnCount + 64) * layerCount);
  return cells;
}

const FLOODS: HazardFixture = {
  hazard: "riverine_floods",
  grid: GRID,
  groups: [
    {
      scenario: "baseline",
      year: 1980,
      layers: FLOOD_LAYERS.slice(0, 2),
      cells: withMissingTile(patchyCells(GRID, { layerCount: 2, seed: 31 }), 2),
    },
    { scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS, cells: patchyCells(GRID, { layerCount: 4, seed: 32 }) },
  ],
};

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

type WrittenPack = Pick<PackEntry, "id" | "files">;

async function filesOf(folder: string, { files }: WrittenPack) {
  const [root, pyramid, tiles] = await Promise.all(
    [files.root, files.pyramid, files.tiles].map(({ name }) => readFile(join(folder, name))),
  );
  if (root === undefined || pyramid === undefined || tiles === undefined) throw new Error("no files");
  return { root, pyramid, tiles };
}

/** Returns the steps of a group by row, column and layer, as they were given to the writer. */
function stepsOf(group: HazardFixture["groups"][number]): StepsAt {
  const layerCount = group.layers.length;
  return ({ row, column, layer }) =>
    row >= GRID.rowCount || column >= GRID.columnCount
      ? 65_534
      : (group.cells[(row * GRID.columnCount + column) * layerCount + layer] ?? NaN);
}

describe("a pack, read according to the format document", () => {
  test("contains states, cells, block maxima, row totals and bounds that match the written cells", async () => {
    await withTempFolder(async (folder) => {
      const pack = await writePack(kernel, folder, packInputOf(FLOODS));
      const stored = readPackByFormat(await filesOf(folder, pack));
      expect(stored).toHaveLength(4);
      const differences: string[] = [];
      const compare = (label: string, found: number | undefined, expected: number): void => {
        if (found !== expected && differences.length < 5) differences.push(`${label}: ${found}, not ${expected}`);
      };
      for (const [index, { state, bounds, content }] of stored.entries()) {
        const at = { row: Math.floor(index / 2), column: index % 2 };
        expect([state, content?.row, content?.column]).toEqual(["cells", at.row, at.column]);
        if (content === undefined) continue;
        let layersBefore = 0;
        for (const [group, fixture] of FLOODS.groups.entries()) {
          const stepsAt = stepsOf(fixture);
          const layerCount = fixture.layers.length;
          const [first, west] = [at.row * 512, at.column * 512];
          const { items: maxima } = content.maxima[group] ?? { items: [] };
          const { items: totals } = content.totals[group] ?? { items: [] };
          expect([maxima.length, totals.length]).toEqual([64 * 64 * layerCount, 512 * 8 * layerCount]);
          for (let layer = 0; layer < layerCount; layer++) {
            const place = `pyramid tile ${index}, group ${group}, layer ${layer}`;
            for (let block = 0; block < 64 * 64; block++) {
              const cells = {
                row: first + Math.floor(block / 64) * 8,
                column: west + (block % 64) * 8,
                size: 8,
                layer,
              };
              compare(
                `${place}, block ${block}`,
                maxima[block * layerCount + layer],
                boundByDefinition(stepsAt, cells),
              );
            }
            for (let i = 0; i < 512 * 8; i++) {
              const cells = { row: first + Math.floor(i / 8), column: west + (i % 8) * 64, layer };
              compare(`${place}, row total ${i}`, totals[i * layerCount + layer], totalByDefinition(stepsAt, cells));
            }
            for (let tile = 0; tile < 64; tile++) {
              const cells = { row: first + Math.floor(tile / 8) * 64, column: west + (tile % 8) * 64, size: 64, layer };
              const found = content.tiles[tile]?.[group]?.bounds[layer];
              compare(`${place}, tile ${tile}`, found, boundByDefinition(stepsAt, cells));
            }
            const whole = { row: first, column: west, size: 512, layer };
            compare(`${place}, level 512`, bounds[layersBefore + layer], boundByDefinition(stepsAt, whole));
          }
          layersBefore += layerCount;
        }
      }
      expect(differences).toEqual([]);
    });
  });

  test("stores the cells of each tile according to its state, 65534 beyond the grid", async () => {
    await withTempFolder(async (folder) => {
      const pack = await writePack(kernel, folder, packInputOf(FLOODS));
      const stored = readPackByFormat(await filesOf(folder, pack));
      const seen = new Set<string>();
      const differences: string[] = [];
      for (const [index, { content }] of stored.entries()) {
        for (const [tile, groups] of (content?.tiles ?? []).entries()) {
          const first = Math.floor(index / 2) * 512 + Math.floor(tile / 8) * 64;
          const west = (index % 2) * 512 + (tile % 8) * 64;
          for (const [group, { state = "?", stored: bytes }] of groups.entries()) {
            seen.add(state);
            const fixture = FLOODS.groups[group] as HazardFixture["groups"][number];
            const layerCount = fixture.layers.length;
            const stepsAt = stepsOf(fixture);
            const cells =
              state === "cells" ? new Uint16Array(Uint8Array.from(inflateRawSync(bytes)).buffer) : undefined;
            const constant = { zero: 0, nodata: 65_535, outside: 65_534 }[state];
            for (let i = 0; i < 64 * 64 * layerCount; i++) {
              const cell = Math.floor(i / layerCount);
              const at = { row: first + Math.floor(cell / 64), column: west + (cell % 64), layer: i % layerCount };
              const isBeyond = at.row >= GRID.rowCount || at.column >= GRID.columnCount;
              const found = cells === undefined && isBeyond ? 65_534 : (cells?.[i] ?? constant);
              if (found !== stepsAt(at) && differences.length < 5) differences.push(`${tile}/${group}/${i}: ${found}`);
            }
          }
        }
      }
      expect(differences).toEqual([]);
      expect([...seen].toSorted()).toEqual(["cells", "nodata", "outside", "zero"]);
    });
  });

  test("is covered by checksums from the catalog down: files, header, sections, tiles", async () => {
    await withTempFolder(async (folder) => {
      const pack = await writePack(kernel, folder, packInputOf(FLOODS));
      const files = await filesOf(folder, pack);
      for (const part of ["root", "pyramid", "tiles"] as const) {
        const { size_bytes, sha256 } = pack.files[part];
        expect(sha256).toBe(createHash("sha256").update(files[part]).digest("hex"));
        expect(size_bytes).toBe(files[part].length);
      }
      expect(pack.id).toBe(`riverine_floods-${pack.files.root.sha256.slice(0, 16)}`);
      for (const { content } of readPackByFormat(files)) {
        if (content === undefined) throw new Error("expected every pyramid tile of this pack to be stored");
        expect(crc32ByZlib(content.header)).toBe(content.headerChecksum);
        const parts = [...content.maxima, ...content.totals, ...content.tiles.flat()].filter(
          ({ stored }) => stored.length > 0,
        );
        expect(parts.map(({ stored }) => crc32ByZlib(stored))).toEqual(parts.map(({ checksum }) => checksum));
      }
    });
  });
});

describe("an interrupted write", () => {
  /** Fails once everything is written but before a file has its final name, as a kill at that point would. */
  const interruptedAtEnd = (input: PackInput): PackInput => ({
    ...input,
    onProgress: (rowsDone, rowCount) => {
      if (rowsDone === rowCount) throw new Error("killed");
    },
  });
  const workFolderIn = async (folder: string): Promise<string> =>
    join(folder, (await readdir(folder)).find((name) => name.startsWith(".writing-")) ?? "");

  /** Returns every file of a folder by name, as base64. */
  const contentOf = async (folder: string): Promise<ReadonlyMap<string, string>> =>
    new Map(
      await Promise.all(
        (await readdir(folder))
          .toSorted()
          .map(async (name): Promise<[string, string]> => [name, await readFile(join(folder, name), "base64")]),
      ),
    );

  test.each([[["root"]], [["root", "pyramid"]], [["root", "pyramid", "tiles"]], [["tiles"]]])(
    "restarts from nothing when it was interrupted between the final renames (%s done), and corrupts no file",
    async (renamed) => {
      await withTempFolder(async (complete) => {
        await withTempFolder(async (interrupted) => {
          const input = packInputOf(FLOODS);
          const { id } = await writePack(kernel, complete, input);
          await expect(writePack(kernel, interrupted, interruptedAtEnd(input))).rejects.toThrow("killed");
          const work = await workFolderIn(interrupted);
          await writeFile(join(work, "root"), await readFile(join(complete, `${id}.root`)));
          for (const part of renamed) await rename(join(work, part), join(interrupted, `${id}.${part}`));
          await writePack(kernel, interrupted, input);
          expect(await contentOf(interrupted)).toEqual(await contentOf(complete));
        });
      });
    },
  );

  test("discards everything written after the last checkpoint", async () => {
    await withTempFolder(async (complete) => {
      await withTempFolder(async (interrupted) => {
        const input = packInputOf(FLOODS);
        await writePack(kernel, complete, input);
        await expect(
          writePack(kernel, interrupted, {
            ...input,
            readBand: (band, steps) =>
              band.firstRow >= 512 ? Promise.reject(new Error("power failure")) : input.readBand(band, steps),
          }),
        ).rejects.toThrow("power failure");
        const work = await workFolderIn(interrupted);
        for (const part of ["tiles", "pyramid"]) await appendFile(join(work, part), "half a tile");
        const firstRows: number[] = [];
        await writePack(kernel, interrupted, {
          ...input,
          readBand: (band, steps) => {
            firstRows.push(band.firstRow);
            return input.readBand(band, steps);
          },
        });
        expect(firstRows).toEqual([512]);
        expect(await contentOf(interrupted)).toEqual(await contentOf(complete));
      });
    });
  });

  test("stops between two bands with the signal's reason, and resumes from there", async () => {
    await withTempFolder(async (folder) => {
      const input = packInputOf(FLOODS);
      const controller = new AbortController();
      const firstRows: number[] = [];
      const abortable: PackInput = {
        ...input,
        signal: controller.signal,
        readBand: (band, steps) => {
          firstRows.push(band.firstRow);
          // the last band of the first row of pyramid tiles
          if (band.firstRow === 448) controller.abort(new Error("enough"));
          return input.readBand(band, steps);
        },
      };
      await expect(writePack(kernel, folder, abortable)).rejects.toThrow("enough");
      expect(firstRows.splice(0)).toEqual([0, 64, 128, 192, 256, 320, 384, 448]);
      await writePack(kernel, folder, { ...abortable, signal: new AbortController().signal });
      expect(firstRows).toEqual([512]);
    });
  });

  test("resumes with the band during which its signal was aborted", async () => {
    await withTempFolder(async (folder) => {
      const input = packInputOf(FLOODS);
      const stopping = new AbortController();
      const asked: number[] = [];
      const stopped: PackInput = {
        ...input,
        signal: stopping.signal,
        readBand: (band, steps) => {
          asked.push(band.firstRow);
          if (band.firstRow === 192) stopping.abort(new Error("enough"));
          stopping.signal.throwIfAborted();
          return input.readBand(band, steps);
        },
      };
      await expect(writePack(kernel, folder, stopped)).rejects.toThrow("enough");
      expect(asked).toEqual([0, 64, 128, 192]);
      const again: number[] = [];
      await writePack(kernel, folder, {
        ...input,
        readBand: (band, steps) => {
          again.push(band.firstRow);
          return input.readBand(band, steps);
        },
      });
      expect(again[0]).toBe(192);
    });
  });

  test("produces the same files after repeated random kills, and reads no committed band again", async () => {
    const random = randomFrom(5);
    await withTempFolder(async (whole) => {
      const input = packInputOf(FLOODS);
      await writePack(kernel, whole, input);
      for (let round = 0; round < 4; round++) {
        await withTempFolder(async (broken) => {
          let killCount = 0;
          let readCount = 0;
          for (let isDone = false; !isDone;) {
            const stopping = new AbortController();
            const attempt: PackInput = {
              ...input,
              checkpointMs: 0,
              signal: stopping.signal,
              readBand: async (band, steps) => {
                // Half of the interruptions abort the signal; the others fail without notice.
                if (random.chance(0.4)) {
                  killCount++;
                  if (random.chance(0.5)) throw new Error("killed");
                  stopping.abort(new Error("killed"));
                }
                readCount++;
                return input.readBand(band, steps);
              },
            };
            isDone = await writePack(kernel, broken, attempt).then(
              () => true,
              (error: Error) => {
                if (error.message !== "killed") throw error;
                return false;
              },
            );
          }
          expect(killCount).toBeGreaterThan(0);
          expect(readCount).toBe(Math.ceil(GRID.rowCount / 64));
          expect(await contentOf(broken)).toEqual(await contentOf(whole));
        });
      }
    });
  });

  test("keeps its work if a system error caused the refusal, and discards it otherwise", async () => {
    const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const outcomes: number[] = [];
    for (const cause of [new TypeError("fetch failed", { cause: lost }), new Error("The value is -9999.")]) {
      await withTempFolder(async (folder) => {
        const input = packInputOf(FLOODS);
        const fault = new Fault("source_invalid", "The map cannot be read.", { cause });
        const readBand: PackInput["readBand"] = (band, steps) =>
          band.firstRow >= 128 ? Promise.reject(fault) : input.readBand(band, steps);
        await expect(writePack(kernel, folder, { ...input, readBand })).rejects.toBe(fault);
        let first = -1;
        await writePack(kernel, folder, {
          ...input,
          readBand: (band, steps) => {
            if (first < 0) first = band.firstRow;
            return input.readBand(band, steps);
          },
        });
        outcomes.push(first);
      });
    }
    expect(outcomes).toEqual([128, 0]);
  });

  test("leaves nothing behind if it is not resumable", async () => {
    await withTempFolder(async (folder) => {
      const input = { ...packInputOf(FLOODS), isResumable: false, checkpointMs: 0 };
      const readBand: PackInput["readBand"] = (band, steps) =>
        band.firstRow >= 128 ? Promise.reject(new Error("power failure")) : input.readBand(band, steps);
      await expect(writePack(kernel, folder, { ...input, readBand })).rejects.toThrow("power failure");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test.each([true, false])("stopped by beforeFinish keeps its work if requested: %s", async (keepsWork) => {
    await withTempFolder(async (folder) => {
      const input = packInputOf(FLOODS);
      const fault = new Fault("source_invalid", "The map is another one now.");
      const stopped = writePack(kernel, folder, { ...input, beforeFinish: async () => ({ fault, keepsWork }) });
      await expect(stopped).rejects.toBe(fault);
      expect(await readdir(folder)).toHaveLength(keepsWork ? 1 : 0);
      let readCount = 0;
      await writePack(kernel, folder, {
        ...input,
        readBand: (band, steps) => {
          readCount++;
          return input.readBand(band, steps);
        },
      });
      expect(readCount).toBe(keepsWork ? 0 : Math.ceil(GRID.rowCount / 64));
    });
  });
});

describe("publishing", () => {
  const catalogOf = (hazards: Catalog["hazards"], release: string): Omit<Catalog, "sha256"> => ({
    format: "isotherm-atlas",
    format_version: 1,
    release,
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards,
  });

  test("refuses an unreadable catalog, and leaves only the old one", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS]);
      const before = await readFile(join(folder, CATALOG_NAME));
      const names = await readdir(folder);
      const grid = gridEntryOf({ ...GRID, northDeg: 95 });
      await expect(
        publish(folder, (current) =>
          catalogOf(
            (current?.hazards ?? []).map((hazard) => ({ ...hazard, grid })),
            "bad-grid",
          ),
        ),
      ).rejects.toThrow(/between the poles/);
      await expect(publish(folder, () => catalogOf([], "no good name"))).rejects.toThrow("/release");
      expect((await readFile(join(folder, CATALOG_NAME))).equals(before)).toBe(true);
      expect(await readdir(folder)).toEqual(names);
    });
  });

  test("leaves one complete catalog and no temporary files after concurrent calls", async () => {
    await withTempFolder(async (folder) => {
      const releases = Array.from({ length: 12 }, (_, i) => `release-${i}`);
      await Promise.all(releases.map((release) => publish(folder, () => catalogOf([], release))));
      expect(releases).toContain((await readCatalog(folder))?.release);
      expect(await readdir(folder)).toEqual([CATALOG_NAME]);
    });
  });

  test("gives a concurrent reader the old catalog or the new one, never a part of either", async () => {
    await withTempFolder(async (folder) => {
      await publish(folder, () => catalogOf([], "a-release-with-a-long-name"));
      const blobs = diskBlobs(folder);
      const sizeBytes = (await blobs.sizeBytes(CATALOG_NAME)) ?? 0;
      await publish(folder, () => catalogOf([], "b"));
      const bytes = await blobs.read(CATALOG_NAME, { offset: 0, sizeBytes });
      expect((await decodeCatalog(bytes)).release).toBe("a-release-with-a-long-name");
      await blobs.close();
      expect((await readCatalog(folder))?.release).toBe("b");
    });
  });

  test("names folder and file of a damaged catalog, and finds none below a file", async () => {
    await withTempFolder(async (folder) => {
      await mkdir(join(folder, "atlas"));
      await writeFile(join(folder, "atlas", CATALOG_NAME), "{");
      await expect(readCatalog(join(folder, "atlas"))).rejects.toThrow(
        `${join(folder, "atlas")}/${CATALOG_NAME}: must be JSON in UTF-8`,
      );
      expect(await readCatalog(join(folder, "atlas", CATALOG_NAME))).toBeUndefined();
    });
  });
});
