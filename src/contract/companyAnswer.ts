import { Type } from "typebox";
import {
  CODE_SYSTEMS,
  COUNTRY_TIERS,
  DAMAGE_FUNCTIONS,
  EBITDA_MEASURES,
  EMISSION_METHODS,
  ESTIMATED_MEMBERS,
  PRICE_MODEL_IDS,
  PRICE_ORIGINS,
  PRICE_REGIONS,
  QUALITY_MARKS,
  RATINGS,
  REMARK_CODES,
  SCENARIO_FAMILIES,
  SCENARIO_VINTAGES,
} from "./names.ts";
import { CountryParametersSchema, IndustryParametersSchema } from "./companyReference.ts";
import { describe, numberOrNull, openEnum, textOrNull } from "./schemaKinds.ts";

const usd = (description: string) => Type.Number({ description: `${description} USD of 2025 per year.` });
const number = (description: string) => Type.Number({ description });
const score = () =>
  Type.Number({
    minimum: 0,
    maximum: 100,
    description: "100 x / (x + 0.25), where x is the ratio of the loss without closures to normalized EBITDA.",
  });

const NAMES = {
  name: textOrNull({ description: "Name of the company; null if the request has none." }),
  country: Type.Object({
    iso3: Type.String({ description: "ISO 3166 alpha-3 code." }),
    name: Type.String(),
    tier: Type.Enum(COUNTRY_TIERS, { description: "A: all figures come from data. B: some are substitutes." }),
  }),
  industry: Type.Object({
    id: Type.String(),
    name: Type.String(),
    matched_on: Type.Enum(["id", "name", "alias", ...CODE_SYSTEMS], {
      description: "Kind of name or code by which the industry was found.",
    }),
  }),
};

/** The company of a request for emissions. */
export const EmitterEchoSchema = Type.Object(NAMES, { description: "The company as the request was understood." });

export const CompanyEchoSchema = Type.Object(
  {
    ...NAMES,
    figures: Type.Object(
      {
        revenue: usd("Revenue."),
        total_assets: number("Total assets, USD of 2025."),
        ebitda: usd("EBITDA."),
        total_debt: number("Total debt, USD of 2025."),
        normalized_ebitda: usd(
          "EBITDA that losses are compared with: at least half of what is normal in the industry at this revenue.",
        ),
        estimated: Type.Array(Type.Enum(ESTIMATED_MEMBERS), {
          description: "Members that were estimated because the request lacks them.",
        }),
      },
      { description: "Figures of the company, as sent or estimated." },
    ),
  },
  { description: "The company as the request was understood." },
);

export const EmissionsFigureSchema = Type.Object(
  {
    value: number("t CO2e per year."),
    low: number("Lower end of the range, t CO2e per year."),
    high: number("Upper end of the range, t CO2e per year."),
    method: Type.Enum(EMISSION_METHODS, {
      description: "Origin of the figure. `split` is a part of the reported total of scope 3.",
    }),
    pcaf_score: Type.Integer({ minimum: 1, maximum: 5, description: "PCAF data quality score, 1 (best) to 5." }),
    modelled: number("Emissions according to the model, t CO2e per year."),
  },
  { description: "Emissions of one scope." },
);

export const EmissionsFiguresSchema = Type.Object({
  scope1: EmissionsFigureSchema,
  scope2: EmissionsFigureSchema,
  scope3_upstream: EmissionsFigureSchema,
  scope3_downstream: EmissionsFigureSchema,
  financed: Type.Union([EmissionsFigureSchema, Type.Null()], {
    description: "Financed emissions of a bank (scope 3, category 15); null for other companies.",
  }),
});

