import { type TSchema, Type } from "typebox";
import type { AnalysisYearResult, HazardResult } from "../../hazard/result.ts";
import { HAZARD_NAMES, SCENARIOS } from "../../hazard/hazards.ts";
import { countValues, HazardQuerySchema, parseHazardParameters } from "../../hazard/query.ts";
import type { HazardQuery } from "../../hazard/query.ts";
import { numberOrNull } from "../openapi/nullable.ts";
import { type Route, withinLimit } from "./route.ts";

const LocationSchema = Type.Object({ latitude: Type.Number(), longitude: Type.Number() });

const BoundSchema = Type.Union([
  Type.Object({
    bound: Type.Enum(["at_least", "at_most"], { description: "Which way the true value may differ." }),
    limit: Type.Number({ description: "The true value is at least, or at most, this." }),
  }),
  Type.Object({
    bound: Type.Literal("indeterminate", {
      description: "Both sides of a change are bounds in the same direction: it is not known which way it differs.",
    }),
  }),
]);

const BoundsSchema = Type.Object(
  { probability: BoundSchema, total_hazard: Type.Optional(BoundSchema) },
  {
    description:
      "Present where the probability is only a bound: return-period maps tell no probability above 1/T of their shortest " +
      "return period (at_least) and none below 1/T of their longest (at_most, where the value is 0). total_hazard " +
      "inherits the bound of its probability.",
  },
);

const NoDataSchema = Type.Enum(["outside_coverage", "no_data", "layer_missing"], {
  description: "Why a metric is null; present exactly when one is.",
});

const ShareSchema = Type.Number({
  minimum: 0,
  maximum: 1,
  description: "Share of the area of the cells that has data: the least of the metrics that have a layer.",
});

/** The metrics of an analysis year, each with a value of `each`. */
function metricsOf<Schema extends TSchema>(each: (description: string) => Schema) {
  return {
    intensity: Type.Optional(each("0 to 1.")),
    wind_speed_mps: Type.Optional(each(`Cyclones: wind at ${DESIGN}, m/s.`)),
    fire_danger_days: Type.Optional(each("Wildfire: days of high fire danger a year.")),
    depth_meters: Type.Optional(each(`Floods: depth at ${DESIGN}, meters.`)),
    probability: Type.Optional(each("0 to 1: of reaching the hazard's threshold in a year.")),
    total_hazard: Type.Optional(each("With total_hazard: intensity x probability.")),
  };
}

/** Thresholds and return periods are the atlas's own: GET /api/v1/hazards states them. */
const DESIGN = "the design return period of the atlas's rules";

const DetailSchema = Type.Object(
  {
    cells: Type.Integer({ minimum: 0, description: "Cells of the grid that were aggregated." }),
    valid_share: ShareSchema,
    metrics: Type.Optional(
      Type.Object(
        metricsOf((description) =>
          Type.Object(
            { valid_share: Type.Optional(ShareSchema), no_data: Type.Optional(NoDataSchema) },
            { description },
          ),
        ),
        { description: "Shares and reasons of each metric; present where they differ. Without a layer, no share." },
      ),
    ),
    cell_centre: Type.Optional(LocationSchema),
    source: Type.Optional(Type.String({ description: "Member of sources: where the layers come from." })),
    baseline_source: Type.Optional(
      Type.String({ description: "With anthropogenic: member of sources, where the baseline comes from." }),
    ),
    rules: Type.Record(Type.String(), Type.Unknown(), {
      description:
        "What the metrics were made with. return_periods_years lists the return periods of the maps, where there are any.",
    }),
    caveats: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "What to know before the numbers are used: unlike sources of a change, means that may hide bounds.",
      }),
    ),
  },
  { description: "With detail: how the numbers were made." },
);

/** One analysis year of an answer, as the published contract has it. */
const AnalysisYearSchema = Type.Object({
  analysis_year: Type.Integer(),
  metrics: Type.Object(
    metricsOf((description) => numberOrNull({ description })),
    {
      description:
        "null where no number exists. With anthropogenic each is a change since 1980 and may be negative. " +
        "GET /api/v1/hazards states what each metric means for this atlas.",
    },
  ),
  bounds: Type.Optional(BoundsSchema),
  no_data: Type.Optional(NoDataSchema),
  detail: Type.Optional(DetailSchema),
});

/** What is answered for one location, as the published contract has it; src/hazard/answer.ts makes it. */
export const HazardResultSchema = Type.Object({
  location: LocationSchema,
  aggregation: Type.Optional(
    Type.Object(
      { radius_km: Type.Number(), method: Type.Enum(["max", "mean"]) },
      { description: "Present exactly when a radius above 0 was asked for." },
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
  sources: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      description:
        "With detail: the sources that it names, each once, by hazard/scenario/analysis_year. GET /api/v1/hazards lists " +
        "their maps file by file.",
    }),
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
    const query = parseHazardParameters(queryText);
    const requested = countValues(query);
    withinLimit("hazard values", { requested, limit: limits.hazardValueCount });
    if (query.detail) withinLimit("hazard values with detail", { requested, limit: limits.detailCount });
    return query;
  },
  isLong: (query, { atlas }) => atlas.isLong(query),
  handle: (query, { services: { atlas } }) => atlas.hazardRisk(query),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};
