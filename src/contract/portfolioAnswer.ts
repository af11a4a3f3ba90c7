import { Type } from "typebox";
import { AlignmentResultSchema, TemperatureRangeSchema } from "./alignmentAnswer.ts";
import { UNATTRIBUTED_REASONS, UNCOVERED_REASONS } from "./portfolioNames.ts";
import { PortfolioMethodSchema, PortfolioScopeSchema } from "./portfolioRequest.ts";
import { ProblemItemSchema } from "./problem.ts";
import { describe, numberOrNull } from "./schemaKinds.ts";

export const UncoveredReasonSchema = Type.Enum(UNCOVERED_REASONS, {
  description: "Why the holding is not in the temperature: it has no weight, or no score.",
});
export const UnattributedReasonSchema = Type.Enum(UNATTRIBUTED_REASONS, {
  description: "Why the holding has no attribution factor.",
});

export const PortfolioCoverageSchema = Type.Object(
  {
    holdings: Type.Number({ description: "Share of the holdings." }),
    value: Type.Number({ description: "Share of the value." }),
    weight: Type.Number({ description: "Share of the known weight." }),
  },
  { description: "Shares, 0 to 1, that have a weight and a score." },
);

export const UncoveredHoldingSchema = Type.Object({ id: Type.String(), reason: UncoveredReasonSchema });

export const PortfolioBoundsSchema = Type.Object(
  {
    low: Type.Number({ description: "Degrees C, with every missing score at `missing_low`." }),
    high: Type.Number({ description: "Degrees C, with every missing score at `missing_high`." }),
    complete: Type.Boolean({ description: "Whether every holding has a weight." }),
  },
  { description: "Temperature of the whole portfolio if the missing scores are at the limits of the request." },
);

export const ContributionSchema = Type.Object({
  id: Type.String(),
  weight: Type.Number({ description: "Share of the weight." }),
  temperature: Type.Number({ description: "Score of the holding, degrees C." }),
  contribution: Type.Number({ description: "Weight times score, degrees C; the sum is the temperature." }),
  share: Type.Number({ description: "Contribution divided by the temperature of the portfolio." }),
  above_goal: Type.Optional(
    Type.Number({
      description: "Weight times score above `goal`, degrees C; the sum is the temperature above `goal`.",
    }),
  ),
  without: numberOrNull({
    description: "Temperature of the portfolio without the holding, degrees C; null if no other holding has a weight.",
  }),
});

export const PortfolioGroupSchema = Type.Object({
  group: Type.String({ description: "`unassigned` for holdings without an entry under the key." }),
  temperature: numberOrNull({ description: "Degrees C; null if no holding of the group has a weight and a score." }),
  coverage: describe(PortfolioCoverageSchema, "Shares of the group, 0 to 1, that have a weight and a score."),
  weight: Type.Number({ description: "Share of the weight of the portfolio." }),
  contribution: Type.Number({ description: "Weight times temperature, degrees C." }),
});

export const PortfolioResultSchema = Type.Object(
  {
    method: PortfolioMethodSchema,
    scope: PortfolioScopeSchema,
    temperature: numberOrNull({
      description: "Weighted mean of the scores of the covered holdings, degrees C; null if they have no weight.",
    }),
    reason: Type.Optional(
      Type.Literal("no_weight", { description: "Why there is no temperature; present exactly when it is null." }),
    ),
    range: Type.Optional(
      describe(TemperatureRangeSchema, "If the errors of all scores have the same direction, degrees C."),
    ),
    range_independent: Type.Optional(
      describe(TemperatureRangeSchema, "If the errors of the scores are independent, degrees C."),
    ),
    range_coverage: Type.Optional(Type.Number({ description: "Share of the weight whose score has an interval." })),
    coverage: PortfolioCoverageSchema,
    bounds: Type.Optional(PortfolioBoundsSchema),
    default_share: Type.Optional(
      Type.Number({ description: "Share of the weight that has `default_score`; present if that was given." }),
    ),
    uncovered: Type.Array(UncoveredHoldingSchema, { description: "Holdings without a weight or a score, in order." }),
    contributions: Type.Optional(
      Type.Array(ContributionSchema, { description: "One element per holding in the temperature, in order." }),
    ),
    groups: Type.Optional(
      Type.Record(Type.String(), Type.Array(PortfolioGroupSchema), {
        description: "By key of `group_by`: the groups in order of first appearance.",
      }),
    ),
  },
  { description: "The temperature of the portfolio by one weighting and scope." },
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
    description: "Value divided by enterprise value including cash, or by equity plus debt.",
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
  overshoot: Type.Number({ description: "Projected less allowed, t CO2e." }),
  overshoot_pct: numberOrNull({ description: "Percent of the allowed emissions; null if these are not above 0." }),
});

export const FinancedSchema = Type.Object(
  {
    holdings: Type.Array(FinancedHoldingSchema, { description: "Holdings with an attribution factor, in order." }),
    uncovered: Type.Array(Type.Object({ id: Type.String(), reason: UnattributedReasonSchema }), {
      description: "Holdings without an attribution factor, in order.",
    }),
    financed_emissions: perScope("t CO2e", "Attribution times emissions, summed over the holdings."),
    coverage: perScope("0 to 1", "Share of the value that has an attribution factor and emissions."),
    intensity_per_million: perScopeOrNull(
      "t CO2e per million of value",
      "Financed emissions per million of the value that they belong to.",
    ),
    data_quality: perScopeOrNull("1 (best) to 5", "Data quality scores, weighted by value."),
    data_quality_coverage: perScope("0 to 1", "Share of the value that has a data quality score."),
    waci_per_million: numberOrNull({
      description: "Weighted average carbon intensity of scopes 1 and 2, t CO2e per million of revenue.",
    }),
    waci_coverage: Type.Number({ description: "Share of the value in it, 0 to 1." }),
    budget: Type.Union([FinancedBudgetSchema, Type.Null()], {
      description: "Aggregated budget of the holdings that have one; null if none has.",
    }),
    budget_coverage: Type.Number({ description: "Share of the value in it, 0 to 1." }),
  },
  { description: "Financed emissions after the PCAF standard, Part A." },
);

export const RefusedEntitySchema = Type.Object(
  {
    id: Type.String({ description: "The holding." }),
    error: Type.Object({
      code: Type.String({ description: "For programs to branch on: the meaning of a code never changes." }),
      detail: Type.String(),
      errors: Type.Array(ProblemItemSchema, { description: "All errors, each with a JSON pointer into the request." }),
    }),
  },
  { description: "An entity that cannot be scored." },
);

export const ScoredHoldingSchema = Type.Object(
  { id: Type.String({ description: "The holding." }), ...AlignmentResultSchema.properties },
  { description: "The temperatures of a holding's entity." },
);

/** The response of POST /api/v1/portfolio-alignment. */
export const PortfolioAnswerSchema = Type.Object({
  method: Type.String({ description: "Version of the aggregation." }),
  scores: Type.String({ description: "Version of the method that scores entities." }),
  benchmark: Type.String({ description: "Version of the benchmark that entities are compared with." }),
  year: Type.Union([Type.Literal("overall"), Type.Integer()], { description: "As in the request." }),
  results: Type.Array(PortfolioResultSchema, {
    description: "One element per method and scope: methods in the order requested, for each the scopes.",
  }),
  financed: FinancedSchema,
  entities: Type.Array(Type.Union([ScoredHoldingSchema, RefusedEntitySchema]), {
    description: "One element per holding with an entity, in order.",
  }),
});
