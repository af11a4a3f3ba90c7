/** The tiles of a band do not depend on how its source is divided into chunks, nor on whether chunks were saved. */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { EncodedTile } from "../../src/atlas/tileEncoding.ts";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import { BandReader } from "../../src/ingest/bandReader.ts";
import { tileComputer } from "../../src/ingest/chunkThreads.ts";
import type { ChunkKey } from "../../src/ingest/chunkComputer.ts";
import type { Raster } from "../../src/ingest/raster.ts";
import type { IngestTarget } from "../../src/ingest/target.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { withTempFolder } from "../atlas/makeAtlas.ts";

const SOURCE = { rowCount: 300, columnCount: 290 };
const GRID = { northDeg: 50, westDeg: 0, cellSizeLatDeg: 0.1, cellSizeLonDeg: 0.1, rowCount: 330, columnCount: 400 };
/** Neither starts nor ends at tiles of the atlas. */
const PLACES = {
  "a chunk of the source at cell 30, 41": {
    window: { firstRow: 7, rowCount: 260, firstColumn: 5, columnCount: 270 },
    offset: { row: 30, column: 41 },
  },
  "the source at the northwest corner": {
    window: { firstRow: 0, rowCount: 300, firstColumn: 0, columnCount: 290 },
    offset: { row: 0, column: 0 },
  },
};
const BLOCKS = [
  { blockRowCount: 300, blockColumnCount: 290 },
  { blockRowCount: 64, blockColumnCount: 64 },
  { blockRowCount: 128, blockColumnCount: 32 },
  { blockRowCount: 100, blockColumnCount: 100 },
  { blockRowCount: 7, blockColumnCount: 290 },
];

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** A map whose values differ between all cells, with a dry and a missing area. */
function raster(blocks: { readonly blockRowCount: number; readonly blockColumnCount: number }, factor: number): Raster {
  return {
    spec: { kind: "file", file: "generated.tif", options: {} },
    file: "generated.tif",
    grid: { ...GRID, ...SOURCE },
    crs: "EPSG:4326",
    bands: [{ name: undefined, type: "float32", nodata: [], scale: 1, offset: 0, unit: undefined, coordinates: {} }],
    ...blocks,
    notes: {},
    readWindow({ firstRow, rowCount, firstColumn, columnCount }) {
      const values = Float32Array.from({ length: rowCount * columnCount }, (_, index) => {
        const [row, column] = [firstRow + Math.floor(index / columnCount), firstColumn + (index % columnCount)];
        if (row < 120 && column > 150) return 0;
        return row > 200 && column < 140 ? NaN : factor * (row * 0.05 + column * 0.0003);
      });
      return Promise.resolve(values);
    },
    close: () => Promise.resolve(),
  };
}

function targetOf(blocks: (typeof BLOCKS)[number], place: (typeof PLACES)[keyof typeof PLACES]): IngestTarget {
  const maps = [50, 100].map((returnPeriodYears) => ({
    raster: raster(blocks, returnPeriodYears / 50),
    band: 1,
    unitFactor: 1,
    returnPeriodYears,
  }));
  const content = { kind: "curves", models: [{ model: "", maps }] } as const;
  const { rules } = HAZARDS.riverine_floods;
  const plan = {
    hazard: "riverine_floods",
    rules,
    groups: [{ scenario: "baseline", year: 1980, content, provenance: {} }],
  } as const;
  return { plan, grid: GRID, ...place };
}

/** Returns a text that differs between tiles that differ. */
function digestOf(tile: EncodedTile): string {
  if (tile.state !== "cells") return tile.state;
  const hash = createHash("sha256").update(tile.bytes);
  return hash.update(tile.summary.bounds).update(tile.summary.totals).digest("hex");
}

/** Reads all bands. @param checkpoints whether a checkpoint is due after every chunk */
async function read(target: IngestTarget, folder: string, checkpoints: boolean) {
  const computed: ChunkKey[] = [];
  const compute = tileComputer(kernel, target.plan, { options: {}, placement: target });
  const runner = {
    concurrency: 1,
    compute: (key: ChunkKey) => {
      computed.push(key);
      return compute(key);
    },
  };
  const reader = new BandReader(target, { runner, signal: undefined });
  const steps = { folder, isDue: () => checkpoints, saved: () => undefined };
  const tiles: string[] = [];
  const states = new Set<string>();
  for (let firstRow = 0; firstRow < GRID.rowCount; firstRow += 64) {
    const band = { firstRow, rowCount: Math.min(64, GRID.rowCount - firstRow) };
    const [ofBand = []] = await reader.read(band, steps);
    expect(ofBand).toHaveLength(7);
    tiles.push(...ofBand.map(digestOf));
    for (const { state } of ofBand) states.add(state);
  }
  return { tiles, states, totals: reader.totals, computedCount: computed.length };
}

describe.each(Object.entries(PLACES))("bands of %s", (_, place) => {
  test("are the same however the source is divided", { timeout: 60_000 }, async () => {
    const all: Awaited<ReturnType<typeof read>>[] = [];
    for (const blocks of BLOCKS) {
      all.push(await withTempFolder((folder) => read(targetOf(blocks, place), folder, false)));
    }
    const [first] = all;
    expect([...(first?.states ?? [])]).toEqual(expect.arrayContaining(["cells", "outside", "zero"]));
    const { counts } = first?.totals[0] ?? {};
    expect((counts?.valid ?? 0) + (counts?.nodata ?? 0)).toBe(place.window.rowCount * place.window.columnCount);
    for (const each of all.slice(1)) {
      expect(each.tiles).toEqual(first?.tiles);
      expect(each.totals).toEqual(first?.totals);
    }
  });

  test.each(BLOCKS)("are the same if they are read from saved chunks: %o", { timeout: 60_000 }, async (blocks) => {
    const target = targetOf(blocks, place);
    await withTempFolder(async (folder) => {
      const saved = await read(target, folder, true);
      expect(await readdir(folder)).toHaveLength(saved.computedCount);
      const resumed = await read(target, folder, false);
      expect(resumed.computedCount).toBe(0);
      expect(resumed.tiles).toEqual(saved.tiles);
      expect(resumed.totals).toEqual(saved.totals);
    });
  });
});
