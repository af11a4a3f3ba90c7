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
 * Returns the body of a map tile, from memory if possible. Otherwise computes it as soon as the gate allows it.
 * @throws HttpError `overloaded`, Fault as `Atlas.valueTile` does
 */
export async function computeTile(
  request: ValueTileRequest,
  { extension, encode, memoryPerByte }: TileForm,
  context: RouteContext,
): Promise<readonly Uint8Array[]> {
  const { services, caller, signal } = context;
  const { tiles, atlas } = services;
  const compute = async (): Promise<readonly Uint8Array[]> => [
    await encode(await atlas.valueTile(request, { signal })),
  ];
  if (tiles === undefined) return compute();
  const { hazard, scenario, analysisYear, metric, z, x, y } = request;
  const name = [extension, hazard, scenario, analysisYear, metric, z, x, y].join("/");
  const known = tiles.bodies.get(name);
  if (known !== undefined) return known;
  const body = await tiles.gate.run(caller.accountId, signal, compute);
  tiles.bodies.set(name, body, memoryPerByte * body.reduce((size, part) => size + part.length, 0));
  return body;
}
