/** What the responses of the hazard and curve routes share: the release in a header field, and how units are counted. */
import type { Services } from "../route.ts";

/** Description of the response header field with the release. */
export const RELEASE_HEADER = { "X-Atlas-Release": "Release of the atlas from which the numbers come." };

/** Returns the response header field with the release. */
export function releaseHeader({ atlas }: Pick<Services, "atlas">): Readonly<Record<string, string>> {
  return { "X-Atlas-Release": atlas.release };
}

/** Results of analysis years, nested by hazard and scenario. */
interface NestedYears<Year> {
  readonly results: readonly { readonly scenarios: readonly { readonly analysis_years: readonly Year[] }[] }[];
}

/** Returns the number of analysis years of a result that have data; each is a usage unit. */
export function countYears<Year>({ results }: NestedYears<Year>, hasData: (year: Year) => boolean): number {
  let count = 0;
  for (const { scenarios } of results) {
    for (const { analysis_years } of scenarios) for (const year of analysis_years) if (hasData(year)) count++;
  }
  return count;
}
