/** Industries by id, name, usual spelling or public code. */
import { CODE_SYSTEMS } from "../contract/names.ts";
import { rememberByText } from "./boundedCache.ts";
import { type ClassificationSystem, type CodeSystem, matchCode } from "./industryCodes.ts";
import { INDUSTRY_CLASS_ROWS } from "./data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "./data/industrySpellings.generated.ts";
import { type ListedIndustry, LISTED_INDUSTRIES } from "./industries.ts";
import { foldName, withAndForAmpersand, withCommonWordForms, withSingularWords } from "./names.ts";

export type IndustryMatch =
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
  | {
      readonly kind: "ambiguous";
      readonly candidates: readonly ListedIndustry[];
      /** `code` covers several industries; `partial_code` also covers classes that belong to no industry. */
      readonly on: "name" | "code" | "partial_code";
    }
  | {
      readonly kind: "unknown";
      /** Why a text that has the form of a code is not accepted; it completes a sentence that begins with the text. */
      readonly codeReason?: string;
    };

const UNKNOWN: IndustryMatch = { kind: "unknown" };

/**
 * Returns the industry that a text names by id, name, usual spelling or the title of a class of ISIC Rev. 4, NACE Rev. 2
 * or NAICS 2017, or by a code of these. Case, accents, punctuation, singular or plural, and British or American spelling
 * make no difference, and "&" equals "and".
 *
 * @param system system of a code without a prefix, such as `2410`; `NACE 24.10` and `24.10` need none
 */
export function matchIndustry(text: string, system?: ClassificationSystem): IndustryMatch {
  const named = matchByName(text);
  if (named.kind !== "unknown") return named;
  const code = matchCode(text, system);
  if (code.kind === "not_a_code") return matchCodeWithTitle(text, system);
  if (code.kind === "rejected") return { kind: "unknown", codeReason: code.reason };
  const candidates = code.industryIds.map(industryOf);
  const [industry] = candidates;
  if (industry === undefined || candidates.length > 1 || !code.isComplete) {
    return { kind: "ambiguous", candidates, on: code.isComplete ? "code" : "partial_code" };
  }
  return { kind: "found", industry, matchedOn: "code", codeSystem: code.system };
}

/** A code, as in `NACE C24.10`, and a title that begins with a letter, with or without a dash or colon between them. */
const CODE_WITH_TITLE = /^((?:(?:isic|nace|naics)\W*)?(?:[a-u][ .]?)?\d{2}[\d.]*)\s*[-–—:]?\s+(\p{L}.*)$/iu;

/** Returns the industry of a code that is followed by the name of an industry, if the code covers that industry. */
function matchCodeWithTitle(text: string, system: ClassificationSystem | undefined): IndustryMatch {
  const [, code, title] = CODE_WITH_TITLE.exec(text.trim()) ?? [];
  if (code === undefined || title === undefined) return UNKNOWN;
  const named = matchByName(title);
  if (named.kind !== "found") return UNKNOWN;
  // The title shows what a code without a system means.
  const systems = system === undefined ? [undefined, ...CODE_SYSTEMS] : [system];
  const isCovered = systems.some((candidate) => {
    const match = matchCode(code, candidate);
    return match.kind === "found" && match.industryIds.includes(named.industry.id);
  });
  return isCovered ? named : UNKNOWN;
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

const matchByName: (text: string) => IndustryMatch = rememberByText((text) => {
  const keys = keysOf(text);
  const { byName, bySingular } = industriesByKey();
  const keyed =
    [...keys, ...keys.map(withCommonWordForms)].map((key) => byName.get(key)).find((found) => found !== undefined) ??
    keys.map((key) => bySingular.get(singularKey(key))).find((found) => found !== undefined);
  const [industry, ...others] = keyed?.industries ?? [];
  if (keyed === undefined || industry === undefined) return UNKNOWN;
  return others.length === 0
    ? { kind: "found", industry, matchedOn: keyed.on }
    : { kind: "ambiguous", candidates: keyed.industries, on: "name" };
});

interface NameIndex {
  readonly byName: ReadonlyMap<string, KeyedIndustries>;
  /** By names with singular words, for texts that `byName` does not have. */
  readonly bySingular: ReadonlyMap<string, KeyedIndustries>;
}

let indexed: NameIndex | undefined;

/** Returns the index, which is built by the first lookup. */
function industriesByKey(): NameIndex {
  indexed ??= indexNames();
  return indexed;
}

/**
 * Indexes ids first, then names, aliases, spellings and titles of classes, and after these their forms with other
 * spellings of words. The first meaning of a key counts. Names that differ in plurals only have the industries of all.
 */
function indexNames(): NameIndex {
  const byName = new Map<string, KeyedIndustries>();
  const add = (key: string, keyed: KeyedIndustries): void => {
    if (key !== "" && !byName.has(key)) byName.set(key, keyed);
  };
  const withKeys = namedIndustries().map(([name, keyed]) => ({ keys: keysOf(name), keyed }));
  for (const { keys, keyed } of withKeys) for (const key of keys) add(key, keyed);
  for (const { keys, keyed } of withKeys) for (const key of keys) add(withCommonWordForms(key), keyed);
  const bySingular = new Map<string, KeyedIndustries>();
  for (const [key, { industries }] of byName) {
    const known = bySingular.get(singularKey(key))?.industries ?? [];
    bySingular.set(singularKey(key), { industries: [...new Set([...known, ...industries])], on: "alias" });
  }
  return { byName, bySingular };
}

function singularKey(key: string): string {
  return withSingularWords(withCommonWordForms(key));
}

function namedIndustries(): readonly (readonly [name: string, keyed: KeyedIndustries])[] {
  return [
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
}

/** Returns the folded text and, if it has "&", the folded text with "and" in its place. */
function keysOf(text: string): readonly string[] {
  const spelledOut = withAndForAmpersand(text);
  return spelledOut === undefined ? [foldName(text)] : [foldName(text), foldName(spelledOut)];
}
