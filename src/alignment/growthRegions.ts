import { indexCountries, LISTED_COUNTRIES, type NgfsRegion, withoutTitles } from "../reference/countries.ts";
import { foldName } from "../reference/names.ts";

const BY_KEY = indexCountries(LISTED_COUNTRIES, withoutAllTitles);

/**
 * The region of a country by its ISO alpha-3 or alpha-2 code or one of its names; upper and lower case, accents and
 * punctuation do not count, nor does a leading "the" or "republic of" where the rest names one country only.
 *
 * @returns undefined when no country is called so
 */
export function ngfsRegionOf(text: string): NgfsRegion | undefined {
  const key = foldName(text);
  const country = BY_KEY.get(key) ?? BY_KEY.get(withoutAllTitles(key)[0] ?? key);
  return country?.region;
}

/** What is left when all titles go at once; docs/architecture.md tells where the company method reads otherwise. */
function withoutAllTitles(key: string): readonly string[] {
  return withoutTitles(key).slice(-1);
}
