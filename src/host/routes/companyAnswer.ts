import { Type } from "typebox";
import { numberOrNull } from "../openapi/nullable.ts";

const EmissionsFigureSchema = Type.Object({
  value: Type.Number({ description: "t CO2e per year." }),
  low: Type.Number(),
  high: Type.Number(),
  method: Type.Enum(["modelled", "reported"]),
  pcaf_score: Type.Integer({ minimum: 1, maximum: 5, description: "Data quality, 1 is best." }),
});

const BeforeAfterSchema = Type.Object({ before: numberOrNull(), after: numberOrNull() });

const DriversSchema = Type.Object({
  price: Type.Number({ description: "Carbon price of the scenario, USD of 2025 per t CO2e." }),
  baseline_price: Type.Number({ description: "Carbon price under current policies." }),
  price_shock: Type.Number({ description: "Price of the scenario above that of current policies, 0 or more." }),
  fuel_price_shock: Type.Number({ description: "Price shock for buyers of a fuel." }),
  price_model: Type.String(),
  gsat: Type.Number({ description: "Global warming, degrees C." }),
  local_temperature: Type.Number({ description: "Mean temperature of the country, degrees C." }),
  local_temperature_2020: Type.Number(),
  emissions_cut: Type.Number(),
  abatement_share: Type.Number(),
  unit_cost: Type.Number({ description: "USD per t of current scope 1 emissions." }),
  pass_through: Type.Number({ description: "Share of the cost that is passed on to buyers." }),
});

const TransitionSchema = Type.Object({
  gross_cost: Type.Number(),
  volume_change: Type.Number(),
  own_volume_change: Type.Number(),
  fuel_volume_change: Type.Number(),
  volume_floor: Type.Boolean(),
  loss: Type.Number(),
  uncapped: Type.Number(),
  capped: Type.Boolean({ description: "Whether the loss is capped at EBITDA." }),
  credit_loss: Type.Number({ description: "For a bank: loss on its loans." }),
  score: Type.Number(),
  note: Type.Optional(Type.String()),
});

const PhysicalSchema = Type.Object({
  chronic: Type.Object({ damage_fraction: Type.Number(), loss: Type.Number(), loss_upper_bound: Type.Number() }),
  acute: Type.Object({
    by_hazard: Type.Object(
      { flood: numberOrNull(), wind: numberOrNull(), surge: numberOrNull() },
      { description: "Average annual loss as a fraction of capital." },
    ),
    aal_fraction: Type.Number(),
    asset_loss: Type.Number(),
    interruption: Type.Number(),
  }),
  score: Type.Number(),
  percentile: Type.Object(
    { acute: Type.Number(), chronic: Type.Number() },
    { description: "Percentile among the 180 countries with complete data, percent." },
  ),
});

const ResultSchema = Type.Object({
  scenario: Type.String(),
  family: Type.Enum(["NGFS", "IPCC"]),
  vintage: Type.Enum(["5", "AR6"]),
  year: Type.Integer(),
  drivers: DriversSchema,
  transition: TransitionSchema,
  physical: PhysicalSchema,
  interaction: Type.Number({ description: "Correction for losses counted twice; 0 or less." }),
  total: Type.Object({
    loss: Type.Number({ description: "USD of 2025 per year." }),
    pct_of_ebitda: numberOrNull(),
    pct_of_assets: numberOrNull(),
    score: Type.Number({ minimum: 0, maximum: 100 }),
    rating: Type.Enum(["A", "B", "C", "D", "E"]),
    low: numberOrNull({ description: "Lower end of the range, percent of EBITDA." }),
    high: numberOrNull(),
    measured_by: Type.Enum(["ebitda", "16_pct_of_revenue"]),
    note: Type.Optional(Type.String()),
  }),
  credit: Type.Object({ debt_to_ebitda: BeforeAfterSchema, interest_coverage: BeforeAfterSchema }),
});

const ValuationSchema = Type.Object({
  scenario: Type.String(),
  npv_of_losses: Type.Number({ description: "Losses of 2026 to 2050 after tax, capped at total assets. USD of 2025." }),
  npv_uncapped: Type.Number(),
  value_at_risk_pct: numberOrNull(),
  asset_value_after: Type.Number(),
  pd_5y_before: numberOrNull({ description: "Probability of default within five years." }),
  pd_5y_after: numberOrNull(),
});

/** Schema of the response that src/company/report.ts computes. */
export const CompanyAnswerSchema = Type.Object({
  company: Type.Object({
    name: Type.Unsafe<string | null>({ type: ["string", "null"] }),
    country: Type.Object({ iso3: Type.String(), name: Type.String(), tier: Type.Enum(["A", "B"]) }),
    industry: Type.Object({
      id: Type.String(),
      name: Type.String(),
      matched_on: Type.Enum(["id", "name", "alias", "isic", "nace", "naics"]),
    }),
  }),
  units: Type.Object({ money: Type.String(), emissions: Type.String() }),
  emissions: Type.Object({
    scope1: EmissionsFigureSchema,
    scope2: EmissionsFigureSchema,
    scope3_upstream: EmissionsFigureSchema,
    scope3_downstream: EmissionsFigureSchema,
    financed: Type.Union([EmissionsFigureSchema, Type.Null()], { description: "Financed emissions of a bank." }),
  }),
  results: Type.Array(ResultSchema, { description: "In the requested order of scenarios, years ascending." }),
  valuation: Type.Array(ValuationSchema, { description: "One element per scenario." }),
  headline: Type.Object({
    max: Type.Object({
      score: Type.Number(),
      pct_of_ebitda: numberOrNull(),
      scenario: Type.String(),
      year: Type.Integer(),
    }),
    mean: Type.Object({ score: Type.Number(), pct_of_ebitda: numberOrNull() }),
  }),
  data_quality: Type.Array(Type.Object({ output: Type.String(), mark: Type.String(), detail: Type.String() })),
  warnings: Type.Array(Type.Object({ code: Type.String(), detail: Type.String() })),
  assumptions: Type.Array(Type.String()),
  sources: Type.Array(Type.Object({ what: Type.String(), source: Type.String(), terms: Type.String() })),
  method_version: Type.String(),
});
