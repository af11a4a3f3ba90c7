import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { CATALOG_NAME, decodeCatalog, encodeCatalog, type FileEntry } from "../../src/atlas/catalog.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { verifyAtlas, type VerifyReport } from "../../src/atlas/verify.ts";
import { isFault } from "../../src/errors.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { crc32ByZlib } from "../oracle/checksum.ts";
import { FlatTable, HEADER_FIELDS, readPackByFormat, ROOT_FIELDS } from "../oracle/pyramid.ts";
import { FLOOD_LAYERS, makeAtlas, type HazardFixture, withTempFolder } from "./makeAtlas.ts";

/**
 * Three by three tiles under one pyramid tile; the middle tile is dry, the last tile row and column are one cell wide.
 */
const GRID: Grid = {
  northDeg: 20,
  westDeg: 30,
  cellSizeLatDeg: 0.01,
  cellSizeLonDeg: 0.01,
  rowCount: 129,
  columnCount: 129,
};
const MIDDLE = 9; // position of the middle tile among the 64 under a pyramid tile

type Files = ReadonlyMap<string, Buffer>;

let kernel: Kernel;
let original: Files;
beforeAll(async () => {
  kernel = await Kernel.load();
  const cells = new Uint16Array(129 * 129 * 2);
  for (let i = 0; i < cells.length; i++) {
    const [row, column] = [Math.floor(i / 258), Math.floor((i % 258) / 2)];
    const isMiddle = row >= 64 && row < 128 && column >= 64 && column < 128;
    cells[i] = isMiddle ? 0 : (i * 7919) % 60_000;
  }
  const layers = FLOOD_LAYERS.slice(0, 2);
  original = await filesOf({
    hazard: "riverine_floods",
    grid: GRID,
    groups: [{ scenario: "baseline", year: 1980, layers, cells }],
  });
});

async function filesOf(hazard: HazardFixture): Promise<Files> {
  return withTempFolder(async (folder) => {
    await makeAtlas(kernel, folder, [hazard]);
    const names = await readdir(folder);
    return new Map(
      await Promise.all(
        names.map(async (name): Promise<[string, Buffer]> => [name, await readFile(join(folder, name))]),
      ),
    );
  });
}

/** Blobs in memory. */
function blobsOf(files: Files): Blobs {
  return {
    description: "memory",
    sizeBytes: (name) => Promise.resolve(files.get(name)?.length),
    read: (name, { offset, sizeBytes }) =>
      Promise.resolve(Uint8Array.from(files.get(name)?.subarray(offset, offset + sizeBytes) ?? [])),
    close: () => Promise.resolve(),
  };
}

const openAt = (files: Files) => openPackedAtlas(kernel, blobsOf(files), { headerCacheBytes: 1 << 16 });

async function verify(files: Files): Promise<VerifyReport> {
  return verifyAtlas(await openAt(files), { blobs: blobsOf(files) });
}

/** The parts of the only pack, for a test to change. */
interface OpenPack {
  root: Buffer;
  header: Buffer;
  /** Of each layer, block by block. */
  maxima: Uint16Array;
  totals: Uint32Array;
  tiles: Buffer;
  /** SHA-256 that the catalog states for .tiles, by default that of its bytes. */
  tilesHash?: string;
}

/**
 * Returns the atlas with a change and all checksums above it corrected, so that only semantic checks can find the
 * change.
 */
async function withChange(change: (pack: OpenPack) => void): Promise<Files> {
  const catalog = await decodeCatalog(original.get(CATALOG_NAME) ?? Buffer.alloc(0));
  const entry = catalog.hazards[0]?.packs[0];
  if (entry === undefined) throw new Error("no pack");
  const fileOf = ({ name }: FileEntry): Buffer => Buffer.from(original.get(name) ?? []);
  const [root, pyramid, tiles] = [fileOf(entry.files.root), fileOf(entry.files.pyramid), fileOf(entry.files.tiles)];
  const [stored] = readPackByFormat({ root, pyramid, tiles });
  const { header, maxima, totals } = stored?.content ?? {};
  if (header === undefined || maxima?.[0] === undefined || totals?.[0] === undefined) throw new Error("nothing stored");
  const pack: OpenPack = {
    root,
    header: Buffer.from(header),
    maxima: maxima[0].items,
    totals: totals[0].items,
    tiles,
  };
  change(pack);

  const sections = [pack.maxima, pack.totals].map((items) => deflateRawSync(Buffer.from(items.buffer)));
  const headerTable = new FlatTable(pack.header);
  for (const [i, [sizes, checksums]] of [
    [HEADER_FIELDS.maximaSizes, HEADER_FIELDS.maximaChecksums] as const,
    [HEADER_FIELDS.totalsSizes, HEADER_FIELDS.totalsChecksums] as const,
  ].entries()) {
    pack.header.writeUInt32LE(sections[i]?.length ?? 0, headerTable.vector(sizes).position);
    pack.header.writeUInt32LE(crc32ByZlib(sections[i] ?? Buffer.alloc(0)), headerTable.vector(checksums).position);
  }
  const rootChecksums = new FlatTable(pack.root).vector(ROOT_FIELDS.headerChecksums);
  pack.root.writeUInt32LE(crc32ByZlib(pack.header), rootChecksums.position);
  const bytes = { root: pack.root, pyramid: Buffer.concat([pack.header, ...sections]), tiles: pack.tiles };
  const files: Record<string, FileEntry> = {};
  for (const part of ["root", "pyramid", "tiles"] as const) {
    const hash = createHash("sha256").update(bytes[part]).digest("hex");
    const sha256 = part === "tiles" ? (pack.tilesHash ?? hash) : hash;
    files[part] = { name: entry.files[part].name, size_bytes: bytes[part].length, sha256 };
  }
  const { sha256: _, ...withoutHash } = catalog;
  const [hazard] = catalog.hazards;
  const packs = [{ ...entry, files: files as typeof entry.files }];
  const encoded = await encodeCatalog({
    ...withoutHash,
    hazards: hazard === undefined ? [] : [{ ...hazard, packs }],
  });
  return new Map([
    [CATALOG_NAME, Buffer.from(encoded)],
    ...(["root", "pyramid", "tiles"] as const).map((part): [string, Buffer] => [entry.files[part].name, bytes[part]]),
  ]);
}

