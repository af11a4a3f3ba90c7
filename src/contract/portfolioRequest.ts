import { Type } from "typebox";
import {
  ALIGNMENT_BASES,
  BUDGET_SCENARIOS,
  GROUP_KEY_COUNT_MAX,
  HOLDING_COUNT_MAX,
  MISSING_SCORE_C,
  MONEY_MAX,
  PORTFOLIO_METHODS,
  PORTFOLIO_SCOPES,
  SCORE_RANGE_C,
} from "./names.ts";
import { AlignmentParametersSchema, EntitySchema } from "./alignmentRequest.ts";
import { ALIGNMENT_AMOUNT_MAX, ALIGNMENT_YEARS } from "./ranges.ts";
import { numberOrNull, textOrNull } from "./schemaKinds.ts";

const SCORE = { exclusiveMinimum: SCORE_RANGE_C.above, maximum: SCORE_RANGE_C.max };

const money = (description: string) =>
  Type.Optional(numberOrNull({ minimum: -MONEY_MAX, maximum: MONEY_MAX, description }));
const tonnes = (description: string) =>
  Type.Optional(numberOrNull({ minimum: -ALIGNMENT_AMOUNT_MAX, maximum: ALIGNMENT_AMOUNT_MAX, description }));
const celsius = (description: string) => Type.Optional(Type.Number({ ...SCORE, description }));

export const PortfolioMethodSchema = Type.Enum(PORTFOLIO_METHODS, {
  description:
    "Weight of a holding: its value (WATS), the emissions of the company (TETS), or the emissions times the value divided " +
    "by market capitalization (MOTS), enterprise value (EOTS), enterprise value including cash (ECOTS), total assets " +
    "(AOTS) or revenue (ROTS).",
});
export const PortfolioScopeSchema = Type.Enum(PORTFOLIO_SCOPES, {
  description: "Scopes 1 and 2, scope 3, or all three.",
});

export const HoldingScoreSchema = Type.Union(
  [
    Type.Number(SCORE),
    Type.Object(
      {
        t: Type.Number({ ...SCORE, description: "Degrees C." }),
        low: Type.Optional(
          numberOrNull({ ...SCORE, description: "Lower end of its interval, degrees C; requires `high`." }),
        ),
        high: Type.Optional(
          numberOrNull({ ...SCORE, description: "Upper end of its interval, degrees C; requires `low`." }),
        ),
      },
      { additionalProperties: false },
    ),
  ],
  { description: "Degrees C, with or without an interval." },
);

const score = (description: string) =>
  Type.Optional(Type.Union([...HoldingScoreSchema.anyOf, Type.Null()], { description }));

export const HoldingTemperatureSchema = Type.Object(
  {
    s1s2s3: score("Score of scopes 1, 2 and 3."),
    s1s2: score("Score of scopes 1 and 2."),
    s3: score("Score of scope 3."),
  },
  { additionalProperties: false, description: "Known scores of the company, degrees C, used instead of `entity`." },
);

const quality = (description: string) => Type.Optional(numberOrNull({ minimum: 1, maximum: 5, description }));

export const HoldingQualitySchema = Type.Object(
  { s1s2: quality("Score of the emissions of scopes 1 and 2."), s3: quality("Score of the emissions of scope 3.") },
  { additionalProperties: false, description: "PCAF data quality scores of the emissions, 1 (best) to 5." },
);

export const HoldingBudgetSchema = Type.Object(
  {
    allowed: Type.Number({
      minimum: -MONEY_MAX,
      maximum: MONEY_MAX,
      description: "Emissions that the pathway allows, t CO2e.",
    }),
    projected: Type.Number({
      minimum: -MONEY_MAX,
      maximum: MONEY_MAX,
      description: "Emissions that the company projects, t CO2e.",
    }),
  },
  { additionalProperties: false, description: "Emissions of the company over the same years, t CO2e." },
);