export const CompanyAssumptionsSchema = Type.Object(
  {
    discount_rate: number("Real discount rate, as a fraction."),
    shock_year: Type.Integer({ description: "First year with carbon prices above current policies." }),
    pass_through: numberOrNull({
      description:
        "Share of costs that is passed on, the same in all years; null if the industry's pass-through for each year applies.",
    }),
    lgd: number("Loss given default, as a fraction."),
    damage_function: Type.Enum(DAMAGE_FUNCTIONS, { description: "Loss of output as a function of warming." }),
    iam: Type.Enum(PRICE_MODEL_IDS, {
      description: "Integrated assessment model that the NGFS carbon prices come from.",
    }),
  },
  { description: "Assumptions in the request, or their defaults." },
);

const DriversSchema = Type.Object({
  price: number("Carbon price of the scenario, USD of 2025 per t CO2e."),
  baseline_price: number("Carbon price under current policies, USD of 2025 per t CO2e."),
  price_shock: number("Price of the scenario minus that under current policies, at least 0, USD of 2025 per t CO2e."),
  fuel_price_shock: number(
    "Price shock for the buyers of the company's products: that of the world for fuel traded worldwide, otherwise that of " +
      "the country. USD of 2025 per t CO2e.",
  ),
  price_model: Type.Enum(PRICE_ORIGINS, {
    description: "Model that the price comes from; `ar6` is the median of an ensemble.",
  }),
  price_region: Type.Enum(PRICE_REGIONS, { description: "Region of the price." }),
  gsat: number("Global warming, degrees C."),
  local_temperature: number("Mean temperature of the country, degrees C."),
  local_temperature_2020: number("Mean temperature of the country in 2020, degrees C."),
  capital_renewed: number("Fraction of capital that has been renewed and can therefore abate emissions."),
  abatement_share: number("Fraction of its own emissions that the company abates instead of paying for them."),
  unit_cost: number("Cost per t of current scope 1 emissions, USD."),
  unit_cost_scope2: number("Cost per t of current scope 2 emissions, USD."),
  unit_cost_upstream: number("Cost per t of current upstream emissions, USD."),
  product_unit_cost: number("Cost to buyers per t of current downstream emissions, USD."),
  pass_through: number("Fraction of the cost that is passed on to buyers."),
});

const TransitionSchema = Type.Object({
  gross_cost: usd("Cost before pass-through."),
  volume_change: number("Relative change of the volume sold, -1 to 0."),
  own_volume_change: number("`volume_change` if only the company's own prices rose."),
  product_volume_change: number("`volume_change` if only the cost of using its products rose."),
  loss: usd("Loss after closures, below normalized EBITDA."),
  uncapped: usd("Loss without closures."),
  capped: Type.Boolean({ description: "Whether the loss without closures is normalized EBITDA or more." }),
  credit_loss: usd("Loss of a bank on its loans."),
  score: score(),
  note: Type.Optional(
    Type.String({ description: "Why there is no loss. Present if there is neither a price shock nor a loss." }),
  ),
});

const PhysicalSchema = Type.Object({
  chronic: Type.Object({
    damage_fraction: number("Fraction of the country's output that is lost."),
    loss: usd("Loss due to warming."),
  }),
  acute: Type.Object({
    by_hazard: Type.Object(
      { flood: numberOrNull(), wind: numberOrNull(), surge: numberOrNull() },
      { description: "Average annual loss as a fraction of capital; null if the source does not have the hazard." },
    ),
    aal_fraction: number("Average annual loss of all hazards, as a fraction of capital."),
    asset_loss: usd("Damage to assets."),
    interruption: usd("Loss due to interrupted business."),
  }),
  score: score(),
  percentile: Type.Object(
    { acute: Type.Number(), chronic: Type.Number() },
    { description: "Percentile among the 180 countries with complete data, percent." },
  ),
});

const BEFORE_AFTER = {
  before: numberOrNull({ description: "Without the losses of the scenario." }),
  after: numberOrNull({ description: "With the losses of the scenario." }),
};
export const BeforeAfterSchema = Type.Object(BEFORE_AFTER, {
  description: "A figure before and after the losses; null if it is undefined.",
});

