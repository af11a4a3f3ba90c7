import { type TSchema, Type } from "typebox";
import { AGGREGATION_METHODS, type METRIC_NAMES, NO_DATA_REASONS } from "./names.ts";
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
    "Why a metric is null; present if and only if at least one metric is null. 0 is a value, not missing data.",
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
          "The value has no bound in either direction, for example because both terms of a change are bounds in the same " +
          "direction.",
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
      describe(
        BoundSchema,
        "Bound of `total_hazard`, of the same kind as that of `probability`, or indeterminate if the intensity is missing; present " +
          "if `total_hazard` was requested.",
      ),
    ),
  },
  {
    description:
      "Present if the probability is not known exactly. Maps of return periods of T years cannot resolve probabilities " +
      "above 1/T of their shortest return period (`at_least`) or below 1/T of their longest (`at_most`; the value is then 0).",
  },
);

/** Phrase used in descriptions. The return period itself differs between atlases (GET /api/v1/hazards). */
const DESIGN_RETURN_PERIOD = "the design return period in the rules of the atlas";

/** Returns one optional member per metric, with the schema that `schemaOf` creates from its description. */
function metricsOf<Schema extends TSchema>(schemaOf: (description: string) => Schema) {
  return {
    intensity: Type.Optional(schemaOf("Severity, 0 to 1.")),
    wind_speed_mps: Type.Optional(schemaOf(`Cyclones: wind speed at ${DESIGN_RETURN_PERIOD}, m/s.`)),
    fire_danger_days: Type.Optional(schemaOf("Wildfire: days of high fire danger per year.")),
    depth_meters: Type.Optional(schemaOf(`Floods: depth at ${DESIGN_RETURN_PERIOD}, meters.`)),
    probability: Type.Optional(schemaOf("Annual probability that the hazard reaches its threshold, 0 to 1.")),
    total_hazard: Type.Optional(schemaOf("Intensity times probability; present if `total_hazard` was requested.")),
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

export const ModelRangeSchema = Type.Object(
  {
    minimum: Type.Number({ description: "Smallest value over the climate models." }),
    maximum: Type.Number({ description: "Largest value over the climate models." }),
  },
  { description: "Range of a metric over the climate models of its source, in the unit of the metric." },
);

export const ModelRangesSchema = Type.Object(
  metricsOf((description) => describe(ModelRangeSchema, description)),
  {
    description:
      "Ranges of the metrics over the climate models, whose mean the metrics are. With a radius, the smallest and largest " +
      "values of the cells are aggregated like the metrics. Present if the atlas has them and no change was requested; a " +
      "metric without a value has no range.",
  },
);

export const AnswerDetailSchema = Type.Object(
  {
    cells: Type.Integer({
      minimum: 0,
      description:
        "Number of grid cells that were aggregated. If the radius is 0, it is 1, or 0 if the location is outside the grid or " +
        "the atlas has no layer. A circle that extends beyond the grid has cells only inside it.",
    }),
    valid_share: share(
      "Share of the cells' area that has data, as the minimum over the metrics that have a layer. For a change, it is the " +
        "share in the scenario, not in the baseline.",
    ),
    metrics: Type.Optional(
      Type.Object(
        metricsOf((description) => describe(MetricDetailSchema, description)),
        {
          description:
            "Shares and reasons by metric; present if they differ between metrics. A metric without a layer has no share.",
        },
      ),
    ),
    cell_center: Type.Optional(
      location("Center of the cell that contains the location; present only if the radius is 0."),
    ),
    source: Type.Optional(
      Type.String({ description: "Source of the layers, as a key of `sources`; absent if the atlas has no layer." }),
    ),
    baseline_source: Type.Optional(
      Type.String({
        description: "Source of the baseline, as a key of `sources`; present if `anthropogenic` was requested.",
      }),
    ),
    rules: Type.Record(Type.String(), Type.Unknown(), {
      description:
        "Rules used to derive the metrics. `return_periods_years` lists the return periods of the maps, if any.",
    }),
    model_range: Type.Optional(ModelRangesSchema),
    caveats: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Limitations of the numbers, for example a change between different sources, or mean values that may hide bounds.",
      }),
    ),
  },
  { description: "How the numbers were derived; present if `detail` was requested." },
);

export const AnalysisYearResultSchema = Type.Object({
  analysis_year: Type.Integer(),
  metrics: Type.Object(
    metricsOf((description) => numberOrNull({ description })),
    {
      description:
        "A metric is null if it has no value. If `anthropogenic` was requested, each metric is a change since 1980 and may " +
        "be negative. GET /api/v1/hazards defines the metrics of this atlas.",
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
        { description: "Present if and only if the requested radius is above 0." },
      ),
    ),
    results: Type.Array(Type.Object({ hazard: HazardNameSchema, scenarios: Type.Array(ScenarioResultSchema) }), {
      description: "Hazards, scenarios and years, each in the requested order.",
    }),
    sources: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
        description:
          "Sources of the layers, by keys of the form hazard/scenario/analysis_year; present if `detail` was requested. " +
          "GET /api/v1/hazards lists their files.",
      }),
    ),
  },
  { description: "Hazards at one location." },
);

export const RefusedQuerySchema = Type.Object(
  { error: ProblemSchema },
  {
    description:
      "Replaces the result of an invalid query. The other queries are not affected. JSON pointers are relative to " +
      "the query, not to the batch.",
  },
);

export const HazardBatchAnswerSchema = Type.Object({
  results: Type.Array(Type.Union([HazardResultSchema, RefusedQuerySchema]), {
    description: "One element per query, in the same order.",
  }),
});
