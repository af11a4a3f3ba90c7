/**
 * Names of countries, from three tables:
 * - countries.csv: ISO 3166 codes, English and official names.
 * - countryNames.csv: names in 24 languages (npm package i18n-iso-countries 7.14.0), common English and French forms.
 * - countryNativeNames.csv: names in other languages that the country itself uses (the same package, Unicode CLDR), the
 *   short names of ISO 3166 with their article, and common forms that the other tables lack.
 */
import { COUNTRY_ROWS, type CountryRow } from "./data/countries.generated.ts";
import {
  foldName,
  type NameCandidate,
  nameCandidate,
  type Named,
  nearestName,
  nearestNames,
  withAndForAmpersand,
} from "./names.ts";
import { COUNTRY_NAME_ROWS } from "./data/countryNames.generated.ts";
import { COUNTRY_NATIVE_NAME_ROWS } from "./data/countryNativeNames.generated.ts";
import { rememberByText } from "./boundedCache.ts";

const NGFS_REGIONS = ["R5OECD", "R5ASIA", "R5LAM", "R5MAF", "R5REF"] as const;
/** The five regions of the NGFS scenarios that a country can belong to. */
export type NgfsRegion = (typeof NGFS_REGIONS)[number];

/** A country and its names, shared by all methods. `names` includes its codes. */
export interface ListedCountry extends Named {
  readonly iso3: string;
  readonly iso2: string;
  readonly region: NgfsRegion;
}

/**
 * All countries with an ISO 3166-1 code, in the order of data/countries.csv.
 *
 * Codes and regions: ISO 3166-1; the R5 regions of the IAMC as used by the NGFS scenarios (Phase V). Names: Unicode CLDR,
 * UN M49, and the spellings of EDGAR 2024, the World Bank and Our World in Data.
 */
export const LISTED_COUNTRIES: readonly ListedCountry[] = COUNTRY_ROWS.map(readCountry);

function readCountry({ iso3, iso2, name, official_name, aliases, ngfs_r5 }: CountryRow): ListedCountry {
  const region = NGFS_REGIONS.find((known) => known === ngfs_r5);
  if (region === undefined) {
    throw new Error(`The NGFS region of ${iso3} is "${ngfs_r5}"; expected ${NGFS_REGIONS.join(", ")}.`);
  }
  const names = [name, iso3, iso2, official_name, ...aliases].filter((known) => known !== "");
  return { name, names, iso3, iso2, region };
}

type CountryMatch =
  | { readonly kind: "found"; readonly country: ListedCountry }
  /** The text is a name of several countries. */
  | { readonly kind: "ambiguous"; readonly candidates: readonly ListedCountry[] }
  | { readonly kind: "unknown" };

const UNKNOWN: CountryMatch = { kind: "unknown" };

/** Titles that may be missing from a name or added to it. */
const TITLES = ["the republic of ", "republic of ", "the "];

/**
 * Names that are ambiguous even though the name without its title belongs to one country: "Republic of China" is
 * Taiwan's own name, and without its title it would be China's.
 */
const AMBIGUOUS_NAMES: ReadonlyMap<string, readonly string[]> = new Map([["republic of china", ["CHN", "TWN"]]]);

const COUNTRIES_BY_ISO3 = new Map(LISTED_COUNTRIES.map((country) => [country.iso3, country]));

/**
 * Returns the country that a text names. Case, accents and punctuation are ignored, "&" equals "and", and a leading
 * "the" or "republic of" may be missing or extra.
 */
export const matchCountry: (text: string) => CountryMatch = rememberByText((text) => {
  const found = lookUp(text);
  const spelledOut = found.kind === "unknown" ? withAndForAmpersand(text) : undefined;
  return spelledOut === undefined ? found : lookUp(spelledOut);
});

function lookUp(text: string): CountryMatch {
  const key = foldName(text);
  const [country, ...others] = ambiguousCountries(key) ?? countriesByKey().get(withoutLeadingTitles(key)) ?? [];
  if (country === undefined || (isAccented(text) && isCodeOf(country, key))) return UNKNOWN;
  return others.length === 0 ? { kind: "found", country } : { kind: "ambiguous", candidates: [country, ...others] };
}

