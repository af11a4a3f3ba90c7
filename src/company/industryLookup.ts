import { indexIndustries } from "../reference/industries.ts";
import { type CodeSystem, INDUSTRIES, type Industry, UNCLASSIFIED_INDUSTRY_ID } from "./industryParameters.ts";
import { nameKey, NameSuggestions } from "./nameSuggestions.ts";
import { CODE_SYSTEMS } from "../contract/companyNames.ts";

/** An industry and the kind of name or code that it was found by. */
export interface IndustryMatch {
  readonly industry: Industry;
  readonly on: "id" | "name" | "alias" | CodeSystem;
  /** The code was given without a classification system and could belong to another one. */
  readonly isGuessedSystem: boolean;
}

/** The result for a text that names no industry, or several. */
export interface UnknownIndustry {
  readonly nearest: readonly string[];
  /** The text is a code that covers more than one industry. */
  readonly isCode: boolean;
}

const INDUSTRIES_BY_KEY = indexIndustries(INDUSTRIES);
const INDUSTRY_SUGGESTIONS = new NameSuggestions(INDUSTRIES);

/**
 * Finds an industry by id or name, ignoring case, accents and punctuation, or by a code such as `ISIC 2410`,
 * `NACE 24.10`, `NAICS 331110` or `2410`.
 */
export function findIndustry(text: string): IndustryMatch | UnknownIndustry {
  const named = INDUSTRIES_BY_KEY.get(nameKey(text));
  if (named !== undefined) return { industry: named.industry, on: named.on, isGuessedSystem: false };
  const matches = matchCode(text);
  const [only, ...others] = matches;
  if (only === undefined) return { nearest: INDUSTRY_SUGGESTIONS.nearest(text), isCode: false };
  if (others.length === 0 && !only.isPartial) {
    return { industry: only.industry, on: only.system, isGuessedSystem: only.isGuessedSystem };
  }
  return { nearest: matches.map(({ industry }) => industry.name), isCode: true };
}

/** An interpretation of a code. */
interface CodeMatch {
  readonly industry: Industry;
  readonly system: CodeSystem;
  readonly isGuessedSystem: boolean;
  /** The industry covers only a part of the code. */
  readonly isPartial: boolean;
}

const CODE = /^(?:(isic|nace|naics)[ :]*)?(?:[a-u] ?)?([0-9]{2,6}|[0-9]{2}\.[0-9]{1,2})$/i;

/** Returns each industry that a code can denote, once; an empty list if the text is not a code. */
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

/** Returns every industry that shares the class, because choosing one of them would be a guess. */
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
