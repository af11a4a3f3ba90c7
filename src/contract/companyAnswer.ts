import { Type } from "typebox";
import {
  CODE_SYSTEMS,
  COUNTRY_TIERS,
  QUALITY_MARKS,
  RATINGS,
  REMARK_CODES,
  SCENARIO_FAMILIES,
  SCENARIO_VINTAGES,
} from "./companyNames.ts";
import { describe, numberOrNull, openEnum, textOrNull } from "./schemaKinds.ts";

const usd = (description: string) => Type.Number({ description: `${description} USD of 2025 per year.` });

export const CompanyEchoSchema = Type.Object(
  {
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
  },
  { description: "The company as the request was understood." },
);

export const EmissionsFigureSchema = Type.Object(
  {
    value: Type.Number({ description: "t CO2e per year." }),
    low: Type.Number({ description: "Lower end of the range, t CO2e per year." }),
    high: Type.Number({ description: "Upper end of the range, t CO2e per year." }),
    method: Type.Enum(["modelled", "reported"]),
    pcaf_score: Type.Integer({ minimum: 1, maximum: 5, description: "Data quality, 1 is best." }),
  },
  { description: "Emissions of one scope." },
);

export const EmissionsFiguresSchema = Type.Object({
  scope1: EmissionsFigureSchema,
  scope2: EmissionsFigureSchema,
  scope3_upstream: EmissionsFigureSchema,
  scope3_downstream: EmissionsFigureSchema,
  financed: Type.Union([EmissionsFigureSchema, Type.Null()], {
    description:
      "Financed emissions of a bank (scope 3, category 15); null for other companies and without total assets.",
  }),
});

const DriversSchema = Type.Object({
  price: Type.Number({ description: "Carbon price of the scenario, USD of 2025 per t CO2e." }),
  baseline_price: Type.Number({ description: "Carbon price under current policies, USD of 2025 per t CO2e." }),
  price_shock: Type.Number({
    description: "Price of the scenario above that of current policies, USD of 2025 per t CO2e, 0 or more.",
  }),
  fuel_price_shock: Type.Number({
    description:
      "Price shock for the buyers of the fuel that is sold, worldwide; that of the country if no fuel is sold. USD of " +
      "2025 per t CO2e.",
  }),
  price_model: Type.String({ description: "Model that the price comes from, or the percentile of an ensemble." }),
  gsat: Type.Number({ description: "Global warming, degrees C." }),
  local_temperature: Type.Number({ description: "Mean temperature of the country, degrees C." }),
  local_temperature_2020: Type.Number({ description: "Mean temperature of the country in 2020, degrees C." }),
  emissions_cut: Type.Number({ description: "Reduction of emissions in the scenario, as a fraction." }),
  abatement_share: Type.Number({
    description: "Share of its own emissions that the company abates rather than pays for, as a fraction.",
  }),
  unit_cost: Type.Number({ description: "USD per t of current scope 1 emissions." }),
  pass_through: Type.Number({ description: "Share of the cost that is passed on to buyers, as a fraction." }),
});

const TransitionSchema = Type.Object({
  gross_cost: usd("Cost before pass-through."),
  volume_change: Type.Number({ description: "Relative change of the volume sold, -1 to 0." }),
  own_volume_change: Type.Number({ description: "The part caused by the company's own prices." }),
  fuel_volume_change: Type.Number({ description: "The part caused by the cost of its fuel to those who burn it." }),
  volume_floor: Type.Boolean({ description: "Whether a volume change is limited to -0.8." }),
  loss: usd("Loss, at most EBITDA if that is positive."),
  uncapped: usd("Loss without that limit."),
  capped: Type.Boolean({ description: "Whether the loss is capped at EBITDA." }),
  credit_loss: usd("For a bank: loss on its loans."),
  score: Type.Number({ description: "0 to 100." }),
  note: Type.Optional(Type.String({ description: "Why there is no loss." })),
});

const PhysicalSchema = Type.Object({
  chronic: Type.Object({
    damage_fraction: Type.Number({ description: "Fraction of the country's output that is lost." }),
    loss: usd("Loss to warming."),
    loss_upper_bound: usd("Loss to warming if wages do not fall with output."),
  }),
  acute: Type.Object({
    by_hazard: Type.Object(
      { flood: Type.Number(), wind: Type.Number(), surge: Type.Number() },
      { description: "Average annual loss as a fraction of capital." },
    ),
    aal_fraction: Type.Number({ description: "Average annual loss of all hazards, as a fraction of capital." }),
    asset_loss: usd("Damage to assets."),
    interruption: usd("Loss of business."),
  }),
  score: Type.Number({ description: "0 to 100." }),
  percentile: Type.Object(
    { acute: Type.Number(), chronic: Type.Number() },
    { description: "Percentile among the 180 countries with complete data, percent." },
  ),
});

export const BeforeAfterSchema = Type.Object(
  {
    before: numberOrNull({ description: "Without the losses of the scenario." }),
    after: numberOrNull({ description: "With the losses of the scenario." }),
  },
  { description: "A ratio; null if it is undefined." },
);

