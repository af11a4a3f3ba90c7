import { readFactorSource } from "../reference/factorSources.ts";
import { type ListedIndustry, LISTED_INDUSTRIES } from "../reference/industries.ts";
import { INDUSTRY_TABLE } from "./industryParameterTable.ts";

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
  /** Whether a factor is our judgement rather than derived from data. */
  readonly isFactorJudged: boolean;
}

export const CODE_SYSTEMS = ["isic", "nace", "naics"] as const;
export type CodeSystem = (typeof CODE_SYSTEMS)[number];

/** Columns after the id, by id. */
const PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map(
  INDUSTRY_TABLE.trim()
    .split("\n")
    .map((line) => line.split("|"))
    .map(([id = "", ...parameters]) => [id, parameters]),
);

/** All industries, in the order of the list. */
export const INDUSTRIES: readonly Industry[] = LISTED_INDUSTRIES.map(readIndustry);

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

function readIndustry({ source, ...listed }: ListedIndustry): Industry {
  const parameters = PARAMETERS.get(listed.id);
  if (parameters === undefined) throw new Error(`${listed.id} has no parameters.`);
  const [sector = "", isic = "", nace = "", naics = "", exponent, valueAdded, group, ...rest] = parameters;
  const [short, long, backstop, elasticity, tangible, heat, volatility] = rest;
  const { text, isJudged } = readFactorSource(source);
  const codes = (cell: string): readonly string[] => (cell === "" ? [] : cell.split(" "));
  return {
    ...listed,
    sector,
    codes: { isic: codes(isic), nace: codes(nace), naics: codes(naics) },
    scope1Exponent: Number(exponent),
    valueAddedShare: Number(valueAdded),
    group: GROUPS.find((known) => known === group),
    passThroughShort: Number(short),
    passThroughLong: Number(long),
    backstopUsdPerT: Number(backstop),
    demandElasticity: Number(elasticity),
    tangibleShare: Number(tangible),
    heatSensitivity: Number(heat),
    assetVolatility: Number(volatility),
    factorSource: text,
    isFactorJudged: isJudged,
  };
}
