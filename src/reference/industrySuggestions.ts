/** Explains why a text names no single industry, and suggests names that do. */
import { rememberByText } from "./boundedCache.ts";
import { ACCEPTED_CODES } from "./industryCodes.ts";
import { INDUSTRY_CLASS_ROWS } from "./data/industryClasses.generated.ts";
import { INDUSTRY_SPELLING_ROWS } from "./data/industrySpellings.generated.ts";
import { LISTED_INDUSTRIES, UNCLASSIFIED_INDUSTRY_ID } from "./industries.ts";
import { type IndustryMatch, matchIndustry } from "./industryNames.ts";
import {
  foldName,
  type NameCandidate,
  nameCandidate,
  nearestName,
  nearestNames,
  withCommonWordForms,
  withSingularWords,
} from "./names.ts";
import { suggestIndustryName } from "./pathwayNames.ts";

/** Why a text is refused, for an error message, and what may be meant. */
export interface IndustryRefusal {
  /** Completes a sentence that begins with the text; no full stop at the end. */
  readonly problem: string;
  /** A name that is accepted and differs from the text in a few characters only. */
  readonly didYouMean?: string;
  /** Names of the industries that the text matches or, if it matches none, of up to five similar ones. */
  readonly nearest: readonly string[];
}

const ACCEPTED_INDUSTRIES = `accepted are ids and names of industries (GET /api/v1/reference/industries) and ${ACCEPTED_CODES}, such as ISIC 2410`;

/** Describes why the text of a match names no single industry. */
export function refuseIndustry(text: string, match: Exclude<IndustryMatch, { kind: "found" }>): IndustryRefusal {
  if (match.kind === "ambiguous") return refuseAmbiguous(match);
  if (match.codeReason !== undefined) return { problem: `${match.codeReason}; ${ACCEPTED_INDUSTRIES}`, nearest: [] };
  if (text.trim() === "") return { problem: `is empty; ${ACCEPTED_INDUSTRIES}`, nearest: [] };
  const didYouMean = suggestAcceptedName(text);
  const nearest = nearestIndustryNames(text);
  const suggestion = didYouMean === undefined ? "" : ` (did you mean ${didYouMean}?)`;
  const list = nearest.length === 0 ? "" : `; the nearest are ${nearest.join("; ")}`;
  return {
    problem: `is not a known industry${suggestion}${list}; ${ACCEPTED_INDUSTRIES}`,
    ...(didYouMean === undefined ? {} : { didYouMean }),
    nearest,
  };
}

function refuseAmbiguous({ candidates, on }: Extract<IndustryMatch, { kind: "ambiguous" }>): IndustryRefusal {
  const nearest = candidates.map(({ name }) => name);
  const names = nearest.join("; ");
  const problems: Readonly<Record<typeof on, string>> = {
    name: `matches several industries: ${names}; send one of these names`,
    code: `is a code of several industries: ${names}; send one of these names or a code with more digits`,
    partial_code: `is a code that covers ${names}, but also classes that have no industry in the list; send a name or a code with more digits`,
  };
  return { problem: problems[on], nearest };
}

let acceptedNames: readonly NameCandidate[] | undefined;

/**
 * Returns the suggestion of alignment if the company method accepts that name, else the nearest spelling that names one
 * industry, by the same distance.
 */
const suggestAcceptedName: (text: string) => string | undefined = rememberByText((text) => {
  const suggested = suggestIndustryName(text);
  if (suggested !== undefined && matchIndustry(suggested).kind === "found") return suggested;
  acceptedNames ??= allSpellings()
    .filter(({ industryIds }) => industryIds.length === 1)
    .map(({ spelling }) => nameCandidate(spelling, comparedForm(spelling)));
  return nearestName(comparedForm(text), acceptedNames);
});

interface Spelling {
  readonly spelling: string;
  readonly industryIds: readonly string[];
}

function allSpellings(): readonly Spelling[] {
  return [...usualSpellings(), ...INDUSTRY_CLASS_ROWS.map(({ title, industries }) => spellingOf(title, industries))];
}

