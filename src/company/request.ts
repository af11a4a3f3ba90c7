import { compileOnUse } from "../validation/compiledSchema.ts";
import { DAMAGE_FUNCTIONS, type ESTIMATED_MEMBERS, PRICE_MODEL_IDS } from "../contract/names.ts";
import { CompanyRequestSchema, EmissionsRequestSchema } from "../contract/companyRequest.ts";
import { ASSESSMENT_YEARS } from "../contract/ranges.ts";
import type { FaultItem } from "../errors.ts";
import { AMOUNTS, type IndustryMatch, RequestReader } from "./requestReader.ts";
import { hasPriceInYear, modelsWithPrices, PRICE_MODELS, type PriceModel, pricesOf } from "./carbonPrices.ts";
import type { Country } from "./countryFigures.ts";
import type { ReportedEmissions } from "./emissions.ts";
import type { Industry } from "./industryParameters.ts";
import { BASE_YEAR, DEFAULT_DISCOUNT_RATE, DEFAULT_LOSS_GIVEN_DEFAULT } from "./methodConstants.ts";
import { normalizedEbitdaUsd } from "./loss.ts";
import type { DamageFunction } from "./physical.ts";
import type { TransitionScenario } from "./scenarios.ts";

export type EstimatedMember = (typeof ESTIMATED_MEMBERS)[number];

/** The validated properties of a company that its emissions depend on. */
export interface Emitter {
  readonly name: string | undefined;
  readonly country: Country;
  readonly industry: IndustryMatch;
  readonly revenueUsd: number;
  /** As sent or estimated. */
  readonly totalAssetsUsd: number;
  readonly reported: ReportedEmissions;
  /**
   * Members that were estimated because the request lacks them. Requests for emissions list only those that the emissions
   * depend on.
   */
  readonly estimated: readonly EstimatedMember[];
}

/** Assumptions that a caller can set, with defaults applied. */
export interface Assumptions {
  readonly discountRate: number;
  readonly shockYear: number;
  /** If undefined, the industry's pass-through for each year applies. */
  readonly passThrough: number | undefined;
  readonly lossGivenDefault: number;
  readonly damageFunction: DamageFunction;
  readonly iam: PriceModel;
}

/** A validated request with defaults and estimates applied. */
export interface Company extends Emitter {
  readonly name: string;
  readonly ebitdaUsd: number;
  readonly totalDebtUsd: number;
  readonly normalizedEbitdaUsd: number;
  readonly totalLiabilitiesUsd: number | undefined;
  /** Without duplicates, in the requested order. */
  readonly scenarios: readonly TransitionScenario[];
  /** Without duplicates, ascending. */
  readonly years: readonly number[];
  readonly assumptions: Assumptions;
  /** The company's one-year probability of default as estimated by the caller. */
  readonly ownDefaultProbability: number | undefined;
  readonly exposureUsd: number | undefined;
}

const compiledCompany = compileOnUse(() => CompanyRequestSchema);
const compiledEmissions = compileOnUse(() => EmissionsRequestSchema);

/**
 * Validates a request.
 *
 * @returns a new object that shares nothing with the input
 * @throws Fault listing up to 100 errors, each with a JSON pointer: `country_unknown`, `industry_unknown`,
 *   `scenario_unknown` or `combination_unavailable` (the first that applies) if there are no other errors, else
 *   `invalid_request`
 */
export function readCompanyRequest(input: unknown): Company {
  const reader = new RequestReader(input, { schema: CompanyRequestSchema, check: compiledCompany() });
  const name = reader.text("name");
  const country = reader.country();
  const industry = reader.industry();
  const revenueUsd = reader.amount(AMOUNTS.revenue);
  const sent: SentFigures = {
    totalAssetsUsd: reader.optionalAmount(AMOUNTS.totalAssets),
    ebitdaUsd: reader.optionalAmount(AMOUNTS.ebitda),
    totalDebtUsd: reader.optionalAmount(AMOUNTS.totalDebt),
  };
  const rest = {
    reported: reader.reported(),
    totalLiabilitiesUsd: reader.optionalAmount(AMOUNTS.totalLiabilities),
    scenarios: reader.scenarios(),
    years: reader.years(),
    ownDefaultProbability: reader.optionalAmount(AMOUNTS.pd),
    exposureUsd: reader.optionalAmount(AMOUNTS.exposure),
    assumptions: readAssumptions(reader),
  };
  reader.add(missingPrices({ ...rest, country, iam: rest.assumptions.iam }));
  reader.throwIfInvalid();
  return {
    name,
    country,
    industry,
    revenueUsd,
    ...rest,
    ...figuresOf(sent, { industry: industry.industry, revenueUsd }),
  };
}

