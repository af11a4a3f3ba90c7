import { INDUSTRY_TABLE } from "./industryTable.ts";
import { foldName, type Named, Suggestions } from "./names.ts";

/** Groups of industries that the method treats by rules of their own. */
const GROUPS = ["banks", "insurance", "oilgas_up", "refining", "coal", "pipelines"] as const;

/** An industry and all that the method knows of it. */
export interface Industry extends Named {
  readonly id: string;
  readonly sector: string;
  /** Codes of the classes that it is made of. Several industries can share one. */
  readonly codes: Readonly<Record<CodeSystem, readonly string[]>>;
  /** t CO2e per million USD of 2022 revenue. */
  readonly intensity: {
    readonly scope1: number;
    readonly scope2: number;
    readonly scope3Upstream: number;
    readonly scope3Downstream: number;
  };
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

const EPA = "US EPA Supply Chain GHG Emission Factors v1.3, divided into scopes by USEEIO v2.0.1";
const FACTOR_SOURCES: Readonly<Record<string, string>> = {
  epa: EPA,
  "epa-sales": `${EPA}; from trade margin to sales, scope 3 with the goods sold, at a gross margin of`,
  "epa-medical": `${EPA}; scope 3 with medical cost of 85% at the intensity of hospitals`,
  "epa-scaled": `${EPA}; partly USEEIO v2.0.1 times 0.68`,
  steel: "scope 1: geometric mean of EPA v1.3 and OECD ICIO 2025 (C24A) as for the US; scopes 2 and 3: EPA v1.3",
  refining: "scope 1: geometric mean of EPA v1.3 and OECD ICIO 2025 (C19) as for the US; scopes 2 and 3: EPA v1.3",
  integrated: "half oil and gas production, half refining",
  airlines: "scope 1: OECD ICIO 2025 (H51), median of 13 regions; scopes 2 and 3: EPA v1.3",
  power:
    "judgement: Ember's carbon intensity of electricity over the US price, 0.1236 USD/kWh, brought to the price level",
  aluminium: "judgement: USEEIO's mix of the industry and primary metal (4.8 t direct, 10.4 t of electricity per t)",
  renewables: "judgement: operation and maintenance; what is built stands in scope 3",
  fossil: "judgement: 640 g CO2/kWh at 0.08 USD/kWh",
  nuclear: "judgement",
  networks: "judgement: SF6 and losses of 5.5%",
};

/** All that there are; the first of a line is its id. */
export const INDUSTRIES: readonly Industry[] = INDUSTRY_TABLE.trim().split("\n").map(readIndustry);

/** Their total debt leaves out what they owe to most of their creditors, and value follows assets rather than earnings. */
export function isBankOrInsurer({ group }: Industry): boolean {
  return group === "banks" || group === "insurance";
}

/** What stands for a company that has no industry, and for those that a bank lends to. */
export const UNCLASSIFIED_ID = "miscellaneous";

/** Power is measured by the grid of the country rather than by a factor of its own. */
export const POWER_ID = "electric_utilities";

function readIndustry(line: string): Industry {
  const [id = "", name = "", alias = "", sector = "", isic = "", nace = "", naics = "", ...rest] = line.split("|");
  const [scope1, scope2, upstream, downstream, exponent, valueAdded, group, ...more] = rest;
  const [short, long, backstop, elasticity, tangible, heat, volatility, source = ""] = more;
  const [kind = "", grossMargin] = source.split(" ");
  const text = FACTOR_SOURCES[kind] ?? "";
  const codes = (cell: string): readonly string[] => (cell === "" ? [] : cell.split(" "));
  return {
    id,
    name,
    names: [name, ...(alias === "" ? [] : [alias])],
    sector,
    codes: { isic: codes(isic), nace: codes(nace), naics: codes(naics) },
    intensity: {
      scope1: Number(scope1),
      scope2: Number(scope2),
      scope3Upstream: Number(upstream),
      scope3Downstream: Number(downstream),
    },
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
    factorSource: grossMargin === undefined ? text : `${text} ${Math.round(100 * Number(grossMargin))}%`,
    isFactorJudged: text.startsWith("judgement"),
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
export interface IndustryMiss {
  readonly nearest: readonly string[];
  /** The text is a code of several industries, or of more than one. */
  readonly isCode: boolean;
}

const BY_KEY: ReadonlyMap<string, IndustryMatch> = new Map(
  INDUSTRIES.flatMap((industry) => {
    const [name = "", alias] = industry.names;
    const matchOn = (on: "id" | "name" | "alias") => ({ industry, on, isGuessedSystem: false });
    // The id last, so that of equal keys it is the one that is told.
    return [
      ...(alias === undefined ? [] : [[foldName(alias), matchOn("alias")] as const]),
      [foldName(name), matchOn("name")] as const,
      [foldName(industry.id), matchOn("id")] as const,
    ];
  }),
);

const SUGGESTIONS = new Suggestions(INDUSTRIES);

/**
 * The industry that a text names: by id, name or other name, upper and lower case, accents and punctuation not counting;
 * or by a code, as `ISIC 2410`, `NACE 24.10`, `NAICS 331110`, or the code alone.
 */
export function findIndustry(text: string): IndustryMatch | IndustryMiss {
  const match = BY_KEY.get(foldName(text));
  if (match !== undefined) return match;
  const readings = readCode(text);
  const [only, ...others] = readings;
  if (only === undefined) return { nearest: SUGGESTIONS.nearest(text), isCode: false };
  if (others.length === 0 && !only.isWider) {
    return { industry: only.industry, on: only.system, isGuessedSystem: only.isGuessedSystem };
  }
  return { nearest: readings.map(({ industry }) => industry.name), isCode: true };
}

/** What a code can mean. */
interface CodeReading {
  readonly industry: Industry;
  readonly system: CodeSystem;
  readonly isGuessedSystem: boolean;
  /** The industry is only a part of what the code stands for. */
  readonly isWider: boolean;
}

const CODE = /^(?:(isic|nace|naics)[ :]*)?(?:[a-u] ?)?([0-9]{2,6}|[0-9]{2}\.[0-9]{1,2})$/i;

/** Each industry that a code can mean, once; none where the text is no code. */
function readCode(text: string): readonly CodeReading[] {
  const [, named, code] = CODE.exec(text.trim()) ?? [];
  if (code === undefined) return [];
  const systems = CODE_SYSTEMS.filter((system) =>
    named === undefined ? system === "nace" || !code.includes(".") : system === named.toLowerCase(),
  );
  const readings = systems.flatMap((system) =>
    readClass(system, code.replace(".", "")).map((reading) => ({
      ...reading,
      system,
      isGuessedSystem: named === undefined,
    })),
  );
  return readings.filter(({ industry }, index) => readings.findIndex((other) => other.industry === industry) === index);
}

const CODE_LENGTH_MAX: Readonly<Record<CodeSystem, number>> = { isic: 4, nace: 4, naics: 6 };

/** A class that is divided among several industries names each of them: which it is would be a guess. */
function readClass(system: CodeSystem, code: string): readonly Pick<CodeReading, "industry" | "isWider">[] {
  if (code.length > CODE_LENGTH_MAX[system]) return [];
  const classes = INDUSTRIES.filter(({ id }) => id !== UNCLASSIFIED_ID).flatMap((industry) =>
    industry.codes[system].map((cell) => ({ industry, cell: cell.replace(".", "") })),
  );
  const holding = classes.reduce(
    (longest, { cell }) => (code.startsWith(cell) && cell.length > longest.length ? cell : longest),
    "",
  );
  const isWider = holding === "";
  const within = classes.filter(({ cell }) => cell.startsWith(isWider ? code : holding));
  return [...new Set(within.map(({ industry }) => industry))].map((industry) => ({ industry, isWider }));
}
