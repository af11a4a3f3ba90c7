import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { FaultItem } from "../errors.ts";
import { BASE_YEAR, LAST_YEAR } from "./methodConstants.ts";
import type { Country } from "./countryFigures.ts";
import type { ReportedEmissions } from "./emissions.ts";
import type { IndustryMatch } from "./industryLookup.ts";
import { DAMAGE_FUNCTIONS, type DamageFunction } from "./physical.ts";
import {
  hasPrices,
  hasPriceInYear,
  PRICE_MODEL_IDS,
  PRICE_MODELS,
  type PriceModel,
  priceShocksOf,
  priceVariantsOf,
} from "./carbonPrices.ts";
import { AMOUNTS, RequestReader, requestFault } from "./requestReader.ts";
import { type Scenario, SCENARIO_IDS } from "./scenarios.ts";

/** An amount as a string or number. `AMOUNTS` in requestReader.ts gives its range, because a schema has none for strings. */
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

/** Schema of a company request, from which the type, the validator and the published contract are derived. */
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
      maxItems: SCENARIO_IDS.length,
      description:
        "Ids (GET /api/v1/reference/scenarios); case, -, _ and spaces are ignored. The answer keeps their order, without duplicates.",
    }),
    assessment_years: Type.Array(Type.Integer({ minimum: BASE_YEAR, maximum: LAST_YEAR }), {
      minItems: 1,
      maxItems: LAST_YEAR - BASE_YEAR + 1,
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
  { additionalProperties: false },
);

/** Schema of a request for estimated emissions. */
export const EmissionsRequestSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "Name of the company, echoed in the answer." })),
    ...NAMES,
    revenue: money("Annual revenue, above 0"),
    total_assets: Type.Optional(money("Total assets, above 0. Required for the financed emissions of a bank")),
    ...REPORTED,
  },
  { additionalProperties: false },
);

type ReadonlyMembers<Members> = {
  readonly [Member in keyof Members]: Members[Member] extends (infer Item)[] ? readonly Item[] : Members[Member];
};

/**
 * A company and the scenarios and years to assess, as submitted by the caller, in the library and on the wire.
 *
 * - money in real USD of 2025, emissions in t CO2e per year; numbers, or strings that contain one
 * - `revenue` and `total_assets` above 0, `total_debt` 0 or more, `ebitda` of any sign; at most 1e15 in absolute value
 * - `transition_scenarios`: 1 to 21 ids; `assessment_years`: integers from 2025 to 2100
 * - `scope1`, `scope2`, `scope3`: as reported; modeled if absent
 * - `total_liabilities`: for banks and insurers, whose debt excludes deposits and reserves
 * - `damage_function`: `kalkuhl_wenz` (default), `howard_sterner`, `dice2016`, `ngfs5_kotz` (source retracted)
 * - `iam`: model of the NGFS prices: `remind` (default), `messageix`, `gcam`
 */
export type CompanyRequest = ReadonlyMembers<Static<typeof CompanyRequestSchema>>;

/** A request for estimated emissions, with members as in `CompanyRequest`. */
export type EmissionsRequest = ReadonlyMembers<Static<typeof EmissionsRequestSchema>>;

/** A validated company, as far as its emissions depend on it. */
export interface Emitter {
  readonly name: string | undefined;
  readonly country: Country;
  readonly industry: IndustryMatch;
  readonly revenueUsd: number;
  readonly totalAssetsUsd: number | undefined;
  readonly reported: ReportedEmissions;
}

/** A validated request with defaults applied. */
export interface Company extends Emitter {
  readonly name: string;
  readonly totalAssetsUsd: number;
  readonly ebitdaUsd: number;
  readonly totalDebtUsd: number;
  readonly totalLiabilitiesUsd: number | undefined;
  /** Without duplicates, in the requested order. */
  readonly scenarios: readonly Scenario[];
  /** Without duplicates, ascending. */
  readonly years: readonly number[];
  readonly damageFunction: DamageFunction;
  readonly iam: PriceModel;
}

const compiledCompany = Compile(CompanyRequestSchema);
const compiledEmissions = Compile(EmissionsRequestSchema);

/**
 * Validates a request.
 *
 * @returns a new object that shares nothing with the input
 * @throws Fault listing up to 100 errors, each with a JSON pointer: `country_unknown`, `industry_unknown` or
 *   `scenario_unknown` (the first that applies) if unknown names are the only errors, `combination_unavailable` if the
 *   requested model has no prices for a scenario or year, else `invalid_request`
 */
export function readCompanyRequest(input: unknown): Company {
  const reader = new RequestReader(input, { schema: CompanyRequestSchema, check: compiledCompany });
  const company = {
    name: reader.text("name"),
    country: reader.country(),
    industry: reader.industry(),
    revenueUsd: reader.amount(AMOUNTS.revenue),
    totalAssetsUsd: reader.amount(AMOUNTS.totalAssets),
    ebitdaUsd: reader.amount(AMOUNTS.ebitda),
    totalDebtUsd: reader.amount(AMOUNTS.totalDebt),
    reported: reader.reported(),
    totalLiabilitiesUsd: reader.optionalAmount(AMOUNTS.totalLiabilities),
    scenarios: reader.scenarios(),
    years: reader.years(),
    damageFunction: reader.choice("damage_function", DAMAGE_FUNCTIONS) ?? DAMAGE_FUNCTIONS[0],
    iam: reader.choice("iam", PRICE_MODEL_IDS, PRICE_MODELS) ?? "remind",
  };
  reader.throwIfInvalid();
  throwIfPricesMissing(company);
  return company;
}

/** Validates a request for estimated emissions; throws as `readCompanyRequest`. */
export function readEmissionsRequest(input: unknown): Emitter {
  const reader = new RequestReader(input, { schema: EmissionsRequestSchema, check: compiledEmissions });
  const emitter = {
    name: reader.has("name") ? reader.text("name") : undefined,
    country: reader.country(),
    industry: reader.industry(),
    revenueUsd: reader.amount(AMOUNTS.revenue),
    totalAssetsUsd: reader.optionalAmount(AMOUNTS.totalAssets),
    reported: reader.reported(),
  };
  reader.throwIfInvalid();
  return emitter;
}

/** Two of the models lack prices for some scenarios and years. */
function throwIfPricesMissing({ iam, country: { region }, scenarios, years }: Company): void {
  const model = PRICE_MODELS[iam];
  const items: FaultItem[] = [];
  for (const { id, family, pricePath } of scenarios) {
    if (family === "IPCC") continue;
    if (!hasPrices(pricePath, { variant: iam, region })) {
      const detail = `${model} has no prices for ${id}; omit iam or the scenario.`;
      items.push({
        pointer: "/iam",
        code: "combination_unavailable",
        detail,
        allowed: priceVariantsOf(pricePath, region),
      });
      continue;
    }
    const prices = priceShocksOf(pricePath, { variant: iam, region });
    const late = years.filter((year) => !hasPriceInYear(prices, year));
    if (late.length === 0) continue;
    const detail = `${model} has no prices for ${id} in ${late.join(", ")}; omit iam or these years.`;
    items.push({ pointer: "/iam", code: "combination_unavailable", detail });
  }
  if (items.length > 0) throw requestFault("combination_unavailable", items);
}
