import { Type } from "typebox";
import { ALIGNMENT_BASES, ALIGNMENT_INCLUDES, ASSET_TYPES, BENCHMARK_IDS, BUDGET_SCENARIOS } from "./names.ts";
import { ALIGNMENT_AMOUNT_MAX, ALIGNMENT_YEARS, LABEL_LENGTH_MAX, PRICE_YEARS } from "./ranges.ts";

const year = (description: string) =>
  Type.Integer({ minimum: ALIGNMENT_YEARS.min, maximum: ALIGNMENT_YEARS.max, description });
const amount = (description: string) =>
  Type.Optional(Type.Number({ minimum: -ALIGNMENT_AMOUNT_MAX, maximum: ALIGNMENT_AMOUNT_MAX, description }));

export const ScopeEmissionsSchema = Type.Object(
  {
    scope1: amount("Direct emissions. Removals are negative."),
    scope2: amount("Emissions from purchased electricity and heat."),
    scope3: amount("Upstream and downstream emissions of the value chain."),
  },
  { description: "Emissions of at least one scope, in any unit that is the same in all years." },
);

/** Members of an entity that its result echoes. */
const ECHOED = {
  name: Type.String(),
  asset_type: Type.Enum(ASSET_TYPES),
  country: Type.Optional(
    Type.String({ description: "ISO code or name; determines the growth that is assumed if revenue is not given." }),
  ),
  industry_classification_system: Type.Optional(
    Type.String({
      description:
        "gics, nace, naics, isic, sics, trbc, icb, factset or custom: the system of a code without a prefix. Names are matched " +
        "in the same way for all systems.",
    }),
  ),
  industry: Type.Optional(
    Type.String({ description: "Name of the industry, or its code in ISIC Rev. 4, NACE Rev. 2 or NAICS 2017." }),
  ),
  sector: Type.Optional(
    Type.String({ description: "Name or code of the sector; used if the industry does not match." }),
  ),
};

export const EntityEchoSchema = Type.Object(ECHOED, {
  description: "As submitted, without the identifier; members that were not given are absent.",
});

export const EntitySchema = Type.Object(
  {
    entity_info: Type.Object({
      identifier: Type.Optional(Type.String({ description: "Identifier assigned by the caller; not echoed." })),
      ...ECHOED,
    }),
    data: Type.Array(
      Type.Object({
        year: year("The baseline year."),
        emissions: ScopeEmissionsSchema,
        financials: Type.Optional(
          Type.Object({
            revenue: amount(
              "Annual revenue, in any currency. Only its growth matters unless `convergence` is requested.",
            ),
            ebitda: amount("Not used."),
            currency: Type.Optional(
              Type.String({
                pattern: "^[A-Z]{3}$",
                examples: ["USD"],
                description: "ISO 4217 code. Used only for `convergence`, which requires USD.",
              }),
            ),
            price_year: Type.Optional(
              Type.Integer({
                minimum: PRICE_YEARS.min,
                maximum: PRICE_YEARS.max,
                description: "Price year of the revenue. Used only for `convergence`.",
              }),
            ),
          }),
        ),
      }),
      { minItems: 1, maxItems: 1, description: "Exactly one baseline year." },
    ),
    projected_emissions: Type.Array(
      Type.Object({
        year: year("A year after the baseline year."),
        emissions: ScopeEmissionsSchema,
        financials: Type.Optional(
          Type.Object({
            revenue: amount("Projected revenue, in the currency and prices of the baseline."),
          }),
        ),
        label: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: LABEL_LENGTH_MAX,
            description:
              "Name of the projection that the record belongs to, not blank. Either all records have one, or none.",
          }),
        ),
        probability: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 1,
            description:
              "Weight of the projection. All records with a label must have the same weight, and either all labels or none " +
              "have one. The weights are divided by their sum, which must be above 0.",
          }),
        ),
      }),
      { minItems: 1, description: "The response keeps their order." },
    ),
  },
  {
    additionalProperties: false,
    description:
      "A company: its description and its emissions in exactly one baseline year and in one or more later years. A scope is " +
      "used in a later year only if the baseline also has it.",
  },
);

/** The body of POST /api/v1/temperature-alignment-projections. */
export const AlignmentRequestSchema = Type.Array(EntitySchema, { minItems: 1 });

const BASIS =
  "Quantity compared with the pathways: emissions per revenue, emissions, or cumulative emissions since the baseline.";
export const AlignmentBasisSchema = Type.Enum(ALIGNMENT_BASES, { description: BASIS });
export const AlignmentIncludeSchema = Type.Enum(ALIGNMENT_INCLUDES, {
  description: "A member that a request can add to the results.",
});
export const BudgetScenarioSchema = Type.Enum(BUDGET_SCENARIOS, {
  description: "Scenario on which `budget` is based.",
});

/** Query parameters of POST /api/v1/temperature-alignment-projections. */
export const AlignmentParametersSchema = Type.Object(
  {
    detail: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Adds to each year how its temperature was computed, and everything that `include` can add.",
      }),
    ),
    basis: Type.Optional(Type.Enum(ALIGNMENT_BASES, { default: "intensity", description: BASIS })),
    include: Type.Optional(
      Type.Array(AlignmentIncludeSchema, {
        minItems: 1,
        uniqueItems: true,
        description: "Members to add to the results.",
      }),
    ),
    budget_scenario: Type.Optional(
      Type.Enum(BUDGET_SCENARIOS, {
        default: "net_zero_2050",
        description: "Scenario on which `budget` is based. Naming one adds `budget` to the results.",
      }),
    ),
    convergence: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        description:
          "Fraction of the gap between the emissions intensities of the entity and its industry that must close by 2050; not " +
          "applied if absent. Applies to entities with revenue in USD and a price year, whose emissions must be in t CO2e, and whose industry or " +
          "sector is a name in the list of industries.",
      }),
    ),
    benchmark: Type.Optional(
      Type.Enum(BENCHMARK_IDS, { default: BENCHMARK_IDS[0], description: "Id of the benchmark." }),
    ),
  },
  { additionalProperties: false },
);