/** Validates a request for estimated emissions; throws like `readCompanyRequest`. */
export function readEmissionsRequest(input: unknown): Emitter {
  const reader = new RequestReader(input, { schema: EmissionsRequestSchema, check: compiledEmissions() });
  const name = reader.has("name") ? reader.text("name") : undefined;
  const country = reader.country();
  const industry = reader.industry();
  const revenueUsd = reader.amount(AMOUNTS.revenue);
  const sentAssetsUsd = reader.optionalAmount(AMOUNTS.totalAssets);
  const reported = reader.reported();
  reader.throwIfInvalid();
  const { assetsToRevenue, isBank } = industry.industry;
  return {
    name,
    country,
    industry,
    revenueUsd,
    reported,
    totalAssetsUsd: sentAssetsUsd ?? assetsToRevenue * revenueUsd,
    // Only the financed emissions of a bank depend on assets.
    estimated: sentAssetsUsd === undefined && isBank ? ["total_assets"] : [],
  };
}

function readAssumptions(reader: RequestReader): Assumptions {
  return {
    discountRate: reader.optionalAmount(AMOUNTS.discountRate) ?? DEFAULT_DISCOUNT_RATE,
    shockYear: reader.optionalAmount(AMOUNTS.shockYear) ?? BASE_YEAR,
    passThrough: reader.optionalAmount(AMOUNTS.passThrough),
    lossGivenDefault: reader.optionalAmount(AMOUNTS.lgd) ?? DEFAULT_LOSS_GIVEN_DEFAULT,
    damageFunction: reader.choice("damage_function", DAMAGE_FUNCTIONS) ?? DAMAGE_FUNCTIONS[0],
    iam: reader.choice("iam", PRICE_MODEL_IDS, PRICE_MODELS) ?? PRICE_MODEL_IDS[0],
  };
}

interface SentFigures {
  readonly totalAssetsUsd: number | undefined;
  readonly ebitdaUsd: number | undefined;
  readonly totalDebtUsd: number | undefined;
}

/** Estimates absent figures from normal ratios of the industry: assets, then EBITDA, then debt. */
function figuresOf(
  sent: SentFigures,
  { industry, revenueUsd }: { readonly industry: Industry; readonly revenueUsd: number },
): Pick<Company, "totalAssetsUsd" | "ebitdaUsd" | "totalDebtUsd" | "normalizedEbitdaUsd" | "estimated"> {
  const totalAssetsUsd = sent.totalAssetsUsd ?? industry.assetsToRevenue * revenueUsd;
  const ebitdaUsd = sent.ebitdaUsd ?? industry.ebitdaMargin * revenueUsd;
  const totalDebtUsd = sent.totalDebtUsd ?? industry.debtToAssets * totalAssetsUsd;
  const estimated: EstimatedMember[] = [];
  if (sent.totalAssetsUsd === undefined) estimated.push("total_assets");
  if (sent.ebitdaUsd === undefined) estimated.push("ebitda");
  if (sent.totalDebtUsd === undefined) estimated.push("total_debt");
  return {
    totalAssetsUsd,
    ebitdaUsd,
    totalDebtUsd,
    normalizedEbitdaUsd: normalizedEbitdaUsd(ebitdaUsd, { industry, revenueUsd }),
    estimated,
  };
}

/**
 * Returns an error for each scenario that the requested model has no prices for, in any or in some of the years. MESSAGEix
 * and GCAM lack prices for some scenarios and years.
 */
function missingPrices({
  iam,
  country: { region },
  scenarios,
  years: requestedYears,
}: {
  readonly iam: PriceModel;
  readonly country: Country;
  readonly scenarios: readonly TransitionScenario[];
  readonly years: readonly number[];
}): readonly FaultItem[] {
  // An unknown country or year has a separate error.
  if (region === undefined) return [];
  const years = requestedYears.filter((year) => year >= ASSESSMENT_YEARS.min && year <= ASSESSMENT_YEARS.max);
  const model = PRICE_MODELS[iam];
  return scenarios.flatMap(({ id, family, pricePath }): readonly FaultItem[] => {
    if (family === "IPCC") return [];
    const prices = pricesOf(pricePath, { variant: iam, region });
    if (prices === undefined) {
      const detail = `${model} has no prices for ${id}; omit iam or the scenario.`;
      const allowed = modelsWithPrices(pricePath, region);
      return [{ pointer: "/iam", code: "combination_unavailable", detail, allowed }];
    }
    const yearsWithoutPrice = years.filter((year) => Number.isInteger(year) && !hasPriceInYear(prices, year));
    if (yearsWithoutPrice.length === 0) return [];
    const detail = `${model} has no prices for ${id} in ${yearsWithoutPrice.join(", ")}; omit iam or these years.`;
    return [{ pointer: "/iam", code: "combination_unavailable", detail }];
  });
}
