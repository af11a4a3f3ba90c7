import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { deflateRaw } from "node:zlib";
import { Builder } from "flatbuffers";
import { Fault, isFault } from "../errors.ts";
import { crc32 } from "../kernel/checksum.ts";
import type { Grid } from "../kernel/grid.ts";
import type { Kernel } from "../kernel/instance.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import {
  CATALOGUE_NAME,
  type Catalogue,
  decodeCatalogue,
  encodeCatalogue,
  type FileEntry,
  FORMAT_VERSION,
  type GroupEntry,
  gridFault,
  type PackEntry,
} from "./catalogue.ts";
import { PackRoot } from "./generated/pack-root.ts";
import { PyramidTile } from "./generated/pyramid-tile.ts";
import { PYRAMID_IDENTIFIER, ROOT_IDENTIFIER } from "./packSource.ts";
import {
  type Band,
  cutTile,
  extentOf,
  largestBounds,
  PYRAMID_SIZE,
  PyramidSections,
  stateOf,
  STORED_STATES,
  tilingOf,
} from "./tile.ts";

const deflate = promisify(deflateRaw);
/** The work folder's prefix; readers never look into it. */
const WORK_PREFIX = ".writing-";
const TILES_PER_PYRAMID_TILE = PYRAMID_SIZE * PYRAMID_SIZE;

/** What a pack is made from. */
export interface PackInput {
  readonly hazard: string;
  readonly grid: Grid;
  readonly groups: readonly Pick<GroupEntry, "scenario" | "year" | "layers">[];
  /**
   * The cells of one row of tiles (64 rows, fewer at the grid's south edge): for each group
   * u16[rowCount][columnCount][layerCount]. Asked north to south, each once.
   */
  readBand(band: Band): Promise<readonly Uint16Array[]>;
  /** Names the inputs: an interrupted write with the same key goes on where it stopped. */
  readonly resumeKey: string;
  /** What the reader of bands must remember across an interruption, as JSON. */
  readonly checkpoint?: { save(): unknown; restore(state: unknown): void };
  /** Stops the work between two bands, with the signal's reason; it can go on later. */
  readonly signal?: AbortSignal;
  /** Rows done, of all. */
  readonly onProgress?: (rowsDone: number, rowCount: number) => void;
}

/**
 * Writes a pack into an atlas folder: work files first, synced, renamed to names that their content gives.
 * No reader sees it until `publish` names it. Memory: one row of tiles as cells, eight compressed.
 * Two writers of one folder would append to the same files: keep them apart by `withWriteLock`.
 */
export async function writePack(
  kernel: Kernel,
  folder: string,
  input: PackInput,
): Promise<Pick<PackEntry, "id" | "files">> {
  const why = gridFault(input.grid);
  if (why !== undefined) throw new Fault("source_invalid", `The grid of ${input.hazard} cannot be: ${why}`);
  const key = createHash("sha256")
    .update(JSON.stringify([FORMAT_VERSION, input.resumeKey, input.hazard, input.grid, input.groups]))
    .digest("hex");
  const workFolder = join(folder, WORK_PREFIX + key.slice(0, 16));
  await mkdir(workFolder, { recursive: true });
  const work = await PackWork.open(workFolder, input);
  try {
    const { pyramidRowCount } = tilingOf(input.grid);
    for (let pyramidRow = work.journal.pyramidRowsDone; pyramidRow < pyramidRowCount; pyramidRow++) {
      input.onProgress?.(pyramidRow * PYRAMID_SIZE * TILE_SIZE, input.grid.rowCount);
      await writePyramidRow(kernel, work, input, pyramidRow);
      await work.commit({ ...work.journal, pyramidRowsDone: pyramidRow + 1, checkpoint: input.checkpoint?.save() });
    }
    input.onProgress?.(input.grid.rowCount, input.grid.rowCount);
  } catch (error) {
    // An input that is refused will be refused again: only what was interrupted can go on.
    if (isFault(error) && input.signal?.aborted !== true) await rm(workFolder, { recursive: true, force: true });
    throw error;
  } finally {
    await work.close();
  }

  const root = encodeRoot(input, work.journal);
  await writeSynced(join(workFolder, "root"), root);
  const id = `${input.hazard}-${createHash("sha256").update(root).digest("hex").slice(0, 16)}`;
  const files = { root: "root", pyramid: "pyramid", tiles: "tiles" } as const;
  const entries: Record<string, FileEntry> = {};
  for (const part of Object.values(files)) {
    const from = join(workFolder, part);
    const name = `${id}.${part}`;
    entries[part] = { name, size_bytes: (await stat(from)).size, sha256: await hashOfFile(from) };
  }
  for (const part of Object.values(files)) await rename(join(workFolder, part), join(folder, `${id}.${part}`));
  await syncFolder(folder);
  await rm(workFolder, { recursive: true, force: true });
  return { id, files: entries as PackEntry["files"] };
}

