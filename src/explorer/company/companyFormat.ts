/** Numbers of the company views as text. */
import { formatDecimals, formatSignificant, withSign } from "../format.ts";

/** A unit of money in which an amount is short. */
export interface MoneyScale {
  readonly divisor: number;
  /** Stands before `USD`; empty for single dollars. */
  readonly name: string;
}

const MONEY_SCALES: readonly MoneyScale[] = [
  { divisor: 1e9, name: "billion " },
  { divisor: 1e6, name: "million " },
  { divisor: 1e3, name: "thousand " },
  { divisor: 1, name: "" },
];
/** The largest amount of a table has at least this many digits before the point. */
const LEAST_LARGEST = 10;

/** Returns the scale for a table of amounts. */
export function moneyScaleFor(amountsUsd: readonly number[]): MoneyScale {
  const largest = Math.max(...amountsUsd.map(Math.abs));
  return MONEY_SCALES.find(({ divisor }) => largest / divisor >= LEAST_LARGEST) ?? { divisor: 1, name: "" };
}

/** Returns an amount without its unit, to a tenth of the scale. */
export function formatMoney(amountUsd: number, { divisor }: MoneyScale): string {
  return formatDecimals(amountUsd / divisor, 1);
}

/** Returns a change of an amount with its sign, without its unit. */
export function formatMoneyChange(amountUsd: number, scale: MoneyScale): string {
  return withSign(formatMoney(amountUsd, scale), amountUsd);
}

/** Returns an amount with a scale that fits it, such as `1.38 billion`. */
export function formatAmount(amount: number): string {
  const scale = MONEY_SCALES.find(({ divisor }) => Math.abs(amount) >= divisor) ?? { divisor: 1, name: "" };
  return `${formatFigure(amount / scale.divisor)} ${scale.name}`.trim();
}

/** Returns a number with 4 significant digits. */
export function formatFigure(value: number): string {
  return formatSignificant(value, { digits: 4, decimalsMax: 8 });
}

/** Returns a temperature with two decimals, as the API rounds it, without its unit. */
export function formatTemperature(temperatureC: number): string {
  return temperatureC.toFixed(2);
}

export function formatTemperatureRange({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${formatTemperature(low)} to ${formatTemperature(high)}`;
}

/** Returns a percentage that the API gives in percent. */
export function formatPercent(percent: number): string {
  return `${formatDecimals(percent, 1)} %`;
}

/** Returns a share of 1 as a percentage. */
export function formatFraction(fraction: number): string {
  return `${formatSignificant(fraction * 100, { digits: 3, decimalsMax: 4 })} %`;
}
