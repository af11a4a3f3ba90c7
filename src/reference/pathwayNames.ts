/** Pathways of industries and sectors by name (docs/methods/alignment.md, "Pathway from industry and sector names"). */
import { PATHWAYS } from "../contract/names.ts";
import type { Pathway } from "../contract/wireTypes.ts";
import { rememberByText } from "./boundedCache.ts";
import type { ClassificationSystem } from "./industryCodes.ts";
import { PATHWAY_KEY_ROWS } from "./data/pathwayKeys.generated.ts";
import { LISTED_INDUSTRIES, type ListedIndustry, UNCLASSIFIED_INDUSTRY_ID } from "./industries.ts";
import { matchIndustry } from "./industryNames.ts";
import { foldAsciiName, type NameCandidate, nameCandidate, nearestName, withAndForAmpersand } from "./names.ts";

/** What decided the pathway. */
interface MatchedName {
  readonly on: "industry" | "sector";
  /** Row of the table of keys, from 1; null if the text names an industry of the list that has no key. */
  readonly row: number | null;
  /** The key, with its stars, or the name of the industry. */
  readonly key: string;
}

export interface PathwayMatch {
  readonly pathway: Pathway;
  /** Undefined if neither text matched. */
  readonly matched: MatchedName | undefined;
  readonly flags: readonly ("unknown_industry" | "industry_from_sector")[];
}

export interface IndustryTexts {
  readonly industry?: string | undefined;
  readonly sector?: string | undefined;
  /** System of a code given as text. */
  readonly codeSystem?: ClassificationSystem | undefined;
}

type RowMatch = Omit<MatchedName, "on"> & { readonly pathway: Pathway };

/**
 * Returns the pathway of an entity by its industry text or, if no row of the table matches that, by its sector text.
 * Only if the table matches neither, names and codes of the list of industries are looked up, so that the list never
 * changes what the table decides.
 */
export function matchPathway({ industry, sector, codeSystem }: IndustryTexts): PathwayMatch {
  const steps = [
    { on: "industry", text: industry, find: findRow },
    { on: "sector", text: sector, find: findRow },
    { on: "industry", text: industry, find: (text: string) => findListed(text, codeSystem) },
    { on: "sector", text: sector, find: (text: string) => findListed(text, codeSystem) },
  ] as const;
  for (const { on, text, find } of steps) {
    const found = text === undefined ? undefined : find(text);
    if (found === undefined) continue;
    const { pathway, row, key } = found;
    const isFromSector = on === "sector" && industry !== undefined;
    return { pathway, matched: { on, row, key }, flags: isFromSector ? ["industry_from_sector"] : [] };
  }
  return { pathway: "economy", matched: undefined, flags: ["unknown_industry"] };
}

/** Returns whether a text alone has a pathway. */
export function hasPathway(text: string, codeSystem?: ClassificationSystem): boolean {
  return (findRow(text) ?? findListed(text, codeSystem)) !== undefined;
}

interface Key {
  readonly text: string;
  readonly words: readonly { readonly text: string; readonly isPrefix: boolean }[];
}

const ROWS = PATHWAY_KEY_ROWS.map(({ row, pathway, keys }) => ({
  row,
  pathway: readPathway(pathway),
  keys: keys.map(parseKey),
}));

function readPathway(text: string): Pathway {
  const pathway = PATHWAYS.find((known) => known === text);
  if (pathway === undefined) throw new Error(`The pathway is "${text}"; expected ${PATHWAYS.join(", ")}.`);
  return pathway;
}

function parseKey(text: string): Key {
  const words = text.split(" ").map((word) => ({ text: word.replace("*", ""), isPrefix: word.endsWith("*") }));
  return { text, words };
}

const findRow: (text: string) => RowMatch | undefined = rememberByText((text) => {
  const found = searchRow(text);
  const spelledOut = found === undefined ? withAndForAmpersand(text) : undefined;
  return spelledOut === undefined ? found : searchRow(spelledOut);
});

function searchRow(text: string): RowMatch | undefined {
  const words = foldAsciiName(text).split(" ");
  for (const { pathway, row, keys } of ROWS) {
    const key = keys.find((candidate) => words.some((_, start) => matchesAt(words, start, candidate)));
    if (key !== undefined) return { pathway, row, key: key.text };
  }
  return undefined;
}

function matchesAt(words: readonly string[], start: number, key: Key): boolean {
  return key.words.every(({ text, isPrefix }, i) => {
    const word = words[start + i];
    return word !== undefined && (isPrefix ? word.startsWith(text) : word === text);
  });
}

function findListed(text: string, codeSystem: ClassificationSystem | undefined): RowMatch | undefined {
  const match = matchIndustry(text, codeSystem);
  // A company of no known industry must not count as one of a known industry.
  if (match.kind !== "found" || match.industry.id === UNCLASSIFIED_INDUSTRY_ID) return undefined;
  return { pathway: pathwayOfIndustry(match.industry), row: null, key: match.industry.name };
}

/** Returns the pathway of an industry of the list by its own name. */
export function pathwayOfIndustry({ name }: Pick<ListedIndustry, "name">): Pathway {
  return findRow(name)?.pathway ?? "economy";
}

let candidates: readonly NameCandidate[] | undefined;

/** Returns the known name of an industry or sector nearest to a text, for `did_you_mean`, if one is near enough. */
export const suggestIndustryName: (text: string) => string | undefined = rememberByText((text) => {
  candidates ??= [
    ...LISTED_INDUSTRIES.flatMap(({ names }) => names),
    ...PATHWAY_KEY_ROWS.flatMap(({ keys }) => keys.map((key) => key.replaceAll("*", ""))),
  ].map((name) => nameCandidate(name, foldAsciiName(name)));
  return nearestName(foldAsciiName(text), candidates);
});
