import type { ValueTileRequest } from "../../hazard/valueTiles.ts";
import type { ValueTile } from "../../tiles/valueTile.ts";
import type { EncodedTile, Reply, RouteContext } from "../route.ts";

/** One form of map tiles. */
export interface TileForm {
  readonly extension: "bin" | "png";
  encode(tile: ValueTile): Uint8Array | Promise<Uint8Array>;
  /** Upper bound of the memory of a tile, with its compressed forms, per byte. */
  readonly memoryPerByte: number;
}

/** Description of the response header field of `tileReply`. */
export const BLOCK_SIZE_HEADER = {
  "X-Block-Size-Cells":
    "What a pixel is: the maximum of a block of this many cells along each edge, or the cell at its center if 1.",
};

/** Returns the response with a tile. */
export function tileReply({ body, blockSizeCells }: EncodedTile, contentType: string): Reply {
  return { status: 200, contentType, body, headers: { "X-Block-Size-Cells": String(blockSizeCells) } };
}

/**
 * Returns a map tile, from memory if possible. Otherwise computes it as soon as the gate allows it. Requests of
 * the same tile share one computation; each counts against the limits of its account.
 * @throws HttpError `overloaded`, Fault as `Atlas.valueTile` does
 */
export async function computeTile(
  request: ValueTileRequest,
  { extension, encode, memoryPerByte }: TileForm,
  { services: { tiles, atlas }, caller, signal }: RouteContext,
): Promise<EncodedTile> {
  const compute = async (abort: AbortSignal): Promise<EncodedTile> => {
    const tile = await atlas.valueTile(request, { signal: abort });
    return { body: [await encode(tile)], blockSizeCells: tile.blockSizeCells };
  };
  if (tiles === undefined) return compute(signal);
  const { hazard, scenario, analysisYear, metric, z, x, y } = request;
  const name = [extension, hazard, scenario, analysisYear, metric, z, x, y].join("/");
  const computeAndKeep = async (abort: AbortSignal): Promise<EncodedTile> => {
    const tile = await compute(abort);
    tiles.recent.set(name, tile, memoryPerByte * tile.body.reduce((size, part) => size + part.length, 0));
    return tile;
  };
  const known = tiles.recent.get(name);
  if (known !== undefined) return known;
  return tiles.gate.run(
    caller.accountId,
    signal,
    // Another request may have computed the tile while this one waited.
    async () => tiles.recent.get(name) ?? tiles.calls.run(name, computeAndKeep, signal),
  );
}
