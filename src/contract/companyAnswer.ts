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
} from "./companyNames.ts";
import { CountryParametersSchema, IndustryParametersSchema } from "./companyParameters.ts";
import { describe, numberOrNull, openEnum, textOrNull } from "./schemaKinds.ts";

const usd = (description: string) => Type.Number({ description: `${description} USD of 2025 per year.` });
const number = (description: string) => Type.Number({ description });
const score = () => Type.Number({ minimum: 0, maximum: 100, description: "0 to 100." });

const NAMES = {
  name: textOrNull({ description: "null if a request for emissions has none." }),
  country: Type.Object({
    iso3: Type.String({ description: "ISO 3166 alpha-3 code." }),
    name: Type.String(),
    tier: Type.Enum(COUNTRY_TIERS, { description: "A: all figures come from data. B: some are substitutes." }),
  }),
  industry: Type.Object({
    id: Type.String(),
    name: Type.String(),
    matched_on: Type.Enum(["id", "name", "alias", ...CODE_SYSTEMS], {
      description: "Kind of name or code that the industry was found by.",
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
          "EBITDA that losses are measured by: at least half of what is normal in the industry at this revenue.",
        ),
        estimated: Type.Array(Type.Enum(ESTIMATED_MEMBERS), { description: "Members that the request did not have." }),
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
    method: Type.Enum(EMISSION_METHODS, { description: "split: a part of a reported total of scope 3." }),
    pcaf_score: Type.Integer({ minimum: 1, maximum: 5, description: "Data quality, 1 is best." }),
    modelled: number("What the model expects, t CO2e per year."),
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
      description: "Share of costs that is passed on in every year; null: that of the industry, by year.",
    }),
    lgd: number("Loss given default, as a fraction."),
    damage_function: Type.Enum(DAMAGE_FUNCTIONS, { description: "Loss of output as a function of warming." }),
    iam: Type.Enum(PRICE_MODEL_IDS, { description: "Model of the NGFS carbon prices." }),
  },
  { description: "Assumptions of the request, or their defaults." },
);

const DriversSchema = Type.Object({
  price: number("Carbon price of the scenario, USD of 2025 per t CO2e."),
  baseline_price: number("Carbon price under current policies, USD of 2025 per t CO2e."),
  price_shock: number("Price of the scenario above that of current policies, USD of 2025 per t CO2e, 0 or more."),
  fuel_price_shock: number(
    "Price shock that the buyers of what the company sells meet: for fuel traded worldwide that of the world, else that of " +
      "the country. USD of 2025 per t CO2e.",
  ),
  price_model: Type.Enum(PRICE_ORIGINS, {
    description: "Model that the price comes from; ar6: median of an ensemble.",
  }),
  price_region: Type.Enum(PRICE_REGIONS, { description: "Region of the price." }),
  gsat: number("Global warming, degrees C."),
  local_temperature: number("Mean temperature of the country, degrees C."),
  local_temperature_2020: number("Mean temperature of the country in 2020, degrees C."),
  capital_renewed: number("Share of capital that is renewed and can abate, as a fraction."),
  abatement_share: number("Share of its own emissions that the company abates rather than pays for, as a fraction."),
  unit_cost: number("USD per t of current scope 1 emissions."),
  unit_cost_scope2: number("USD per t of current scope 2 emissions."),
  unit_cost_upstream: number("USD per t of current upstream emissions."),
  product_unit_cost: number("Cost that buyers see, USD per t of current downstream emissions."),
  pass_through: number("Share of the cost that is passed on to buyers, as a fraction."),
});

const TransitionSchema = Type.Object({
  gross_cost: usd("Cost before pass-through."),
  volume_change: number("Relative change of the volume sold, -1 to 0."),
  own_volume_change: number("The change if only the company's own prices rose."),
  product_volume_change: number("The change if only the cost of using its products rose."),
  loss: usd("Loss after closures, below normalized EBITDA."),
  uncapped: usd("Loss without closures."),
  capped: Type.Boolean({ description: "Whether the loss without closures is normalized EBITDA or more." }),
  credit_loss: usd("For a bank: loss on its loans."),
  score: score(),
  note: Type.Optional(Type.String({ description: "Why there is no loss." })),
});

