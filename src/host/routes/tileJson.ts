import { TileJsonSchema, TileLayerPathSchema } from "../../contract/hazardCatalog.ts";
import type { TileJson } from "../../contract/wireTypes.ts";
import { HAZARDS } from "../../hazard/hazards.ts";
import type { ValueTileLayer, ValueTileLayerRequest } from "../../hazard/valueTiles.ts";
import { escapeHtml } from "../../text/markup.ts";
import { colorScaleOf, NO_DATA_COLOR } from "../../tiles/colorScales.ts";
import { attributionParts } from "../../tiles/layerAttribution.ts";
import type { Route } from "../route.ts";
import { RELEASE_HEADER, releaseHeader } from "./hazardAnswers.ts";
import { findLayer, parseTileLayer, scopeOfLayer, LAYER_EXAMPLE, TILE_PROBLEMS } from "./tilePath.ts";

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
  const parts = isSynthetic ? ["Invented values, not fit for any decision"] : attributionParts(source);
  return escapeHtml(["Isotherm", ...parts].join("; "));
}
