import { LAST_YEAR, TABLE_START_YEAR } from "./methodConstants.ts";
import { TEMPERATURE_ROWS } from "./data/temperatures.generated.ts";

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

const TEMPERATURE_YEARS = [2020, 2025, 2030, 2035, 2040, 2045, 2050, 2055, 2060, 2070, 2080, 2090, 2100] as const;

/**
 * Global mean surface temperature above 1850-1900, degrees C, by year from 2020.
 *
 * NGFS: Climate Scenarios Phase V (November 2024), MAGICC v7.5.3, median, over MESSAGEix-GLOBIOM 2.0. SSP: IPCC AR6 WGI
 * table SPM.1, best estimates. C1 to C8: IPCC AR6 WGIII table SPM.2, medians, in 2050 those of the matching SSP. IPCC
 * values between the years of those tables are interpolated linearly.
 */
const BY_PATH: ReadonlyMap<string, Float64Array> = new Map(
  TEMPERATURE_ROWS.map((row) => [
    row.scenario_id,
    interpolateYearly(
      TEMPERATURE_YEARS,
      TEMPERATURE_YEARS.map((year) => row[year]),
    ),
  ]),
);

/** Returns the global warming above 1850-1900, degrees C, by year from 2020. */
export function warmingOf(path: string): Float64Array {
  const warming = BY_PATH.get(path);
  if (warming === undefined) throw new Error(`Unknown temperature path ${path}.`);
  return warming;
}
