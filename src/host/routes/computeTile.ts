import type { ValueTileRequest } from "../../hazard/tiles/tileRequest.ts";
import type { ValueTile } from "../../tiles/valueTile.ts";
import type { RouteContext } from "../route.ts";

/** One form of map tiles. */
export interface TileForm {
  readonly extension: "bin" | "png";
  encode(tile: ValueTile): Uint8Array | Promise<Uint8Array>;
  /** Upper bound of the memory of a tile, with its compressed forms, per byte. */
  readonly memoryPerByte: number;
}

/**
 * Returns the body of a map tile, from memory if possible. Otherwise computes it as soon as the gate allows it. Requests of
 * the same tile share one computation; each counts against the limits of its account.
 * @throws HttpError `overloaded`, Fault as `Atlas.valueTile` does
 */
export async function computeTile(
  request: ValueTileRequest,
  { extension, encode, memoryPerByte }: TileForm,
  { services: { tiles, atlas }, caller, signal }: RouteContext,
): Promise<readonly Uint8Array[]> {
  const compute = async (abort: AbortSignal): Promise<readonly Uint8Array[]> => [
    await encode(await atlas.valueTile(request, { signal: abort })),
  ];
  if (tiles === undefined) return compute(signal);
  const { hazard, scenario, analysisYear, metric, z, x, y } = request;
  const name = [extension, hazard, scenario, analysisYear, metric, z, x, y].join("/");
  const computeAndKeep = async (abort: AbortSignal): Promise<readonly Uint8Array[]> => {
    const body = await compute(abort);
    tiles.bodies.set(name, body, memoryPerByte * body.reduce((size, part) => size + part.length, 0));
    return body;
  };
  const known = tiles.bodies.get(name);
  if (known !== undefined) return known;
  return tiles.gate.run(
    caller.accountId,
    signal,
    // Another request may have computed the tile while this one waited.
    async () => tiles.bodies.get(name) ?? tiles.calls.run(name, computeAndKeep, signal),
  );
}