const PhysicalSchema = Type.Object({
  chronic: Type.Object({
    damage_fraction: number("Fraction of the country's output that is lost."),
    loss: usd("Loss to warming."),
  }),
  acute: Type.Object({
    by_hazard: Type.Object(
      { flood: numberOrNull(), wind: numberOrNull(), surge: numberOrNull() },
      { description: "Average annual loss as a fraction of capital; null if the source does not have the hazard." },
    ),
    aal_fraction: number("Average annual loss of all hazards, as a fraction of capital."),
    asset_loss: usd("Damage to assets."),
    interruption: usd("Loss of business."),
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
export const BeforeAfterSchema = Type.Object(BEFORE_AFTER, { description: "A figure; null if it is undefined." });

const PD_1Y = Type.Object(
  {
    ...BEFORE_AFTER,
    basis: Type.Enum(["own", "model"], { description: "own: the pd of the request. model: from the five-year one." }),
  },
  { description: "Probability of default within one year, 0 to 1; null if it is undefined." },
);
const EXPECTED_LOSS = {
  pd_1y: PD_1Y,
  expected_loss_bp: describe(BeforeAfterSchema, "Expected loss of one year, basis points of the exposure."),
  expected_loss: Type.Optional(
    describe(BeforeAfterSchema, "Expected loss of one year, USD of 2025. Present if the request has an exposure."),
  ),
};

export const CompanyResultSchema = Type.Object(
  {
    scenario: Type.String({ description: "Id of the scenario." }),
    family: Type.Enum(SCENARIO_FAMILIES),
    vintage: Type.Enum(SCENARIO_VINTAGES, { description: "NGFS: the phase. IPCC: the assessment report." }),
    year: Type.Integer(),
    drivers: DriversSchema,
    transition: TransitionSchema,
    physical: PhysicalSchema,
    interaction: usd("Difference between the total and the sum of its parts, because of closures; 0 or less."),
    total: Type.Object({
      loss: usd("Loss after closures, below normalized EBITDA."),
      loss_ratio: number(
        "All losses without closures over normalized EBITDA, without an upper limit. Ranks companies.",
      ),
      pct_of_ebitda: number("Loss in percent of normalized EBITDA."),
      pct_of_assets: number("Loss in percent of total assets."),
      score: score(),
      rating: Type.Enum(RATINGS),
      low: number(
        "Lower end of the range over the sensitivity cases, each changing one assumption, percent of normalized EBITDA.",
      ),
      high: number("Upper end of the range, percent of normalized EBITDA."),
      measured_by: Type.Enum(EBITDA_MEASURES, {
        description:
          "Denominator of the percentages: EBITDA, or half of what is normal in the industry if that is more.",
      }),
    }),
    credit: Type.Object(
      {
        debt_to_ebitda: describe(BeforeAfterSchema, "Debt over EBITDA as sent; null if EBITDA is not above 0."),
        interest_coverage: describe(BeforeAfterSchema, "EBITDA as sent over interest; null without debt."),
        pd_5y: describe(
          BeforeAfterSchema,
          "Probability of default within five years, 0 to 1, as if the loss of the year lasted; null for a bank or insurer " +
            "without total_liabilities.",
        ),
        ...EXPECTED_LOSS,
      },
      { description: "Effect on credit, as if the loss of the year lasted." },
    ),
  },
  { description: "Losses in one scenario and year." },
);

export const CompanyValuationSchema = Type.Object(
  {
    scenario: Type.String({ description: "Id of the scenario." }),
    npv_of_losses: number("Discounted losses of 2026 to 2050 after tax. USD of 2025."),
    npv_uncapped: number("Discounted losses without closures. USD of 2025."),
    value_before: number(
      "Total assets, or the present value of normalized EBITDA to 2050 if that is more. USD of 2025.",
    ),
    value_at_risk_pct: number("Discounted losses in percent of the value before."),
    asset_value_after: number("Total assets less the same percentage. USD of 2025."),
    pd_5y_before: numberOrNull({
      description:
        "Probability of default within five years, 0 to 1; null for a bank or insurer without total_liabilities.",
    }),
    pd_5y_after: numberOrNull({ description: "Probability of default after the losses." }),
    ...EXPECTED_LOSS,
  },
  { description: "Effect of a scenario on the value of the company." },
);

const HEADLINE_FIGURES = {
  score: score(),
  loss_ratio: number("All losses over normalized EBITDA."),
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
      description: "For programs to branch on: the meaning of a code never changes; new codes may be added.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
    scenario: Type.Optional(Type.String({ description: "Id of the scenario that the warning is about." })),
    inversions: Type.Optional(
      Type.Array(
        Type.Object({
          scenario: Type.String({ description: "Id of a more ambitious scenario with lower carbon prices." }),
          years: Type.Array(Type.Integer(), { description: "Requested years in which its prices are lower." }),
        }),
        { description: "For price_inversion." },
      ),
    ),
  },
  { description: "A warning about a figure." },
);

export const QualityMarkSchema = Type.Enum(QUALITY_MARKS, {
  description:
    "Marks of this release, best first: P published and checked, M quoted from memory, D derived from listed data, J our " +
    "judgment; and reported by the caller.",
});
export const DataQualitySchema = Type.Object(
  {
    output: Type.String({ description: "Members of the answer, by path." }),
    mark: openEnum(QUALITY_MARKS, {
      description:
        "The weakest mark among the inputs: P published and checked, M quoted from memory, D derived from listed data, J " +
        "our judgment; or reported.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
  },
  { description: "Quality of a part of the answer." },
);

export const DataSourceSchema = Type.Object(
  {
    what: Type.String({ description: "The figures." }),
    source: Type.String({ description: "Publications that they come from." }),
    terms: Type.String({ description: "License or terms of use." }),
  },
  { description: "A source of the figures in an answer." },
);

const ANSWER = {
  units: Type.Object({ money: Type.String(), emissions: Type.String() }),
  emissions: EmissionsFiguresSchema,
  data_quality: Type.Array(DataQualitySchema),
  warnings: Type.Array(RemarkSchema),
  sources: Type.Array(DataSourceSchema),
  method_version: Type.String({ description: "Changes with every formula or figure of the method." }),
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
      { description: "Figures of the tables that the answer was computed with." },
    ),
    results: Type.Array(CompanyResultSchema, { description: "In the requested order of scenarios, years ascending." }),
    valuation: Type.Array(CompanyValuationSchema, { description: "One element per scenario." }),
    headline: CompanyHeadlineSchema,
  },
  { description: "Climate-related losses of a company, and how they were computed." },
);
