import { Type } from "typebox";
import type { AnalysisYearResult, HazardResult } from "../../hazard/result.ts";
import { HAZARD_NAMES, SCENARIOS } from "../../hazard/hazards.ts";
import { countValues, HazardQuerySchema, readHazardParameters } from "../../hazard/query.ts";
import type { HazardQuery } from "../../hazard/query.ts";
import { numberOrNull } from "../nullable.ts";
import { type Route, withinLimit } from "../route.ts";

const LocationSchema = Type.Object({ latitude: Type.Number(), longitude: Type.Number() });

/** One analysis year of an answer, as the published contract has it. */
const AnalysisYearSchema = Type.Object({
  analysis_year: Type.Integer(),
  metrics: Type.Object(
    {
      intensity: Type.Optional(numberOrNull({ description: "0 to 1." })),
      wind_speed_mps: Type.Optional(
        numberOrNull({ description: "Cyclones: wind with a return period of 100 years, m/s." }),
      ),
      fire_danger_days: Type.Optional(numberOrNull({ description: "Wildfire: days of high fire danger a year." })),
      depth_meters: Type.Optional(
        numberOrNull({ description: "Floods: depth with a return period of 100 years, metres." }),
      ),
      probability: Type.Optional(
        numberOrNull({ description: "0 to 1: of the hazard's threshold being reached in a year." }),
      ),
      total_hazard: Type.Optional(numberOrNull({ description: "With total_hazard: intensity x probability." })),
    },
    { description: "null where no number exists. With anthropogenic each is a change since 1980 and may be negative." },
  ),
  no_data: Type.Optional(
    Type.Enum(["outside_coverage", "no_data", "layer_missing"], {
      description: "Why a metric is null; there exactly when one is.",
    }),
  ),
  detail: Type.Optional(
    Type.Object(
      {
        cells: Type.Integer({ minimum: 0, description: "Cells of the grid that were looked at." }),
        valid_share: Type.Number({ minimum: 0, maximum: 1, description: "Share of their area that has data." }),
        cell_centre: Type.Optional(LocationSchema),
        source: Type.Record(Type.String(), Type.Unknown(), { description: "Where the layer comes from." }),
        rules: Type.Record(Type.String(), Type.Unknown(), { description: "The numbers its metrics were made with." }),
      },
      { description: "With detail: how the numbers were made." },
    ),
  ),
});

/** What is answered for one location, as the published contract has it; src/hazard/answer.ts makes it. */
export const HazardResultSchema = Type.Object({
  location: LocationSchema,
  aggregation: Type.Optional(
    Type.Object(
      { radius_km: Type.Number(), method: Type.Enum(["max", "mean"]) },
      { description: "There exactly when a radius above 0 was asked for." },
    ),
  ),
  results: Type.Array(
    Type.Object({
      hazard: Type.Enum(HAZARD_NAMES),
      scenarios: Type.Array(
        Type.Object({ scenario: Type.Enum(SCENARIOS), analysis_years: Type.Array(AnalysisYearSchema) }),
      ),
    }),
    { description: "Hazards, scenarios and years each in the order asked for." },
  ),
});

/** What an answer counts: one for each analysis year that has data, whichever of its metrics has. */
export function countHazardValues({ results }: HazardResult): number {
  let count = 0;
  for (const { scenarios } of results) {
    for (const { analysis_years } of scenarios) for (const year of analysis_years) if (hasData(year)) count++;
  }
  return count;
}

function hasData({ no_data, metrics }: AnalysisYearResult): boolean {
  return no_data === undefined || Object.values(metrics).some((value) => value !== null);
}

/** GET /api/v1/hazard-risk: one location, every hazard x scenario x year asked for. */
export const hazardRisk: Route<HazardQuery, HazardResult> = {
  method: "GET",
  path: "/api/v1/hazard-risk",
  access: "customer",
  description: {
    operationId: "getHazardRisk",
    tag: "Hazard risk",
    summary: "Hazards of one location",
    description:
      "Every hazard x scenario x analysis year asked for, at the location or aggregated within a radius of it. " +
      "Counts one `hazard_values` for each analysis year that has data.",
    query: HazardQuerySchema,
    parameterExamples: {
      latitude: 11.59,
      longitude: 43.15,
      hazards: "riverine_floods,coastal_floods",
      analysis_years: "2050",
      scenarios: "rcp8p5",
      radius: 10,
    },
    answers: {
      200: {
        description: "The metrics, nested by hazard, scenario and analysis year.",
        schema: HazardResultSchema,
        headers: { "X-Atlas-Release": "The release of the atlas that the numbers are of." },
      },
    },
    problems: ["invalid_request", "combination_unavailable", "too_many_values", "atlas_unavailable"],
  },
  metered: { meter: "hazard_values", units: countHazardValues },
  revision: ({ atlas }) => atlas.contentHash,
  parse({ queryText, limits }) {
    const query = readHazardParameters(queryText);
    const requested = countValues(query);
    withinLimit("hazard values", { requested, limit: limits.hazardValueCount });
    if (query.detail) withinLimit("hazard values with detail", { requested, limit: limits.detailCount });
    return query;
  },
  isLong: (query, { atlas }) => atlas.isLong(query),
  handle: (query, { services: { atlas } }) => atlas.hazardRisk(query),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};
