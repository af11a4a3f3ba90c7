import { Type } from "typebox";
import { HazardNameSchema, ScenarioSchema } from "./hazardQuery.ts";

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