/**
 * Switches the catalogue of an atlas folder: what `change` makes of the current one (undefined where there is
 * none) replaces it in one step. A reader sees the old atlas or the new one. Of two that publish at the same time one
 * would be lost: keep them apart by `withWriteLock`.
 * @throws Fault `atlas_unavailable` when the current catalogue is damaged: it is left as it is
 */
export async function publish(
  folder: string,
  change: (current: Catalogue | undefined) => Omit<Catalogue, "sha256">,
): Promise<Catalogue> {
  await mkdir(folder, { recursive: true });
  const bytes = await encodeCatalogue(change(await readCatalogue(folder)));
  const catalogue = await decodeCatalogue(bytes); // never publish what we would refuse to read
  const aside = join(folder, `.${CATALOGUE_NAME}.${randomUUID()}`);
  try {
    await writeSynced(aside, bytes);
    await rename(aside, join(folder, CATALOGUE_NAME));
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
  await syncFolder(folder);
  return catalogue;
}

/** The catalogue of an atlas folder. @returns undefined where there is none */
export async function readCatalogue(folder: string): Promise<Catalogue | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(join(folder, CATALOGUE_NAME));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return decodeCatalogue(bytes, folder);
}

/** What the root will say of one pyramid tile. */
interface RootRow {
  readonly state: number;
  readonly offset: number;
  readonly headerSize: number;
  readonly headerChecksum: number;
  readonly bounds: readonly number[];
}

/** How far a pack has come. */
interface Journal {
  readonly pyramidRowsDone: number;
  readonly tilesSize: number;
  readonly pyramidSize: number;
  readonly rows: RootRow[];
  readonly checkpoint: unknown;
}

const JOURNAL_NAME = "journal.json";
const NOTHING_DONE = { pyramidRowsDone: 0, tilesSize: 0, pyramidSize: 0, checkpoint: undefined } as const;

/** The two growing files of a pack, with a journal of how far they are known to be good. */
class PackWork {
  journal: Journal;
  readonly #folder: string;
  readonly #tiles: GrowingFile;
  readonly #pyramid: GrowingFile;

  private constructor(folder: string, files: { tiles: GrowingFile; pyramid: GrowingFile }, journal: Journal) {
    this.#folder = folder;
    this.#tiles = files.tiles;
    this.#pyramid = files.pyramid;
    this.journal = journal;
  }

  static async open(folder: string, { checkpoint }: Pick<PackInput, "checkpoint">): Promise<PackWork> {
    const tiles = await GrowingFile.open(join(folder, "tiles"));
    let pyramid: GrowingFile | undefined;
    try {
      pyramid = await GrowingFile.open(join(folder, "pyramid"));
      let journal = await readJournal(folder);
      // A file that is shorter than it is said to be has gone to its final name already, when the writer was stopped
      // between two of its last steps. What is left proves nothing of the bytes: all is made again.
      if ((await tiles.size()) < journal.tilesSize || (await pyramid.size()) < journal.pyramidSize) {
        await rm(join(folder, JOURNAL_NAME));
        await syncFolder(folder);
        journal = { ...NOTHING_DONE, rows: [] };
      }
      await tiles.truncate(journal.tilesSize);
      await pyramid.truncate(journal.pyramidSize);
      if (journal.checkpoint !== undefined) checkpoint?.restore(journal.checkpoint);
      return new PackWork(folder, { tiles, pyramid }, journal);
    } catch (error) {
      await tiles.close();
      await pyramid?.close();
      throw error;
    }
  }

