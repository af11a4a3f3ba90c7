import { Compile } from "typebox/compile";
import type { FaultItem } from "../errors.ts";
import { CompanyRequestSchema, EmissionsRequestSchema } from "../contract/companyRequest.ts";
import type { Country } from "./countryFigures.ts";
import type { ReportedEmissions } from "./emissions.ts";
import type { IndustryMatch } from "./industryLookup.ts";
import type { DamageFunction } from "./physical.ts";
import {
  hasPriceInYear,
  hasPrices,
  PRICE_MODELS,
  type PriceModel,
  priceShocksOf,
  priceVariantsOf,
} from "./carbonPrices.ts";
import { AMOUNTS, RequestReader, requestFault } from "./requestReader.ts";
import type { TransitionScenario } from "./scenarios.ts";
import { DAMAGE_FUNCTIONS, PRICE_MODEL_IDS } from "../contract/companyNames.ts";

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
  readonly scenarios: readonly TransitionScenario[];
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
