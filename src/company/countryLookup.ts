import { indexCountries, withoutTitles } from "../reference/countries.ts";
import { COUNTRIES, type Country, UNSUPPORTED_COUNTRIES } from "./countryFigures.ts";
import { nameKey, NameSuggestions } from "./nameSuggestions.ts";

/** The result for a text that names no supported country. */
export interface UnknownCountry {
  readonly nearest: readonly string[];
  /** The text names a country without figures. */
  readonly isUnsupported: boolean;
}

const COUNTRIES_BY_KEY = indexCountries(COUNTRIES, withoutTitles);
const UNSUPPORTED_BY_KEY = indexCountries(UNSUPPORTED_COUNTRIES, withoutTitles);
const COUNTRY_SUGGESTIONS = new NameSuggestions(COUNTRIES);

/**
 * Finds a country by ISO 3166 alpha-3 code, alpha-2 code or name. Case, accents and punctuation are ignored, as are a
 * leading "the" and "republic of" if the rest names exactly one country.
 */
export function findCountry(text: string): Country | UnknownCountry {
  const key = nameKey(text);
  const country = lookUpCountry(key);
  return country ?? { nearest: COUNTRY_SUGGESTIONS.nearest(text), isUnsupported: UNSUPPORTED_BY_KEY.has(key) };
}

/** Looks up a name with its titles, then without them, removing one at a time. */
function lookUpCountry(key: string): Country | undefined {
  for (const form of [key, ...withoutTitles(key)]) {
    const country = COUNTRIES_BY_KEY.get(form);
    // "Republic of China" occurs in the longer names of two countries, so it is ambiguous and must not match China.
    if (country !== undefined || countCountriesNamed(form) > 1) return country;
  }
  return undefined;
}

/** Counts the countries with a name that contains these words. */
function countCountriesNamed(key: string): number {
  const known = [...COUNTRIES_BY_KEY].filter(([name]) => ` ${name} `.includes(` ${key} `));
  return new Set(known.map(([, country]) => country)).size;
}
