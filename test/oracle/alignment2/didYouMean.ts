/** `did_you_mean`: the known name nearest to a text that matched nothing. */
import { foldCountry, foldIndustry } from "./names.ts";
import type { Reference } from "./reference.ts";

const LENGTH_MIN = 4;

interface Candidate {
  readonly name: string;
  /** Characters of the folded name. */
  readonly characters: readonly string[];
}

interface Candidates {
  readonly countries: readonly Candidate[];
  readonly industries: readonly Candidate[];
}

const candidatesOfReference = new WeakMap<Reference, Candidates>();

/**
 * Nearest country name; of several at the same distance the first, in the order of countries.csv and then
 * country-names.csv.
 */
export function suggestCountry(reference: Reference, text: string): string | null {
  return nearestOf(foldCountry(text), candidatesOf(reference).countries);
}

/** Nearest name of an industry or sector: the industry table, then the keys of the pathways without stars. */
export function suggestIndustry(reference: Reference, text: string): string | null {
  return nearestOf(foldIndustry(text), candidatesOf(reference).industries);
}

const nearestByText = new WeakMap<readonly Candidate[], Map<string, string | null>>();

/** Does the same as `nearest`, once for each text, because random entities repeat a few unknown names. */
function nearestOf(folded: string, candidates: readonly Candidate[]): string | null {
  const known = nearestByText.get(candidates) ?? new Map<string, string | null>();
  nearestByText.set(candidates, known);
  const name = known.has(folded) ? (known.get(folded) ?? null) : nearest(folded, candidates);
  known.set(folded, name);
  return name;
}

/** Returns the candidates in order; folded once, because thousands of names are compared with each text. */
function candidatesOf(reference: Reference): Candidates {
  const known = candidatesOfReference.get(reference);
  if (known !== undefined) return known;
  const ofCountries = reference.countries.flatMap(({ name, iso3, iso2, officialName, aliases }) => [
    name,
    iso3,
    iso2,
    officialName,
    ...aliases,
  ]);
  const furtherNames = reference.countryNames.map(({ name }) => name);
  const ofIndustries = reference.industries.flatMap(({ name, alias }) => [name, alias]);
  const keys = reference.industryKeys.flatMap((row) => row.keys.map((key) => key.replaceAll("*", "")));
  const candidates = {
    countries: [...ofCountries, ...furtherNames].map((name) => ({ name, characters: Array.from(foldCountry(name)) })),
    industries: [...ofIndustries, ...keys].map((name) => ({ name, characters: Array.from(foldIndustry(name)) })),
  };
  candidatesOfReference.set(reference, candidates);
  return candidates;
}

/** Returns the first candidate at the smallest distance, of at most max(1, floor(length / 5)). */
function nearest(folded: string, candidates: readonly Candidate[]): string | null {
  const text = Array.from(folded);
  if (text.length < LENGTH_MIN) return null;
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(text.length / 5)) + 1;
  for (const { name, characters } of candidates) {
    if (characters.length < LENGTH_MIN) continue;
    // The distance is at least the difference of the lengths.
    if (Math.abs(characters.length - text.length) >= bestDistance) continue;
    const distance = optimalStringAlignment(text, characters);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Optimal string alignment distance: insertions, deletions, substitutions and transpositions of adjacent characters. */
export function optimalStringAlignment(a: readonly string[], b: readonly string[]): number {
  const distance = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => distance[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isTransposition = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const transposition = isTransposition ? at(i - 2, j - 2) + 1 : Infinity;
      (distance[i] ?? [])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, substitution, transposition);
    }
  }
  return at(a.length, b.length);
}
