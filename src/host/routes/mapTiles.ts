import {
  TileJsonSchema,
  TileLayerPathSchema,
  TileParametersSchema,
  TilePathSchema,
} from "../../contract/hazardCatalog.ts";
import type { TileJson } from "../../contract/wireTypes.ts";
import { Fault, type FaultItem, isFault } from "../../errors.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import {
  addressErrors,
  type ValueTileLayer,
  type ValueTileLayerRequest,
  type ValueTileRequest,
} from "../../hazard/valueTiles.ts";
import type { EncodedTile, Reply, Route, RouteContext, RouteRequest, Services } from "../route.ts";
import { RELEASE_HEADER, releaseHeader } from "./hazardAnswers.ts";
import { invalidRequest, rejectParameters } from "./parameters.ts";
import { encodePngTile } from "../tiles/pngTile.ts";
import { escapeHtml } from "../../text/markup.ts";
import { NO_DATA_COLOR, colorScaleOf } from "../../tiles/colorScales.ts";
import { attributionTexts } from "../../tiles/layerAttribution.ts";
import { type ValueTile, encodeValueTile } from "../../tiles/valueTile.ts";
import { decodeParameters, toParameterItem } from "../../validation/parameters.ts";
import { type ValueSchema, findSchemaErrors, summarizeItems } from "../../validation/schemaErrors.ts";
import type { TObject } from "typebox";

/** One form of map tiles. */
export interface TileForm {
  readonly extension: "bin" | "png";
  encode(tile: ValueTile): Uint8Array | Promise<Uint8Array>;
  /** Upper bound of the memory of a tile, with its compressed forms, per byte. */
  readonly memoryPerByte: number;
}

/** Description of the response header field of `tileReply`. */
const BLOCK_SIZE_HEADER = {
  "X-Block-Size-Cells":
    "What a pixel is: the maximum of a block of this many cells along each edge, or the cell at its center if 1.",
};

/** Returns the response with a tile. */
function tileReply({ body, blockSizeCells }: EncodedTile, contentType: string): Reply {
  return { status: 200, contentType, body, headers: { "X-Block-Size-Cells": String(blockSizeCells) } };
}

/**
 * Returns a map tile, from memory if possible. Otherwise computes it as soon as the gate allows it. Requests of
 * the same tile share one computation; each counts against the limits of its account.
 * @throws Fault `overloaded`; as `Atlas.valueTile` does
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

/** What the routes of map tiles have in common: parsing of the path, errors, and the token that may replace the key. */

type PathParameters = Readonly<Record<string, string>>;

/** Seconds for which clients reuse a tile: its values change only with the release of the atlas. */
const TILE_MAX_AGE_S = 3600;
const INTEGER = /^(?:0|-?[1-9][0-9]{0,8})$/;

