import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { PackEntry } from "../../src/atlas/catalog.ts";
import { writePack } from "../../src/atlas/writer.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { crc32ByZlib } from "../oracle/checksum.ts";
import { boundByDefinition, readPackByFormat, type StepsAt, totalByDefinition } from "../oracle/pyramid.ts";
import { FLOODS, GRID } from "./floodFixture.ts";
import { type HazardFixture, packInputOf, withTempFolder } from "./makeAtlas.ts";

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

describe("a pack that is read according to docs/atlas-format.md", () => {
  test("contains states, cells, block maxima, row totals and bounds that match the written cells", async () => {
    await withTempFolder(async (folder) => {
      const pack = await writePack(kernel, folder, packInputOf(FLOODS));
      const stored = readPackByFormat(await filesOf(folder, pack));
      expect(stored).toHaveLength(4);
      const differences: string[] = [];
      // Labels are functions, because building the texts of all comparisons would take longer than comparing.
      const compare = (label: () => string, found: number | undefined, expected: number): void => {
        if (found !== expected && differences.length < 5) differences.push(`${label()}: ${found}, not ${expected}`);
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
                () => `${place}, block ${block}`,
                maxima[block * layerCount + layer],
                boundByDefinition(stepsAt, cells),
              );
            }
            for (let i = 0; i < 512 * 8; i++) {
              const cells = { row: first + Math.floor(i / 8), column: west + (i % 8) * 64, layer };
              compare(
                () => `${place}, row total ${i}`,
                totals[i * layerCount + layer],
                totalByDefinition(stepsAt, cells),
              );
            }
            for (let tile = 0; tile < 64; tile++) {
              const cells = { row: first + Math.floor(tile / 8) * 64, column: west + (tile % 8) * 64, size: 64, layer };
              const found = content.tiles[tile]?.[group]?.bounds[layer];
              compare(() => `${place}, tile ${tile}`, found, boundByDefinition(stepsAt, cells));
            }
            const whole = { row: first, column: west, size: 512, layer };
            compare(() => `${place}, level 512`, bounds[layersBefore + layer], boundByDefinition(stepsAt, whole));
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
