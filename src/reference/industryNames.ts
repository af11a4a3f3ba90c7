/** Industries by id, name, usual spelling or public code. */
import { rememberByText } from "./boundedCache.ts";
import { INDUSTRY_CLASS_ROWS } from "./data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "./data/industrySpellings.generated.ts";
import { type ListedIndustry, LISTED_INDUSTRIES } from "./industries.ts";
import { type CodeSystem, isCodeLike, matchCode } from "./industryCodes.ts";
import { withCommonWordForms } from "./wordForms.ts";
import { type NameCandidate, nameCandidate, nearestNames } from "./nameDistance.ts";
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

/** Spellings farther than this from a text are not suggested; names of the list of industries always can be. */
const SPELLING_DISTANCE_MAX = 4;

interface IndustryCandidates {
  readonly spellings: readonly NameCandidate[];
  readonly listedNames: readonly NameCandidate[];
}

let candidates: IndustryCandidates | undefined;

/** Returns the names of the industries with the nearest spellings, then those with the nearest listed names. */
export function nearestIndustryNames(text: string, count = SUGGESTION_COUNT): readonly string[] {
  candidates ??= industryCandidates();
  const key = withCommonWordForms(foldName(text));
  const bySpelling = nearestNames(key, candidates.spellings, count, SPELLING_DISTANCE_MAX);
  const byName = nearestNames(key, candidates.listedNames, count);
  return [...new Set([...bySpelling, ...byName])].slice(0, count);
}

function industryCandidates(): IndustryCandidates {
  return {
    spellings: [...industriesByKey()].flatMap(([key, { industries }]) =>
      industries.map(({ name }) => nameCandidate(name, key)),
    ),
    listedNames: LISTED_INDUSTRIES.flatMap(({ name, names }) =>
      names.map((spelling) => nameCandidate(name, withCommonWordForms(foldName(spelling)))),
    ),
  };
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
  const keys = keysOf(text);
  const keyed = [...keys, ...keys.map(withCommonWordForms)]
    .map((key) => industriesByKey().get(key))
    .find((found) => found !== undefined);
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
  const add = (key: string, keyed: KeyedIndustries): void => {
    if (key !== "" && !index.has(key)) index.set(key, keyed);
  };
  const withKeys = entries.map(([name, keyed]) => ({ keys: keysOf(name), keyed }));
  for (const { keys, keyed } of withKeys) for (const key of keys) add(key, keyed);
  for (const { keys, keyed } of withKeys) for (const key of keys) add(withCommonWordForms(key), keyed);
  return index;
}

/** Returns the folded text and, if it has "&", the folded text with "and" in its place. */
function keysOf(text: string): readonly string[] {
  const spelledOut = withAndForAmpersand(text);
  return spelledOut === undefined ? [foldName(text)] : [foldName(text), foldName(spelledOut)];
}
