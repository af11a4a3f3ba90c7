/** Metrics of cyclones from the footprints of storms. */
import { MISSING_MARKER_MIN } from "../../kernel/kernel.generated.ts";
import type { CellWindow, Raster } from "../raster.ts";
import { mapsOfRuns, seriesValueFault } from "./bandSeries.ts";
import type { WindEvents } from "../computedMethod.ts";

/** Returns how many of the largest winds of a cell determine the return level; 0 if none does. */
export function largestCountOf({
  spanYears,
  designReturnPeriodYears,
}: Pick<WindEvents, "spanYears" | "designReturnPeriodYears">): number {
  return designReturnPeriodYears === undefined ? 0 : Math.ceil(spanYears / designReturnPeriodYears);
}

/**
 * Returns the wind speed with the design return period, if asked for, and the annual probability of the threshold.
 *
 * Formulas  p = 1 - exp(-n / Y) for n storms that reach the threshold in Y years; the i-th largest wind has the rate i / Y, and
 *           winds between are linear in the logarithm of the rate.
 * Requires  Y at least the design return period, because there is no value beyond the largest storm, and as many storms as
 *           `largestCountOf` returns.
 * @throws Fault `source_invalid` naming file and cell of a value that is negative or very large
 */
export async function windEvents(
  parts: readonly Raster[],
  window: CellWindow,
  method: WindEvents,
): Promise<readonly Float64Array[]> {
  const { events, spanYears, unitFactor, thresholdMps, designReturnPeriodYears, isMissingCalm } = method;
  const cellCount = window.rowCount * window.columnCount;
  const largestCount = largestCountOf(method);
  /** The largest winds of each cell, descending. */
  const largest = new Float64Array(cellCount * largestCount);
  const reachedCounts = new Float64Array(cellCount);
  const isMissing = new Uint8Array(cellCount);
  for await (const map of mapsOfRuns(parts, events, window)) {
    const { values } = map;
    for (let cell = 0; cell < cellCount; cell++) {
      const value = values[cell] as number;
      const windMps = value * unitFactor;
      if (!(value >= 0 && value < MISSING_MARKER_MIN && windMps < MISSING_MARKER_MIN)) {
        if (!Number.isNaN(value)) throw seriesValueFault(map, { cell, window, quantity: "a wind speed" });
        if (!isMissingCalm) isMissing[cell] = 1;
        continue;
      }
      if (windMps >= thresholdMps) reachedCounts[cell] = (reachedCounts[cell] as number) + 1;
      if (largestCount > 0) insertDescending(largest, windMps, cell * largestCount, largestCount);
    }
  }
  const probability = reachedCounts.map((count, cell) =>
    isMissing[cell] === 1 ? NaN : -Math.expm1(-count / spanYears),
  );
  if (designReturnPeriodYears === undefined) return [probability];
  const position = spanYears / designReturnPeriodYears;
  const below = Math.floor(position);
  const share = below === position ? 0 : Math.log(position / below) / Math.log((below + 1) / below);
  const level = new Float64Array(cellCount);
  for (let cell = 0; cell < cellCount; cell++) {
    const first = cell * largestCount;
    const upper = largest[first + below - 1] as number;
    const lower = share === 0 ? upper : (largest[first + below] as number);
    level[cell] = isMissing[cell] === 1 ? NaN : upper + share * (lower - upper);
  }
  return [level, probability];
}

/** Inserts a value into the `count` largest values that start at `first`, and drops the smallest of them. */
function insertDescending(values: Float64Array, value: number, first: number, count: number): void {
  let index = first + count - 1;
  if (value <= (values[index] as number)) return;
  while (index > first && value > (values[index - 1] as number)) {
    values[index] = values[index - 1] as number;
    index--;
  }
  values[index] = value;
}
