import type { EmissionsFigure, Remark, RemarkCode } from "../contract/wireTypes.ts";
import { type CompanyEmissions, scalingOf } from "./emissions.ts";
import { isFinancial } from "./industryParameters.ts";
import type { Company, Emitter, EstimatedMember } from "./request.ts";
import {
  centralVariant,
  CURRENT_POLICIES,
  isWorldPrice,
  PRICE_MODELS,
  type PriceModel,
  pricesOf,
  SUBSTITUTE_PRICES,
} from "./carbonPrices.ts";
import type { TransitionScenario } from "./scenarios.ts";
import type { NgfsRegion } from "../reference/countryNames.ts";
import { valueInYear } from "./yearlySeries.ts";

/** A warning with a code of this release. */
interface KnownRemark extends Remark {
  readonly code: RemarkCode;
}

const REVENUE_TO_ASSETS = { min: 0.02, max: 20 };
/** Factor beyond the ends of the modeled range from which a reported figure is far from the model. */
const FAR_FACTOR = 3;
/** Reported emissions, t CO2e per USD of revenue, above which the unit is probably wrong. */
const IMPLAUSIBLE_T_PER_USD = 0.1;

/** Returns the warnings about the emissions of a company. */
export function emissionsRemarks(emitter: Emitter, emissions: CompanyEmissions): readonly KnownRemark[] {
  return [
    ...countryRemarks(emitter),
    ...estimateRemarks(emitter),
    ...modelRemarks(emitter, emissions),
    ...reportedRemarks(emitter, emissions),
  ];
}

/** Returns all warnings of an answer. */
export function companyRemarks(company: Company, emissions: CompanyEmissions): readonly KnownRemark[] {
  return [
    ...emissionsRemarks(company, emissions),
    ...moneyRemarks(company),
    ...creditRemarks(company),
    ...scenarioRemarks(company),
    ...physicalRemarks(company),
  ];
}

function countryRemarks({ country }: Emitter): readonly KnownRemark[] {
  return country.fallbacks.map((fallback) => ({
    code: "country_fallback",
    detail: `${country.name}: ${fallback}.`,
  }));
}

const ESTIMATE_BASES: Readonly<Record<EstimatedMember, (of: Emitter) => string>> = {
  total_assets: ({ industry: { industry } }) => `${industry.assetsToRevenue} times revenue`,
  ebitda: ({ industry: { industry } }) => `${industry.ebitdaMargin} of revenue`,
  total_debt: ({ industry: { industry } }) => `${industry.debtToAssets} of total assets`,
};

function estimateRemarks(emitter: Emitter): readonly KnownRemark[] {
  return emitter.estimated.map((member) => ({
    code: `${member}_estimated`,
    detail: `${member} is estimated as ${ESTIMATE_BASES[member](emitter)}, which is normal in the industry.`,
  }));
}

function modelRemarks({ country, industry: { industry } }: Emitter, emissions: CompanyEmissions): KnownRemark[] {
  const remarks: KnownRemark[] = [];
  if (scalingOf(industry, country).isScope1Capped) {
    const detail = `The scope 1 factor for ${country.name} is limited to 3 times that of the US because of the carbon intensity of its economy.`;
    remarks.push({ code: "carbon_intensity_held", detail });
  }
  if (emissions.scope3Upstream.method === "split" || emissions.scope3Downstream.method === "split") {
    const detail =
      "Scope 3 was divided into upstream and downstream; send scope3_upstream and scope3_downstream if they are known.";
    remarks.push({ code: "scope3_split", detail });
  }
  return remarks;
}

interface ComparedEmissions {
  readonly name: string;
  readonly code: RemarkCode;
  readonly figures: readonly EmissionsFigure[];
  readonly rangeFactor: number;
}