const positionIn = (bytes: Buffer, field: number): number => new FlatTable(bytes).vector(field).position;

describe("verification", () => {
  test("finds no problems in an atlas that was decoded and encoded again", async () => {
    expect((await verify(original)).problems).toEqual([]);
    const again = await verify(await withChange(() => undefined));
    expect(again).toMatchObject({ files: 3, tiles: 8, problems: [] });
  });

  const increment = (items: Uint16Array | Uint32Array, index: number): void => {
    items[index] = (items[index] ?? 0) + 1;
  };
  const cases: readonly [what: string, change: (pack: OpenPack) => void, line: RegExp][] = [
    [
      "one row total",
      ({ totals }) => increment(totals, (70 * 8 + 2) * 2 + 1),
      /: pyramid tile row 0, column 0: group 0: the row totals do not match the cells\.$/,
    ],
    [
      "a row total beyond the grid",
      ({ totals }) => increment(totals, totals.length - 1),
      /group 0: the row totals do not match the cells\.$/,
    ],
    [
      "one block maximum",
      ({ maxima }) => increment(maxima, (5 * 64 + 9) * 2),
      /: pyramid tile row 0, column 0: group 0: the block maxima do not match the cells\.$/,
    ],
    [
      "the bounds of all tiles in a header",
      ({ header }) =>
        header.fill(0, positionIn(header, HEADER_FIELDS.bounds), positionIn(header, HEADER_FIELDS.bounds) + 256),
      /: tile row 0, column 0, group 0: the bounds in the header do not match the cells\.$/,
    ],
    [
      "the bound of one tile in a header",
      ({ header }) => header.writeUInt16LE(65_534, positionIn(header, HEADER_FIELDS.bounds) + (17 * 2 + 1) * 2),
      /: tile row 2, column 1, group 0: the bounds in the header do not match the cells\.$/,
    ],
    [
      "a bound in the root",
      ({ root }) => root.writeUInt16LE(3, positionIn(root, ROOT_FIELDS.bounds) + 2),
      /: pyramid tile row 0, column 0: the bounds in the root do not match the cells\.$/,
    ],
    [
      "a state that hides cells",
      ({ header }) => header.writeUInt8(1, positionIn(header, HEADER_FIELDS.states) + 2),
      /group 0: the block maxima do not match the cells\.$/,
    ],
    [
      "a state that marks a dry tile as missing",
      ({ header }) => header.writeUInt8(2, positionIn(header, HEADER_FIELDS.states) + MIDDLE),
      /group 0: the block maxima do not match the cells\.$/,
    ],
    [
      "a dry tile that is stored",
      (pack) => {
        const stored = deflateRawSync(Buffer.alloc(64 * 64 * 2 * 2));
        const { header } = pack;
        header.writeUInt8(0, positionIn(header, HEADER_FIELDS.states) + MIDDLE);
        header.writeBigUInt64LE(BigInt(pack.tiles.length), positionIn(header, HEADER_FIELDS.offsets) + MIDDLE * 8);
        header.writeUInt32LE(stored.length, positionIn(header, HEADER_FIELDS.sizes) + MIDDLE * 4);
        header.writeUInt32LE(crc32ByZlib(stored), positionIn(header, HEADER_FIELDS.checksums) + MIDDLE * 4);
        pack.tiles = Buffer.concat([pack.tiles, stored]);
      },
      /: tile row 1, column 1, group 0: its state is "cells", but its cells differ\.$/,
    ],
    [
      "the hash of a file",
      (pack) => (pack.tilesHash = "0".repeat(64)),
      /^riverine_floods-[0-9a-f]{16}\.tiles: its SHA-256 differs from that in the catalog\.$/,
    ],
    [
      "a state without a meaning",
      ({ header }) => header.writeUInt8(9, positionIn(header, HEADER_FIELDS.states) + 2),
      /\.pyramid: the header of pyramid tile row 0, column 0 has the unknown state 9 for tile row 0, column 2\.$/,
    ],
  ];
  test.each(cases)("finds a change to %s despite correct checksums", async (_, change, line) => {
    const { problems } = await verify(await withChange(change));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(line);
  });
});

