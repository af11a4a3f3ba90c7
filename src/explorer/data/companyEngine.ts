/** The functions for companies. Their tables are larger than the rest of the engine and are loaded on first use. */
import type { AlignmentAnswer, AlignmentParameters, AlignmentRequest } from "../../contract/wireTypes.ts";
import {
  alignTemperature as align,
  Fault,
  NGFS_PHASE5,
  referenceCountries,
  referenceIndustries,
  referenceScenarios,
  roundTemperatures,
} from "../../index.ts";

export { totalClimateRisk } from "../../index.ts";

/** Returns the answer of the API, with rounded temperatures. @throws Fault as the API reports it */
export async function alignTemperature(
  request: AlignmentRequest,
  { budget_scenario: budgetScenario, benchmark, ...options }: AlignmentParameters,
): Promise<AlignmentAnswer> {
  if (benchmark !== undefined && benchmark !== NGFS_PHASE5.id) {
    const detail = `benchmark must be ${NGFS_PHASE5.id} (got ${benchmark as string}).`;
    const item = { parameter: "benchmark", code: "not_allowed", detail, allowed: [NGFS_PHASE5.id] } as const;
    throw new Fault("invalid_request", detail, { items: [item] });
  }
  return roundTemperatures(await align(request, { ...options, budgetScenario }));
}

export const industries = () => ({ items: referenceIndustries() });
export const countries = () => ({ items: referenceCountries() });
export const scenarios = () => ({ items: referenceScenarios() });
