/** Industries by id, name, usual spelling or public code. */
import { rememberByText } from "./boundedCache.ts";
import { INDUSTRY_CLASS_ROWS } from "./data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "./data/industrySpellings.generated.ts";
import { type ListedIndustry, LISTED_INDUSTRIES } from "./industries.ts";
import { type CodeSystem, isCodeLike, matchCode } from "./industryCodes.ts";
import { industryKey } from "./industryKeys.ts";
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
 * or NAICS 2017, or by a code of these. Case, accents, punctuation and British or American spelling make no difference, and "&"
 * equals "and".
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
  const candidates = [...industriesByKey()].flatMap(([key, { industries }]) =>
    industries.map(({ name }) => nameCandidate(name, key)),
  );
  return nearestNames(industryKey(text), candidates, count);
}

interface KeyedIndustries {
  readonly industries: readonly ListedIndustry[];
  readonly on: "id" | "name" | "alias";
}

const INDUSTRIES_BY_ID = new Map(LISTED_INDUSTRIES.map((industry) => [industry.id, industry]));

function industryOf(id: string): ListedIndustry {
  const industry = INDUSTRIES_BY_ID.get(id);
  if (industry === undefined) throw new Error(`The tables of industry names mention "${id}", which is not listed.`);
  return industry;
}

const findByName: (text: string) => FoundIndustry = rememberByText((text) => {
  const texts = [text, withAndForAmpersand(text) ?? text];
  const keys = [...texts.map(foldName), ...texts.map(industryKey)];
  const keyed = keys.map((key) => industriesByKey().get(key)).find((found) => found !== undefined);
  const [industry, ...others] = keyed?.industries ?? [];
  if (keyed === undefined || industry === undefined) return UNKNOWN;
  return others.length === 0
    ? { kind: "found", industry, matchedOn: keyed.on }
    : { kind: "ambiguous", candidates: keyed.industries, isCode: false };
});

let indexed: ReadonlyMap<string, KeyedIndustries> | undefined;

/** Returns the index, which is built by the first lookup. */
function industriesByKey(): ReadonlyMap<string, KeyedIndustries> {
  indexed ??= indexNames();
  return indexed;
}

/**
 * Indexes ids first, then names, aliases, spellings and titles of classes, and after these their forms with other
 * spellings of words. The first meaning of a key counts.
 */
function indexNames(): ReadonlyMap<string, KeyedIndustries> {
  const entries: readonly (readonly [name: string, keyed: KeyedIndustries])[] = [
    ...LISTED_INDUSTRIES.map((industry) => [industry.id, { industries: [industry], on: "id" }] as const),
    ...LISTED_INDUSTRIES.map((industry) => [industry.name, { industries: [industry], on: "name" }] as const),
    ...LISTED_INDUSTRIES.flatMap((industry) =>
      industry.names.map((name) => [name, { industries: [industry], on: "alias" }] as const),
    ),
    ...[
      ...INDUSTRY_SPELLING_ROWS.map(({ spelling, industries }) => ({ name: spelling, ids: industries })),
      ...INDUSTRY_CLASS_ROWS.map(({ title, industries }) => ({ name: title, ids: industries })),
    ]
      .filter(({ ids }) => ids.length > 0)
      .map(({ name, ids }) => [name, { industries: ids.map(industryOf), on: "alias" }] as const),
  ];
  const index = new Map<string, KeyedIndustries>();
  for (const keyOf of [foldName, industryKey]) {
    for (const [name, keyed] of entries) {
      for (const key of [name, withAndForAmpersand(name) ?? name].map(keyOf)) {
        if (key !== "" && !index.has(key)) index.set(key, keyed);
      }
    }
  }
  return index;
}