/** Compares reported emissions with the model and with revenue. */
function reportedRemarks({ industry: { industry }, revenueUsd }: Emitter, emissions: CompanyEmissions): KnownRemark[] {
  const { scope1, scope2, scope3Upstream, scope3Downstream } = emissions;
  const compared: readonly ComparedEmissions[] = [
    { name: "scope 1", code: "scope1_far_from_model", figures: [scope1], rangeFactor: industry.rangeFactors.scope1 },
    { name: "scope 2", code: "scope2_far_from_model", figures: [scope2], rangeFactor: industry.rangeFactors.scope2 },
    {
      name: "scope 3",
      code: "scope3_far_from_model",
      figures: [scope3Upstream, scope3Downstream],
      rangeFactor: industry.rangeFactors.scope3,
    },
  ];
  const remarks: KnownRemark[] = [];
  for (const { name, code, figures, rangeFactor } of compared) {
    if (!figures.some(isSent)) continue;
    const reported = sumOf(figures.map(({ value }) => value));
    const modeled = sumOf(figures.map(({ modelled }) => modelled));
    const factor = FAR_FACTOR * rangeFactor;
    if (reported <= modeled * factor && reported >= modeled / factor) continue;
    const detail = `Reported ${name} is ${reported} t CO2e, but the model expects about ${Number(modeled.toPrecision(3))}; check the unit and the industry.`;
    remarks.push({ code, detail });
  }
  const sent = [scope1, scope2, scope3Upstream, scope3Downstream].filter(isSent);
  const total = sumOf(sent.map(({ value }) => value));
  if (total > IMPLAUSIBLE_T_PER_USD * revenueUsd) {
    const detail = `Reported emissions are ${Number((total / revenueUsd).toPrecision(3))} t CO2e per USD of revenue, more than ${IMPLAUSIBLE_T_PER_USD}; check the units of emissions and revenue.`;
    remarks.push({ code: "emissions_implausible", detail });
  }
  return remarks;
}

