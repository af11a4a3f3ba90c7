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
