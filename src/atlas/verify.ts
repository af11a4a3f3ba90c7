import { createHash } from "node:crypto";
import { isFault } from "../errors.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import { type Blobs, damagedFile } from "./blobs.ts";
import type { FileEntry } from "./catalog.ts";
import type { PackedAtlas } from "./packedAtlas.ts";
import type { TileRequest } from "./cellSource.ts";
import type { PackSource } from "./packSource.ts";
import {
  CONSTANT_STEPS,
  extentOf,
  largestBounds,
  PYRAMID_SIZE,
  PyramidSections,
  tileStateOf,
  tilingOf,
} from "./tile.ts";

/** Size of one read while a file is hashed. */
const READ_BYTES = 8 << 20;
/** Maximum number of problems in a report. */
const PROBLEM_COUNT_MAX = 100;

/** Result of a verification. */
export interface VerifyReport {
  readonly files: number;
  readonly bytes: number;
  /** Number of decoded groups of tiles. */
  readonly tiles: number;
  /** Problems, each naming file and tile; empty if the atlas is intact. */
  readonly problems: readonly string[];
}

/**
 * Verifies every byte of an open atlas: hashes each file, decodes each tile and recomputes the pyramid from it.
 * Continues after a problem, so that one run reports up to 100 problems.
 */
export async function verifyAtlas(
  atlas: PackedAtlas,
  { blobs, onProgress }: { readonly blobs: Blobs; readonly onProgress?: (bytesDone: number, bytes: number) => void },
): Promise<VerifyReport> {
  const problems: string[] = [];
  const files = atlas.catalog.hazards.flatMap(({ packs }) => packs.flatMap((pack) => Object.values(pack.files)));
  const bytes = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  let bytesDone = 0;
  for (const file of files) {
    await collectProblem(problems, async () => {
      const hash = await hashOf(blobs, file, (readBytes) => onProgress?.((bytesDone += readBytes), bytes));
      if (hash !== file.sha256) throw damagedFile(file.name, "its SHA-256 differs from that in the catalog");
    });
  }
  let tiles = 0;
  for (const { id, source } of atlas.packs) tiles += await verifyPack({ id, source, problems });
  return { files: files.length, bytes, tiles, problems };
}

async function verifyPack({
  id,
  source,
  problems,
}: {
  readonly id: string;
  readonly source: PackSource;
  readonly problems: string[];
}): Promise<number> {
  const tiling = tilingOf(source.grid);
  let tiles = 0;
  for (let row = 0; row < tiling.pyramidRowCount; row++) {
    for (let column = 0; column < tiling.pyramidColumnCount; column++) {
      if (problems.length >= PROBLEM_COUNT_MAX) return tiles;
      await collectProblem(problems, async () => {
        tiles += await verifyPyramidTile(source, { id, row, column });
      });
    }
  }
  return tiles;
}

async function verifyPyramidTile(
  source: PackSource,
  pyramidTile: { readonly id: string; readonly row: number; readonly column: number },
): Promise<number> {
  const tiling = tilingOf(source.grid);
  const recomputed = source.groups.map(({ layers }) => new PyramidSections(layers.length));
  /** Recomputed level-64 bounds of each tile, group by group. */
  const bounds: { readonly request: TileRequest; readonly expected: Uint16Array }[] = [];
  let tiles = 0;
  for (let i = 0; i < PYRAMID_SIZE * PYRAMID_SIZE; i++) {
    const position = { row: Math.floor(i / PYRAMID_SIZE), column: i % PYRAMID_SIZE };
    const tileRow = pyramidTile.row * PYRAMID_SIZE + position.row;
    const tileColumn = pyramidTile.column * PYRAMID_SIZE + position.column;
    if (tileRow >= tiling.tileRowCount || tileColumn >= tiling.tileColumnCount) continue;
    const requests = source.groups.map((_, group) => ({ group, tileRow, tileColumn }));
    const states = await source.resolve(requests);
    for (const request of requests) {
      const { group } = request;
      const layerCount = source.groups[group]?.layers.length ?? 0;
      const state = states[group] ?? "outside";
      const name = `${pyramidTile.id}: tile row ${tileRow}, column ${tileColumn}, group ${group}`;
      let cells: Uint16Array = new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount);
      if (state === "cells") {
        [cells = cells] = await source.load([request]);
        tiles += 1;
      } else {
        cells.fill(CONSTANT_STEPS[state]);
      }
      const extent = extentOf(source.grid, request);
      if (tileStateOf(cells, layerCount, extent) !== state)
        throw damagedFile(name, `its state is "${state}", but its cells differ`);
      const padded = state === "cells" ? cells : padBeyondGrid(cells, layerCount, extent);
      bounds.push({ request, expected: (recomputed[group] as PyramidSections).put(padded, position) });
    }
  }
  const stored = await source.readPyramid(pyramidTile);
  const name = `${pyramidTile.id}: pyramid tile row ${pyramidTile.row}, column ${pyramidTile.column}`;
  for (const [group, section] of recomputed.entries()) {
    const storedSection = stored?.[group];
    if (storedSection === undefined) continue;
    if (!isEqual(storedSection.maxima, section.maxima))
      throw damagedFile(name, `group ${group}: the block maxima do not match the cells`);
    if (!isEqual(storedSection.totals, section.totals))
      throw damagedFile(name, `group ${group}: the row totals do not match the cells`);
  }
  if (stored !== undefined) {
    for (const { request, expected } of bounds) {
      if (isEqual(await source.readBounds(request), expected)) continue;
      const tile = `tile row ${request.tileRow}, column ${request.tileColumn}, group ${request.group}`;
      throw damagedFile(name, `${tile}: the bounds in the header do not match the cells`);
    }
  }
  const rootBounds = source.groups.flatMap(({ layers }, group) => {
    const groupBounds = bounds.filter(({ request }) => request.group === group);
    return [...largestBounds(Uint16Array.from(groupBounds.flatMap((tile) => [...tile.expected])), layers.length)];
  });
  if (!isEqual(source.rootBounds(pyramidTile), rootBounds))
    throw damagedFile(name, "the bounds in the root do not match the cells");
  return tiles;
}

/** Sets the cells of a constant tile that are beyond the grid to outside, as the writer does. */
function padBeyondGrid(
  cells: Uint16Array,
  layerCount: number,
  extent: { readonly rows: number; readonly columns: number },
): Uint16Array {
  for (let index = 0; index < cells.length; index++) {
    const cell = Math.floor(index / layerCount);
    if (cell % TILE_SIZE >= extent.columns || cell / TILE_SIZE >= extent.rows) cells[index] = CONSTANT_STEPS.outside;
  }
  return cells;
}

function isEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

async function hashOf(blobs: Blobs, file: FileEntry, onBytes: (readBytes: number) => void): Promise<string> {
  const hash = createHash("sha256");
  for (let offset = 0; offset < file.size_bytes; offset += READ_BYTES) {
    const sizeBytes = Math.min(READ_BYTES, file.size_bytes - offset);
    hash.update(await blobs.read(file.name, { offset, sizeBytes }));
    onBytes(sizeBytes);
  }
  return hash.digest("hex");
}

/** Runs one check and adds the damage that it reports to the problems. */
async function collectProblem(problems: string[], check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!isFault(error, "atlas_unavailable")) throw error;
    if (problems.length < PROBLEM_COUNT_MAX && !problems.includes(error.message)) problems.push(error.message);
  }
}
