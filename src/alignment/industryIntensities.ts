import { indexIndustries, LISTED_INDUSTRIES } from "../reference/industries.ts";
import { foldName } from "../reference/names.ts";

/** Emissions of an industry per unit of revenue, t CO2e per million USD of 2022. */
export interface IndustryIntensity {
  readonly scope1TCO2ePerMUSD: number;
  readonly scope2TCO2ePerMUSD: number;
  /** Upstream and downstream. */
  readonly scope3TCO2ePerMUSD: number;
}

const LISTED_INDUSTRIES_BY_KEY = indexIndustries(LISTED_INDUSTRIES);

/** Returns the intensity of an industry by id or name; case, accents and punctuation are ignored. */
export function intensityOfIndustry(text: string): IndustryIntensity | undefined {
  const found = LISTED_INDUSTRIES_BY_KEY.get(foldName(text));
  if (found === undefined) return undefined;
  const { scope1, scope2, scope3Upstream, scope3Downstream } = found.industry.intensity;
  return {
    scope1TCO2ePerMUSD: scope1,
    scope2TCO2ePerMUSD: scope2,
    scope3TCO2ePerMUSD: scope3Upstream + scope3Downstream,
  };
}
