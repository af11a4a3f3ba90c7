import type { Industry } from "./industryParameters.ts";
import { EBITDA_FLOOR_SHARE } from "./methodConstants.ts";

/**
 * Returns the EBITDA that losses are measured by, above 0: as sent, or half of what is normal in the industry if that is
 * more. It is continuous in EBITDA, so no result jumps where EBITDA crosses 0.
 */
export function normalizedEbitdaUsd(
  ebitdaUsd: number,
  { industry, revenueUsd }: { readonly industry: Industry; readonly revenueUsd: number },
): number {
  return Math.max(ebitdaUsd, EBITDA_FLOOR_SHARE * industry.ebitdaMargin * revenueUsd);
}
