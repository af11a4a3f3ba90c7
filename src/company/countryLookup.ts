import { indexCountries, withoutTitles } from "../reference/countries.ts";
import { COUNTRIES, type Country, UNSUPPORTED_COUNTRIES } from "./countryFigures.ts";
import { nameKey, NameSuggestions } from "./nameSuggestions.ts";

/** No country that can be computed. */
export interface UnknownCountry {
  readonly nearest: readonly string[];
  /** The text names a place for which there are no figures. */
  readonly isUnsupported: boolean;
}

const BY_KEY = indexCountries(COUNTRIES, withoutTitles);
const UNSUPPORTED_BY_KEY = indexCountries(UNSUPPORTED_COUNTRIES, withoutTitles);
const SUGGESTIONS = new NameSuggestions(COUNTRIES);

/**
 * The country that a text names: ISO 3166 alpha-3 or alpha-2, name or other name; upper and lower case, accents and
 * punctuation do not count, nor do a leading "the" and "republic of" where only one country is left.
 */
export function findCountry(text: string): Country | UnknownCountry {
  const key = nameKey(text);
  const country = lookUpCountry(key);
  return country ?? { nearest: SUGGESTIONS.nearest(text), isUnsupported: UNSUPPORTED_BY_KEY.has(key) };
}

/** Of a name with its titles, which may be more than the table gives the country, and then with one after the other gone. */
function lookUpCountry(key: string): Country | undefined {
  for (const form of [key, ...withoutTitles(key)]) {
    const country = BY_KEY.get(form);
    // China is nobody's "republic of China": where two countries have the words in a longer name, neither is meant.
    if (country !== undefined || countCountriesNamed(form) > 1) return country;
  }
  return undefined;
}

/** How many countries have these words in a name. */
function countCountriesNamed(key: string): number {
  const known = [...BY_KEY].filter(([name]) => ` ${name} `.includes(` ${key} `));
  return new Set(known.map(([, country]) => country)).size;
}
