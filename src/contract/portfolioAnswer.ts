import { Type } from "typebox";
import { AlignmentResultSchema, TemperatureRangeSchema } from "./alignmentAnswer.ts";
import { NO_WEIGHT, UNATTRIBUTED_REASONS, UNCOVERED_REASONS } from "./names.ts";
import { PortfolioMethodSchema, PortfolioScopeSchema } from "./portfolioRequest.ts";
import { ProblemItemSchema } from "./problem.ts";
import { describe, numberOrNull } from "./schemaKinds.ts";

export const UncoveredReasonSchema = Type.Enum(UNCOVERED_REASONS, {
  description: "Why the holding is uncovered.",
});
export const UnattributedReasonSchema = Type.Enum(UNATTRIBUTED_REASONS, {
  description: "Why the holding has no attribution factor.",
});

export const PortfolioCoverageSchema = Type.Object(
  {
    holdings: Type.Number({ description: "Share of the number of holdings." }),
    value: Type.Number({ description: "Share of the value." }),
    weight: Type.Number({ description: "Share of the weight of the holdings that have a weight." }),
  },
  {
    description:
      "Shares, 0 to 1, of the holdings that have a weight and a score: by count, value and weight. `default_score` does not " +
      "count as a score.",
  },
);

export const UncoveredHoldingSchema = Type.Object({ id: Type.String(), reason: UncoveredReasonSchema });

export const PortfolioBoundsSchema = Type.Object(
  {
    low: Type.Number({ description: "Degrees C, if every missing score were `missing_low`." }),
    high: Type.Number({ description: "Degrees C, if every missing score were `missing_high`." }),
    complete: Type.Boolean({ description: "Whether every holding has a weight." }),
  },
  {
    description:
      "Temperature of all holdings that have a weight, if every missing score were `missing_low` or `missing_high`.",
  },
);

export const ContributionSchema = Type.Object({
  id: Type.String(),
  weight: Type.Number({ description: "Share of the total weight of the holdings that count, 0 to 1." }),
  temperature: Type.Number({ description: "Score of the holding, or `default_score`, degrees C." }),
  contribution: Type.Number({
    description: "Weight times score, degrees C. The contributions add up to the temperature.",
  }),
  share: Type.Number({ description: "Contribution divided by the temperature of the portfolio." }),
  above_goal: Type.Optional(
    Type.Number({
      description:
        "Weight times the difference between the score and `goal`, degrees C; negative below `goal`. Present if `goal` was " +
        "given.",
    }),
  ),
  without: numberOrNull({
    description:
      "Temperature of the portfolio without the holding, degrees C; null if the temperature depends on this holding alone.",
  }),
});

export const PortfolioGroupSchema = Type.Object({
  group: Type.String({ description: "`unassigned` for holdings without an entry under the key." }),
  temperature: numberOrNull({
    description: "Degrees C; null if the weights of the holdings of the group that count add up to 0.",
  }),
  coverage: describe(
    PortfolioCoverageSchema,
    "Shares, 0 to 1, of the group's holdings that have a weight and a score: by count, value and weight.",
  ),
  weight: Type.Number({ description: "Share of the total weight of the holdings that count, 0 to 1." }),
  contribution: Type.Number({ description: "Weight times temperature, degrees C; 0 if the temperature is null." }),
  reason: Type.Optional(
    Type.Enum([...UNCOVERED_REASONS, NO_WEIGHT], {
      description:
        "Why the group has no temperature; present if the portfolio has none. The reason of its holdings if all are " +
        "uncovered for the same reason, else `no_weight`.",
    }),
  ),
});

export const PortfolioResultSchema = Type.Object(
  {
    method: PortfolioMethodSchema,
    scope: PortfolioScopeSchema,
    temperature: numberOrNull({
      description:
        "Weighted mean of the scores of the holdings that count, degrees C: those with a weight and a score and, if " +
        "`default_score` was given, those with a weight and no score. null if their weights add up to 0.",
    }),
    reason: Type.Optional(Type.Literal(NO_WEIGHT, { description: "Why the temperature is null; absent otherwise." })),
    range: Type.Optional(
      describe(
        TemperatureRangeSchema,
        "Range if all scores err in the same direction, degrees C; absent if the temperature is null.",
      ),
    ),
    range_independent: Type.Optional(
      describe(
        TemperatureRangeSchema,
        "Range if the errors of the scores are independent, degrees C; absent if the temperature is null.",
      ),
    ),
    range_coverage: Type.Optional(
      Type.Number({
        description:
          "Share of the total weight that belongs to scores with an interval, 0 to 1; absent if the temperature is null.",
      }),
    ),
    coverage: PortfolioCoverageSchema,
    bounds: Type.Optional(
      describe(
        PortfolioBoundsSchema,
        "Temperature of all holdings that have a weight, if every missing score were `missing_low` or `missing_high`; " +
          "absent if these weights add up to 0.",
      ),
    ),
    default_share: Type.Optional(
      Type.Number({
        description:
          "Share of the total weight that belongs to holdings with `default_score`, 0 to 1. Present if `default_score` was given, " +
          "unless the temperature is null.",
      }),
    ),
    uncovered: Type.Array(UncoveredHoldingSchema, {
      description:
        "Holdings without a weight or without a score, in the order of the holdings. Those with a `default_score` only are among " +
        "them.",
    }),
    contributions: Type.Optional(
      Type.Array(ContributionSchema, {
        description:
          "One element per holding that counts, in the order of the holdings; absent if the temperature is null.",
      }),
    ),
    groups: Type.Optional(
      Type.Record(Type.String(), Type.Array(PortfolioGroupSchema), {
        description:
          "Groups by key of `group_by`, in the order in which they first appear. Present if `group_by` was given.",
      }),
    ),
  },
  { description: "The temperature of the portfolio for one weighting method and one scope." },
);