/** Returns whether folding the text drops accents. */
function isAccented(text: string): boolean {
  return /\p{M}/u.test(text.normalize("NFKD"));
}

/** A code has no accents: "Mỹ" is Vietnamese for the United States, but without its accent it is the code of Malaysia. */
function isCodeOf({ iso2, iso3 }: ListedCountry, key: string): boolean {
  return key === foldName(iso2) || key === foldName(iso3);
}

function ambiguousCountries(key: string): readonly ListedCountry[] | undefined {
  return AMBIGUOUS_NAMES.get(key.replace(/^(the )+/, ""))?.map(countryOf);
}

function countryOf(iso3: string): ListedCountry {
  const country = COUNTRIES_BY_ISO3.get(iso3);
  if (country === undefined) throw new Error(`The tables of country names mention ${iso3}, which is not listed.`);
  return country;
}

function withoutLeadingTitles(key: string): string {
  let rest = key;
  for (;;) {
    const title = TITLES.find((candidate) => rest.startsWith(candidate));
    if (title === undefined) return rest;
    rest = rest.slice(title.length);
  }
}

let indexed: ReadonlyMap<string, readonly ListedCountry[]> | undefined;

/** Returns the index, which is built by the first lookup. */
function countriesByKey(): ReadonlyMap<string, readonly ListedCountry[]> {
  indexed ??= indexNames();
  return indexed;
}

/** Indexes all names without their titles. A key of one table takes precedence over the same key of a later table. */
function indexNames(): ReadonlyMap<string, readonly ListedCountry[]> {
  const index = indexOf(LISTED_COUNTRIES.map((country) => [country, country.names]));
  for (const table of [COUNTRY_NAME_ROWS, COUNTRY_NATIVE_NAME_ROWS]) {
    const inTable = indexOf(table.map(({ iso3, names }) => [countryOf(iso3), names]));
    for (const [key, countries] of inTable) if (!index.has(key)) index.set(key, countries);
  }
  return index;
}

function indexOf(
  named: readonly (readonly [ListedCountry, readonly string[]])[],
): Map<string, readonly ListedCountry[]> {
  const index = new Map<string, readonly ListedCountry[]>();
  for (const [country, names] of named) {
    for (const key of names.map((name) => withoutLeadingTitles(foldName(name)))) {
      const known = index.get(key) ?? [];
      if (key !== "" && !known.includes(country)) index.set(key, [...known, country]);
    }
  }
  return index;
}

let allCandidates: readonly NameCandidate[] | undefined;

/** Returns the nearest known name for `did_you_mean`, if one is near enough. */
export const suggestCountryName: (text: string) => string | undefined = rememberByText((text) => {
  allCandidates ??= [
    ...LISTED_COUNTRIES.flatMap(({ names }) => names),
    ...COUNTRY_NAME_ROWS.flatMap(({ names }) => names),
  ].map((name) => nameCandidate(name, foldName(name)));
  return nearestName(foldName(text), allCandidates);
});

interface NearestCountryOptions {
  /** Countries that may be suggested; all by default. */
  readonly countries?: readonly NamedCountry[];
  readonly count?: number;
}

type NamedCountry = Pick<ListedCountry, "name" | "names">;

const candidatesByList = new WeakMap<readonly NamedCountry[], readonly NameCandidate[]>();

/** Returns the English names of the countries with the nearest English name or code, nearest first. */
export function nearestCountryNames(
  text: string,
  { countries = LISTED_COUNTRIES, count = 5 }: NearestCountryOptions = {},
): readonly string[] {
  const candidates = candidatesByList.get(countries) ?? candidatesOf(countries);
  candidatesByList.set(countries, candidates);
  return nearestNames(foldName(text), candidates, count);
}

function candidatesOf(countries: readonly NamedCountry[]): readonly NameCandidate[] {
  return countries.flatMap(({ name, names }) => names.map((spelling) => nameCandidate(name, foldName(spelling))));
}
