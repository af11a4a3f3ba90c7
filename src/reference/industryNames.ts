/** Industries by id, name, usual spelling or public code. */
import { rememberByText } from "./boundedCache.ts";
import { INDUSTRY_CLASS_ROWS } from "./data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "./data/industrySpellings.generated.ts";
import { type ListedIndustry, LISTED_INDUSTRIES } from "./industries.ts";
import { type CodeSystem, isCodeLike, matchCode } from "./industryCodes.ts";
import { nameCandidate, nearestNames } from "./nameDistance.ts";
import { foldName, withAndForAmpersand } from "./names.ts";

export type { CodeSystem } from "./industryCodes.ts";

export type FoundIndustry =
  | {
      readonly kind: "found";
      readonly industry: ListedIndustry;
      /** `alias` includes the usual spellings and the titles of public classes. */
      readonly matchedOn: "id" | "name" | "alias";
    }
  | {
      readonly kind: "found";
      readonly industry: ListedIndustry;
      readonly matchedOn: "code";
      readonly codeSystem: CodeSystem;
    }
  /** The text names several industries, or is a code that covers several or also classes of no industry. */
  | { readonly kind: "ambiguous"; readonly candidates: readonly ListedIndustry[]; readonly isCode: boolean }
  | { readonly kind: "unknown" };

export type IndustryMatch =
  | Exclude<FoundIndustry, { kind: "unknown" }>
  | {
      readonly kind: "unknown";
      /** The text has the form of a code: no class has it, or its system is not known. */
      readonly isCode: boolean;
      /** Nearest names of industries; empty for a code. */
      readonly suggestions: readonly string[];
    };

const UNKNOWN: FoundIndustry = { kind: "unknown" };
const SUGGESTION_COUNT = 5;

/**
 * Returns the industry that a text names by id, name, usual spelling or the title of a class of ISIC Rev. 4, NACE Rev. 2
 * or NAICS 2017, or by a code of these. Case, accents and punctuation are ignored, and "&" equals "and".
 *
 * @param codeSystem system of a code without a prefix, such as `2410`; `NACE 24.10` and `24.10` need none
 */
export function matchIndustry(text: string, codeSystem?: CodeSystem): IndustryMatch {
  const found = findIndustry(text, codeSystem);
  if (found.kind !== "unknown") return found;
  const isCode = isCodeLike(text);
  return { kind: "unknown", isCode, suggestions: isCode ? [] : nearestIndustryNames(text) };
}

/** Does the same as `matchIndustry` without suggestions. */
export function findIndustry(text: string, codeSystem?: CodeSystem): FoundIndustry {
  const named = findByName(text);
  if (named.kind !== "unknown") return named;
  const code = matchCode(text, codeSystem);
  const [industry, ...others] = code?.industryIds.map(industryOf) ?? [];
  if (code === undefined || industry === undefined) return UNKNOWN;
  if (others.length > 0 || !code.isComplete) {
    return { kind: "ambiguous", candidates: [industry, ...others], isCode: true };
  }
  return { kind: "found", industry, matchedOn: "code", codeSystem: code.system };
}

/** Returns the names of the industries with the nearest names or spellings, nearest first. */
export function nearestIndustryNames(text: string, count = SUGGESTION_COUNT): readonly string[] {
  const candidates = [...INDUSTRIES_BY_KEY].flatMap(([key, { industries }]) =>
    industries.map(({ name }) => nameCandidate(name, key)),
  );
  return nearestNames(foldName(text), candidates, count);
}

interface KeyedIndustries {
  readonly industries: readonly ListedIndustry[];
  readonly on: "id" | "name" | "alias";
}

const INDUSTRIES_BY_ID = new Map(LISTED_INDUSTRIES.map((industry) => [industry.id, industry]));
const INDUSTRIES_BY_KEY = indexNames();

function industryOf(id: string): ListedIndustry {
  const industry = INDUSTRIES_BY_ID.get(id);
  if (industry === undefined) throw new Error(`The tables of industry names mention "${id}", which is not listed.`);
  return industry;
}

const findByName: (text: string) => FoundIndustry = rememberByText((text) => {
  const spelledOut = withAndForAmpersand(text);
  const keyed =
    INDUSTRIES_BY_KEY.get(foldName(text)) ??
    (spelledOut === undefined ? undefined : INDUSTRIES_BY_KEY.get(foldName(spelledOut)));
  const [industry, ...others] = keyed?.industries ?? [];
  if (keyed === undefined || industry === undefined) return UNKNOWN;
  return others.length === 0
    ? { kind: "found", industry, matchedOn: keyed.on }
    : { kind: "ambiguous", candidates: keyed.industries, isCode: false };
});

/** Indexes ids first, then names, aliases, spellings and titles of classes; the first meaning of a key counts. */
function indexNames(): ReadonlyMap<string, KeyedIndustries> {
  const index = new Map<string, KeyedIndustries>();
  const add = (name: string, industries: readonly ListedIndustry[], on: KeyedIndustries["on"]): void => {
    for (const spelling of [name, withAndForAmpersand(name) ?? ""]) {
      const key = foldName(spelling);
      if (key !== "" && !index.has(key)) index.set(key, { industries, on });
    }
  };
  for (const industry of LISTED_INDUSTRIES) add(industry.id, [industry], "id");
  for (const industry of LISTED_INDUSTRIES) add(industry.name, [industry], "name");
  for (const industry of LISTED_INDUSTRIES) for (const name of industry.names) add(name, [industry], "alias");
  for (const { spelling, industries } of INDUSTRY_SPELLING_ROWS) add(spelling, industries.map(industryOf), "alias");
  for (const { title, industries } of INDUSTRY_CLASS_ROWS) {
    if (industries.length > 0) add(title, industries.map(industryOf), "alias");
  }
  return index;
}
