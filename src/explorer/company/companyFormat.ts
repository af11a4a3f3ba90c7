/** Numbers, flags and scenarios of the company views as text. */
import { formatDecimals, formatSignificant, withSign } from "../format.ts";
import type { AlignmentFlag, AlignmentReason } from "../../contract/wireTypes.ts";

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

export const FLAG_MEANINGS: Readonly<Record<AlignmentFlag, string>> = {
  unknown_industry: "Neither the industry nor the sector is known, so the company is compared with the whole economy.",
  industry_from_sector: "The industry is not known, so the sector decided which pathway the company is compared with.",
  unknown_country: "The country is not known, so the company is assumed to grow as the economies of the benchmark do.",
  unknown_classification: "The classification system is not known. Names are matched in the same way for all systems.",
  scope3_absent: "Scope 3 is given in no year, so the temperature covers scopes 1 and 2 only.",
  early_baseline: "The baseline year is before 2018.",
  scope_dropped: "A scope is given either for the baseline or for this year, but not for both. It is left out.",
  no_usable_scope: "No scope is given both for the baseline and for this year.",
  zero_baseline: "The emissions of the baseline are zero.",
  negative_scope: "A scope is negative (removals). A negative sum counts as zero.",
  implausible_change: "Emissions or revenue change faster than is plausible. Check the units.",
  growth_default:
    "Neither revenue nor a known country is given, so the company is assumed to grow as the economies of the benchmark do.",
  growth_region: "The country has no growth series, so that of its region is used.",
  growth_limited: "The difference in growth exceeds the limits of the method and was limited.",
  growth_driven: "Assumed or supplied growth moves the temperature by more than 0.3 °C.",
  revenue_unusable: "Revenue is given but cannot be used for growth or convergence.",
  short_horizon:
    "The year is less than five years after the baseline, or before 2030. The change was extrapolated at the same annual rate.",
  beyond_table: "The year is after 2060, where the pathways end. They are assumed to be constant.",
  duplicate_year: "The year is given more than once in the same projection.",
  anchors_close: "The scenarios of the benchmark are out of order or hardly differ in this year.",
  sensitive: "A change of the emissions by 7.5 % moves the temperature by more than 0.3 °C.",
};

export const REASON_MEANINGS: Readonly<Record<AlignmentReason, string>> = {
  no_usable_scope: "no temperature: no scope is given both for the baseline and for this year",
  zero_baseline: "no temperature: the emissions are zero in the baseline, but not in this year",
};

/** Titles of the scenarios of the company views. */

/** Scenarios of the NGFS, with the titles that the NGFS gives them. */
export const NGFS_TITLES = {
  NGFS_NET_ZERO_2050: "Net Zero 2050",
  NGFS_BELOW_2C: "Below 2 °C",
  NGFS_LOW_DEMAND: "Low Demand",
  NGFS_DELAYED_TRANSITION: "Delayed Transition",
  NGFS_NDC: "Nationally Determined Contributions (NDCs)",
  NGFS_FRAGMENTED_WORLD: "Fragmented World",
  NGFS_CURRENT_POLICIES: "Current Policies",
} as const;

const TITLES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(NGFS_TITLES),
  ...["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8"].map(
    (category) => [`IPCC_${category}`, `IPCC ${category}`] as const,
  ),
  ["IPCC_SSP1_19", "IPCC SSP1-1.9"],
  ["IPCC_SSP1_26", "IPCC SSP1-2.6"],
  ["IPCC_SSP2_45", "IPCC SSP2-4.5"],
  ["IPCC_SSP3_70", "IPCC SSP3-7.0"],
  ["IPCC_SSP5_85", "IPCC SSP5-8.5"],
  ["IPCC_NET_ZERO", "IPCC net zero (C1)"],
]);

/** Returns the title of a transition scenario, or its id if it has none. */
export function transitionScenarioTitle(id: string): string {
  return TITLES.get(id) ?? id;
}
