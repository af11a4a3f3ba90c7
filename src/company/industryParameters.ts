import { FACTOR_QUALITIES, PRODUCT_CHANNELS, SCOPE1_SCALINGS } from "../contract/names.ts";
import type { IndustryParameters } from "../contract/wireTypes.ts";
import { LISTED_INDUSTRIES, type ListedIndustry } from "../reference/industries.ts";
import type { CodeSystem } from "../reference/industryCodes.ts";
import { INDUSTRY_PARAMETER_ROWS, type IndustryParameterRow } from "./data/industryParameters.generated.ts";
import type { Abatement } from "./methodConstants.ts";

const EPA = "US EPA Supply Chain GHG Emission Factors v1.3 (USD of 2022), split into scopes by USEEIO v2.0.1";
const MOVED = `${EPA}, compared with emissions per revenue that companies report`;

/** Sources of emission factors, by the column `factor_source` of src/reference/data/industries.csv. */
const FACTOR_SOURCES: Readonly<Record<string, string>> = {
  epa: EPA,
  "epa-scaled": `${EPA}; partly USEEIO v2.0.1 times 0.68`,
  reporters: `${MOVED}; moved towards their middle if off by more than 1.5 times`,
  analogy: `${EPA}, moved as those of related industries whose companies report; judgment`,
  power:
    "0.6 times the US carbon intensity of electricity over its price (383.5 g CO2/kWh, 0.1236 USD/kWh), because a part " +
    "of the sales is purchased power, networks and retail; compared with emissions per revenue that companies report",
  fossil: "judgment: 640 g CO2/kWh at 0.08 USD/kWh",
  networks: "judgment: SF6 and losses of 5.5%",
  judgment: "judgment",
};

/** An industry with the parameters of the method. */
export interface Industry extends ListedIndustry {
  readonly sector: string;
  /** Codes of its classes. Industries can share a code. */
  readonly codes: Readonly<Record<CodeSystem, readonly string[]>>;
  readonly scope1Scaling: (typeof SCOPE1_SCALINGS)[number];
  /** Exponent of scope 1 on the carbon intensity of the economy. */
  readonly scope1Exponent: number;
  /** Factors from a modeled figure to the ends of its range. */
  readonly rangeFactors: { readonly scope1: number; readonly scope2: number; readonly scope3: number };
  readonly factorQuality: (typeof FACTOR_QUALITIES)[number];
  readonly factorSource: string;
  readonly valueAddedShare: number;
  /** Normal EBITDA as a share of revenue. */
  readonly ebitdaMargin: number;
  readonly assetsToRevenue: number;
  readonly debtToAssets: number;
  readonly passThroughShort: number;
  readonly passThroughLong: number;
  readonly abatement: Abatement;
  readonly demandElasticity: number;
  readonly productChannel: (typeof PRODUCT_CHANNELS)[number];
  readonly tangibleShare: number;
  /** Relative to the average industry, which has 1. */
  readonly heatSensitivity: number;
  readonly assetVolatility: number;
  readonly isBank: boolean;
  readonly isInsurer: boolean;
  /** The parameters under the names of their columns, as in a response. */
  readonly parameters: IndustryParameters;
}

/** Parameters by id. docs/methods/company.md marks which of these are our judgment. */
const PARAMETERS: ReadonlyMap<string, IndustryParameterRow> = new Map(
  INDUSTRY_PARAMETER_ROWS.map((row) => [row.id, row]),
);

/** All industries, in the order of the list. */
export const INDUSTRIES: readonly Industry[] = LISTED_INDUSTRIES.map(industryWithParameters);

const INDUSTRIES_BY_ID = new Map(INDUSTRIES.map((industry) => [industry.id, industry]));

/** Returns the parameters of a listed industry. */
export function industryById(id: string): Industry {
  const industry = INDUSTRIES_BY_ID.get(id);
  if (industry === undefined) throw new Error(`The industry ${id} is not listed.`);
  return industry;
}

