import type { ValueTileRequest } from "../../hazard/tiles/tileRequest.ts";
import type { ValueTile } from "../../tiles/valueTile.ts";
import type { RouteContext } from "../route.ts";

/** Computes a map tile when the gate has a place. @throws HttpError `overloaded`, Fault as `Atlas.valueTile` does */
export function computeTile(request: ValueTileRequest, context: RouteContext): Promise<ValueTile> {
  const { services, caller, signal } = context;
  const compute = (): Promise<ValueTile> => services.atlas.valueTile(request, { signal });
  return services.tiles === undefined ? compute() : services.tiles.gate.run(caller.accountId, signal, compute);
}
