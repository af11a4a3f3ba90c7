import { LAST_YEAR, TABLE_START_YEAR } from "./methodConstants.ts";

/** Interpolates linearly to one value per year from 2020 to 2100; NaN after the last year of the table. */
export function interpolateYearly(years: readonly number[], values: readonly number[]): Float64Array {
  const series = new Float64Array(LAST_YEAR - TABLE_START_YEAR + 1).fill(NaN);
  for (let i = 1; i < years.length; i++) {
    const [from = NaN, to = NaN] = [years[i - 1], years[i]];
    const [low = NaN, high = NaN] = [values[i - 1], values[i]];
    for (let year = from; year <= to; year++) {
      series[year - TABLE_START_YEAR] = low + ((high - low) * (year - from)) / (to - from);
    }
  }
  return series;
}

/**
 * Returns the value of a year.
 *
 * @throws Error for a year without a value; callers have to check before
 */
export function valueInYear(series: Float64Array, year: number): number {
  const value = series[year - TABLE_START_YEAR];
  // NaN differs from itself.
  if (value === undefined || value !== value) throw new Error(`The series has no value in ${year}.`);
  return value;
}
