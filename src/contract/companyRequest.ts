import { Type } from "typebox";
import { DAMAGE_FUNCTIONS, PRICE_MODEL_IDS } from "./companyNames.ts";
import { ASSESSMENT_YEARS } from "./ranges.ts";

/** A number, also as text. `AMOUNTS` in src/company/amounts.ts gives its range: schemas have none for strings. */
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
  country: Type.String({ description: "ISO 3166 alpha-3 or alpha-2 code, or name." }),
  industry: Type.String({
    description: "Id or name (GET /api/v1/reference/industries), or a code: ISIC 2410, NACE 24.10, NAICS 331110.",
  }),
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
      "Share of costs that is passed on to prices, 0 to 1, in every year. Default: that of the industry, by year.",
    ),
  },
  { additionalProperties: false, description: "Assumptions that replace those of the method." },
);

export const CompanyRequestSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the company, echoed in the answer." }),
    ...NAMES,
    revenue: REVENUE,
    total_assets: optionalMoney("Total assets, at least 0.000001", ESTIMATE),
    ebitda: optionalMoney("Annual EBITDA, of any sign", ESTIMATE),
    total_debt: optionalMoney("Financial debt, 0 or more", ESTIMATE),
    transition_scenarios: Type.Array(Type.String(), {
      minItems: 1,
      description:
        "Ids (GET /api/v1/reference/scenarios); case, -, _ and spaces are ignored. The answer keeps their order, without duplicates.",
    }),
    assessment_years: Type.Array(Type.Integer({ minimum: ASSESSMENT_YEARS.min, maximum: ASSESSMENT_YEARS.max }), {
      minItems: 1,
      description: "The answer has them in ascending order, without duplicates.",
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
        description: `Model of the NGFS carbon prices: ${PRICE_MODEL_IDS.join(", ")}. Only the first has all scenarios and years after 2060.`,
      }),
    ),
    pd: optionalAmount("Own one-year probability of default, 0 to 1, which replaces that of the model."),
    exposure: optionalMoney("Exposure at default, 0 or more", " If present, the answer has expected losses in money."),
    lgd: optionalAmount("Loss given default, 0 to 1. Default 0.45."),
    assumptions: Type.Optional(CompanyAssumptionsRequestSchema),
  },
  { additionalProperties: false, description: "A company, and the scenarios and years to assess." },
);

/** A request for estimated emissions, which only the library answers. */
export const EmissionsRequestSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "Name of the company, echoed in the answer." })),
    ...NAMES,
    revenue: REVENUE,
    total_assets: optionalMoney("Total assets, at least 0.000001, for the financed emissions of a bank", ESTIMATE),
    ...REPORTED,
  },
  { additionalProperties: false, description: "A company whose emissions are to be estimated." },
);
