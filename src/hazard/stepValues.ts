/**
 * Values of stored steps. Single queries and portfolios of places compute with the same functions, so that their values are
 * equal bit for bit.
 */
import type { LayerEntry } from "../atlas/catalog.ts";

type Encoding = Pick<LayerEntry, "steps_per_unit" | "offset">;

/** @param steps an integer, or a fraction for a mean */
export function valueOfSteps(steps: number, { steps_per_unit, offset }: Encoding): number {
  return steps / steps_per_unit + offset;
}

/**
 * Returns the change from the steps of a baseline. If both layers have the same encoding, steps are subtracted: 0.412 m minus
 * 0.4 m is then 0.012 m, not 0.01199….
 */
export function changeOfSteps(steps: number, encoding: Encoding, baselineSteps: number, baseline: Encoding): number {
  const hasEqualEncoding = baseline.steps_per_unit === encoding.steps_per_unit && baseline.offset === encoding.offset;
  if (hasEqualEncoding) return (steps - baselineSteps) / encoding.steps_per_unit;
  return valueOfSteps(steps, encoding) - valueOfSteps(baselineSteps, baseline);
}
