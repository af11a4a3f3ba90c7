/**
 * Computes metrics of wildfire and cyclones from series of maps, which are read a few bands at a time, so that memory does not
 * depend on their number.
 */
import { MISSING_MARKER_MIN } from "../../kernel/kernel.generated.ts";
import { type CellWindow, describeCell, type Raster, type RasterValues, sourceFault } from "../raster.ts";
import type { AnnualFireWeather, BandRun, DailyFireWeather, WindEvents } from "../computedMethod.ts";

/** Values that are decoded at a time: 32 MiB of doubles. */
const VALUES_MAX = 4 << 20;

/** One map of a series in a window. */
interface SeriesMap {
  /** A subarray, valid until the next map. */
  readonly values: RasterValues;
  readonly part: Raster;
  /** From 1. */
  readonly band: number;
}

/** Returns the maps of runs of bands in their order, each in the same window. */
async function* mapsOfRuns(
  parts: readonly Raster[],
  runs: readonly BandRun[],
  window: CellWindow,
): AsyncGenerator<SeriesMap> {
  const cellCount = window.rowCount * window.columnCount;
  const affordableCount = Math.max(1, Math.floor(VALUES_MAX / cellCount));
  for (const { part: index, firstBand, bandCount } of runs) {
    const part = parts[index];
    if (part === undefined) throw new Error(`The series has no map ${index}.`);
    const end = firstBand + bandCount;
    for (let band = firstBand; band < end;) {
      const count = Math.min(end - band, part.readBands === undefined ? 1 : countAt(part, band, affordableCount));
      const values =
        part.readBands === undefined || count === 1
          ? await part.readWindow({ ...window, band })
          : await part.readBands({ ...window, firstBand: band, bandCount: count });
      for (let i = 0; i < count; i++) {
        yield { values: values.subarray(i * cellCount, (i + 1) * cellCount), part, band: band + i };
      }
      band += count;
    }
  }
}

/** Returns how many bands to read from a band on, so that bands that are decoded together are decoded once. */
function countAt({ blockBandCount = 1 }: Raster, band: number, affordableCount: number): number {
  const blocks = Math.max(1, Math.floor(affordableCount / blockBandCount));
  const untilEnd = blocks * blockBandCount - ((band - 1) % blockBandCount);
  return Math.min(affordableCount, untilEnd);
}

/**
 * Divides a window into rows of cells. Strips end at the ends of blocks if possible.
 * @param cellCountMax of a strip, which has at least one row
 */
export function* stripsOf(
  window: CellWindow,
  { cellCountMax, blockRowCount }: { readonly cellCountMax: number; readonly blockRowCount: number },
): Generator<CellWindow> {
  const rowCountMax = Math.max(1, Math.floor(cellCountMax / window.columnCount));
  const end = window.firstRow + window.rowCount;
  for (let row = window.firstRow; row < end;) {
    const blockEnd = Math.floor((row + rowCountMax) / blockRowCount) * blockRowCount;
    const stripEnd = Math.min(end, blockEnd > row ? blockEnd : row + rowCountMax);
    yield { ...window, firstRow: row, rowCount: stripEnd - row };
    row = stripEnd;
  }
}

/**
 * Returns the error for a value that is below zero, or infinite or otherwise too large for any quantity.
 * @param quantity what the value should be, for the message
 */
function seriesValueFault(
  { part, band, values }: SeriesMap,
  { cell, window, quantity }: { readonly cell: number; readonly window: CellWindow; readonly quantity: string },
): Error {
  const at = {
    row: window.firstRow + Math.floor(cell / window.columnCount),
    column: window.firstColumn + (cell % window.columnCount),
  };
  const value = values[cell] as number;
  const coordinates = Object.entries(part.bands[band - 1]?.coordinates ?? {}).map(
    ([name, coordinate]) => `${name} ${coordinate}`,
  );
  const where = [...(part.bands.length > 1 ? [`band ${band}`] : []), ...coordinates].join(", ");
  return sourceFault(
    part.file,
    `${where === "" ? "" : `${where}: `}${describeCell(part.grid, at)} has the value ${value}, but ${quantity} is at least 0 and less than ${MISSING_MARKER_MIN.toExponential()}. ` +
      "If the value marks missing cells, give nodata in the manifest, or --nodata.",
    { details: { ...at, band, value } },
  );
}

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
