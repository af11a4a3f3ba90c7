import { type TSchema, Type } from "typebox";
import { AGGREGATION_METHODS, type METRIC_NAMES, NO_DATA_REASONS } from "./hazardNames.ts";
import { HazardNameSchema, ScenarioSchema } from "./hazardQuery.ts";
import { ProblemSchema } from "./problem.ts";
import { describe, numberOrNull } from "./schemaKinds.ts";

const location = (description: string) =>
  Type.Object(
    {
      latitude: Type.Number({ description: "Degrees north, WGS84." }),
      longitude: Type.Number({ description: "Degrees east, WGS84." }),
    },
    { description },
  );

export const NoDataReasonSchema = Type.Enum(NO_DATA_REASONS, {
  description:
    "Why a metric is null; present exactly when at least one is. 0 is a value; it never means that data is missing.",
});

export const BoundSchema = Type.Union(
  [
    Type.Object({
      bound: Type.Enum(["at_least", "at_most"], { description: "Direction in which the true value may differ." }),
      limit: Type.Number({ description: "The true value is at least, or at most, this value." }),
    }),
    Type.Object({
      bound: Type.Literal("indeterminate", {
        description:
          "Both terms of a change are bounds in the same direction: the direction of the difference is unknown.",
      }),
      limit: Type.Optional(Type.Never()),
    }),
  ],
  { description: "Bound of a value that is not known exactly." },
);

export const BoundsSchema = Type.Object(
  {
    probability: BoundSchema,
    total_hazard: Type.Optional(
      describe(BoundSchema, "If requested: total_hazard inherits the bound of its probability."),
    ),
  },
  {
    description:
      "Present if the probability is only a bound: return-period maps give no probability above 1/T of their shortest " +
      "return period (at_least) and none below 1/T of their longest (at_most, where the value is 0). total_hazard " +
      "inherits the bound of its probability.",
  },
);

/** Each atlas has its own thresholds and return periods, which GET /api/v1/hazards lists. */
const DESIGN = "the design return period of the atlas's rules";

/** Returns one optional member per metric, with the schema that `schemaOf` makes of its description. */
function metricsOf<Schema extends TSchema>(schemaOf: (description: string) => Schema) {
  return {
    intensity: Type.Optional(schemaOf("0 to 1.")),
    wind_speed_mps: Type.Optional(schemaOf(`Cyclones: wind speed at ${DESIGN}, m/s.`)),
    fire_danger_days: Type.Optional(schemaOf("Wildfire: days of high fire danger per year.")),
    depth_meters: Type.Optional(schemaOf(`Floods: depth at ${DESIGN}, meters.`)),
    probability: Type.Optional(schemaOf("0 to 1: annual probability of reaching the hazard's threshold.")),
    total_hazard: Type.Optional(schemaOf("With total_hazard: intensity x probability.")),
  } satisfies Record<(typeof METRIC_NAMES)[number], TSchema>;
}

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

export const MetricDetailSchema = Type.Object(
  {
    valid_share: Type.Optional(
      share("Share of the cells' area that has data; absent if the atlas has no layer of the metric."),
    ),
    no_data: Type.Optional(describe(NoDataReasonSchema, "Why the metric is null.")),
  },
  { description: "Coverage of one metric." },
);

export const AnswerDetailSchema = Type.Object(
  {
    cells: Type.Integer({
      minimum: 0,
      description:
        "Number of grid cells that were aggregated: 1 at a point, otherwise those in the circle. The area outside the " +
        "grid has no cells.",
    }),
    valid_share: share(
      "Share of the cells' area that has data: the minimum over the metrics that have a layer. For a change, the share " +
        "of the scenario, not of the baseline.",
    ),
    metrics: Type.Optional(
      Type.Object(
        metricsOf((description) => describe(MetricDetailSchema, description)),
        {
          description:
            "Shares and reasons by metric, present if they differ between metrics. A metric without a layer has no share.",
        },
      ),
    ),
    cell_center: Type.Optional(location("Center of the cell at a point.")),
    source: Type.Optional(
      Type.String({ description: "Key in `sources` of the source of the layers; absent if the atlas has no layer." }),
    ),
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

export const AnalysisYearResultSchema = Type.Object({
  analysis_year: Type.Integer(),
  metrics: Type.Object(
    metricsOf((description) => numberOrNull({ description })),
    {
      description:
        "null if no number exists. With anthropogenic, each is a change since 1980 and may be negative. " +
        "GET /api/v1/hazards defines each metric for this atlas.",
    },
  ),
  bounds: Type.Optional(BoundsSchema),
  no_data: Type.Optional(NoDataReasonSchema),
  detail: Type.Optional(AnswerDetailSchema),
});

export const ScenarioResultSchema = Type.Object({
  scenario: ScenarioSchema,
  analysis_years: Type.Array(AnalysisYearResultSchema),
});

/** The result for one location, which src/hazard/answer.ts computes. */
export const HazardResultSchema = Type.Object(
  {
    location: location("The requested location."),
    aggregation: Type.Optional(
      Type.Object(
        {
          radius_km: Type.Number({ description: "Kilometers." }),
          method: Type.Enum(AGGREGATION_METHODS),
        },
        { description: "Present exactly when the requested radius is above 0." },
      ),
    ),
    results: Type.Array(Type.Object({ hazard: HazardNameSchema, scenarios: Type.Array(ScenarioResultSchema) }), {
      description: "Hazards, scenarios and years, each in the requested order.",
    }),
    sources: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
        description:
          "With detail: the sources that `detail` refers to, by hazard/scenario/analysis_year. GET /api/v1/hazards lists " +
          "their files.",
      }),
    ),
  },
  { description: "Hazards of one location." },
);

export const RefusedQuerySchema = Type.Object(
  { error: ProblemSchema },
  {
    description:
      "The element of an invalid query; it does not affect the others. JSON pointers are relative to the query, not to " +
      "the batch.",
  },
);

export const HazardBatchAnswerSchema = Type.Object({
  results: Type.Array(Type.Union([HazardResultSchema, RefusedQuerySchema]), {
    description: "One element per query, in the same order.",
  }),
});
