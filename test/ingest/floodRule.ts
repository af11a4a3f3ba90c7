/** The default rules and encoding of floods, for the reference implementation in test/oracle/keptCurves.ts. */

/** Returns the rule of the metrics of river and coastal floods, for maps in meters. */
export function floodRule(returnPeriods: readonly number[]) {
  return { family: "gumbel", returnPeriods, unitFactor: 1, designReturnPeriodYears: 100, threshold: 0.5 } as const;
}

/** Steps per unit of the layers, and the depth in meters whose intensity is 1. */
export const FLOOD_ENCODING = {
  depth: 1000,
  intensity: 10_000,
  probability: 60_000,
  total: 60_000,
  intensityReference: 10,
} as const;
