import type { EmissionsBudget } from "../contract/wireTypes.ts";

/** Compares the emissions of an entity with those that a scenario allows, in the unit of the request. */
export function budgetOf(
  scenario: string,
  { allowed, projected }: { readonly allowed: number; readonly projected: number },
): EmissionsBudget {
  return {
    scenario,
    allowed,
    projected,
    overshoot: projected - allowed,
    overshoot_pct: allowed <= 0 ? null : 100 * (projected / allowed - 1),
  };
}