const PD_1Y = Type.Object(
  {
    ...BEFORE_AFTER,
    basis: Type.Enum(["own", "model"], {
      description: "`own` is the `pd` in the request; `model` is derived from the five-year probability.",
    }),
  },
  { description: "Probability of default within one year, 0 to 1; a value is null if it is undefined." },
);
const EXPECTED_LOSS = {
  pd_1y: PD_1Y,
  expected_loss_bp: describe(BeforeAfterSchema, "Expected loss within one year, basis points of the exposure."),
  expected_loss: Type.Optional(
    describe(BeforeAfterSchema, "Expected loss within one year, USD of 2025. Present if the request has an exposure."),
  ),
};

export const CompanyResultSchema = Type.Object(
  {
    scenario: Type.String({ description: "Id of the scenario." }),
    family: Type.Enum(SCENARIO_FAMILIES, { description: "Publisher of the scenario." }),
    vintage: Type.Enum(SCENARIO_VINTAGES, { description: "Phase of the NGFS, or assessment report of the IPCC." }),
    year: Type.Integer({ description: "Assessment year." }),
    drivers: describe(DriversSchema, "Prices, temperatures and costs from which the losses are computed."),
    transition: describe(TransitionSchema, "Losses from carbon prices and from lower sales."),
    physical: describe(PhysicalSchema, "Losses from warming and from extreme weather."),
    interaction: usd("Difference between the total and the sum of its parts, because of closures; 0 or less."),
    total: Type.Object({
      loss: usd("Loss after closures, below normalized EBITDA."),
      loss_ratio: number(
        "All losses without closures, divided by normalized EBITDA, without an upper limit. Suited to ranking companies.",
      ),
      pct_of_ebitda: number("Loss in percent of normalized EBITDA."),
      pct_of_assets: number("Loss in percent of total assets."),
      score: score(),
      rating: Type.Enum(RATINGS, {
        description: "Band of the score: A up to 10, B up to 25, C up to 50, D up to 75, else E.",
      }),
      low: number(
        "Lower end of the range over the sensitivity cases, each of which changes one assumption, percent of normalized EBITDA.",
      ),
      high: number("Upper end of the range, percent of normalized EBITDA."),
      measured_by: Type.Enum(EBITDA_MEASURES, {
        description:
          "Denominator of the percentages: EBITDA (`ebitda`), or half of what is normal in the industry if that is more " +
          "(`normal_ebitda`).",
      }),
    }),
    credit: Type.Object(
      {
        debt_to_ebitda: describe(
          BeforeAfterSchema,
          "Debt divided by EBITDA as sent or estimated, `after` less the loss; null if that is not above 0, or too small to divide by.",
        ),
        interest_coverage: describe(
          BeforeAfterSchema,
          "EBITDA as sent or estimated, `after` less the loss, divided by interest; null without debt, or if interest is too small " +
            "to divide by.",
        ),
        pd_5y: describe(
          BeforeAfterSchema,
          "Probability of default within five years, 0 to 1, if the loss of the year recurred every year; null for a bank or " +
            "insurer without `total_liabilities`.",
        ),
        ...EXPECTED_LOSS,
      },
      { description: "Effect on credit, if the loss of the year recurred every year." },
    ),
  },
  { description: "Losses in one scenario and year." },
);

export const CompanyValuationSchema = Type.Object(
  {
    scenario: Type.String({ description: "Id of the scenario." }),
    npv_of_losses: number("Discounted losses of 2026 to 2050, after tax. USD of 2025."),
    npv_uncapped: number("Discounted losses without closures. USD of 2025."),
    value_before: number(
      "Total assets, or the present value of normalized EBITDA to 2050 if that is more. USD of 2025.",
    ),
    value_at_risk_pct: number("Discounted losses in percent of `value_before`."),
    asset_value_after: number("Total assets reduced by `value_at_risk_pct`. USD of 2025."),
    pd_5y_before: numberOrNull({
      description:
        "Probability of default within five years, 0 to 1; null for a bank or insurer without total_liabilities.",
    }),
    pd_5y_after: numberOrNull({
      description: "Probability of default within five years after the losses; null like `pd_5y_before`.",
    }),
    ...EXPECTED_LOSS,
  },
  { description: "Effect of a scenario on the value of the company." },
);