  /** @returns where the bytes begin */
  async appendTiles(bytes: Uint8Array): Promise<number> {
    const at = this.journal.tilesSize;
    await this.#tiles.append(bytes);
    this.journal = { ...this.journal, tilesSize: at + bytes.length };
    return at;
  }

  async appendPyramid(bytes: Uint8Array): Promise<number> {
    const at = this.journal.pyramidSize;
    await this.#pyramid.append(bytes);
    this.journal = { ...this.journal, pyramidSize: at + bytes.length };
    return at;
  }

  addRow(row: RootRow): void {
    this.journal.rows.push(row);
  }

  async commit(journal: Journal): Promise<void> {
    await this.#tiles.sync();
    await this.#pyramid.sync();
    const aside = join(this.#folder, `${JOURNAL_NAME}.aside`);
    await writeSynced(aside, new TextEncoder().encode(JSON.stringify(journal)));
    await rename(aside, join(this.#folder, JOURNAL_NAME));
    this.journal = journal;
  }

  async close(): Promise<void> {
    await this.#tiles.close();
    await this.#pyramid.close();
  }
}

/** @returns nothing done where there is no journal, or none that can be read */
async function readJournal(folder: string): Promise<Journal> {
  let text: string;
  try {
    text = await readFile(join(folder, JOURNAL_NAME), "utf8");
  } catch (error) {
    if (isMissing(error)) return { ...NOTHING_DONE, rows: [] };
    throw error;
  }
  try {
    return JSON.parse(text) as Journal;
  } catch {
    return { ...NOTHING_DONE, rows: [] };
  }
}

/** A file that is written at its end. Its errors name it: those of an open file would not. */
class GrowingFile {
  readonly #path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  static async open(path: string): Promise<GrowingFile> {
    return new GrowingFile(path, await open(path, "a+"));
  }

  async size(): Promise<number> {
    return (await naming(this.#path, this.#handle.stat())).size;
  }

  append(bytes: Uint8Array): Promise<void> {
    return naming(this.#path, this.#handle.appendFile(bytes));
  }

  truncate(sizeBytes: number): Promise<void> {
    return naming(this.#path, this.#handle.truncate(sizeBytes));
  }

  sync(): Promise<void> {
    return naming(this.#path, this.#handle.sync());
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** A tile's groups as they will be stored. */
interface PackedTile {
  readonly states: readonly number[];
  readonly parts: readonly Uint8Array[];
  readonly bounds: Uint16Array;
}

async function writePyramidRow(kernel: Kernel, work: PackWork, input: PackInput, pyramidRow: number): Promise<void> {
  const { grid, groups } = input;
  const tiling = tilingOf(grid);
  const firstTileRow = pyramidRow * PYRAMID_SIZE;
  const tileRows = Math.min(PYRAMID_SIZE, tiling.tileRowCount - firstTileRow);
  const sections = Array.from({ length: tiling.pyramidColumnCount }, () =>
    groups.map(({ layers }) => new PyramidSections(layers.length)),
  );
  const packed: PackedTile[][] = [];

  for (let tileRow = firstTileRow; tileRow < firstTileRow + tileRows; tileRow++) {
    input.signal?.throwIfAborted();
    const firstRow = tileRow * TILE_SIZE;
    const band = { firstRow, rowCount: Math.min(TILE_SIZE, grid.rowCount - firstRow) };
    const cells = await input.readBand(band);
    checkBand(cells, input, band);
    const row: Promise<PackedTile>[] = [];
    for (let tileColumn = 0; tileColumn < tiling.tileColumnCount; tileColumn++) {
      const tiles = groups.map(({ layers }, group) =>
        cutTile(cells[group] as Uint16Array, band, { grid, layerCount: layers.length, tileColumn }),
      );
      const place = { row: tileRow - firstTileRow, column: tileColumn % PYRAMID_SIZE };
      const parts = sections[Math.floor(tileColumn / PYRAMID_SIZE)] ?? [];
      const bounds = tiles.map((tile, group) => (parts[group] as PyramidSections).put(tile, place));
      const states = tiles.map((tile, group) =>
        stateOf(tile, groups[group]?.layers.length ?? 0, extentOf(grid, { tileRow, tileColumn })),
      );
      row.push(
        Promise.all(
          tiles.map(async (tile, group) => (states[group] === "cells" ? deflate(bytesOf(tile)) : new Uint8Array(0))),
        ).then((stored) => ({
          states: states.map((state) => STORED_STATES[state]),
          parts: stored,
          bounds: Uint16Array.from(bounds.flatMap((values) => [...values])),
        })),
      );
    }
    packed.push(await Promise.all(row));
  }

  for (let column = 0; column < tiling.pyramidColumnCount; column++) {
    const tiles = Array.from({ length: TILES_PER_PYRAMID_TILE }, (_, i) => {
      const tileColumn = column * PYRAMID_SIZE + (i % PYRAMID_SIZE);
      return packed[Math.floor(i / PYRAMID_SIZE)]?.[tileColumn];
    });
    work.addRow(await writePyramidTile(kernel, work, tiles, sections[column] ?? [], { row: pyramidRow, column }));
  }
}

async function writePyramidTile(
  kernel: Kernel,
  work: PackWork,
  tiles: readonly (PackedTile | undefined)[],
  sections: readonly PyramidSections[],
  at: { readonly row: number; readonly column: number },
): Promise<RootRow> {
  const groupCount = sections.length;
  const present = tiles.filter((tile) => tile !== undefined);
  const layerCount = present[0]?.bounds.length ?? 0;
  const bounds = [...largestBounds(Uint16Array.from(present.flatMap((tile) => [...tile.bounds])), layerCount)];
  const [first] = present.flatMap(({ states }) => states);
  if (first !== STORED_STATES.cells && present.every(({ states }) => states.every((state) => state === first))) {
    return { state: first ?? STORED_STATES.outside, offset: 0, headerSize: 0, headerChecksum: 0, bounds };
  }

  const offsets: bigint[] = [];
  const states: number[] = [];
  const sizes: number[] = [];
  const checksums: number[] = [];
  const levels: number[] = [];
  for (const tile of tiles) {
    const stored = concatenated(tile?.parts ?? []);
    offsets.push(BigInt(await work.appendTiles(stored)));
    for (let group = 0; group < groupCount; group++) {
      const part = tile?.parts[group] ?? new Uint8Array(0);
      states.push(tile?.states[group] ?? STORED_STATES.outside);
      sizes.push(part.length);
      checksums.push(part.length === 0 ? 0 : crc32(kernel, part));
    }
    levels.push(...(tile?.bounds ?? new Uint16Array(layerCount)));
  }
  const maxima = await Promise.all(sections.map((section) => deflate(bytesOf(section.maxima))));
  const totals = await Promise.all(sections.map((section) => deflate(bytesOf(section.totals))));

  const builder = new Builder(16_384);
  const vectors = {
    offsets: PyramidTile.createOffsetsVector(builder, offsets),
    states: PyramidTile.createStatesVector(builder, states),
    sizes: PyramidTile.createSizesVector(builder, sizes),
    checksums: PyramidTile.createChecksumsVector(builder, checksums),
    bounds: PyramidTile.createBoundsVector(builder, levels),
    maximaSizes: PyramidTile.createMaximaSizesVector(
      builder,
      maxima.map(({ length }) => length),
    ),
    maximaChecksums: PyramidTile.createMaximaChecksumsVector(
      builder,
      maxima.map((bytes) => crc32(kernel, bytes)),
    ),
    totalsSizes: PyramidTile.createTotalsSizesVector(
      builder,
      totals.map(({ length }) => length),
    ),
    totalsChecksums: PyramidTile.createTotalsChecksumsVector(
      builder,
      totals.map((bytes) => crc32(kernel, bytes)),
    ),
  };
  PyramidTile.startPyramidTile(builder);
  PyramidTile.addRow(builder, at.row);
  PyramidTile.addColumn(builder, at.column);
  PyramidTile.addOffsets(builder, vectors.offsets);
  PyramidTile.addStates(builder, vectors.states);
  PyramidTile.addSizes(builder, vectors.sizes);
  PyramidTile.addChecksums(builder, vectors.checksums);
  PyramidTile.addBounds(builder, vectors.bounds);
  PyramidTile.addMaximaSizes(builder, vectors.maximaSizes);
  PyramidTile.addMaximaChecksums(builder, vectors.maximaChecksums);
  PyramidTile.addTotalsSizes(builder, vectors.totalsSizes);
  PyramidTile.addTotalsChecksums(builder, vectors.totalsChecksums);
  builder.finish(PyramidTile.endPyramidTile(builder), PYRAMID_IDENTIFIER);
  const header = builder.asUint8Array();

  const offset = await work.appendPyramid(concatenated([header, ...maxima, ...totals]));
  return {
    state: STORED_STATES.cells,
    offset,
    headerSize: header.length,
    headerChecksum: crc32(kernel, header),
    bounds,
  };
}

function encodeRoot({ grid, groups }: PackInput, { rows }: Journal): Uint8Array {
  const tiling = tilingOf(grid);
  const builder = new Builder(65_536);
  const layerCounts = PackRoot.createLayerCountsVector(
    builder,
    groups.map(({ layers }) => layers.length),
  );
  const states = PackRoot.createStatesVector(
    builder,
    rows.map(({ state }) => state),
  );
  const offsets = PackRoot.createOffsetsVector(
    builder,
    rows.map(({ offset }) => BigInt(offset)),
  );
  const headerSizes = PackRoot.createHeaderSizesVector(
    builder,
    rows.map(({ headerSize }) => headerSize),
  );
  const checksums = PackRoot.createHeaderChecksumsVector(
    builder,
    rows.map(({ headerChecksum }) => headerChecksum),
  );
  const bounds = PackRoot.createBoundsVector(
    builder,
    rows.flatMap((row) => [...row.bounds]),
  );
  PackRoot.startPackRoot(builder);
  PackRoot.addTileRowCount(builder, tiling.tileRowCount);
  PackRoot.addTileColumnCount(builder, tiling.tileColumnCount);
  PackRoot.addLayerCounts(builder, layerCounts);
  PackRoot.addStates(builder, states);
  PackRoot.addOffsets(builder, offsets);
  PackRoot.addHeaderSizes(builder, headerSizes);
  PackRoot.addHeaderChecksums(builder, checksums);
  PackRoot.addBounds(builder, bounds);
  builder.finish(PackRoot.endPackRoot(builder), ROOT_IDENTIFIER);
  return builder.asUint8Array();
}

function checkBand(cells: readonly Uint16Array[], { groups, grid }: PackInput, band: Band): void {
  const wrong = groups.findIndex(
    ({ layers }, i) => cells[i]?.length !== band.rowCount * grid.columnCount * layers.length,
  );
  if (cells.length !== groups.length || wrong >= 0) {
    throw new RangeError(`The band at row ${band.firstRow} does not hold all cells of all ${groups.length} groups.`);
  }
}

function bytesOf(array: Uint16Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "w");
  try {
    await naming(path, writeFile(handle, bytes));
    await naming(path, handle.sync());
  } finally {
    await handle.close();
  }
}

/** Makes renames in the folder durable. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Adds the path to an error of the system that came without one. */
async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { syscall, path: known } = error as NodeJS.ErrnoException;
    if (error instanceof Error && syscall !== undefined && known === undefined) Object.assign(error, { path });
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest("hex");
}
