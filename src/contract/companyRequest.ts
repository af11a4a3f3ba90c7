import { Type } from "typebox";
import { DAMAGE_FUNCTIONS, PRICE_MODEL_IDS } from "./names.ts";
import { ASSESSMENT_YEARS } from "./ranges.ts";

/**
 * A number, or the number as text. `AMOUNTS` in src/company/requestReader.ts gives its range, because a schema cannot limit the
 * value of a string.
 */
const amount = (description: string) => Type.Union([Type.Number(), Type.String()], { description });
const money = (what: string, rest = "") =>
  amount(`${what}, USD of 2025, as a string or number; at most 1e15 in absolute value.${rest}`);
const optionalMoney = (what: string, rest = "") => Type.Optional(money(what, rest));
const tonnes = (what: string) =>
  Type.Optional(amount(`${what} as reported, t CO2e per year, 0 to 6e10. Modeled if absent.`));
const optionalAmount = (description: string) => Type.Optional(amount(description));

const REVENUE = money("Annual revenue, at least 0.000001");
const ESTIMATE = " Estimated from normal ratios of the industry if absent.";

const NAMES = {
  country: Type.String({ description: "ISO 3166-1 alpha-3 or alpha-2 code, or name." }),
  industry: Type.String({
    description:
      "Id or name (GET /api/v1/reference/industries), or an industry code, such as ISIC 2410, NACE 24.10 or NAICS 331110.",
  }),
  industry_classification_system: Type.Optional(
    Type.String({
      description:
        "System of an industry code without a prefix: `isic`, `nace` or `naics`. With the other systems of temperature " +
        "alignment, only names of industries are matched, not codes.",
    }),
  ),
};
const REPORTED = {
  scope1: tonnes("Direct emissions"),
  scope2: tonnes("Emissions from purchased energy"),
  scope3: tonnes("Upstream and downstream emissions of the value chain, in total,"),
  scope3_upstream: tonnes("Upstream emissions of the value chain"),
  scope3_downstream: tonnes("Downstream emissions of the value chain"),
};

export const CompanyAssumptionsRequestSchema = Type.Object(
  {
    discount_rate: optionalAmount("Real discount rate, 0 to 0.3. Default 0.08."),
    shock_year: optionalAmount("First year with carbon prices above current policies, 2025 to 2100. Default 2025."),
    pass_through: optionalAmount(
      "Share of costs that is passed on to prices, 0 to 1, the same in all years. Default: the industry's pass-through for each year.",
    ),
  },
  { additionalProperties: false, description: "Assumptions that replace those of the method." },
);

export const CompanyRequestSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the company, repeated in the response." }),
    ...NAMES,
    revenue: REVENUE,
    total_assets: optionalMoney("Total assets, at least 0.000001", ESTIMATE),
    ebitda: optionalMoney("Annual EBITDA, of any sign", ESTIMATE),
    total_debt: optionalMoney("Financial debt, 0 or more", ESTIMATE),
    transition_scenarios: Type.Array(Type.String(), {
      minItems: 1,
      description:
        "Scenario ids (GET /api/v1/reference/scenarios); case, hyphens, underscores and spaces are ignored. The response keeps their order and omits duplicates.",
    }),
    assessment_years: Type.Array(Type.Integer({ minimum: ASSESSMENT_YEARS.min, maximum: ASSESSMENT_YEARS.max }), {
      minItems: 1,
      description: "The response has them in ascending order and omits duplicates.",
    }),
    ...REPORTED,
    total_liabilities: optionalMoney(
      "Total liabilities of a bank or insurer, including deposits and reserves, 0 or more",
      " Its five-year probability of default requires them.",
    ),
    damage_function: Type.Optional(
      Type.String({
        default: DAMAGE_FUNCTIONS[0],
        description: `Loss of output as a function of warming: ${DAMAGE_FUNCTIONS.join(", ")}. The source of ngfs5_kotz was retracted in December 2025.`,
      }),
    ),
    iam: Type.Optional(
      Type.String({
        default: PRICE_MODEL_IDS[0],
        description: `Integrated assessment model that the NGFS carbon prices come from: ${PRICE_MODEL_IDS.join(", ")}. Only the first covers all scenarios and years after 2060.`,
      }),
    ),
    pd: optionalAmount("Known one-year probability of default, 0 to 1, which replaces that of the model."),
    exposure: optionalMoney(
      "Exposure at default, 0 or more",
      " If present, the response also gives expected losses in USD.",
    ),
    lgd: optionalAmount("Loss given default, 0 to 1. Default 0.45."),
    assumptions: Type.Optional(CompanyAssumptionsRequestSchema),
  },
  { additionalProperties: false, description: "A company, and the scenarios and years to assess." },
);

/** A request for estimated emissions, which is available only in the library. */
export const EmissionsRequestSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "Name of the company, repeated in the response." })),
    ...NAMES,
    revenue: REVENUE,
    total_assets: optionalMoney("Total assets, at least 0.000001, for the financed emissions of a bank", ESTIMATE),
    ...REPORTED,
  },
  { additionalProperties: false, description: "A company whose emissions are to be estimated." },
);