const HEADLINE_FIGURES = {
  score: score(),
  loss_ratio: number("All losses without closures, divided by normalized EBITDA."),
  pct_of_ebitda: number("Loss in percent of normalized EBITDA."),
};
export const CompanyHeadlineSchema = Type.Object({
  max: Type.Object(
    { scenario: Type.String({ description: "Id of the scenario." }), year: Type.Integer(), ...HEADLINE_FIGURES },
    { description: "The scenario and year with the highest loss ratio; the first one if tied." },
  ),
  mean: Type.Object(HEADLINE_FIGURES, { description: "Unweighted mean over all scenarios and years." }),
});

export const RemarkCodeSchema = Type.Enum(REMARK_CODES, { description: "Codes of the warnings of this release." });
export const RemarkSchema = Type.Object(
  {
    code: openEnum(REMARK_CODES, {
      description: "Stable code that programs can branch on. New codes may be added.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
    scenario: Type.Optional(
      Type.String({
        description: "Id of the scenario whose prices are inverted; present for the code `price_inversion`.",
      }),
    ),
    inversions: Type.Optional(
      Type.Array(
        Type.Object({
          scenario: Type.String({ description: "Id of a more ambitious scenario with lower carbon prices." }),
          years: Type.Array(Type.Integer(), {
            description: "Requested years in which its prices are lower by a factor of more than 1.1.",
          }),
        }),
        { description: "Scenarios whose prices are inverted; present for the code `price_inversion`." },
      ),
    ),
  },
  { description: "A warning about a figure." },
);

export const QualityMarkSchema = Type.Enum(QUALITY_MARKS, {
  description:
    "Marks of this release, best first: `P` published and checked, `M` quoted from memory, `D` derived from listed data, `J` " +
    "our judgment, `reported` given by the caller.",
});
export const DataQualitySchema = Type.Object(
  {
    output: Type.String({ description: "Paths of the members of the response that the mark applies to." }),
    mark: openEnum(QUALITY_MARKS, {
      description:
        "The weakest mark among the inputs: `P` published and checked, `M` quoted from memory, `D` derived from listed data, " +
        "`J` our judgment, `reported` given by the caller.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
  },
  { description: "Quality of a part of the response." },
);

export const DataSourceSchema = Type.Object(
  {
    what: Type.String({ description: "Figures that come from the source." }),
    source: Type.String({ description: "Publications." }),
    terms: Type.String({ description: "License or terms of use." }),
  },
  { description: "A source of the figures in the response." },
);

const ANSWER = {
  units: Type.Object({ money: Type.String(), emissions: Type.String() }),
  emissions: EmissionsFiguresSchema,
  data_quality: Type.Array(DataQualitySchema),
  warnings: Type.Array(RemarkSchema),
  sources: Type.Array(DataSourceSchema),
  method_version: Type.String({
    description: "Version of the method, which changes whenever a formula or a figure of the method changes.",
  }),
};

/** The result of `estimateEmissions` of the library. */
export const EmissionsAnswerSchema = Type.Object(
  { company: EmitterEchoSchema, ...ANSWER },
  { description: "Estimated emissions of a company." },
);

/** The response that src/company/report.ts computes. */
export const CompanyAnswerSchema = Type.Object(
  {
    company: CompanyEchoSchema,
    ...ANSWER,
    assumptions: CompanyAssumptionsSchema,
    parameters: Type.Object(
      { industry: IndustryParametersSchema, country: CountryParametersSchema },
      { description: "Figures from the tables with which the response was computed." },
    ),
    results: Type.Array(CompanyResultSchema, {
      description: "Ordered by scenario as requested, then by ascending year.",
    }),
    valuation: Type.Array(CompanyValuationSchema, { description: "One element per scenario." }),
    headline: CompanyHeadlineSchema,
  },
  { description: "Climate-related losses of a company, and how they were computed." },
);