export const CompanyResultSchema = Type.Object(
  {
    scenario: Type.String({ description: "Id of the scenario." }),
    family: Type.Enum(SCENARIO_FAMILIES),
    vintage: Type.Enum(SCENARIO_VINTAGES, { description: "NGFS: the phase. IPCC: the assessment report." }),
    year: Type.Integer(),
    drivers: DriversSchema,
    transition: TransitionSchema,
    physical: PhysicalSchema,
    interaction: usd("Correction for losses counted twice; 0 or less."),
    total: Type.Object({
      loss: usd("Sum of all losses."),
      pct_of_ebitda: numberOrNull({ description: "Loss in percent of EBITDA." }),
      pct_of_assets: numberOrNull({ description: "Loss in percent of total assets." }),
      score: Type.Number({ minimum: 0, maximum: 100 }),
      rating: Type.Enum(RATINGS),
      low: numberOrNull({
        description:
          "Lower end of the range over the sensitivity cases, each changing one assumption, percent of EBITDA.",
      }),
      high: numberOrNull({ description: "Upper end of the range, percent of EBITDA." }),
      measured_by: Type.Enum(["ebitda", "16_pct_of_revenue"], {
        description: "Denominator of the percentages: 16% of revenue if EBITDA is not positive.",
      }),
      note: Type.Optional(
        Type.String({ description: "Present if the whole EBITDA is lost in every sensitivity case." }),
      ),
    }),
    credit: Type.Object({
      debt_to_ebitda: BeforeAfterSchema,
      interest_coverage: describe(BeforeAfterSchema, "EBITDA divided by interest; null if it is undefined."),
    }),
  },
  { description: "Losses in one scenario and year." },
);

export const CompanyValuationSchema = Type.Object(
  {
    scenario: Type.String({ description: "Id of the scenario." }),
    npv_of_losses: Type.Number({
      description: "Discounted losses of 2026 to 2050 after tax, capped at total assets. USD of 2025.",
    }),
    npv_uncapped: Type.Number({ description: "Discounted losses without the cap. USD of 2025." }),
    value_at_risk_pct: numberOrNull({
      description: "Percent of the present value of EBITDA to 2050; null if EBITDA is not positive.",
    }),
    asset_value_after: Type.Number({ description: "Value of the assets after the losses. USD of 2025." }),
    pd_5y_before: numberOrNull({
      description:
        "Probability of default within five years, 0 to 1; null for a bank or insurer without total_liabilities.",
    }),
    pd_5y_after: numberOrNull({ description: "Probability of default after the losses." }),
  },
  { description: "Effect of a scenario on the value of the company." },
);

export const CompanyHeadlineSchema = Type.Object({
  max: Type.Object(
    {
      score: Type.Number({ description: "0 to 100." }),
      pct_of_ebitda: numberOrNull({ description: "Loss in percent of EBITDA." }),
      scenario: Type.String({ description: "Id of the scenario." }),
      year: Type.Integer(),
    },
    { description: "The scenario and year with the highest score; the first one if tied." },
  ),
  mean: Type.Object(
    {
      score: Type.Number({ description: "0 to 100." }),
      pct_of_ebitda: numberOrNull({ description: "Loss in percent of EBITDA." }),
    },
    { description: "Unweighted mean over all scenarios and years." },
  ),
});

export const RemarkCodeSchema = Type.Enum(REMARK_CODES, { description: "Codes of the warnings of this release." });
export const RemarkSchema = Type.Object(
  {
    code: openEnum(REMARK_CODES, {
      description: "For programs to branch on: the meaning of a code never changes; new codes may be added.",
    }),
    detail: Type.String({ description: "Explanation for people." }),
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

const EMISSIONS = {
  company: CompanyEchoSchema,
  units: Type.Object({ money: Type.String(), emissions: Type.String() }),
  emissions: EmissionsFiguresSchema,
};
const PROVENANCE = {
  sources: Type.Array(DataSourceSchema),
  method_version: Type.String({ description: "Changes with every formula or figure of the method." }),
};
const DATA_QUALITY = Type.Array(DataQualitySchema);
const WARNINGS = Type.Array(RemarkSchema);

/** The result of `estimateEmissions` of the library. */
export const EmissionsAnswerSchema = Type.Object(
  { ...EMISSIONS, data_quality: DATA_QUALITY, warnings: WARNINGS, ...PROVENANCE },
  { description: "Estimated emissions of a company." },
);

/** The response that src/company/report.ts computes. */
export const CompanyAnswerSchema = Type.Object(
  {
    ...EMISSIONS,
    results: Type.Array(CompanyResultSchema, { description: "In the requested order of scenarios, years ascending." }),
    valuation: Type.Array(CompanyValuationSchema, { description: "One element per scenario." }),
    headline: CompanyHeadlineSchema,
    data_quality: DATA_QUALITY,
    warnings: WARNINGS,
    assumptions: Type.Array(Type.String(), { description: "Assumptions of the method." }),
    ...PROVENANCE,
  },
  { description: "Climate-related losses of a company, and how they were computed." },
);