describe("opening and reading", () => {
  test("rejects an undefined state in the root", async () => {
    const files = await withChange(({ root }) => root.writeUInt8(7, positionIn(root, ROOT_FIELDS.states)));
    await expect(openAt(files)).rejects.toThrow(/\.root: it does not match the grid and the groups/);
  });

  test("rejects a grid beyond the pole despite a correct checksum, naming the hazard", async () => {
    const { sha256: _, ...catalog } = await decodeCatalog(original.get(CATALOG_NAME) ?? Buffer.alloc(0));
    const withNorth = (north_deg: number) =>
      encodeCatalog({
        ...catalog,
        hazards: catalog.hazards.map((hazard) => ({ ...hazard, grid: { ...hazard.grid, north_deg } })),
      });
    await expect(decodeCatalog(await withNorth(90.006), "data/atlas")).rejects.toThrow(
      /^data\/atlas\/atlas\.json: hazard riverine_floods: the centers of all rows must be between the poles \(got 90\.00/,
    );
    expect((await decodeCatalog(await withNorth(90.005))).hazards[0]?.grid.north_deg).toBe(90.005);
  });

  test("rejects a header with any one byte changed, naming its file", async () => {
    const name = [...original.keys()].find((file) => file.endsWith(".pyramid")) ?? "";
    const good = original.get(name) ?? Buffer.alloc(0);
    const tile = { group: 0, tileRow: 0, tileColumn: 0 };
    const headerBytes = readPackByFormat({
      root: original.get(name.replace("pyramid", "root")) ?? good,
      pyramid: good,
      tiles: Buffer.alloc(1 << 20),
    })[0]?.content?.header.length;
    expect(headerBytes).toBeGreaterThan(1000);
    const files = new Map(original);
    const atlas = await openAt(files);
    const accepted: number[] = [];
    for (let index = 0; index < (headerBytes ?? 0); index++) {
      const bad = Buffer.from(good);
      bad[index] = (bad[index] ?? 0) ^ 0x10;
      files.set(name, bad);
      const error: unknown = await atlas.packs[0]?.source.resolve([tile]).catch((reason: unknown) => reason);
      if (!isFault(error, "atlas_unavailable") || !error.message.includes(`${name}: the header`)) accepted.push(index);
    }
    expect(accepted).toEqual([]);
    files.set(name, good);
    expect(await atlas.packs[0]?.source.resolve([tile])).toEqual(["cells"]);
  });

  test("rejects a header stored at the position of another header despite correct checksums", async () => {
    const grid = { ...GRID, rowCount: 10, columnCount: 600 };
    const layers = FLOOD_LAYERS.slice(0, 1);
    const cells = Uint16Array.from({ length: 6000 }, (_, i) => (i * 7919) % 60_000);
    const groups = [{ scenario: "baseline", year: 1980, layers, cells }];
    const files = new Map(await filesOf({ hazard: "coastal_floods", grid, groups }));
    const name = [...files.keys()].find((file) => file.endsWith(".root")) ?? "";
    const root = Buffer.from(files.get(name) ?? []);
    for (const [field, bytes] of [
      [ROOT_FIELDS.offsets, 8],
      [ROOT_FIELDS.headerSizes, 4],
      [ROOT_FIELDS.headerChecksums, 4],
    ] as const) {
      const { position, count } = new FlatTable(root).vector(field);
      expect(count).toBe(2);
      const first = Buffer.from(root.subarray(position, position + bytes));
      root.copyWithin(position, position + bytes, position + 2 * bytes);
      first.copy(root, position + bytes);
    }
    files.set(name, root);
    const { sha256: _, ...catalog } = await decodeCatalog(files.get(CATALOG_NAME) ?? Buffer.alloc(0));
    for (const pack of catalog.hazards.flatMap(({ packs }) => packs)) {
      pack.files.root.sha256 = createHash("sha256").update(root).digest("hex");
    }
    files.set(CATALOG_NAME, Buffer.from(await encodeCatalog(catalog)));
    const atlas = await openAt(files);
    await expect(atlas.packs[0]?.source.resolve([{ group: 0, tileRow: 0, tileColumn: 9 }])).rejects.toThrow(
      /\.pyramid: the header of pyramid tile row 0, column 1 belongs to row 0, column 0\.$/,
    );
  });
});
