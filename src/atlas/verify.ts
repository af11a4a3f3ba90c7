import { createHash } from "node:crypto";
import { Fault, isFault } from "../errors.ts";
import { TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { Blobs } from "./blobs.ts";
import type { FileEntry } from "./catalog.ts";
import type { PackedAtlas } from "./packedAtlas.ts";
import type { TileRequest } from "./cellSource.ts";
import type { PackSource } from "./packSource.ts";
import { CONSTANT_STEPS, extentOf, largestBounds, PYRAMID_SIZE, PyramidSections, stateOf, tilingOf } from "./tile.ts";

const PIECE_BYTES = 8 << 20;
/** A list of damages longer than this helps nobody. */
const PROBLEM_COUNT_MAX = 100;

/** What a verification found. */
export interface VerifyReport {
  readonly files: number;
  readonly bytes: number;
  /** Groups of tiles that were decoded. */
  readonly tiles: number;
  /** What is wrong, each naming file and place; empty when all is well. */
  readonly problems: readonly string[];
}

/**
 * Reads every byte of an open atlas: hashes each file, decodes each tile and recomputes the pyramid from it.
 * Goes on after a damage, so that one run lists them all (up to 100).
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
    await noting(problems, async () => {
      const hash = await hashOf(blobs, file, (more) => onProgress?.((bytesDone += more), bytes));
      if (hash !== file.sha256) throw damaged(file.name, "its SHA-256 is not the catalog's");
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
      await noting(problems, async () => {
        tiles += await verifyPyramidTile(source, { id, row, column });
      });
    }
  }
  return tiles;
}

async function verifyPyramidTile(
  source: PackSource,
  at: { readonly id: string; readonly row: number; readonly column: number },
): Promise<number> {
  const tiling = tilingOf(source.grid);
  const made = source.groups.map(({ layers }) => new PyramidSections(layers.length));
  /** Of each tile, group by group. */
  const bounds: { readonly request: TileRequest; readonly made: Uint16Array }[] = [];
  let tiles = 0;
  for (let i = 0; i < PYRAMID_SIZE * PYRAMID_SIZE; i++) {
    const place = { row: Math.floor(i / PYRAMID_SIZE), column: i % PYRAMID_SIZE };
    const tileRow = at.row * PYRAMID_SIZE + place.row;
    const tileColumn = at.column * PYRAMID_SIZE + place.column;
    if (tileRow >= tiling.tileRowCount || tileColumn >= tiling.tileColumnCount) continue;
    const requests = source.groups.map((_, group) => ({ group, tileRow, tileColumn }));
    const states = await source.resolve(requests);
    for (const request of requests) {
      const { group } = request;
      const layerCount = source.groups[group]?.layers.length ?? 0;
      const state = states[group] ?? "outside";
      const name = `${at.id}: tile row ${tileRow}, column ${tileColumn}, group ${group}`;
      let cells: Uint16Array = new Uint16Array(TILE_SIZE * TILE_SIZE * layerCount);
      if (state === "cells") {
        [cells = cells] = await source.load([request]);
        tiles += 1;
      } else {
        cells.fill(CONSTANT_STEPS[state]);
      }
      const extent = extentOf(source.grid, request);
      if (stateOf(cells, layerCount, extent) !== state) throw damaged(name, `its cells are not "${state}"`);
      const held = state === "cells" ? cells : withinExtent(cells, layerCount, extent);
      bounds.push({ request, made: (made[group] as PyramidSections).put(held, place) });
    }
  }
  const stored = await source.readPyramid(at);
  const name = `${at.id}: pyramid tile row ${at.row}, column ${at.column}`;
  for (const [group, section] of made.entries()) {
    const found = stored?.[group];
    if (found === undefined) continue;
    if (!isEqual(found.maxima, section.maxima))
      throw damaged(name, `group ${group}: the block maxima are not those of the cells`);
    if (!isEqual(found.totals, section.totals))
      throw damaged(name, `group ${group}: the row totals are not those of the cells`);
  }
  if (stored !== undefined) {
    for (const { request, made: expected } of bounds) {
      if (isEqual(await source.readBounds(request), expected)) continue;
      const tile = `tile row ${request.tileRow}, column ${request.tileColumn}, group ${request.group}`;
      throw damaged(name, `${tile}: the bounds in the header are not those of the cells`);
    }
  }
  const largest = source.groups.flatMap(({ layers }, group) => {
    const own = bounds.filter(({ request }) => request.group === group);
    return [...largestBounds(Uint16Array.from(own.flatMap((tile) => [...tile.made])), layers.length)];
  });
  if (!isEqual(source.rootBounds(at), largest))
    throw damaged(name, "the bounds in the root are not those of the cells");
  return tiles;
}

/** A constant tile as the writer saw it: outside beyond the grid. */
function withinExtent(
  cells: Uint16Array,
  layerCount: number,
  extent: { readonly rows: number; readonly columns: number },
): Uint16Array {
  for (let at = 0; at < cells.length; at++) {
    const cell = Math.floor(at / layerCount);
    if (cell % TILE_SIZE >= extent.columns || cell / TILE_SIZE >= extent.rows) cells[at] = CONSTANT_STEPS.outside;
  }
  return cells;
}

function isEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

async function hashOf(blobs: Blobs, file: FileEntry, onBytes: (more: number) => void): Promise<string> {
  const hash = createHash("sha256");
  for (let offset = 0; offset < file.size_bytes; offset += PIECE_BYTES) {
    const sizeBytes = Math.min(PIECE_BYTES, file.size_bytes - offset);
    hash.update(await blobs.read(file.name, { offset, sizeBytes }));
    onBytes(sizeBytes);
  }
  return hash.digest("hex");
}

/** Runs one check; what it finds damaged becomes a line of the report. */
async function noting(problems: string[], check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!isFault(error, "atlas_unavailable")) throw error;
    if (problems.length < PROBLEM_COUNT_MAX && !problems.includes(error.message)) problems.push(error.message);
  }
}

function damaged(name: string, why: string): Fault {
  return new Fault("atlas_unavailable", `${name}: ${why}.`);
}