export const HoldingSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, description: "Name of the line in the response." }),
    issuer: Type.Optional(
      textOrNull({ description: "Lines of one issuer are merged into one holding of this name. Default: the id." }),
    ),
    value: Type.Number({
      minimum: 0,
      maximum: MONEY_MAX,
      description: "Market value held; for loans the outstanding amount.",
    }),
    currency: Type.Optional(
      textOrNull({
        description:
          "Currency of the value and of all figures of the company. Must be the same on all lines, because amounts are not " +
          "converted.",
      }),
    ),
    entity: Type.Optional(
      Type.Union([EntitySchema, Type.Null()], {
        description:
          "A company to be scored, with emissions in t CO2e. Exactly one of `entity` and `temperature` is required. If the " +
          "entity is invalid or has no score, the holding is uncovered; the request does not fail.",
      }),
    ),
    temperature: Type.Optional(Type.Union([HoldingTemperatureSchema, Type.Null()])),
    scope1: tonnes("Scope 1 emissions in the baseline year, t CO2e; those of `entity` take precedence."),
    scope2: tonnes("Scope 2 emissions in the baseline year, t CO2e; those of `entity` take precedence."),
    scope3: tonnes("Scope 3 emissions in the baseline year, t CO2e; those of `entity` take precedence."),
    market_cap: money("Market capitalization."),
    enterprise_value: money("Enterprise value."),
    cash: money("Cash and cash equivalents."),
    evic: money("Enterprise value including cash. Default: `enterprise_value` + `cash`."),
    total_assets: money("Total assets."),
    revenue: money("Annual revenue; that of `entity` takes precedence."),
    equity: money("Total equity of an unlisted company."),
    debt: money("Total debt of an unlisted company."),
    data_quality: Type.Optional(Type.Union([HoldingQualitySchema, Type.Null()])),
    budget: Type.Optional(
      Type.Union([HoldingBudgetSchema, Type.Null()], {
        description: "Allowed and projected emissions; those of `entity` take precedence.",
      }),
    ),
    groups: Type.Optional(
      Type.Union([Type.Record(Type.String(), textOrNull()), Type.Null()], {
        description:
          "Groups that the holding belongs to, by key. Keys are free text, such as sector, country or asset_class.",
      }),
    ),
  },
  { additionalProperties: false, description: "A line of a portfolio. Members that are null are treated as absent." },
);

export const PortfolioOptionsSchema = Type.Object(
  {
    methods: Type.Optional(
      Type.Array(PortfolioMethodSchema, {
        minItems: 1,
        uniqueItems: true,
        default: ["WATS"],
        description: "Weighting methods.",
      }),
    ),
    scopes: Type.Optional(
      Type.Array(PortfolioScopeSchema, { minItems: 1, uniqueItems: true, default: ["s1s2s3"], description: "Scopes." }),
    ),
    year: Type.Optional(
      Type.Union(
        [Type.Literal("overall"), Type.Integer({ minimum: ALIGNMENT_YEARS.min, maximum: ALIGNMENT_YEARS.max })],
        {
          default: "overall",
          description:
            "Projected year of the scores that are used, or `overall` for the mean over the projected years of each entity.",
        },
      ),
    ),
    basis: Type.Optional(
      Type.Enum(ALIGNMENT_BASES, { default: "intensity", description: "Quantity that entities are compared by." }),
    ),
    convergence: AlignmentParametersSchema.properties.convergence,
    budget_scenario: Type.Optional(
      Type.Enum(BUDGET_SCENARIOS, {
        default: "net_zero_2050",
        description: "Scenario on which the budgets of entities are based.",
      }),
    ),
    goal: celsius("Temperature goal, degrees C; adds `above_goal` to each contribution."),
    group_by: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: GROUP_KEY_COUNT_MAX,
        uniqueItems: true,
        description: "Keys of `groups`. Adds the temperature of each group to the results.",
      }),
    ),
    default_score: celsius("Score assumed for holdings without one, degrees C. If absent, no score is assumed."),
    missing_low: Type.Optional(
      Type.Number({
        ...SCORE,
        default: MISSING_SCORE_C.low,
        description: "Score that the lower bound assumes for holdings without one, degrees C.",
      }),
    ),
    missing_high: Type.Optional(
      Type.Number({
        ...SCORE,
        default: MISSING_SCORE_C.high,
        description: "Score that the upper bound assumes for holdings without one, degrees C.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The body of POST /api/v1/portfolio-alignment. */
export const PortfolioRequestSchema = Type.Object(
  {
    holdings: Type.Array(HoldingSchema, { minItems: 1, maxItems: HOLDING_COUNT_MAX }),
    options: Type.Optional(PortfolioOptionsSchema),
  },
  { additionalProperties: false },
);