function isSent({ method }: EmissionsFigure): boolean {
  return method !== "modelled";
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function moneyRemarks(company: Company): readonly KnownRemark[] {
  const { revenueUsd, totalAssetsUsd, ebitdaUsd, normalizedEbitdaUsd, totalDebtUsd } = company;
  const remarks: KnownRemark[] = [];
  if (ebitdaUsd < normalizedEbitdaUsd) {
    const detail = `EBITDA is less than half of what is normal in the industry at this revenue; losses are measured by that half, ${Number(normalizedEbitdaUsd.toPrecision(6))} USD.`;
    remarks.push({ code: "ebitda_below_normal", detail });
  }
  if (ebitdaUsd > revenueUsd) {
    remarks.push({ code: "ebitda_above_revenue", detail: "EBITDA exceeds revenue; check both." });
  }
  if (totalDebtUsd > totalAssetsUsd) {
    const detail = "Total debt exceeds total assets: the probability of default is high before any climate risk.";
    remarks.push({ code: "debt_above_assets", detail });
  }
  const ratio = revenueUsd / totalAssetsUsd;
  if (ratio < REVENUE_TO_ASSETS.min) {
    const detail = `Revenue is less than ${REVENUE_TO_ASSETS.min} of total assets, as for a holding company or fund; emissions modeled from revenue are unreliable.`;
    remarks.push({ code: "revenue_small", detail });
  }
  if (ratio > REVENUE_TO_ASSETS.max) {
    const detail = `Revenue is more than ${REVENUE_TO_ASSETS.max} times total assets; check both.`;
    remarks.push({ code: "revenue_large", detail });
  }
  return remarks;
}

function creditRemarks(company: Company): readonly KnownRemark[] {
  const { totalLiabilitiesUsd, ownDefaultProbability } = company;
  const { industry } = company.industry;
  const remarks: KnownRemark[] = [];
  if (isFinancial(industry) && totalLiabilitiesUsd === undefined && ownDefaultProbability === undefined) {
    const detail =
      "The debt of banks and insurers excludes deposits and reserves: the probability of default requires total_liabilities or pd.";
    remarks.push({ code: "total_liabilities_missing", detail });
  }
  if (!isFinancial(industry) && totalLiabilitiesUsd !== undefined) {
    const detail = "total_liabilities is used for banks and insurers only; this company's liability is total_debt.";
    remarks.push({ code: "total_liabilities_unused", detail });
  }
  if (industry.isInsurer) {
    const detail = "Underwriting risk of an insurer is not covered, only its own operations and assets.";
    remarks.push({ code: "no_underwriting", detail });
  }
  return remarks;
}

function physicalRemarks({ country, assumptions }: Company): readonly KnownRemark[] {
  const remarks: KnownRemark[] = [];
  if (country.averageLoss.flood === 0) {
    const detail = `${country.name}: the source has no losses to river floods, which does not mean that there is no risk.`;
    remarks.push({ code: "river_flood_not_shown", detail });
  }
  if (assumptions.damageFunction === "ngfs5_kotz") {
    const detail =
      "ngfs5_kotz has the magnitude of Kotz et al. 2024 (Nature), the source of the damages of NGFS Phase V, which was retracted in December 2025. For comparison only.";
    remarks.push({ code: "damages_retracted", detail });
  }
  return remarks;
}

type ScenarioRemark = Remark & { readonly code: RemarkCode };

/** Returns the warnings about carbon prices, one for each kind, and one for each scenario with inverted prices. */
function scenarioRemarks(company: Company): readonly ScenarioRemark[] {
  const { scenarios, assumptions } = company;
  const remarks: ScenarioRemark[] = [];
  const add = (code: RemarkCode, about: readonly TransitionScenario[], detail: string): void => {
    if (about.length > 0) remarks.push({ code, detail: `${about.map(({ id }) => id).join(", ")}: ${detail}` });
  };
  const withPath = (matches: (path: string) => boolean): readonly TransitionScenario[] =>
    scenarios.filter(({ pricePath }) => matches(pricePath));

  add(
    "world_price",
    withPath(isWorldPrice),
    "a single world carbon price, because regional prices are not published; linear between 2020 and the published values of 2030 and 2050, constant afterwards.",
  );
  for (const [path, substitute] of SUBSTITUTE_PRICES) {
    const about = withPath((pricePath) => pricePath === path);
    add("substitute_price", about, `prices are not published; replaced by the ${substitute}.`);
  }
  add(
    "no_shock",
    withPath((path) => path === CURRENT_POLICIES),
    "no shock beyond current policies, so the transition loss is 0 by construction; that is not the same as no risk.",
  );
  for (const scenario of scenarios) remarks.push(...inversionRemarks(scenario, company));
  if (assumptions.iam !== "remind" && scenarios.some(({ family }) => family === "IPCC")) {
    remarks.push({ code: "iam_unused", detail: "iam applies to the NGFS scenarios only." });
  }
  return remarks;
}

function inversionRemarks(
  scenario: TransitionScenario,
  { assumptions, country, years }: Company,
): readonly ScenarioRemark[] {
  const model = assumptions.iam;
  if (centralVariant(scenario, model) !== model) return [];
  const inversions = priceInversionsOf(scenario, { model, region: country.region, years });
  if (inversions.length === 0) return [];
  const names = inversions.map(({ scenario: other, years: inverted }) => `${other} in ${formatYears(inverted)}`);
  const detail =
    `${scenario.id}: ${PRICE_MODELS[model]} has higher carbon prices in ${country.region} than under ${names.join(", ")}, ` +
    "because it forces each region to its pledge; the order of the scenarios is inverted there.";
  return [{ code: "price_inversion", detail, scenario: scenario.id, inversions }];
}

/** Formats ascending years, with consecutive ones as a range. */
function formatYears(years: PriceInversion["years"]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const year of years) {
    const range = ranges.at(-1);
    if (range?.last === year - 1) range.last = year;
    else ranges.push({ first: year, last: year });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first} to ${last}`)).join(", ");
}

/** Narratives of the scenarios whose carbon prices are expected to be lower than those of the orderly ones. */
const LESS_AMBITIOUS_NARRATIVES = new Set(["Hot house world", "Too little, too late"]);
const ORDERLY_PATHS = ["NGFS_NET_ZERO_2050", "NGFS_LOW_DEMAND", "NGFS_BELOW_2C"];
/** Ratio of prices above which the order is inverted. */
const RATIO_MIN = 1.1;

/** Years in which a less ambitious scenario has the higher carbon price. */
interface PriceInversion {
  /** Id of the more ambitious scenario. */
  readonly scenario: string;
  readonly years: readonly number[];
}

/**
 * Finds the requested years in which the price of a less ambitious NGFS scenario exceeds the price of an orderly scenario of
 * the same model and region by more than 10 %. REMIND forces each region to its pledge by 2030, so NDC prices of some regions are high then.
 */
function priceInversionsOf(
  { family, narrative, pricePath }: TransitionScenario,
  of: { readonly model: PriceModel; readonly region: NgfsRegion; readonly years: readonly number[] },
): readonly PriceInversion[] {
  const prices = pricesOf(pricePath, { variant: of.model, region: of.region });
  if (family !== "NGFS" || prices === undefined || !LESS_AMBITIOUS_NARRATIVES.has(narrative)) return [];
  return ORDERLY_PATHS.flatMap((scenario) => {
    const orderly = pricesOf(scenario, { variant: of.model, region: of.region });
    if (orderly === undefined) return [];
    const years = of.years.filter((year) => valueInYear(prices, year) > RATIO_MIN * valueInYear(orderly, year));
    return years.length === 0 ? [] : [{ scenario, years }];
  });
}
