import { Type } from "typebox";
import { HazardNameSchema, MetricNameSchema, ScenarioSchema } from "./hazardQuery.ts";

export const CatalogGridSchema = Type.Object(
  {
    north_deg: Type.Number({ description: "Northern edge of the first row, degrees north." }),
    west_deg: Type.Number({ description: "Western edge of the first column, degrees east." }),
    cell_size_lat_deg: Type.Number({ description: "Height of a cell, degrees." }),
    cell_size_lon_deg: Type.Number({ description: "Width of a cell, degrees." }),
    row_count: Type.Integer({ description: "Number of rows of cells." }),
    column_count: Type.Integer({ description: "Number of columns of cells." }),
  },
  { description: "Rows run from north to south, columns from west to east." },
);

export const CatalogBoxSchema = Type.Object(
  { north: Type.Number(), south: Type.Number(), west: Type.Number(), east: Type.Number() },
  { description: "Degrees, WGS84." },
);

export const CatalogLayerSchema = Type.Object({
  scenario: ScenarioSchema,
  analysis_year: Type.Integer({ description: "Analysis year; 1980 is the baseline." }),
  metrics: Type.Array(Type.String(), { description: "Metrics that the layer has." }),
  curve_return_periods: Type.Optional(
    Type.Array(Type.Number(), {
      description: "Return periods of the stored return-period curve, years, ascending; absent if there is no curve.",
    }),
  ),
  source: Type.Record(Type.String(), Type.Unknown(), { description: "Provenance as stated in the atlas." }),
});

export const CatalogHazardSchema = Type.Object({
  hazard: HazardNameSchema,
  analysis_years: Type.Array(Type.Integer(), { description: "Analysis years that queries can request." }),
  scenarios: Type.Array(ScenarioSchema, { description: "Scenarios that queries can request." }),
  metrics: Type.Array(
    Type.Object({
      metric: MetricNameSchema,
      unit: Type.String({ description: "Unit of the metric; 1 for shares and probabilities." }),
      meaning: Type.String({
        description:
          "Definition of the metric under the rules of this atlas, or under the default rules if the atlas does not have the " +
          "hazard. If the source of a layer states a different definition, that definition applies.",
      }),
    }),
  ),
  resolution_deg: Type.Number({
    description: "Nominal cell size, degrees. The actual cell size depends on the source; `grid` contains it.",
  }),
  grid: Type.Union([CatalogGridSchema, Type.Null()], {
    description: "Grid of this atlas; null if it does not have the hazard.",
  }),
  coverage: Type.Union([CatalogBoxSchema, Type.Null()], {
    description: "Extent of the grid; null if the atlas does not have the hazard.",
  }),
  rules: Type.Record(Type.String(), Type.Unknown(), {
    description: "Parameters used to derive the metrics of this atlas; empty if it does not have the hazard.",
  }),
  layers: Type.Array(CatalogLayerSchema, {
    description: "Layers of this atlas and their sources. The baseline is used for 1980 under every scenario.",
  }),
});

/** The response of GET /api/v1/hazards. */
export const HazardCatalogSchema = Type.Object({
  release: Type.String({ description: "Release of the atlas; values may differ between releases." }),
  synthetic: Type.Boolean({ description: "True if all values are invented, as in the demo." }),
  hazards: Type.Array(CatalogHazardSchema),
});

const LAYER_MEMBERS = {
  hazard: HazardNameSchema,
  scenario: ScenarioSchema,
  year: Type.Integer({ description: "Analysis year. The layer of 1980 is the baseline under every scenario." }),
  metric: Type.String({
    minLength: 1,
    description: "A metric of the hazard, or `rp_<years>`: the value at a return period that the atlas keeps.",
  }),
};

/** Path parameters of the TileJSON of a layer. */
export const TileLayerPathSchema = Type.Object(LAYER_MEMBERS);

/** Path parameters of a map tile. */
export const TilePathSchema = Type.Object({
  ...LAYER_MEMBERS,
  z: Type.Integer({ minimum: 0, maximum: 22, description: "Zoom: the world is 2^z tiles wide and high." }),
  x: Type.Integer({ minimum: 0, description: "Column of the tile, from 180 degrees west; less than 2^z." }),
  y: Type.Integer({ minimum: 0, description: "Row of the tile, from 85.0511 degrees north; less than 2^z." }),
});

/** Query parameters of a map tile. */
export const TileParametersSchema = Type.Object(
  {
    token: Type.Optional(
      Type.String({
        description: "Token from the TileJSON of the layer, which replaces the header field `X-API-Key`.",
      }),
    ),
  },
  { additionalProperties: false },
);

export const ColorStopSchema = Type.Object({
  value: Type.Number({ description: "In the unit of the layer." }),
  color: Type.String({ description: "`#rrggbb`. Colors between two stops are interpolated linearly in sRGB." }),
});

/** The TileJSON of a layer: members of TileJSON 3.0.0, and further ones that value tiles need. */
export const TileJsonSchema = Type.Object({
  tilejson: Type.Literal("3.0.0"),
  name: Type.String(),
  description: Type.String(),
  version: Type.String({ description: "Always 1.0.0: the version of this description. `release` names the data." }),
  scheme: Type.Literal("xyz"),
  tiles: Type.Array(Type.String(), {
    description:
      "URL template of the images, with `{z}`, `{x}` and `{y}`. It contains a token and needs no header field.",
  }),
  value_tiles: Type.Array(Type.String(), { description: "URL template of the value tiles, as `tiles`." }),
  minzoom: Type.Integer(),
  maxzoom: Type.Integer({ description: "Smallest zoom at which every pixel is the cell at its center." }),
  bounds: Type.Array(Type.Number(), { description: "Degrees: west, south, east, north." }),
  center: Type.Array(Type.Number(), { description: "Degrees east, degrees north, zoom." }),
  attribution: Type.String({ description: "HTML." }),
  expires_at: Type.String({ description: "When the token in the URLs expires, ISO 8601 in UTC." }),
  release: Type.String({ description: "Release of the atlas; values may differ between releases." }),
  synthetic: Type.Boolean({ description: "True if the values are invented, as in the demo." }),
  hazard: HazardNameSchema,
  scenario: ScenarioSchema,
  analysis_year: Type.Integer(),
  metric: Type.String(),
  unit: Type.String({ description: "Unit of the values; 1 for shares and probabilities." }),
  steps_per_unit: Type.Number({ description: "A value is `step / steps_per_unit + offset`." }),
  offset: Type.Number({ description: "Value of step 0, in `unit`." }),
  color_stops: Type.Array(ColorStopSchema, {
    description: "Colors of the images, in ascending order of the values. The value 0 is transparent.",
  }),
  no_data_color: Type.String({ description: "Color of the hatching of pixels without a value, `#rrggbbaa`." }),
  block_size_cells_by_zoom: Type.Array(Type.Integer({ minimum: 1 }), {
    description:
      "What a pixel is at the zooms 0 to `maxzoom`: the maximum of a block of this many cells along each edge, or the cell " +
      "at its center if 1. Sources without stored maxima, such as the demo, have 1 at every zoom.",
  }),
});
