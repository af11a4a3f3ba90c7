import { readFactorSource } from "../reference/factorSources.ts";
import { indexIndustries, type ListedIndustry, LISTED_INDUSTRIES } from "../reference/industries.ts";
import { INDUSTRY_TABLE } from "./industryParameterTable.ts";
import { nameKey, NameSuggestions } from "./nameSuggestions.ts";

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

/** An industry and what it was known by. */
export interface IndustryMatch {
  readonly industry: Industry;
  readonly on: "id" | "name" | "alias" | CodeSystem;
  /** A code that came without the name of its system, and may have been meant in another. */
  readonly isGuessedSystem: boolean;
}

/** No industry, and which may be meant. */
export interface UnknownIndustry {
  readonly nearest: readonly string[];
  /** The text is a code of several industries, or of more than one. */
  readonly isCode: boolean;
}

const BY_KEY = indexIndustries(INDUSTRIES);
const SUGGESTIONS = new NameSuggestions(INDUSTRIES);

/**
 * The industry that a text names: by id, name or other name, upper and lower case, accents and punctuation not counting;
 * or by a code, as `ISIC 2410`, `NACE 24.10`, `NAICS 331110`, or the code alone.
 */
export function findIndustry(text: string): IndustryMatch | UnknownIndustry {
  const named = BY_KEY.get(nameKey(text));
  if (named !== undefined) return { industry: named.industry, on: named.on, isGuessedSystem: false };
  const matches = matchCode(text);
  const [only, ...others] = matches;
  if (only === undefined) return { nearest: SUGGESTIONS.nearest(text), isCode: false };
  if (others.length === 0 && !only.isPartial) {
    return { industry: only.industry, on: only.system, isGuessedSystem: only.isGuessedSystem };
  }
  return { nearest: matches.map(({ industry }) => industry.name), isCode: true };
}

/** What a code can mean. */
interface CodeMatch {
  readonly industry: Industry;
  readonly system: CodeSystem;
  readonly isGuessedSystem: boolean;
  /** The industry is only a part of what the code stands for. */
  readonly isPartial: boolean;
}

const CODE = /^(?:(isic|nace|naics)[ :]*)?(?:[a-u] ?)?([0-9]{2,6}|[0-9]{2}\.[0-9]{1,2})$/i;

/** Each industry that a code can mean, once; none where the text is no code. */
function matchCode(text: string): readonly CodeMatch[] {
  const [, named, code] = CODE.exec(text.trim()) ?? [];
  if (code === undefined) return [];
  const systems = CODE_SYSTEMS.filter((system) =>
    named === undefined ? system === "nace" || !code.includes(".") : system === named.toLowerCase(),
  );
  const matches = systems.flatMap((system) =>
    matchClass(system, code.replace(".", "")).map((match) => ({
      ...match,
      system,
      isGuessedSystem: named === undefined,
    })),
  );
  return matches.filter(({ industry }, index) => matches.findIndex((other) => other.industry === industry) === index);
}

const CODE_LENGTH_MAX: Readonly<Record<CodeSystem, number>> = { isic: 4, nace: 4, naics: 6 };

/** A class that is divided among several industries names each of them: which it is would be a guess. */
function matchClass(system: CodeSystem, code: string): readonly Pick<CodeMatch, "industry" | "isPartial">[] {
  if (code.length > CODE_LENGTH_MAX[system]) return [];
  const classes = INDUSTRIES.filter(({ id }) => id !== UNCLASSIFIED_INDUSTRY_ID).flatMap((industry) =>
    industry.codes[system].map((cell) => ({ industry, cell: cell.replace(".", "") })),
  );
  const holding = classes.reduce(
    (longest, { cell }) => (code.startsWith(cell) && cell.length > longest.length ? cell : longest),
    "",
  );
  const isPartial = holding === "";
  const within = classes.filter(({ cell }) => cell.startsWith(isPartial ? code : holding));
  return [...new Set(within.map(({ industry }) => industry))].map((industry) => ({ industry, isPartial }));
}
