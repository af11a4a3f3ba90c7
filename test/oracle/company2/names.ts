/** Section 1: matching of countries and industries by code, name or alias. */
import { Refusal } from "./refusal.ts";
import type { Country, Industry, Tables } from "./tables.ts";

/** NFKD, accents dropped, lower case, runs of punctuation and spaces to one space, trimmed. */
export function keyOf(name: string): string {
  return name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[\p{P}\p{S}\p{Z}\s]+/gu, " ")
    .trim();
}

/** The key without a leading `the`, without a leading `republic of`, and without both. */
function shorterKeys(key: string): string[] {
  const withoutThe = key.replace(/^the /, "");
  const withoutRepublic = withoutThe.replace(/^republic of /, "");
  const withoutSecondThe = withoutRepublic.replace(/^the /, "");
  return [...new Set([withoutThe, withoutRepublic, withoutSecondThe])].filter((shorter) => shorter !== key);
}

/** All keys of the countries; a key that two countries share is an error of the tables. */
export function countryKeys(tables: Tables): Map<string, string> {
  const keys = new Map<string, string>();
  const add = (name: string, iso3: string): void => {
    const key = keyOf(name);
    if (key === "") return;
    const owner = keys.get(key);
    if (owner !== undefined && owner !== iso3) throw new Error(`${owner} and ${iso3} share the key "${key}"`);
    keys.set(key, iso3);
  };
  for (const country of tables.countries) {
    for (const name of [country.iso3, country.iso2, country.name, ...country.aliases]) add(name, country.iso3);
  }
  for (const { iso3, name } of tables.countryNames) add(name, iso3);
  for (const [key, iso3] of uniqueShorterKeys(keys)) keys.set(key, iso3);
  return keys;
}

/** Shortened keys that belong to one country only and are not a full key. */
function uniqueShorterKeys(keys: ReadonlyMap<string, string>): Map<string, string> {
  const owners = new Map<string, Set<string>>();
  for (const [key, iso3] of keys) {
    for (const shorter of shorterKeys(key)) owners.set(shorter, (owners.get(shorter) ?? new Set()).add(iso3));
  }
  const unique = [...owners].filter(([key, found]) => found.size === 1 && !keys.has(key));
  return new Map(unique.map(([key, found]) => [key, [...found][0] as string]));
}

const keysByTables = new WeakMap<Tables, Map<string, string>>();

/** Finds a country; refuses an unknown one with the five nearest names, and one of tier C. */
export function findCountry(tables: Tables, sent: string): Country {
  const keys = keysByTables.get(tables) ?? countryKeys(tables);
  keysByTables.set(tables, keys);
  const key = keyOf(sent);
  const found = [key, ...shorterKeys(key)].map((candidate) => keys.get(candidate)).find((iso3) => iso3 !== undefined);
  const country = tables.countries.find(({ iso3 }) => iso3 === found);
  if (country === undefined) {
    const names = tables.countries.filter(({ tier }) => tier !== "C").map(({ name }) => ({ name, spellings: [name] }));
    throw new Refusal("country_unknown", 422, `country "${sent}" is unknown`, nearest(key, names));
  }
  if (country.tier === "C") throw new Refusal("country_unknown", 422, `no data for ${country.name}`);
  return country;
}

export interface IndustryMatch {
  readonly industry: Industry;
  readonly matchedOn: "id" | "name" | "alias";
}

/** Finds an industry by its id, its name or its alias, in this order; refuses an unknown one with suggestions. */
export function findIndustry(tables: Tables, sent: string): IndustryMatch {
  const key = keyOf(sent);
  for (const matchedOn of ["id", "name", "alias"] as const) {
    const industry = tables.industries.find((candidate) => key !== "" && keyOf(candidate[matchedOn]) === key);
    if (industry !== undefined) return { industry, matchedOn };
  }
  const names = tables.industries.map(({ id, name, alias }) => ({ name, spellings: [id, name, alias] }));
  throw new Refusal("industry_unknown", 422, `industry "${sent}" is unknown`, nearest(key, names));
}

interface Candidate {
  readonly name: string;
  readonly spellings: readonly string[];
}

/** The five names with the smallest edit distance between the key and any of their spellings. */
function nearest(key: string, candidates: readonly Candidate[]): string[] {
  return candidates
    .map(({ name, spellings }) => ({
      name,
      distance: Math.min(...spellings.map((spelling) => editDistance(key, keyOf(spelling)))),
    }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 5)
    .map(({ name }) => name);
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[b.length] as number;
}
