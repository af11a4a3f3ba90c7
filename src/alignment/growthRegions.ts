import { indexCountries, LISTED_COUNTRIES, type NgfsRegion, withoutTitles } from "../reference/countries.ts";
import { foldName } from "../reference/names.ts";

const LISTED_COUNTRIES_BY_KEY = indexCountries(LISTED_COUNTRIES, withoutAllTitles);

/**
 * Returns the NGFS region of a country by ISO 3166 alpha-3 code, alpha-2 code or name. Case, accents and punctuation are
 * ignored, as is a leading "the" or "republic of" if the rest names exactly one country.
 *
 * @returns undefined for an unknown country
 */
export function ngfsRegionOf(text: string): NgfsRegion | undefined {
  const key = foldName(text);
  const country = LISTED_COUNTRIES_BY_KEY.get(key) ?? LISTED_COUNTRIES_BY_KEY.get(withoutAllTitles(key)[0] ?? key);
  return country?.region;
}

/** Removes all titles at once; docs/architecture.md lists where the lookup of the company method differs. */
function withoutAllTitles(key: string): readonly string[] {
  return withoutTitles(key).slice(-1);
}
