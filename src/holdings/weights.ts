import { UNCOVERED_REASONS } from "../contract/names.ts";
import type { PortfolioMethod, PortfolioScope, UncoveredReason } from "../contract/wireTypes.ts";
import type { HoldingColumns } from "./mergedHoldings.ts";
import type { ResultBuffers } from "./resultBuffers.ts";

/** Weights of all holdings by one method and scope. */
export interface HoldingWeights {
  /** Weight a; NaN for a holding without one. */
  readonly weights: Float64Array;
  /** 0 for a holding with a weight, else the number of the reason why it has none (`reasonOf`). */
  readonly reasonNumbers: Uint8Array;
}

/** Returns the reason of a number other than 0. */
export function reasonOf(reasonNumber: number): UncoveredReason {
  const reason = UNCOVERED_REASONS[reasonNumber - 1];
  if (reason === undefined) throw new Error(`There is no reason ${reasonNumber}.`);
  return reason;
}

/** Returns the number of a reason in a column. */
export function reasonNumberOf(reason: UncoveredReason): number {
  return UNCOVERED_REASONS.indexOf(reason) + 1;
}

const EMISSIONS_MISSING = reasonNumberOf("emissions_missing");
const EMISSIONS_NEGATIVE = reasonNumberOf("emissions_negative");
const DENOMINATOR_MISSING = reasonNumberOf("denominator_missing");
const DENOMINATOR_NOT_POSITIVE = reasonNumberOf("denominator_not_positive");

/** Returns the emissions of the companies in a scope, t CO2e; NaN where a part is missing. */
export function emissionsOf(columns: HoldingColumns, scope: PortfolioScope): Float64Array {
  const { count, scope1TCO2e, scope2TCO2e, scope3TCO2e } = columns;
  if (scope === "s3") return scope3TCO2e;
  const emissionsTCO2e = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const scope1 = scope1TCO2e[i] as number;
    const scope2 = scope2TCO2e[i] as number;
    // One of scopes 1 and 2 may be missing and then counts as 0.
    const scopes1And2 = Number.isNaN(scope1) ? scope2 : Number.isNaN(scope2) ? scope1 : scope1 + scope2;
    emissionsTCO2e[i] = scope === "s1s2" ? scopes1And2 : scopes1And2 + (scope3TCO2e[i] as number);
  }
  return emissionsTCO2e;
}

/**
 * Computes the weight of each holding ("Weights" in docs/methods/portfolio.md).
 *
 * @param emissionsTCO2e the emissions of the scope, from `emissionsOf`
 * @param buffers hold the result until the next call
 */
export function weighHoldings(
  columns: HoldingColumns,
  method: PortfolioMethod,
  emissionsTCO2e: Float64Array,
  { weights, weightReasonNumbers: reasonNumbers }: ResultBuffers,
): HoldingWeights {
  const { count, values } = columns;
  reasonNumbers.fill(0);
  if (method === "WATS") return { weights: values, reasonNumbers };
  const denominators = method === "TETS" ? undefined : columns[DENOMINATOR_COLUMNS[method]];
  weights.fill(NaN);
  for (let i = 0; i < count; i++) {
    const emissions = emissionsTCO2e[i] as number;
    const denominator = denominators === undefined ? 1 : (denominators[i] as number);
    if (Number.isNaN(emissions)) reasonNumbers[i] = EMISSIONS_MISSING;
    else if (emissions < 0) reasonNumbers[i] = EMISSIONS_NEGATIVE;
    else if (Number.isNaN(denominator)) reasonNumbers[i] = DENOMINATOR_MISSING;
    else if (denominator <= 0) reasonNumbers[i] = DENOMINATOR_NOT_POSITIVE;
    else weights[i] = denominators === undefined ? emissions : ((values[i] as number) / denominator) * emissions;
  }
  return { weights, reasonNumbers };
}

/** Column that the value of a holding is divided by. TETS has none, because it ignores the value. */
const DENOMINATOR_COLUMNS = {
  MOTS: "marketCaps",
  EOTS: "enterpriseValues",
  ECOTS: "evics",
  AOTS: "totalAssets",
  ROTS: "revenues",
} as const satisfies Partial<Record<PortfolioMethod, keyof HoldingColumns>>;
