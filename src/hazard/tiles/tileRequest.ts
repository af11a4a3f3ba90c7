import { Fault, type FaultItem } from "../../errors.ts";
import { findSchemaErrors, summarizeItems, type ValueSchema } from "../../validation/schemaErrors.ts";
import { type TileAddress, tilesPerEdge, ZOOM_MAX } from "../../tiles/mercator.ts";
import { HAZARD_NAMES, type HazardName, type MetricName, type Scenario, SCENARIOS } from "../hazards.ts";

/** A stored layer, which map tiles show. As in a query, the layer of 1980 is the baseline under every scenario. */
export interface ValueTileLayerRequest {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysisYear: number;
  /** A metric of the hazard, or `rp_<years>`: the value at a return period that the atlas keeps. */
  readonly metric: MetricName | `rp_${number}`;
}

/** A map tile of a layer, by its address in Web Mercator. */
export interface ValueTileRequest extends ValueTileLayerRequest, TileAddress {}

export interface ValueTileOptions {
  /** Cancels the request: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const LAYER_MEMBERS: Readonly<Record<keyof ValueTileLayerRequest, ValueSchema>> = {
  hazard: { type: "string", enum: HAZARD_NAMES },
  scenario: { type: "string", enum: SCENARIOS },
  analysisYear: { type: "integer" },
  metric: { type: "string", minLength: 1 },
};

const ADDRESS_MEMBERS: Readonly<Record<keyof TileAddress, ValueSchema>> = {
  z: { type: "integer", minimum: 0, maximum: ZOOM_MAX },
  x: { type: "integer", minimum: 0 },
  y: { type: "integer", minimum: 0 },
};

/** Validates the request of a layer. @throws Fault `invalid_request` with all errors */
export function checkTileLayer(request: ValueTileLayerRequest): void {
  throwIfAny(errorsOf(request, LAYER_MEMBERS));
}

/** Validates the request of a tile. @throws Fault `invalid_request` with all errors */
export function checkTile(request: ValueTileRequest): void {
  const items = errorsOf(request, { ...LAYER_MEMBERS, ...ADDRESS_MEMBERS });
  if (!items.some(({ pointer }) => pointer === "" || pointer === "/z")) items.push(...addressErrors(request, items));
  throwIfAny(items);
}

/**
 * Returns the errors of x and y that depend on z.
 * @param known errors of the single members, which are not repeated
 */
export function addressErrors(
  address: TileAddress,
  known: readonly { readonly pointer: string }[] = [],
): { readonly pointer: string; readonly code: "out_of_range"; readonly detail: string }[] {
  const max = tilesPerEdge(address.z) - 1;
  return (["x", "y"] as const)
    .filter((name) => address[name] > max && !known.some(({ pointer }) => pointer === `/${name}`))
    .map((name) => ({
      pointer: `/${name}`,
      code: "out_of_range",
      detail: `${name} must be between 0 and ${max} at zoom ${address.z} (got ${address[name]}).`,
    }));
}

function errorsOf(request: unknown, properties: Readonly<Record<string, ValueSchema>>) {
  const schema = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return findSchemaErrors(schema, request, { name: "The request" });
}

function throwIfAny(items: readonly FaultItem[]): void {
  if (items.length > 0) throw new Fault("invalid_request", summarizeItems(items, "the request"), { items });
}
