import { Type } from "typebox";
import { DAMAGE_POINTS, RETURN_PERIODS } from "./ranges.ts";
import { HazardNameSchema, HazardQueryInputSchema, ScenarioSchema } from "./hazardQuery.ts";
import { AnswerDetailSchema, HazardResultSchema, NoDataReasonSchema, RefusedQuerySchema } from "./hazardResult.ts";
import { describe, numberOrNull } from "./schemaKinds.ts";

export const DamageCurvePointSchema = Type.Object(
  {
    value: Type.Number({ minimum: 0, description: "Value of the hazard in the unit of its curve, such as meters." }),
    damage_share: Type.Number({ minimum: 0, maximum: 1, description: "Damaged share of the exposed value." }),
  },
  { additionalProperties: false },
);

const { latitude, longitude, analysis_years, scenarios, radius, aggregation_method, detail } =
  HazardQueryInputSchema.properties;

/** A member of hazard queries that does not apply to curves: accepted with its default, so that clients can send it always. */
const onlyFalse = (reason: string) =>
  Type.Optional(Type.Literal(false, { default: false, description: `Must be false. ${reason}` }));

const CURVE_PARAMETERS = {
  latitude,
  longitude,
  hazards: Type.Array(HazardNameSchema, { minItems: 1, maxItems: 1, description: "One hazard." }),
  analysis_years: describe(analysis_years, "Years that the hazard supports; the response keeps their order."),
  scenarios: describe(scenarios, "Scenarios that the hazard supports; the response keeps their order."),
  radius,
  aggregation_method: Type.Optional(
    describe(
      aggregation_method,
      "Aggregation over the circle, separately for each return period; no effect if radius is 0.",
    ),
  ),
  threshold: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: "In the unit of the curve. Adds `exceedance`, the annual probability of reaching this value.",
    }),
  ),
  return_periods: Type.Optional(
    Type.Array(Type.Number({ minimum: RETURN_PERIODS.min, description: "Years." }), {
      minItems: 1,
      maxItems: RETURN_PERIODS.countMax,
      uniqueItems: true,
      description: "Return periods in years. Adds `return_levels`, the values at them.",
    }),
  ),
  floor: Type.Optional(
    Type.Number({
      minimum: 0,
      description: "In the unit of the curve. Adds `expected_annual_value`, the expected annual value above the floor.",
    }),
  ),
  total_hazard: onlyFalse("`total_hazard` is a metric of hazard-risk queries."),
  anthropogenic: onlyFalse("To see the change since 1980, query the curve of the baseline too."),
  detail,
};

const CURVE_QUERY = {
  additionalProperties: false,
  description: "A location, a hazard, and the requested analysis years and scenarios of its return-period curve.",
} as const;

/** The parameters of GET /api/v1/hazard-risk/curve. */
export const CurveParametersSchema = Type.Object(CURVE_PARAMETERS, CURVE_QUERY);

export const CurveQueryInputSchema = Type.Object(
  {
    ...CURVE_PARAMETERS,
    damage_curve: Type.Optional(
      Type.Array(DamageCurvePointSchema, {
        minItems: DAMAGE_POINTS.countMin,
        maxItems: DAMAGE_POINTS.countMax,
        description:
          "Damage share by value of the hazard, linear between the points and constant above the last. Values must " +
          "increase, damage shares must not decrease, and the first damage share must be 0. Adds `expected_annual_damage`.",
      }),
    ),
  },
  CURVE_QUERY,
);

/** The body of POST /api/v1/hazard-risk/curve/batch. */
export const CurveBatchRequestSchema = Type.Array(CurveQueryInputSchema, { minItems: 1 });

const returnPeriod = Type.Number({ description: "Years." });

export const CurvePointSchema = Type.Object({
  return_period: returnPeriod,
  value: Type.Number({ description: "Value that is reached with an annual probability of 1 / return_period." }),
});

export const ReturnLevelSchema = Type.Object({
  return_period: returnPeriod,
  value: Type.Number({ description: "Between return periods of the curve, interpolated." }),
  bound: Type.Optional(
    Type.Enum(["at_least", "at_most"], {
      description:
        "Present if the return period is outside the curve, which is not extrapolated: the true value is at least the " +
        "last value of the curve, or at most its first.",
    }),
  ),
});

export const ExceedanceSchema = Type.Object(
  {
    threshold: Type.Number({ description: "The requested threshold." }),
    probability: Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Annual probability that the threshold is reached; 0 if no value of the curve reaches it.",
    }),
    return_period: numberOrNull({ description: "1 / probability, years; null if the probability is 0." }),
    bound: Type.Optional(
      Type.Enum(["at_least", "at_most"], {
        description:
          "Present if the probability is not known exactly: it is at least, or at most, `limit`, and the return period at " +
          "most, or at least, 1 / limit.",
      }),
    ),
    limit: Type.Optional(
      Type.Number({
        description:
          "1 / T of the shortest return period if its value reaches the threshold; 1 / T of the longest if no value does.",
      }),
    ),
  },
  { description: "Annual probability of reaching the threshold; present if `threshold` was requested." },
);

