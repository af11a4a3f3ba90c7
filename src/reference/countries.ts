import { COUNTRY_ROWS, type CountryRow } from "./data/countries.generated.ts";
import { foldName, type Named } from "./names.ts";

const NGFS_REGIONS = ["R5OECD", "R5ASIA", "R5LAM", "R5MAF", "R5REF"] as const;
/** The five regions of the NGFS scenarios that a country can belong to. */
export type NgfsRegion = (typeof NGFS_REGIONS)[number];

/** A country as listed for all methods. `names` includes its codes. */
export interface ListedCountry extends Named {
  readonly iso3: string;
  readonly iso2: string;
  readonly region: NgfsRegion;
  /** The names, folded. */
  readonly keys: readonly string[];
}

/**
 * All countries with an ISO code, ordered by English name.
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
  return { name, names, iso3, iso2, region, keys: names.map(foldName) };
}

/** Titles that may precede the name of a country, in the order in which they occur. */
const TITLES = ["the ", "republic of ", "the "];

/** Returns the forms of a key after removing its titles one by one; an empty list if it has none. */
export function withoutTitles(key: string): readonly string[] {
  const forms: string[] = [];
  let rest = key;
  for (const title of TITLES) {
    if (!rest.startsWith(title)) continue;
    rest = rest.slice(title.length);
    forms.push(rest);
  }
  return forms;
}

/**
 * Indexes countries by their keys, and by the shortened keys that belong to exactly one country and are not a key of
 * another.
 */
export function indexCountries<Item extends ListedCountry>(
  countries: readonly Item[],
  shorten: (key: string) => readonly string[],
): ReadonlyMap<string, Item> {
  const index = new Map(countries.flatMap((country) => country.keys.map((key) => [key, country] as const)));
  const shortened = new Map<string, Set<Item>>();
  for (const [key, country] of index) {
    for (const short of shorten(key)) shortened.set(short, (shortened.get(short) ?? new Set()).add(country));
  }
  for (const [short, [country, ...others]] of shortened) {
    if (country !== undefined && others.length === 0 && !index.has(short)) index.set(short, country);
  }
  return index;
}
