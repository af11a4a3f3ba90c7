import { isBankOrInsurer } from "./industryParameters.ts";
import { type Emissions, modelEmissions, scalingOf } from "./emissions.ts";
import { hazardsWithoutLoss } from "./physical.ts";
import { isWorldPrice, SUBSTITUTE_PRICES } from "./carbonPrices.ts";
import type { Company, Emitter } from "./request.ts";
import type { Remark, RemarkCode } from "../contract/wireTypes.ts";

/** A warning with a code of this release. */
interface KnownRemark extends Remark {
  readonly code: RemarkCode;
}

const REVENUE_TO_ASSETS = { min: 0.02, max: 20 };
/** Factor between reported and modeled scope 1 above which a warning is given. */
const SCOPE1_RATIO_MAX = 5;

/** Returns the warnings about the emissions of a company. */
export function emissionsRemarks(of: Emitter): readonly KnownRemark[] {
  const { country, industry: match, revenueUsd, reported } = of;
  const { industry } = match;
  const remarks: KnownRemark[] = country.fallbacks.map((fallback) => ({
    code: "country_fallback",
    detail: `${country.name}: a figure is estimated; ${fallback}.`,
  }));
  if (match.isGuessedSystem) {
    const detail = `The industry code was read as ${match.on.toUpperCase()}; put the classification system before the code to avoid ambiguity.`;
    remarks.push({ code: "industry_code_guessed", detail });
  }
  const modeled: Emissions = modelEmissions({ industry, country, revenueUsd });
  if (reported.scope1 === undefined) {
    if (scalingOf(industry, country).isScope1Capped) {
      const detail = `The scope 1 factor for ${country.name} is limited to 3 times that of the US because of the carbon intensity of its economy.`;
      remarks.push({ code: "carbon_intensity_held", detail });
    }
  } else {
    const [low, high] = [modeled.scope1 / SCOPE1_RATIO_MAX, modeled.scope1 * SCOPE1_RATIO_MAX];
    if (reported.scope1 < low || reported.scope1 > high) {
      const expected = Number(modeled.scope1.toPrecision(3));
      const detail = `Reported scope 1 is ${reported.scope1} t CO2e, but the model expects about ${expected}; check the unit and the industry.`;
      remarks.push({ code: "scope1_far_from_model", detail });
    }
  }
  return remarks;
}

/** Returns all warnings of an answer. */
export function companyRemarks(company: Company): readonly KnownRemark[] {
  return [
    ...emissionsRemarks(company),
    ...moneyRemarks(company),
    ...creditRemarks(company),
    ...scenarioRemarks(company),
    ...physicalRemarks(company),
  ];
}

function moneyRemarks({ revenueUsd, totalAssetsUsd, ebitdaUsd, totalDebtUsd }: Company): readonly KnownRemark[] {
  const remarks: KnownRemark[] = [];
  const ratio = revenueUsd / totalAssetsUsd;
  if (ratio < REVENUE_TO_ASSETS.min) {
    const detail = `Revenue is less than ${REVENUE_TO_ASSETS.min} of total assets, as for a holding company or fund; emissions modeled from revenue are unreliable.`;
    remarks.push({ code: "revenue_small", detail });
  }
  if (ratio > REVENUE_TO_ASSETS.max) {
    const detail = `Revenue is more than ${REVENUE_TO_ASSETS.max} times total assets; check both.`;
    remarks.push({ code: "revenue_large", detail });
  }
  if (ebitdaUsd > revenueUsd) {
    remarks.push({ code: "ebitda_above_revenue", detail: "EBITDA exceeds revenue; check both." });
  }
  if (ebitdaUsd <= 0) {
    const detail =
      "EBITDA is not positive: losses are relative to 16% of revenue, exclude lost volume and lost earnings, and are not capped.";
    remarks.push({ code: "ebitda_not_positive", detail });
  }
  if (totalDebtUsd > totalAssetsUsd) {
    const detail = "Total debt exceeds total assets: the probability of default is high before any climate risk.";
    remarks.push({ code: "debt_above_assets", detail });
  }
  return remarks;
}

function creditRemarks({ industry: { industry }, totalLiabilitiesUsd }: Company): readonly KnownRemark[] {
  const remarks: KnownRemark[] = [];
  const isFinancial = isBankOrInsurer(industry);
  if (isFinancial && totalLiabilitiesUsd === undefined) {
    const detail =
      "The debt of banks and insurers excludes deposits and reserves: the probability of default requires total_liabilities.";
    remarks.push({ code: "total_liabilities_missing", detail });
  }
  if (!isFinancial && totalLiabilitiesUsd !== undefined) {
    const detail = "total_liabilities is used for banks and insurers only; this company's liability is total_debt.";
    remarks.push({ code: "total_liabilities_unused", detail });
  }
  if (industry.group === "insurance") {
    const detail = "Underwriting risk of an insurer is not covered, only its own operations and assets.";
    remarks.push({ code: "no_underwriting", detail });
  }
  return remarks;
}

function scenarioRemarks({ scenarios, iam }: Company): readonly KnownRemark[] {
  const remarks: KnownRemark[] = [];
  const worldPriced = scenarios.filter(({ pricePath }) => isWorldPrice(pricePath));
  if (worldPriced.length > 0) {
    const ids = worldPriced.map(({ id }) => id).join(", ");
    const detail = `${ids}: a single world carbon price, because regional prices are not published; linear between 2020 and the published values of 2030 and 2050, constant afterwards.`;
    remarks.push({ code: "world_price", detail });
  }
  for (const [path, substitute] of Object.entries(SUBSTITUTE_PRICES)) {
    const substituted = scenarios.filter(({ pricePath }) => pricePath === path);
    if (substituted.length === 0) continue;
    const ids = substituted.map(({ id }) => id).join(", ");
    remarks.push({ code: "substitute_price", detail: `${ids}: prices are not published; replaced by ${substitute}.` });
  }
  const unshocked = scenarios.filter(({ pricePath }) => pricePath === "NGFS_CURRENT_POLICIES");
  if (unshocked.length > 0) {
    const ids = unshocked.map(({ id }) => id).join(", ");
    const detail = `${ids}: no shock beyond current policies, so the transition loss is 0 by construction; that is not the same as no risk.`;
    remarks.push({ code: "no_shock", detail });
  }
  if (iam !== "remind" && scenarios.some(({ family }) => family === "IPCC")) {
    remarks.push({ code: "iam_unused", detail: "iam applies to the NGFS scenarios only." });
  }
  return remarks;
}

function physicalRemarks({ country, damageFunction }: Company): readonly KnownRemark[] {
  const remarks: KnownRemark[] = [];
  if (hazardsWithoutLoss(country).includes("flood")) {
    const detail = `${country.name}: the source has no losses to river floods, which does not mean that there is no risk.`;
    remarks.push({ code: "river_flood_not_shown", detail });
  }
  if (damageFunction === "ngfs5_kotz") {
    const detail =
      "Chronic damages are scaled to Kotz et al. 2024 (Nature), which NGFS Phase V used and which was RETRACTED in December 2025. Use them for comparison only.";
    remarks.push({ code: "damages_retracted", detail });
  }
  return remarks;
}
