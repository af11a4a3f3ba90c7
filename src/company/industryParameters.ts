import type { CODE_SYSTEMS } from "../contract/companyNames.ts";
import { readFactorSource } from "../reference/factorSources.ts";
import { type ListedIndustry, LISTED_INDUSTRIES } from "../reference/industries.ts";
import { INDUSTRY_PARAMETER_ROWS, type IndustryParameterRow } from "./data/industryParameters.generated.ts";

/** Groups of industries with special rules. */
const GROUPS = ["banks", "insurance", "oilgas_up", "refining", "coal", "pipelines"] as const;

/** An industry with the parameters of the method. */
export interface Industry extends Omit<ListedIndustry, "source"> {
  readonly sector: string;
  /** Codes of its classes. Industries can share a code. */
  readonly codes: Readonly<Record<CodeSystem, readonly string[]>>;
  /** Exponent of scope 1 on the carbon intensity of the economy; 0 for no dependence. */
  readonly scope1Exponent: number;
  readonly valueAddedShare: number;
  /** Undefined if no special rule applies. */
  readonly group: (typeof GROUPS)[number] | undefined;
  readonly passThroughShort: number;
  readonly passThroughLong: number;
  /** Carbon price, USD per t CO2e, at which the whole reduction of the scenario is abated. */
  readonly backstopUsdPerT: number;
  readonly demandElasticity: number;
  readonly tangibleShare: number;
  /** Relative to the average industry, which has 1. */
  readonly heatSensitivity: number;
  readonly assetVolatility: number;
  readonly factorSource: string;
  /** Whether a factor is our judgment rather than derived from data. */
  readonly isFactorJudged: boolean;
}

export type CodeSystem = (typeof CODE_SYSTEMS)[number];

/** Parameters by id. docs/methods/company.md marks which of these are our judgment. */
const PARAMETERS: ReadonlyMap<string, IndustryParameterRow> = new Map(
  INDUSTRY_PARAMETER_ROWS.map((row) => [row.id, row]),
);

/** All industries, in the order of the list. */
export const INDUSTRIES: readonly Industry[] = LISTED_INDUSTRIES.map(industryWithParameters);

/**
 * Returns whether the company is a bank or insurer: their total debt excludes deposits and reserves, and their value is
 * computed from assets rather than earnings.
 */
export function isBankOrInsurer({ group }: Industry): boolean {
  return group === "banks" || group === "insurance";
}

/** The industry of unclassified companies and of the borrowers of a bank. */
export const UNCLASSIFIED_INDUSTRY_ID = "miscellaneous";

/** Scope 1 of this industry is computed from the grid intensity of the country instead of an emission factor. */
export const ELECTRIC_UTILITIES_ID = "electric_utilities";

function industryWithParameters({ source, ...listed }: ListedIndustry): Industry {
  const row = PARAMETERS.get(listed.id);
  if (row === undefined) throw new Error(`${listed.id} has no parameters.`);
  const { text, isJudged } = readFactorSource(source);
  return {
    ...listed,
    sector: row.sector,
    codes: { isic: row.isic4, nace: row.nace2, naics: row.naics2017 },
    scope1Exponent: row.theta_s1,
    valueAddedShare: row.va_share,
    group: GROUPS.find((known) => known === row.archetype),
    passThroughShort: row.pass_through,
    passThroughLong: row.pass_through_long,
    backstopUsdPerT: row.abatement_backstop_usd_t,
    demandElasticity: row.demand_elasticity,
    tangibleShare: row.tangible_share,
    heatSensitivity: row.heat_sensitivity,
    assetVolatility: row.asset_vol,
    factorSource: text,
    isFactorJudged: isJudged,
  };
}