/** Returns whether the company is a bank or insurer: their total debt excludes deposits and reserves. */
export function isFinancial({ isBank, isInsurer }: Industry): boolean {
  return isBank || isInsurer;
}

function industryWithParameters(listed: ListedIndustry): Industry {
  const row = PARAMETERS.get(listed.id);
  if (row === undefined) throw new Error(`${listed.id} has no parameters.`);
  const factorSource = FACTOR_SOURCES[listed.factorSourceKey];
  if (factorSource === undefined) throw new Error(`The factor source of ${row.id} is "${listed.factorSourceKey}".`);
  const scope1Scaling = knownValue(SCOPE1_SCALINGS, row, "s1_scaling");
  const productChannel = knownValue(PRODUCT_CHANNELS, row, "product_channel");
  const factorQuality = knownValue(FACTOR_QUALITIES, row, "factor_quality");
  return {
    ...listed,
    sector: row.sector,
    codes: { isic: row.isic4, nace: row.nace2, naics: row.naics2017 },
    scope1Scaling,
    scope1Exponent: row.theta_s1,
    rangeFactors: { scope1: row.s1_range, scope2: row.s2_range, scope3: row.s3_range },
    factorQuality,
    factorSource,
    valueAddedShare: row.va_share,
    ebitdaMargin: row.ebitda_margin,
    assetsToRevenue: row.assets_to_revenue,
    debtToAssets: row.debt_to_assets,
    passThroughShort: row.pass_through,
    passThroughLong: row.pass_through_long,
    abatement: {
      backstopUsdPerT: row.abatement_backstop_usd_t,
      years: row.abatement_years,
      shareMax: row.abatement_max_share,
    },
    demandElasticity: row.demand_elasticity,
    productChannel,
    tangibleShare: row.tangible_share,
    heatSensitivity: row.heat_sensitivity,
    assetVolatility: row.asset_vol,
    isBank: row.archetype === "banks",
    isInsurer: row.archetype === "insurance",
    parameters: wireParameters(listed, row, { scope1Scaling, productChannel, factorQuality }),
  };
}

function wireParameters(
  { intensity }: ListedIndustry,
  row: IndustryParameterRow,
  checked: Pick<Industry, "scope1Scaling" | "productChannel" | "factorQuality">,
): IndustryParameters {
  return {
    s1_t_per_musd: intensity.scope1,
    s2_t_per_musd: intensity.scope2,
    s3up_t_per_musd: intensity.scope3Upstream,
    s3down_t_per_musd: intensity.scope3Downstream,
    theta_s1: row.theta_s1,
    s1_scaling: checked.scope1Scaling,
    s1_range: row.s1_range,
    s2_range: row.s2_range,
    s3_range: row.s3_range,
    factor_quality: checked.factorQuality,
    archetype: row.archetype,
    va_share: row.va_share,
    ebitda_margin: row.ebitda_margin,
    assets_to_revenue: row.assets_to_revenue,
    debt_to_assets: row.debt_to_assets,
    pass_through: row.pass_through,
    pass_through_long: row.pass_through_long,
    abatement_backstop_usd_t: row.abatement_backstop_usd_t,
    abatement_years: row.abatement_years,
    abatement_max_share: row.abatement_max_share,
    demand_elasticity: row.demand_elasticity,
    product_channel: checked.productChannel,
    tangible_share: row.tangible_share,
    heat_sensitivity: row.heat_sensitivity,
    asset_vol: row.asset_vol,
  };
}

function knownValue<const Value extends string>(
  known: readonly Value[],
  row: IndustryParameterRow,
  column: "s1_scaling" | "product_channel" | "factor_quality",
): Value {
  const value = known.find((one) => one === row[column]);
  if (value !== undefined) return value;
  throw new Error(`${column} of ${row.id} is "${row[column]}"; expected ${known.join(", ")}.`);
}
