/** Metrics of wildfire from the Fire Weather Index (FWI): daily values, or indicators of each year. */
import { MISSING_MARKER_MIN } from "../../kernel/kernel.generated.ts";
import type { CellWindow, Raster } from "../raster.ts";
import { mapsOfRuns, seriesValueFault } from "./bandSeries.ts";
import type { AnnualFireWeather, BandRun, DailyFireWeather } from "../computedMethod.ts";

/**
 * Returns the mean number of fire danger days a year, the intensity and the probability of each cell; NaN is missing.
 * @throws Fault `source_invalid` naming file and cell of a value that is negative or very large
 */
export async function dailyFireWeather(
  parts: readonly Raster[],
  window: CellWindow,
  { years, dangerThreshold, threshold, intensityReference, isMissingNoDanger }: DailyFireWeather,
): Promise<readonly Float64Array[]> {
  const cellCount = window.rowCount * window.columnCount;
  const dangerDays = new Float64Array(cellCount);
  const yearsReached = new Float64Array(cellCount);
  const sumOfMaxima = new Float64Array(cellCount);
  const missingDays = new Int32Array(cellCount);
  const largest = new Float64Array(cellCount);
  let dayCount = 0;
  for (const { days } of years) {
    largest.fill(0);
    for await (const map of mapsOfRuns(parts, days, window)) {
      dayCount++;
      const { values } = map;
      for (let cell = 0; cell < cellCount; cell++) {
        const fwi = values[cell] as number;
        if (fwi >= 0 && fwi < MISSING_MARKER_MIN) {
          if (fwi > (largest[cell] as number)) largest[cell] = fwi;
          if (fwi > dangerThreshold) dangerDays[cell] = (dangerDays[cell] as number) + 1;
        } else if (Number.isNaN(fwi)) missingDays[cell] = (missingDays[cell] as number) + 1;
        else throw seriesValueFault(map, { cell, window, quantity: "the Fire Weather Index" });
      }
    }
    for (let cell = 0; cell < cellCount; cell++) {
      const maximum = largest[cell] as number;
      sumOfMaxima[cell] = (sumOfMaxima[cell] as number) + maximum;
      if (maximum >= threshold) yearsReached[cell] = (yearsReached[cell] as number) + 1;
    }
  }
  const missingMax = isMissingNoDanger ? dayCount - 1 : 0;
  for (let cell = 0; cell < cellCount; cell++) {
    const isMissing = (missingDays[cell] as number) > missingMax;
    dangerDays[cell] = isMissing ? NaN : (dangerDays[cell] as number) / years.length;
    sumOfMaxima[cell] = isMissing
      ? NaN
      : Math.min(1, (sumOfMaxima[cell] as number) / years.length / intensityReference);
    yearsReached[cell] = isMissing ? NaN : (yearsReached[cell] as number) / years.length;
  }
  return [dangerDays, sumOfMaxima, yearsReached];
}

/**
 * Returns the mean number of fire danger days, if given, and the intensity and the probability, if the annual maxima are given.
 * A cell that is missing in any year is missing.
 * @throws Fault `source_invalid` naming file and cell of a value that is negative or very large
 */
export async function annualFireWeather(
  parts: readonly Raster[],
  window: CellWindow,
  { maxima, days, threshold, intensityReference }: AnnualFireWeather,
): Promise<readonly Float64Array[]> {
  const bands: Float64Array[] = [];
  if (days.length > 0) {
    const { sum, yearCount } = await sumOfYears(parts, days, window, { quantity: "a number of days" });
    bands.push(sum.map((total) => total / yearCount));
  }
  if (maxima.length > 0) {
    const reached = new Float64Array(window.rowCount * window.columnCount);
    const quantity = "the annual maximum of the Fire Weather Index";
    const { sum, yearCount } = await sumOfYears(parts, maxima, window, { quantity, threshold, reached });
    bands.push(
      sum.map((total) => Math.min(1, total / yearCount / intensityReference)),
      reached.map((count, cell) => (Number.isNaN(sum[cell]) ? NaN : count / yearCount)),
    );
  }
  return bands;
}

/** Returns the sum over years, NaN in cells that are missing in any year, and counts the years that reach a threshold. */
async function sumOfYears(
  parts: readonly Raster[],
  runs: readonly BandRun[],
  window: CellWindow,
  {
    quantity,
    threshold = NaN,
    reached,
  }: { readonly quantity: string; readonly threshold?: number; readonly reached?: Float64Array },
): Promise<{ readonly sum: Float64Array; readonly yearCount: number }> {
  const sum = new Float64Array(window.rowCount * window.columnCount);
  let yearCount = 0;
  for await (const map of mapsOfRuns(parts, runs, window)) {
    yearCount++;
    const { values } = map;
    for (let cell = 0; cell < sum.length; cell++) {
      const value = values[cell] as number;
      if (value < 0 || value >= MISSING_MARKER_MIN) throw seriesValueFault(map, { cell, window, quantity });
      sum[cell] = (sum[cell] as number) + value;
      if (reached !== undefined && value >= threshold) reached[cell] = (reached[cell] as number) + 1;
    }
  }
  return { sum, yearCount };
}