const perScope = (unit: string, description: string) =>
  Type.Object(
    {
      s1s2: Type.Number({ description: `Scopes 1 and 2, ${unit}.` }),
      s3: Type.Number({ description: `Scope 3, ${unit}.` }),
    },
    { description },
  );
const perScopeOrNull = (unit: string, description: string) =>
  Type.Object(
    {
      s1s2: numberOrNull({ description: `Scopes 1 and 2, ${unit}.` }),
      s3: numberOrNull({ description: `Scope 3, ${unit}.` }),
    },
    { description },
  );

export const FinancedHoldingSchema = Type.Object({
  id: Type.String(),
  attribution: Type.Number({
    description: "Attribution factor: value divided by enterprise value including cash, or by equity plus debt.",
  }),
  flags: Type.Optional(
    Type.Array(Type.Literal("attribution_above_one"), { description: "Present if the attribution is above 1." }),
  ),
  s1s2: Type.Optional(Type.Number({ description: "Financed emissions of scopes 1 and 2, t CO2e." })),
  s3: Type.Optional(Type.Number({ description: "Financed emissions of scope 3, t CO2e." })),
});

export const FinancedBudgetSchema = Type.Object({
  allowed: Type.Number({ description: "Financed emissions that the pathway allows, t CO2e." }),
  projected: Type.Number({ description: "Financed emissions projected for the same years, t CO2e." }),
  overshoot: Type.Number({ description: "`projected` minus `allowed`, t CO2e." }),
  overshoot_pct: numberOrNull({
    description: "Overshoot as a percentage of `allowed`; null unless `allowed` is above 0.",
  }),
});

export const FinancedSchema = Type.Object(
  {
    holdings: Type.Array(FinancedHoldingSchema, {
      description: "Holdings with an attribution factor, in the order of the holdings.",
    }),
    uncovered: Type.Array(Type.Object({ id: Type.String(), reason: UnattributedReasonSchema }), {
      description: "Holdings without an attribution factor, in the order of the holdings.",
    }),
    financed_emissions: perScope("t CO2e", "Attribution factor times emissions, summed over the holdings."),
    coverage: perScope("0 to 1", "Share of the portfolio value in holdings with an attribution factor and emissions."),
    intensity_per_million: perScopeOrNull(
      "t CO2e per million of value",
      "Financed emissions per million of the value of the holdings included; null if this value is 0.",
    ),
    data_quality: perScopeOrNull(
      "1 (best) to 5",
      "Mean of the data quality scores of the holdings with financed emissions, weighted by value; null if none has a score.",
    ),
    data_quality_coverage: perScope("0 to 1", "Share of the portfolio value included in `data_quality`."),
    waci_per_million: numberOrNull({
      description:
        "Weighted average carbon intensity of scopes 1 and 2, t CO2e per million of revenue; null if no holding has both " +
        "emissions and a revenue above 0.",
    }),
    waci_coverage: Type.Number({ description: "Share of the portfolio value included in `waci_per_million`, 0 to 1." }),
    budget: Type.Union([FinancedBudgetSchema, Type.Null()], {
      description: "Attribution factor times budget, summed over the holdings that have both; null if there are none.",
    }),
    budget_coverage: Type.Number({ description: "Share of the portfolio value included in `budget`, 0 to 1." }),
  },
  { description: "Financed emissions according to the PCAF standard, Part A." },
);

export const RefusedEntitySchema = Type.Object(
  {
    id: Type.String({ description: "Id of the holding." }),
    error: Type.Object({
      code: Type.String({ description: "Stable error code that programs can branch on." }),
      detail: Type.String(),
      errors: Type.Array(ProblemItemSchema, { description: "All errors, each with a JSON pointer into the request." }),
    }),
  },
  { description: "An invalid entity, which is not scored." },
);

const labels = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

export const ExcludedLabelsSchema = Type.Object(
  {
    s1s2: labels("Labels without a temperature of scopes 1 and 2."),
    s3: labels("Labels without a temperature of scope 3."),
    s1s2s3: labels("Labels without a temperature of all scopes."),
    budget: labels("Labels without a budget up to the year of the holding's budget."),
  },
  {
    description:
      "Labels of the entity's projections that are not in the score or in the budget of the holding, which are means over " +
      "the other labels. Only scopes that were requested.",
  },
);

export const ScoredHoldingSchema = Type.Object(
  {
    id: Type.String({ description: "Id of the holding." }),
    ...AlignmentResultSchema.properties,
    excluded_labels: Type.Optional(ExcludedLabelsSchema),
  },
  { description: "The temperatures of the entity of a holding, always with `overall` and `budget`." },
);

/** The response of POST /api/v1/portfolio-alignment. */
export const PortfolioAnswerSchema = Type.Object({
  method: Type.String({ description: "Version of the aggregation." }),
  scores: Type.String({ description: "Version of the method that scores entities." }),
  benchmark: Type.String({ description: "Version of the benchmark that entities are compared with." }),
  year: Type.Union([Type.Literal("overall"), Type.Integer()], { description: "As in the request." }),
  results: Type.Array(PortfolioResultSchema, {
    description: "One element per method and scope, ordered by method, then by scope, as requested.",
  }),
  financed: FinancedSchema,
  entities: Type.Array(Type.Union([ScoredHoldingSchema, RefusedEntitySchema]), {
    description: "One element per holding with an entity, in the order of the holdings.",
  }),
});