/** The members that the routes of `.bin` and `.png` share. */
const TILE_ROUTE = {
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
const TILE_HEADERS = { ...RELEASE_HEADER, ...BLOCK_SIZE_HEADER };
const TILE_PROBLEMS = ["combination_unavailable", "token_invalid", "atlas_unavailable"] as const;
const LAYER_EXAMPLE = {
  hazard: "riverine_floods",
  scenario: "rcp8p5",
  year: 2050,
  metric: "depth_meters",
} as const;
const TILE_EXAMPLE = { ...LAYER_EXAMPLE, z: 8, x: 158, y: 119 } as const;

/** Returns the path of a layer, for which tokens are issued. */
function scopeOfLayer({ hazard, scenario, year, metric }: PathParameters): string {
  return [hazard, scenario, year, metric].join("/");
}

/** @throws Fault `invalid_request` with all errors */
function parseTileLayer({ path, queryText }: RouteRequest): ValueTileLayerRequest {
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
function findLayer(request: ValueTileLayerRequest, { atlas }: Pick<Services, "atlas">) {
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

const PNG_CONTENT_TYPE = "image/png";

/** GET /api/v1/tiles/…/:y.png: a map tile as an image. */
export const tileImage: Route<ValueTileRequest, EncodedTile> = {
  ...TILE_ROUTE,
  path: "/api/v1/tiles/:hazard/:scenario/:year/:metric/:z/:x/:y.png",
  description: {
    operationId: "getTileImage",
    tag: "Map tiles",
    summary: "Image of a map tile",
    description:
      "Returns a map tile of a layer in Web Mercator as an image of 256 x 256 pixels, in the fixed colors of the metric, " +
      "which the TileJSON of the layer lists. Missing values are hatched; the value 0 and pixels outside are transparent.",
    path: TilePathSchema,
    query: TileParametersSchema,
    parameterExamples: TILE_EXAMPLE,
    responses: { 200: { description: "The image.", contentType: PNG_CONTENT_TYPE, headers: TILE_HEADERS } },
    problems: TILE_PROBLEMS,
  },
  handle(request, context) {
    const scale = colorScaleOf(findLayer(request, context.services).scaleMetric);
    const encode = (tile: ValueTile): Promise<Uint8Array> => encodePngTile(tile, scale);
    return computeTile(request, { extension: "png", encode, memoryPerByte: 1 }, context);
  },
  reply: (tile) => ({ ...tileReply(tile, PNG_CONTENT_TYPE), isCompressed: true }),
};

/** In memory are the tile and its two compressed forms, which are smaller. */
const VALUES: TileForm = { extension: "bin", encode: encodeValueTile, memoryPerByte: 3 };

const VALUES_CONTENT_TYPE = "application/octet-stream";

/** GET /api/v1/tiles/…/:y.bin: the values of a map tile. */
export const valueTile: Route<ValueTileRequest, EncodedTile> = {
  ...TILE_ROUTE,
  path: "/api/v1/tiles/:hazard/:scenario/:year/:metric/:z/:x/:y.bin",
  description: {
    operationId: "getValueTile",
    tag: "Map tiles",
    summary: "Values of a map tile",
    description:
      "Returns 256 x 256 values of a layer in Web Mercator: a header of 32 bytes, then steps of 16 bits, all little-endian " +
      "(docs/tiles.md). Each pixel is the cell at its center, or further out the maximum of a block of cells.",
    path: TilePathSchema,
    query: TileParametersSchema,
    parameterExamples: TILE_EXAMPLE,
    responses: { 200: { description: "The tile.", contentType: VALUES_CONTENT_TYPE, headers: TILE_HEADERS } },
    problems: TILE_PROBLEMS,
  },
  handle: (request, context) => computeTile(request, VALUES, context),
  reply: (tile) => tileReply(tile, VALUES_CONTENT_TYPE),
};

/** GET /api/v1/tiles/…/:metric.json: the TileJSON of a layer, with URLs that need no header field. */
export const tileJson: Route<ValueTileLayerRequest, TileJson> = {
  method: "GET",
  path: "/api/v1/tiles/:hazard/:scenario/:year/:metric.json",
  access: "key",
  description: {
    operationId: "getTileJson",
    tag: "Map tiles",
    summary: "TileJSON of a layer",
    description:
      "Describes the map tiles of a layer for map clients such as MapLibre, Leaflet and QGIS (TileJSON 3.0.0). Its URLs " +
      "contain a token for this layer, because map clients send no header fields. The token is valid for up to 24 hours.",
    path: TileLayerPathSchema,
    parameterExamples: LAYER_EXAMPLE,
    responses: { 200: { description: "The TileJSON.", schema: TileJsonSchema, headers: RELEASE_HEADER } },
    problems: TILE_PROBLEMS.filter((code) => code !== "token_invalid"),
  },
  headers: releaseHeader,
  parse: parseTileLayer,
  checkAvailability: (request, services) => void findLayer(request, services),
  async handle(request, { services, caller, origin = "" }) {
    const { atlas, tiles, prefix } = services;
    if (tiles === undefined) throw new Error("A TileJSON needs the tokens of the service.");
    const { hazard, scenario, analysisYear, metric } = request;
    const layer = findLayer(request, services);
    const scope = scopeOfLayer({ hazard, scenario, year: String(analysisYear), metric });
    const { token, expiresAtS } = await tiles.tokens.issue(caller.keyId, scope);
    const urlOf = (extension: string) =>
      `${origin}${prefix}/api/v1/tiles/${scope}/{z}/{x}/{y}.${extension}?token=${token}`;
    const { unit, stepsPerUnit, offset, nativeZoom, blockSizeCellsByZoom, bounds, scaleMetric } = layer;
    const [west, south, east, north] = bounds;
    return {
      tilejson: "3.0.0",
      name: `${hazard} ${metric}, ${scenario} ${analysisYear}`,
      description: HAZARDS[hazard].metrics.find((spec) => spec.metric === metric)?.meaning ?? "",
      version: "1.0.0",
      scheme: "xyz",
      tiles: [urlOf("png")],
      value_tiles: [urlOf("bin")],
      minzoom: 0,
      maxzoom: nativeZoom,
      bounds: [...bounds],
      center: [(west + east) / 2, (south + north) / 2, 0],
      attribution: attributionOf(layer, atlas.synthetic),
      expires_at: new Date(expiresAtS * 1000).toISOString(),
      release: atlas.release,
      synthetic: atlas.synthetic,
      hazard,
      scenario,
      analysis_year: analysisYear,
      metric,
      unit,
      steps_per_unit: stepsPerUnit,
      offset,
      color_stops: colorScaleOf(scaleMetric).stops.map(({ value, color }) => ({ value, color })),
      no_data_color: `#${NO_DATA_COLOR.map((component) => component.toString(16).padStart(2, "0")).join("")}`,
      block_size_cells_by_zoom: [...blockSizeCellsByZoom],
    };
  },
};

function attributionOf({ source }: ValueTileLayer, isSynthetic: boolean): string {
  const parts = isSynthetic ? ["Invented values, not fit for any decision"] : attributionTexts(source);
  return escapeHtml(["Isotherm", ...parts].join("; "));
}
