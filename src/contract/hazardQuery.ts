import { Type } from "typebox";
import { AGGREGATION_METHODS, HAZARD_NAMES, METRIC_NAMES, SCENARIOS } from "./names.ts";
import { RADIUS_KM_MAX } from "./ranges.ts";

export const HazardNameSchema = Type.Enum(HAZARD_NAMES);
export const ScenarioSchema = Type.Enum(SCENARIOS);
export const MetricNameSchema = Type.Enum(METRIC_NAMES);

/** Returns the schema of a query, with the given JSON Schema keywords on its lists. */
export function describeHazardQuery(lists: { readonly minItems: number; readonly uniqueItems?: boolean }) {
  return Type.Object(
    {
      latitude: Type.Number({ minimum: -90, maximum: 90, description: "Degrees north, WGS84." }),
      longitude: Type.Number({ minimum: -180, maximum: 180, description: "Degrees east, WGS84." }),
      hazards: Type.Array(HazardNameSchema, { ...lists, description: "The response keeps their order." }),
      analysis_years: Type.Array(Type.Integer(), {
        ...lists,
        description: "Years that all requested hazards support; the response keeps their order.",
      }),
      scenarios: Type.Array(ScenarioSchema, {
        ...lists,
        description: "Scenarios that all requested hazards support; the response keeps their order.",
      }),
      radius: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: RADIUS_KM_MAX,
          default: 0,
          description:
            "Radius in kilometers. 0 selects the cell that contains the location; otherwise all cells whose centers are " +
            "within this geodesic distance are aggregated.",
        }),
      ),
      aggregation_method: Type.Optional(
        Type.Enum(AGGREGATION_METHODS, {
          default: "max",
          description: "Aggregation over the circle; no effect if radius is 0.",
        }),
      ),
      total_hazard: Type.Optional(
        Type.Boolean({
          default: false,
          description: "Adds the metric `total_hazard`, which is intensity times probability.",
        }),
      ),
      anthropogenic: Type.Optional(
        Type.Boolean({ default: false, description: "Returns each metric as its change since the baseline of 1980." }),
      ),
      detail: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            "Adds a description of how the values were computed to each analysis year, and their sources to the response.",
        }),
      ),
    },
    {
      additionalProperties: false,
      description: "A location and the requested hazards, analysis years and scenarios.",
    },
  );
}

export const HazardQueryInputSchema = describeHazardQuery({ minItems: 1, uniqueItems: true });

/** The body of POST /api/v1/hazard-risk/batch. */
export const HazardBatchRequestSchema = Type.Array(HazardQueryInputSchema, { minItems: 1 });