export const AnnualTailSchema = Type.Object(
  {
    value: Type.Number({ description: "Part of the expected annual amount, in the same unit." }),
    bound: Type.Literal("at_least", {
      description: "The true part is at least this, because longer return periods may have larger values.",
    }),
  },
  { description: "Part for return periods above the longest of the curve." },
);

const EXCLUDED = "Return periods below the shortest of the curve add nothing.";

export const ExpectedAnnualValueSchema = Type.Object(
  {
    floor: Type.Number({ description: "The requested floor." }),
    value: Type.Number({ description: `Per year, in the unit of the curve, including the tail. ${EXCLUDED}` }),
    tail: AnnualTailSchema,
  },
  { description: "Expected annual value above the floor; present if `floor` was requested." },
);

export const ExpectedAnnualDamageSchema = Type.Object(
  {
    value: Type.Number({ description: `Damaged share per year, including the tail. ${EXCLUDED}` }),
    tail: AnnualTailSchema,
  },
  { description: "Expected annual damage share; present if `damage_curve` was given." },
);

export const ModelRangePointSchema = Type.Object({
  return_period: returnPeriod,
  minimum: Type.Number({ description: "Smallest value of a climate model." }),
  maximum: Type.Number({ description: "Largest value of a climate model." }),
});

const answerDetail = AnswerDetailSchema.properties;

export const CurveDetailSchema = Type.Object(
  {
    cells: answerDetail.cells,
    valid_share: describe(answerDetail.valid_share, "Share of the cells' area that has data."),
    cell_center: answerDetail.cell_center,
    source: Type.Optional(
      describe(
        answerDetail.source,
        "Source of the curve, as a key of `sources`; absent if the atlas has no layer for the scenario and year.",
      ),
    ),
    rules: answerDetail.rules,
    variate: Type.Optional(
      Type.Enum(["gumbel", "log"], {
        description:
          "Variate of the return period T in which the curve is interpolated linearly: -ln(-ln(1 - 1/T)), or ln T. " +
          "Absent if there is no curve.",
      }),
    ),
    model_range: Type.Optional(
      Type.Array(ModelRangePointSchema, {
        description: "Range over the climate models at each return period; present if the atlas keeps it.",
      }),
    ),
    caveats: Type.Optional(
      describe(
        answerDetail.caveats,
        "Limitations of the numbers, for example that the curve is a mean over climate models.",
      ),
    ),
  },
  { description: "How the curve was derived; present if `detail` was requested." },
);

export const CurveYearResultSchema = Type.Object({
  analysis_year: Type.Integer(),
  unit: Type.String({ description: "Unit of the curve: m or m/s." }),
  curve: Type.Union([Type.Array(CurvePointSchema), Type.Null()], {
    description: "The return periods of the maps, ascending, and the value at each; null if there is no value.",
  }),
  no_data: Type.Optional(
    describe(
      NoDataReasonSchema,
      "Why the curve is null; present if and only if it is. 0 is a value, not missing data.",
    ),
  ),
  return_levels: Type.Optional(
    Type.Array(ReturnLevelSchema, {
      description: "The values at the requested return periods, in their order; present if `return_periods` was given.",
    }),
  ),
  exceedance: Type.Optional(ExceedanceSchema),
  expected_annual_value: Type.Optional(ExpectedAnnualValueSchema),
  expected_annual_damage: Type.Optional(ExpectedAnnualDamageSchema),
  detail: Type.Optional(CurveDetailSchema),
});

export const CurveScenarioResultSchema = Type.Object({
  scenario: ScenarioSchema,
  analysis_years: Type.Array(CurveYearResultSchema),
});

/** The result for one location, which src/hazard/curve/ computes. */
export const CurveResultSchema = Type.Object(
  {
    location: HazardResultSchema.properties.location,
    aggregation: HazardResultSchema.properties.aggregation,
    results: Type.Array(Type.Object({ hazard: HazardNameSchema, scenarios: Type.Array(CurveScenarioResultSchema) }), {
      description: "The hazard, with scenarios and years in the requested order.",
    }),
    sources: HazardResultSchema.properties.sources,
  },
  { description: "Return-period curves of a hazard at one location." },
);

export const CurveBatchAnswerSchema = Type.Object({
  results: Type.Array(Type.Union([CurveResultSchema, RefusedQuerySchema]), {
    description: "One element per query, in the same order.",
  }),
});
