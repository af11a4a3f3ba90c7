import { type TSchema, Type } from "typebox";
import type { AnalysisYearResult, HazardResult } from "../../hazard/result.ts";
import { HAZARD_NAMES, SCENARIOS } from "../../hazard/hazards.ts";
import { countValues, HazardQuerySchema, parseHazardParameters } from "../../hazard/query.ts";
import type { HazardQuery } from "../../hazard/query.ts";
import { numberOrNull } from "../openapi/nullable.ts";
import { type Route, checkLimit } from "./route.ts";

const LocationSchema = Type.Object({ latitude: Type.Number(), longitude: Type.Number() });

const BoundSchema = Type.Union([
  Type.Object({
    bound: Type.Enum(["at_least", "at_most"], { description: "Direction in which the true value may differ." }),
    limit: Type.Number({ description: "The true value is at least, or at most, this value." }),
  }),
  Type.Object({
    bound: Type.Literal("indeterminate", {
      description:
        "Both terms of a change are bounds in the same direction: the direction of the difference is unknown.",
    }),
  }),
]);

const BoundsSchema = Type.Object(
  { probability: BoundSchema, total_hazard: Type.Optional(BoundSchema) },
  {
    description:
      "Present if the probability is only a bound: return-period maps give no probability above 1/T of their shortest " +
      "return period (at_least) and none below 1/T of their longest (at_most, where the value is 0). total_hazard " +
      "inherits the bound of its probability.",
  },
);

const NoDataSchema = Type.Enum(["outside_coverage", "no_data", "layer_missing"], {
  description: "Why a metric is null; present exactly when at least one is.",
});

const ShareSchema = Type.Number({
  minimum: 0,
  maximum: 1,
  description: "Share of the cells' area that has data: the minimum over the metrics that have a layer.",
});

/** Returns one optional member per metric, with the schema that `each` makes of its description. */
function metricsOf<Schema extends TSchema>(each: (description: string) => Schema) {
  return {
    intensity: Type.Optional(each("0 to 1.")),
    wind_speed_mps: Type.Optional(each(`Cyclones: wind speed at ${DESIGN}, m/s.`)),
    fire_danger_days: Type.Optional(each("Wildfire: days of high fire danger per year.")),
    depth_meters: Type.Optional(each(`Floods: depth at ${DESIGN}, meters.`)),
    probability: Type.Optional(each("0 to 1: annual probability of reaching the hazard's threshold.")),
    total_hazard: Type.Optional(each("With total_hazard: intensity x probability.")),
  };
}

/** Each atlas has its own thresholds and return periods, which GET /api/v1/hazards lists. */
const DESIGN = "the design return period of the atlas's rules";

const DetailSchema = Type.Object(
  {
    cells: Type.Integer({ minimum: 0, description: "Number of grid cells that were aggregated." }),
    valid_share: ShareSchema,
    metrics: Type.Optional(
      Type.Object(
        metricsOf((description) =>
          Type.Object(
            { valid_share: Type.Optional(ShareSchema), no_data: Type.Optional(NoDataSchema) },
            { description },
          ),
        ),
        {
          description:
            "Shares and reasons by metric, present if they differ between metrics. A metric without a layer has no share.",
        },
      ),
    ),
    cell_center: Type.Optional(LocationSchema),
    source: Type.Optional(Type.String({ description: "Key in `sources` of the source of the layers." })),
    baseline_source: Type.Optional(
      Type.String({ description: "With anthropogenic: key in `sources` of the source of the baseline." }),
    ),
    rules: Type.Record(Type.String(), Type.Unknown(), {
      description:
        "Rules that the metrics were derived with. return_periods_years lists the return periods of the maps, if any.",
    }),
    caveats: Type.Optional(
      Type.Array(Type.String(), {
        description: "Limitations of the numbers: a change between different sources, means that may hide bounds.",
      }),
    ),
  },
  { description: "With detail: how the numbers were derived." },
);

/** Schema of one analysis year. */
const AnalysisYearSchema = Type.Object({
  analysis_year: Type.Integer(),
  metrics: Type.Object(
    metricsOf((description) => numberOrNull({ description })),
    {
      description:
        "null where no number exists. With anthropogenic, each is a change since 1980 and may be negative. " +
        "GET /api/v1/hazards defines each metric for this atlas.",
    },
  ),
  bounds: Type.Optional(BoundsSchema),
  no_data: Type.Optional(NoDataSchema),
  detail: Type.Optional(DetailSchema),
});

/** Schema of the result for one location, which src/hazard/answer.ts computes. */
export const HazardResultSchema = Type.Object({
  location: LocationSchema,
  aggregation: Type.Optional(
    Type.Object(
      { radius_km: Type.Number(), method: Type.Enum(["max", "mean"]) },
      { description: "Present exactly when the requested radius is above 0." },
    ),
  ),
  results: Type.Array(
    Type.Object({
      hazard: Type.Enum(HAZARD_NAMES),
      scenarios: Type.Array(
        Type.Object({ scenario: Type.Enum(SCENARIOS), analysis_years: Type.Array(AnalysisYearSchema) }),
      ),
    }),
    { description: "Hazards, scenarios and years, each in the requested order." },
  ),
  sources: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      description:
        "With detail: the sources that `detail` refers to, by hazard/scenario/analysis_year. GET /api/v1/hazards lists " +
        "their files.",
    }),
  ),
});

/** Counts the usage units of a result: one per analysis year in which at least one metric has data. */
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

/** GET /api/v1/hazard-risk: every requested hazard x scenario x year at one location. */
export const hazardRisk: Route<HazardQuery, HazardResult> = {
  method: "GET",
  path: "/api/v1/hazard-risk",
  access: "customer",
  description: {
    operationId: "getHazardRisk",
    tag: "Hazard risk",
    summary: "Hazards of one location",
    description:
      "Every requested hazard x scenario x analysis year, at the location or aggregated within a radius of it. " +
      "Each analysis year that has data is counted as one `hazard_values`.",
    query: HazardQuerySchema,
    parameterExamples: {
      latitude: 11.59,
      longitude: 43.15,
      hazards: "riverine_floods,coastal_floods",
      analysis_years: "2050",
      scenarios: "rcp8p5",
      radius: 10,
    },
    responses: {
      200: {
        description: "The metrics, nested by hazard, scenario and analysis year.",
        schema: HazardResultSchema,
        headers: { "X-Atlas-Release": "Release of the atlas that the numbers come from." },
      },
    },
    problems: ["invalid_request", "combination_unavailable", "too_many_values", "atlas_unavailable"],
  },
  metered: { meter: "hazard_values", units: countHazardValues },
  revision: ({ atlas }) => atlas.contentHash,
  parse({ queryText, limits }) {
    const query = parseHazardParameters(queryText);
    const requested = countValues(query);
    checkLimit("hazard values", { requested, limit: limits.hazardValueCount });
    if (query.detail) checkLimit("hazard values with detail", { requested, limit: limits.detailCount });
    return query;
  },
  isLong: (query, { atlas }) => atlas.isLong(query),
  handle: (query, { services: { atlas } }) => atlas.hazardRisk(query),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};
