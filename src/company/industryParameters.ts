import { readFactorSource } from "../reference/factorSources.ts";
import { type ListedIndustry, LISTED_INDUSTRIES } from "../reference/industries.ts";
import { INDUSTRY_TABLE } from "./industryParameterTable.ts";

/** Groups of industries that the method treats by rules of their own. */
const GROUPS = ["banks", "insurance", "oilgas_up", "refining", "coal", "pipelines"] as const;

/** An industry and all that the method knows of it. */
export interface Industry extends Omit<ListedIndustry, "source"> {
  readonly sector: string;
  /** Codes of the classes that it is made of. Several industries can share one. */
  readonly codes: Readonly<Record<CodeSystem, readonly string[]>>;
  /** How scope 1 follows the carbon intensity of the economy: an exponent, 0 where it does not. */
  readonly scope1Exponent: number;
  readonly valueAddedShare: number;
  /** Undefined where no rule depends on it. */
  readonly group: (typeof GROUPS)[number] | undefined;
  readonly passThroughShort: number;
  readonly passThroughLong: number;
  /** At this price, USD per t CO2e, all that a scenario cuts is abated. */
  readonly backstopUsdPerT: number;
  readonly demandElasticity: number;
  readonly tangibleShare: number;
  /** 1 on average. */
  readonly heatSensitivity: number;
  readonly assetVolatility: number;
  readonly factorSource: string;
  /** Whether a factor is our judgement rather than taken from data. */
  readonly isFactorJudged: boolean;
}

export const CODE_SYSTEMS = ["isic", "nace", "naics"] as const;
export type CodeSystem = (typeof CODE_SYSTEMS)[number];

/** The columns after the id, by id. */
const PARAMETERS: ReadonlyMap<string, readonly string[]> = new Map(
  INDUSTRY_TABLE.trim()
    .split("\n")
    .map((line) => line.split("|"))
    .map(([id = "", ...parameters]) => [id, parameters]),
);

/** All that there are. */
export const INDUSTRIES: readonly Industry[] = LISTED_INDUSTRIES.map(readIndustry);

/** Their total debt leaves out what they owe to most of their creditors, and value follows assets rather than earnings. */
export function isBankOrInsurer({ group }: Industry): boolean {
  return group === "banks" || group === "insurance";
}

/** What stands for a company that has no industry, and for those that a bank lends to. */
export const UNCLASSIFIED_INDUSTRY_ID = "miscellaneous";

/** Power is measured by the grid of the country rather than by a factor of its own. */
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