/** Returns the names in the list of industries and the usual spellings. */
function usualSpellings(): readonly Spelling[] {
  return [
    ...LISTED_INDUSTRIES.flatMap(({ id, names }) => names.map((name) => spellingOf(name, [id]))),
    ...INDUSTRY_SPELLING_ROWS.map(({ spelling, industries }) => spellingOf(spelling, industries)),
  ];
}

function spellingOf(spelling: string, industryIds: readonly string[]): Spelling {
  return { spelling, industryIds };
}

function comparedForm(text: string): string {
  return withCommonWordForms(foldName(text));
}

const SUGGESTION_COUNT = 5;

/**
 * Returns the names of up to five industries with a spelling that differs from the text in a few characters, then of
 * those with a spelling that shares words with it. The unclassified industry is never among them.
 */
export const nearestIndustryNames: (text: string) => readonly string[] = rememberByText((text) => {
  const key = comparedForm(text);
  const distanceMax = Math.min(Math.floor(key.length / SHARE_OF_EDITS), DISTANCE_MAX);
  const byDistance = nearestNames(key, candidatesByDistance(), SUGGESTION_COUNT, distanceMax);
  return [...new Set([...byDistance, ...namesByWords(key)])].slice(0, SUGGESTION_COUNT);
});

/** At most one in four characters may differ, and never more than four. */
const SHARE_OF_EDITS = 4;
const DISTANCE_MAX = 4;
let distanceCandidates: readonly NameCandidate[] | undefined;

function candidatesByDistance(): readonly NameCandidate[] {
  distanceCandidates ??= allSpellings().flatMap(({ spelling, industryIds }) =>
    industryIds.flatMap((id) => classifiedNames(id).map((name) => nameCandidate(name, comparedForm(spelling)))),
  );
  return distanceCandidates;
}

const NAMES_BY_ID = new Map(LISTED_INDUSTRIES.map(({ id, name }) => [id, name]));

/** Returns the name of an industry, or nothing for the unclassified one. */
function classifiedNames(id: string): readonly string[] {
  const name = NAMES_BY_ID.get(id);
  return name === undefined || id === UNCLASSIFIED_INDUSTRY_ID ? [] : [name];
}

/** Words that occur in the names of unrelated industries, in the singular. */
const COMMON_WORDS = new Set(
  (
    "and the for with not except other all any general company corporation group limited holding business industry " +
    "sector activity service product production producer manufacture manufacturing manufacturer maker operation operator " +
    "provider supply system equipment good related specialty specialized diversified miscellaneous various integrated " +
    "major international national global world european american"
  ).split(" "),
);
/** Longer spellings are lists of products, which share words with many texts. */
const WORD_COUNT_MAX = 5;
const WORD_LENGTH_MIN = 3;

let industriesByWord: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** Returns industries by the words that they share with the text; a word of fewer industries counts more. */
function namesByWords(key: string): readonly string[] {
  industriesByWord ??= indexWords();
  const scores = new Map<string, number>();
  for (const word of new Set(wordsOf(key))) {
    const names = industriesByWord.get(word) ?? new Set();
    for (const name of names) scores.set(name, (scores.get(name) ?? 0) + 1 / names.size);
  }
  return [...scores].toSorted(([, one], [, other]) => other - one).map(([name]) => name);
}

function indexWords(): ReadonlyMap<string, ReadonlySet<string>> {
  const index = new Map<string, Set<string>>();
  for (const { spelling, industryIds } of usualSpellings()) {
    const key = comparedForm(spelling);
    if (key.split(" ").length > WORD_COUNT_MAX) continue;
    for (const word of wordsOf(key)) {
      const names = index.get(word) ?? new Set();
      index.set(word, names);
      for (const name of industryIds.flatMap(classifiedNames)) names.add(name);
    }
  }
  return index;
}

/** Returns the words of a folded text that distinguish industries, in the singular. */
function wordsOf(key: string): readonly string[] {
  return withSingularWords(key)
    .split(" ")
    .filter((word) => word.length >= WORD_LENGTH_MIN && !COMMON_WORDS.has(word));
}
