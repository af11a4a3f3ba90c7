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

/** An amount as text or as a number; what it may be is told by `AMOUNTS` in reader.ts, since text has no range. */
const amount = (description: string) => Type.Union([Type.Number(), Type.String()], { description });
const money = (what: string) => amount(`${what}, USD of 2025, as text or as a number; at most 1e15 in size.`);
const tonnes = (what: string) =>
  Type.Optional(amount(`${what} as reported, t CO2e a year, 0 or more. Without it the model's.`));

const NAMES = {
  country: Type.String({ description: "ISO 3166 alpha-3 or alpha-2 code, or name." }),
  industry: Type.String({
    description: "Id or name (GET /api/v1/reference/industries), or a code: ISIC 2410, NACE 24.10, NAICS 331110.",
  }),
};
const REPORTED = {
  scope1: tonnes("Direct emissions"),
  scope2: tonnes("Emissions of bought energy"),
  scope3: tonnes("Emissions up and down the value chain, together,"),
};

/** A company and what is asked about it: one definition for the type, the check and the published contract. */
export const CompanyRequestSchema = Type.Object(
  {
    name: Type.String({ description: "As the answer shall call the company." }),
    ...NAMES,
    revenue: money("Revenue a year, above 0"),
    total_assets: money("Total assets, above 0"),
    ebitda: money("EBITDA a year, of any sign"),
    total_debt: money("Financial debt, 0 or more"),
    transition_scenarios: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: SCENARIO_IDS.length,
      description:
        "Ids (GET /api/v1/reference/scenarios); case, -, _ and spaces do not count. The answer keeps their order, each once.",
    }),
    assessment_years: Type.Array(Type.Integer({ minimum: BASE_YEAR, maximum: LAST_YEAR }), {
      minItems: 1,
      maxItems: LAST_YEAR - BASE_YEAR + 1,
      description: "The answer has each once, in ascending order.",
    }),
    ...REPORTED,
    total_liabilities: Type.Optional(
      money(
        "Of a bank or insurer: all it owes, deposits and reserves too, 0 or more. Needed for its chance of default",
      ),
    ),
    damage_function: Type.Optional(
      Type.String({
        default: DAMAGE_FUNCTIONS[0],
        description: `How output falls with warming: ${DAMAGE_FUNCTIONS.join(", ")}. The source of ngfs5_kotz was retracted in December 2025.`,
      }),
    ),
    iam: Type.Optional(
      Type.String({
        default: PRICE_MODEL_IDS[0],
        description: `The model whose NGFS prices count first: ${PRICE_MODEL_IDS.join(", ")}. Only the first has all scenarios, and years after 2060.`,
      }),
    ),
  },
  { additionalProperties: false },
);

/** What emissions are estimated from. */
export const EmissionsRequestSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "As the answer shall call the company." })),
    ...NAMES,
    revenue: money("Revenue a year, above 0"),
    total_assets: Type.Optional(money("Total assets, above 0. Needed for what a bank finances")),
    ...REPORTED,
  },
  { additionalProperties: false },
);

type ReadonlyMembers<Members> = {
  readonly [Member in keyof Members]: Members[Member] extends (infer Item)[] ? readonly Item[] : Members[Member];
};

/**
 * A company and what is asked about it, as the caller writes it: in the library as on the wire.
 *
 * - money in real USD of 2025, emissions in t CO2e a year; numbers, or text that holds one
 * - `revenue` and `total_assets` above 0, `total_debt` 0 or more, `ebitda` of any sign; nothing above 1e15 in size
 * - `transition_scenarios`: 1 to 21 ids; `assessment_years`: whole years from 2025 to 2100
 * - `scope1`, `scope2`, `scope3`: as reported; without them the model's
 * - `total_liabilities`: of banks and insurers, whose debt leaves out deposits and reserves
 * - `damage_function`: `kalkuhl_wenz` (default), `howard_sterner`, `dice2016`, `ngfs5_kotz` (source retracted)
 * - `iam`: `remind` (default), `messageix`, `gcam`: whose NGFS prices count first
 */
export type CompanyRequest = ReadonlyMembers<Static<typeof CompanyRequestSchema>>;

/** What emissions are estimated from, written as in a `CompanyRequest`. */
export type EmissionsRequest = ReadonlyMembers<Static<typeof EmissionsRequestSchema>>;

/** What a company is and emits, checked. */
export interface Emitter {
  readonly name: string | undefined;
  readonly country: Country;
  readonly industry: IndustryMatch;
  readonly revenueUsd: number;
  readonly totalAssetsUsd: number | undefined;
  readonly reported: ReportedEmissions;
}

/** A checked request, with nothing left open. */
export interface Company extends Emitter {
  readonly name: string;
  readonly totalAssetsUsd: number;
  readonly ebitdaUsd: number;
  readonly totalDebtUsd: number;
  readonly totalLiabilitiesUsd: number | undefined;
  /** Each once, in the order asked for. */
  readonly scenarios: readonly Scenario[];
  /** Each once, ascending. */
  readonly years: readonly number[];
  readonly damageFunction: DamageFunction;
  readonly iam: PriceModel;
}

const compiledCompany = Compile(CompanyRequestSchema);
const compiledEmissions = Compile(EmissionsRequestSchema);

/**
 * Checks a request.
 *
 * @returns a new object; nothing of it is shared with the input
 * @throws Fault with everything that is wrong, up to 100 items, each with a JSON pointer: `country_unknown`,
 *   `industry_unknown`, `scenario_unknown` (the first that applies) where only names are not known,
 *   `combination_unavailable` where the model asked for has no prices of a scenario or year, else `invalid_request`
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

/** The same for what emissions are estimated from. */
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

/** Two of the models have prices of some scenarios only, and not of all years. */
function throwIfPricesMissing({ iam, country: { region }, scenarios, years }: Company): void {
  const model = PRICE_MODELS[iam];
  const items: FaultItem[] = [];
  for (const { id, family, pricePath } of scenarios) {
    if (family === "IPCC") continue;
    if (!hasPrices(pricePath, { variant: iam, region })) {
      const detail = `${model} has no prices of ${id}; leave iam out, or the scenario.`;
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
    const detail = `${model} has no prices of ${id} in ${late.join(", ")}; leave iam out, or those years.`;
    items.push({ pointer: "/iam", code: "combination_unavailable", detail });
  }
  if (items.length > 0) throw requestFault("combination_unavailable", items);
}
