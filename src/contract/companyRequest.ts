import { Type } from "typebox";
import { DAMAGE_FUNCTIONS, PRICE_MODEL_IDS, TRANSITION_SCENARIO_COUNT_MAX } from "./companyNames.ts";
import { ASSESSMENT_YEARS } from "./ranges.ts";

/** An amount as a string or number. `AMOUNTS` in src/company/requestReader.ts gives its range: schemas have none for strings. */
const amount = (description: string) => Type.Union([Type.Number(), Type.String()], { description });
const money = (what: string) => amount(`${what}, USD of 2025, as a string or number; at most 1e15 in absolute value.`);
const tonnes = (what: string) =>
  Type.Optional(amount(`${what} as reported, t CO2e per year, 0 or more. Modeled if absent.`));

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
};

export const CompanyRequestSchema = Type.Object(
  {
    name: Type.String({ description: "Name of the company, echoed in the answer." }),
    ...NAMES,
    revenue: money("Annual revenue, above 0"),
    total_assets: money("Total assets, above 0"),
    ebitda: money("Annual EBITDA, of any sign"),
    total_debt: money("Financial debt, 0 or more"),
    transition_scenarios: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: TRANSITION_SCENARIO_COUNT_MAX,
      description:
        "Ids (GET /api/v1/reference/scenarios); case, -, _ and spaces are ignored. The answer keeps their order, without duplicates.",
    }),
    assessment_years: Type.Array(Type.Integer({ minimum: ASSESSMENT_YEARS.min, maximum: ASSESSMENT_YEARS.max }), {
      minItems: 1,
      maxItems: ASSESSMENT_YEARS.max - ASSESSMENT_YEARS.min + 1,
      description: "The answer has them in ascending order, without duplicates.",
    }),
    ...REPORTED,
    total_liabilities: Type.Optional(
      money(
        "Total liabilities of a bank or insurer, including deposits and reserves, 0 or more. Required for its probability of default",
      ),
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
  },
  { additionalProperties: false, description: "A company, and the scenarios and years to assess." },
);

/** A request for estimated emissions, which only the library answers. */
export const EmissionsRequestSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "Name of the company, echoed in the answer." })),
    ...NAMES,
    revenue: money("Annual revenue, above 0"),
    total_assets: Type.Optional(money("Total assets, above 0. Required for the financed emissions of a bank")),
    ...REPORTED,
  },
  { additionalProperties: false, description: "A company whose emissions are to be estimated." },
);
