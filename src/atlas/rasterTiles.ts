/** Tiles of single layers for maps: cells, and maxima of blocks of cells from each level of the pyramid. */
import { BLOCK_SIZE, STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import type { FieldLayer } from "./cachedField.ts";
import type { Pyramid, PyramidRequest, TileRequest, TileState } from "./cellSource.ts";
import { CONSTANT_STEPS, PYRAMID_SIZE, tilingOf } from "./tile.ts";

/** Row and column of a tile. */
interface TilePosition {
  readonly row: number;
  readonly column: number;
}

/** One kind of tiles. */
export interface RasterTiles {
  /** Values along one edge of a tile. */
  readonly size: number;
  /** Tiles that are loaded together, which limits the memory of a read. */
  readonly loadCount: number;
  /** Returns u16[size][size] for each tile. */
  load(tiles: readonly TilePosition[], timeSlice: TimeSlice): Promise<readonly Uint16Array[]>;
}

/** Cells along one edge of the blocks of each stored level of the pyramid. */
const TILE_BLOCK_CELLS = TILE_SIZE;
const ROOT_BLOCK_CELLS = TILE_SIZE * PYRAMID_SIZE;
/** Blocks of 8 x 8 cells along one edge of a data tile and of a pyramid tile. */
const TILE_BLOCKS = TILE_SIZE / BLOCK_SIZE;
const PYRAMID_BLOCKS = TILE_BLOCKS * PYRAMID_SIZE;

/** Returns the tiles of cells of a layer: those of the grid. */
export function cellTiles({ source, group, layer }: FieldLayer): RasterTiles {
  return {
    size: TILE_SIZE,
    loadCount: 8,
    async load(tiles, timeSlice) {
      const requests = tiles.map(({ row, column }) => ({ group, tileRow: row, tileColumn: column }));
      const states = await source.resolve(requests);
      const stored = await source.load(
        requests.filter((_, i) => states[i] === "cells"),
        timeSlice,
      );
      const layerCount = source.groups[group]?.layers.length ?? 1;
      return fillTiles(states, stored, (cells) => everyNth(cells, layer, layerCount), TILE_SIZE);
    },
  };
}

/**
 * Returns the tiles of block maxima of a layer. A block without a value is STEPS_OUTSIDE if all its data tiles are
 * outside, otherwise STEPS_NODATA: the pyramid does not say more.
 *
 * @param blockSizeCells 8, 64, or 512 times a power of 8
 */
export function blockTiles(fieldLayer: FieldLayer, pyramid: Pyramid, blockSizeCells: number): RasterTiles {
  if (blockSizeCells === BLOCK_SIZE) return smallBlockTiles(fieldLayer, pyramid);
  if (blockSizeCells === TILE_BLOCK_CELLS) return tileBlockTiles(fieldLayer, pyramid);
  return rootBlockTiles(fieldLayer, pyramid, blockSizeCells / ROOT_BLOCK_CELLS);
}

/** Maxima of 8 x 8 cells, in pyramid tiles. */
function smallBlockTiles(fieldLayer: FieldLayer, pyramid: Pyramid): RasterTiles {
  const { source, group, layer } = fieldLayer;
  const layerCount = source.groups[group]?.layers.length ?? 1;
  return {
    size: PYRAMID_BLOCKS,
    loadCount: 8,
    async load(tiles, timeSlice) {
      const requests = tiles.map((tile) => pyramidRequest(group, tile));
      const states = pyramid.resolve(requests);
      const stored = await pyramid.loadBounds(
        requests.filter((_, i) => states[i] === "cells"),
        timeSlice,
      );
      const steps = fillTiles(states, stored, (bounds) => stepsOf(everyNth(bounds, layer, layerCount)), PYRAMID_BLOCKS);
      await markOutside(fieldLayer, tiles, steps, { blocksPerTile: TILE_BLOCKS });
      return steps;
    },
  };
}

/** Maxima of 64 x 64 cells, in pyramid tiles. */
function tileBlockTiles(fieldLayer: FieldLayer, pyramid: Pyramid): RasterTiles {
  const { source, group, layer } = fieldLayer;
  const layerCount = source.groups[group]?.layers.length ?? 1;
  return {
    size: PYRAMID_SIZE,
    loadCount: 32,
    async load(tiles) {
      const requests = tiles.map((tile) => pyramidRequest(group, tile));
      const states = pyramid.resolve(requests);
      const stored = await pyramid.loadTileBounds(requests.filter((_, i) => states[i] === "cells"));
      const steps = fillTiles(states, stored, (bounds) => stepsOf(everyNth(bounds, layer, layerCount)), PYRAMID_SIZE);
      await markOutside(fieldLayer, tiles, steps, { blocksPerTile: 1 });
      return steps;
    },
  };
}

/** Maxima of squares of pyramid tiles, from the root: one per tile. */
function rootBlockTiles(fieldLayer: FieldLayer, pyramid: Pyramid, pyramidTilesPerEdge: number): RasterTiles {
  const { source, group, layer } = fieldLayer;
  const { pyramidRowCount, pyramidColumnCount } = tilingOf(source.grid);
  return {
    size: 1,
    loadCount: 64,
    async load(tiles, timeSlice) {
      const maxima: Uint16Array[] = [];
      for (const tile of tiles) {
        const [firstRow, firstColumn] = [tile.row * pyramidTilesPerEdge, tile.column * pyramidTilesPerEdge];
        const inside: TilePosition[] = [];
        for (let row = firstRow; row < Math.min(firstRow + pyramidTilesPerEdge, pyramidRowCount); row++) {
          for (let column = firstColumn; column < firstColumn + pyramidTilesPerEdge; column++) {
            if (column < pyramidColumnCount) inside.push({ row, column });
          }
        }
        const bounds = inside.map((at) => pyramid.rootBounds(pyramidRequest(group, at))[layer] ?? 0);
        const bound = bounds.reduce((largest, some) => Math.max(largest, some), 0);
        const isOutside = bound === 0 && (await areOutside(fieldLayer, pyramid, inside));
        maxima.push(Uint16Array.of(bound > 0 ? bound - 1 : isOutside ? STEPS_OUTSIDE : STEPS_NODATA));
        await timeSlice.yield();
      }
      return maxima;
    },
  };
}

/** Returns whether all data tiles of pyramid tiles are outside. */
async function areOutside(
  { source, group }: FieldLayer,
  pyramid: Pyramid,
  pyramidTiles: readonly TilePosition[],
): Promise<boolean> {
  const states = pyramid.resolve(pyramidTiles.map((tile) => pyramidRequest(group, tile)));
  if (states.some((state) => state === "nodata" || state === "zero")) return false;
  const mixed = pyramidTiles.filter((_, i) => states[i] === "cells");
  const tiles = mixed.flatMap((tile) => dataTilesOf(source.grid, group, tile).map(({ request }) => request));
  return (await source.resolve(tiles)).every((state) => state === "outside");
}

/**
 * Sets blocks without values to STEPS_OUTSIDE if their data tile is outside.
 * @param steps of each pyramid tile, in which blocks without values are STEPS_NODATA
 * @param options.blocksPerTile blocks along one edge of a data tile
 */
async function markOutside(
  { source, group }: FieldLayer,
  pyramidTiles: readonly TilePosition[],
  steps: readonly Uint16Array[],
  { blocksPerTile }: { readonly blocksPerTile: number },
): Promise<void> {
  const incomplete = pyramidTiles
    .map((position, i) => ({ position, steps: steps[i] ?? new Uint16Array() }))
    .filter(({ steps: some }) => some.includes(STEPS_NODATA));
  const tiles = incomplete.flatMap(({ position, steps: some }) =>
    dataTilesOf(source.grid, group, position).map((tile) => ({ ...tile, steps: some })),
  );
  const states = await source.resolve(tiles.map(({ request }) => request));
  const width = blocksPerTile * PYRAMID_SIZE;
  for (const [i, tile] of tiles.entries()) {
    if (states[i] !== "outside") continue;
    for (let row = 0; row < blocksPerTile; row++) {
      const from = (tile.row * blocksPerTile + row) * width + tile.column * blocksPerTile;
      tile.steps.fill(STEPS_OUTSIDE, from, from + blocksPerTile);
    }
  }
}

/** Returns the data tiles of a pyramid tile that are within the grid, with their row and column in it. */
function dataTilesOf(
  grid: FieldLayer["source"]["grid"],
  group: number,
  pyramidTile: TilePosition,
): readonly (TilePosition & { readonly request: TileRequest })[] {
  const { tileRowCount, tileColumnCount } = tilingOf(grid);
  return Array.from({ length: PYRAMID_SIZE * PYRAMID_SIZE }, (_, i) => {
    const [row, column] = [Math.floor(i / PYRAMID_SIZE), i % PYRAMID_SIZE];
    const tileRow = pyramidTile.row * PYRAMID_SIZE + row;
    const tileColumn = pyramidTile.column * PYRAMID_SIZE + column;
    return { row, column, request: { group, tileRow, tileColumn } };
  }).filter(({ request }) => request.tileRow < tileRowCount && request.tileColumn < tileColumnCount);
}

function pyramidRequest(group: number, { row, column }: TilePosition): PyramidRequest {
  return { group, pyramidRow: row, pyramidColumn: column };
}

/** Returns the tiles in order: constant ones by their state, the others decoded from the stored ones. */
function fillTiles(
  states: readonly TileState[],
  stored: readonly Uint16Array[],
  decode: (stored: Uint16Array) => Uint16Array,
  size: number,
): readonly Uint16Array[] {
  let next = 0;
  return states.map((state) =>
    state === "cells"
      ? decode(stored[next++] ?? new Uint16Array())
      : new Uint16Array(size * size).fill(CONSTANT_STEPS[state]),
  );
}

/** Returns every element of an interleaved layer. */
function everyNth(interleaved: Uint16Array, first: number, stride: number): Uint16Array {
  const out = new Uint16Array(interleaved.length / stride);
  for (let i = 0; i < out.length; i++) out[i] = interleaved[i * stride + first] ?? 0;
  return out;
}

/** Converts bounds to steps in place: a bound is the largest step plus 1, or 0 without values. */
function stepsOf(bounds: Uint16Array): Uint16Array {
  for (let i = 0; i < bounds.length; i++) {
    const bound = bounds[i] ?? 0;
    bounds[i] = bound === 0 ? STEPS_NODATA : bound - 1;
  }
  return bounds;
}
