/** What the routes of map tiles have in common: parsing of the path, errors, and the token that may replace the key. */
import type { TObject } from "typebox";
import { TileLayerPathSchema, TileParametersSchema, TilePathSchema } from "../../contract/hazardCatalog.ts";
import { Fault, type FaultItem, isFault } from "../../errors.ts";
import { addressErrors, type ValueTileLayerRequest, type ValueTileRequest } from "../../hazard/valueTiles.ts";
import { decodeParameters, toParameterItem } from "../../validation/parameters.ts";
import { findSchemaErrors, summarizeItems, type ValueSchema } from "../../validation/schemaErrors.ts";
import type { Route, RouteRequest, Services } from "../route.ts";
import { BLOCK_SIZE_HEADER } from "./computeTile.ts";
import { RELEASE_HEADER, releaseHeader } from "./hazardAnswers.ts";
import { invalidRequest, rejectParameters } from "./parameters.ts";

type PathParameters = Readonly<Record<string, string>>;

/** Seconds for which clients reuse a tile: its values change only with the release of the atlas. */
const TILE_MAX_AGE_S = 3600;
const INTEGER = /^(?:0|-?[1-9][0-9]{0,8})$/;

/** The members that the routes of `.bin` and `.png` share. */
export const TILE_ROUTE = {
  method: "GET",
  access: "key",
  tokenScope: scopeOfLayer,
  rateLimit: "tiles",
  revision: ({ atlas }) => atlas.contentHash,
  maxAgeS: TILE_MAX_AGE_S,
  headers: releaseHeader,
  parse: parseTile,
  checkAvailability: (request, services) => void findLayer(request, services),
} as const satisfies Partial<Route<ValueTileRequest, unknown>>;

/** Descriptions of the header fields of `.bin` and `.png`. */
export const TILE_HEADERS = { ...RELEASE_HEADER, ...BLOCK_SIZE_HEADER };
export const TILE_PROBLEMS = ["combination_unavailable", "token_invalid", "atlas_unavailable"] as const;
export const LAYER_EXAMPLE = {
  hazard: "riverine_floods",
  scenario: "rcp8p5",
  year: 2050,
  metric: "depth_meters",
} as const;
export const TILE_EXAMPLE = { ...LAYER_EXAMPLE, z: 8, x: 158, y: 119 } as const;

/** Returns the path of a layer, for which tokens are issued. */
export function scopeOfLayer({ hazard, scenario, year, metric }: PathParameters): string {
  return [hazard, scenario, year, metric].join("/");
}

/** @throws Fault `invalid_request` with all errors */
export function parseTileLayer({ path, queryText }: RouteRequest): ValueTileLayerRequest {
  rejectParameters(queryText);
  const { input, items } = readPath(path, TileLayerPathSchema);
  if (items.length > 0) throw invalidRequest(items);
  return layerOf(input);
}

function parseTile({ path, queryText }: RouteRequest): ValueTileRequest {
  const { items: queryItems } = decodeParameters(queryText, TileParametersSchema.properties);
  const { input, items } = readPath(path, TilePathSchema);
  const errors = [...items, ...queryItems];
  const { z, x, y } = input as { readonly z: number; readonly x: number; readonly y: number };
  if (!items.some(({ parameter }) => parameter === "z")) {
    const known = items.map(({ parameter = "" }) => ({ pointer: `/${parameter}` }));
    errors.push(...addressErrors({ z, x, y }, known).map(toParameterItem));
  }
  if (errors.length > 0) throw invalidRequest(errors);
  return { ...layerOf(input), z, x, y };
}

/** Describes the layer of a request. @throws Fault `combination_unavailable` with parameters of the path */
export function findLayer(request: ValueTileLayerRequest, { atlas }: Pick<Services, "atlas">) {
  const { hazard, scenario, analysisYear, metric } = request;
  try {
    return atlas.valueTileLayer({ hazard, scenario, analysisYear, metric });
  } catch (error) {
    if (!isFault(error, "combination_unavailable")) throw error;
    const items = error.items.map(({ pointer = "", ...item }) => ({
      ...item,
      parameter: pointer === "/analysisYear" ? "year" : pointer.slice(1),
    })) as FaultItem[];
    throw new Fault("combination_unavailable", summarizeItems(items, "the request"), { items, cause: error });
  }
}

/** Decodes and checks the parameters of a path. The result has the type of the schema if there are no items. */
function readPath(
  path: PathParameters,
  schema: TObject,
): { readonly input: unknown; readonly items: readonly FaultItem[] } {
  const shape: ValueSchema = schema;
  const input = Object.fromEntries(
    Object.entries(shape.properties ?? {}).map(([name, { type }]) => {
      const text = path[name] ?? "";
      return [name, type === "integer" && INTEGER.test(text) ? Number(text) : text];
    }),
  );
  return { input, items: findSchemaErrors(shape, input, { name: "The path" }).map(toParameterItem) };
}

function layerOf(input: unknown): ValueTileLayerRequest {
  const { hazard, scenario, year, metric } = input as Omit<ValueTileLayerRequest, "analysisYear"> & { year: number };
  return { hazard, scenario, analysisYear: year, metric };
}
