/** Names of industries, sectors and countries. */
import type { GrowthSeries } from "./growth.ts";
import type { Industry, Pathway, Reference } from "./reference.ts";

/** Systems that the API lists. */
const CLASSIFICATION_SYSTEMS = new Set(["gics", "nace", "naics", "isic", "sics", "trbc", "icb", "factset", "custom"]);
const COUNTRY_PREFIXES = ["the republic of ", "republic of ", "the "];

export interface IndustryMatch {
  readonly on: "industry" | "sector" | "none";
  readonly pathway: Pathway;
  readonly row: number | null;
  readonly key: string | null;
}

/** Folds an industry or sector text: NFKD, accents dropped, lower case, other characters than a-z and 0-9 to a space. */
export function foldIndustry(text: string): string {
  return withoutAccents(text)
    .replaceAll(/[^a-z0-9]+/g, " ")
    .trim();
}

/** Folds a country text in the same way, keeping letters and digits of every script. */
export function foldCountry(text: string): string {
  return withoutAccents(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function withoutAccents(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** True where the words of the key follow one another in the folded text; `*` ends a word in any way. */
export function matchesKey(folded: string, key: string): boolean {
  const words = folded.split(" ");
  const patterns = key.split(" ");
  return words.some((_, start) =>
    patterns.every((pattern, offset) => {
      const word = words[start + offset];
      if (word === undefined) return false;
      return pattern.endsWith("*") ? word.startsWith(pattern.slice(0, -1)) : word === pattern;
    }),
  );
}

/** Returns the first row of the table with a matching key, and that key. */
export function matchIndustryText(
  reference: Reference,
  text: string | null,
): { readonly row: number; readonly pathway: Pathway; readonly key: string } | null {
  if (text === null) return null;
  const folded = foldIndustry(text);
  for (const { row, pathway, keys } of reference.industryKeys) {
    const key = keys.find((candidate) => matchesKey(folded, candidate));
    if (key !== undefined) return { row, pathway, key };
  }
  return null;
}

/** Pathway by the industry text, else by the sector text, else `economy`. */
export function matchIndustry(reference: Reference, industry: string | null, sector: string | null): IndustryMatch {
  const byIndustry = matchIndustryText(reference, industry);
  if (byIndustry !== null) return { on: "industry", ...byIndustry };
  const bySector = matchIndustryText(reference, sector);
  if (bySector !== null) return { on: "sector", ...bySector };
  return { on: "none", pathway: "economy", row: null, key: null };
}

/** Returns the row of the industry table whose name or alias equals the text after folding. */
export function findIndustryRow(reference: Reference, text: string | null): Industry | null {
  if (text === null || foldIndustry(text) === "") return null;
  const folded = foldIndustry(text);
  return (
    reference.industries.find(({ name, alias }) => foldIndustry(name) === folded || foldIndustry(alias) === folded) ??
    null
  );
}

/** Returns the ISO alpha-3 code of a country text, or null. */
export function findCountry(reference: Reference, text: string): string | null {
  return countryKeysOf(reference).get(countryKey(text)) ?? null;
}

const keysOfReference = new WeakMap<Reference, ReadonlyMap<string, string>>();

/** Code by key: all keys of the country table first, then those of the further names; the first country keeps a key. */
function countryKeysOf(reference: Reference): ReadonlyMap<string, string> {
  const known = keysOfReference.get(reference);
  if (known !== undefined) return known;
  const keys = new Map<string, string>();
  const add = (name: string, iso3: string): void => {
    const key = countryKey(name);
    if (key !== "" && !keys.has(key)) keys.set(key, iso3);
  };
  for (const { iso3, iso2, name, officialName, aliases } of reference.countries) {
    for (const key of [name, iso3, iso2, officialName, ...aliases]) add(key, iso3);
  }
  for (const { iso3, name } of reference.countryNames) add(name, iso3);
  keysOfReference.set(reference, keys);
  return keys;
}

/** Folded name without a leading "the", "republic of" or "the republic of", which may be missing or extra. */
function countryKey(name: string): string {
  let key = foldCountry(name);
  for (;;) {
    const prefix = COUNTRY_PREFIXES.find((candidate) => key.startsWith(candidate));
    if (prefix === undefined) return key;
    key = key.slice(prefix.length);
  }
}

/** Returns the growth series of a country: its own, else that of its region. */
export function growthSeriesOf(reference: Reference, iso3: string): GrowthSeries | null {
  if (reference.growth.has(iso3)) return { id: iso3, source: "country" };
  const region = reference.countries.find((country) => country.iso3 === iso3)?.region;
  return region !== undefined && reference.growth.has(region) ? { id: region, source: "region" } : null;
}

/** True for the listed classification systems, ignoring case. */
export function isKnownClassification(system: string): boolean {
  return CLASSIFICATION_SYSTEMS.has(system.trim().toLowerCase());
}
