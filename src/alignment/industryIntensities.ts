import { LISTED_INDUSTRIES } from "../reference/industries.ts";
import { foldAsciiName } from "../reference/names.ts";

/** Emissions of an industry per unit of revenue, t CO2e per million USD of 2022. */
export interface IndustryIntensity {
  readonly scope1TCO2ePerMUSD: number;
  readonly scope2TCO2ePerMUSD: number;
  /** Upstream and downstream. */
  readonly scope3TCO2ePerMUSD: number;
}

/** By folded name and alias; of several equal ones the first counts. */
const INTENSITIES = new Map<string, IndustryIntensity>();
for (const { names, intensity } of LISTED_INDUSTRIES) {
  const { scope1, scope2, scope3Upstream, scope3Downstream } = intensity;
  for (const key of names.map(foldAsciiName)) {
    if (key === "" || INTENSITIES.has(key)) continue;
    INTENSITIES.set(key, {
      scope1TCO2ePerMUSD: scope1,
      scope2TCO2ePerMUSD: scope2,
      scope3TCO2ePerMUSD: scope3Upstream + scope3Downstream,
    });
  }
}

/**
 * Returns the intensity of an entity's industry or, if that is not in the list, of its sector. Only the names and aliases
 * of the list count, not the words that select a pathway, because an intensity belongs to one industry.
 */
export function intensityOfIndustry(
  industry: string | undefined,
  sector: string | undefined,
): IndustryIntensity | undefined {
  return intensityOf(industry) ?? intensityOf(sector);
}

function intensityOf(text: string | undefined): IndustryIntensity | undefined {
  return text === undefined ? undefined : INTENSITIES.get(foldAsciiName(text));
}
