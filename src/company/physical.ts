import type { DAMAGE_FUNCTIONS } from "../contract/names.ts";
import { type AcuteHazard, type Country, TIER_A_COUNTRIES } from "./countryFigures.ts";
import type { Industry } from "./industryParameters.ts";
import {
  BASELINE_WARMING_C,
  DICE_2016,
  HOWARD_STERNER,
  KALKUHL_WENZ,
  LOSS_GROWTH_PER_C,
  LOSS_RATIO_WARMING_C,
  NGFS4_SCALE,
  NGFS5_SCALE,
  STICKY_LABOR_SHARE,
} from "./methodConstants.ts";

/**
 * Damage functions: loss of output as a function of warming since 2020.
 *
 * - `ngfs4` (default): `kalkuhl_wenz` times 3.35, the magnitude of NGFS Phase IV
 * - `kalkuhl_wenz`: local temperature (Kalkuhl and Wenz 2020)
 * - `howard_sterner`, `dice2016`: global warming, the same for all countries (Howard and Sterner 2017; Nordhaus 2017)
 * - `ngfs5_kotz`: `kalkuhl_wenz` times 10.1, the magnitude of NGFS Phase V. Its source, Kotz et al. 2024 (Nature), was
 *   retracted in December 2025.
 */
export type DamageFunction = (typeof DAMAGE_FUNCTIONS)[number];

/** Global warming above 1850-1900 in 2020 and in a later year, degrees C. */
export interface Warming {
  readonly startC: number;
  readonly endC: number;
}

/** Returns the mean temperature of a country at a global warming, degrees C. */
export function localTemperatureC({ baselineTemperatureC, warmingRatio }: Country, warmingC: number): number {
  return baselineTemperatureC + warmingRatio * (warmingC - BASELINE_WARMING_C);
}

/** Returns the fraction of output that is lost to warming, at least 0: gains of cold countries are left out. */
export function damageFractionOf(damageFunction: DamageFunction, country: Country, warming: Warming): number {
  switch (damageFunction) {
    case "ngfs4":
      return NGFS4_SCALE * kalkuhlWenz(country, warming);
    case "kalkuhl_wenz":
      return kalkuhlWenz(country, warming);
    case "ngfs5_kotz":
      return NGFS5_SCALE * kalkuhlWenz(country, warming);
    case "howard_sterner":
      return Math.max(0, HOWARD_STERNER * squareDifference(warming));
    case "dice2016":
      return Math.max(0, DICE_2016 * squareDifference(warming));
    default:
      return damageFunction satisfies never;
  }
}

function squareDifference({ startC, endC }: Warming): number {
  return endC * endC - startC * startC;
}

function kalkuhlWenz(country: Country, warming: Warming): number {
  const { linear, quadratic } = KALKUHL_WENZ;
  const start = localTemperatureC(country, warming.startC);
  const end = localTemperatureC(country, warming.endC);
  return Math.max(0, -(linear * (end - start) + (quadratic / 2) * (end * end - start * start)));
}

/**
 * Returns the loss of EBITDA to a loss of output, USD per year. A part of labor cost does not fall with output, so EBITDA
 * falls by more than output.
 */
export function chronicLossUsd(
  damageFraction: number,
  {
    industry,
    revenueUsd,
    ebitdaUsd,
  }: { readonly industry: Industry; readonly revenueUsd: number; readonly ebitdaUsd: number },
): number {
  const laborUsd = Math.max(0, industry.valueAddedShare * revenueUsd - ebitdaUsd);
  return damageFraction * industry.heatSensitivity * (ebitdaUsd + STICKY_LABOR_SHARE * laborUsd);
}

/**
 * Returns the average annual loss to a hazard as a fraction of capital; null if the source does not have the hazard. All
 * temperature paths are above the warming that the losses of the source refer to.
 */
export function hazardLossFraction({ averageLoss }: Country, hazard: AcuteHazard, warmingC: number): number | null {
  const present = averageLoss[hazard];
  if (present === null) return null;
  return present * (1 + LOSS_GROWTH_PER_C[hazard] * (warmingC - LOSS_RATIO_WARMING_C));
}

/** Returns the average annual loss to all hazards as a fraction of capital; a missing hazard counts as 0. */
export function acuteLossFraction({ averageLoss }: Country, warmingC: number): number {
  const { flood, wind, surge } = averageLoss;
  const additionalC = warmingC - LOSS_RATIO_WARMING_C;
  return (
    (flood ?? 0) * (1 + LOSS_GROWTH_PER_C.flood * additionalC) +
    (wind ?? 0) * (1 + LOSS_GROWTH_PER_C.wind * additionalC) +
    (surge ?? 0) * (1 + LOSS_GROWTH_PER_C.surge * additionalC)
  );
}

/** Percentile ranks of a country among the tier A countries in the same scenario and year. */
interface PhysicalPercentiles {
  readonly acute: number;
  readonly chronic: number;
}

/** Sorted values of the tier A countries by year, for each temperature path; for damages also by damage function. */
type SortedByYear = Map<number, Float64Array>;
const SORTED_LOSSES = new Map<string, SortedByYear>();
const SORTED_DAMAGES = new Map<DamageFunction, Map<string, SortedByYear>>();

/** Ranks the average annual loss and the damage of a country. */
export function percentilesOf(
  of: { readonly acuteFraction: number; readonly damageFraction: number },
  at: { readonly temperaturePath: string; readonly year: number; readonly warming: Warming },
  damageFunction: DamageFunction,
): PhysicalPercentiles {
  const { temperaturePath, year, warming } = at;
  const losses = remembered(byYearOf(SORTED_LOSSES, temperaturePath), year, () =>
    sortedOver((country) => acuteLossFraction(country, warming.endC)),
  );
  const damagesByPath = remembered(SORTED_DAMAGES, damageFunction, () => new Map<string, SortedByYear>());
  const damages = remembered(byYearOf(damagesByPath, temperaturePath), year, () =>
    sortedOver((country) => damageFractionOf(damageFunction, country, warming)),
  );
  return { acute: percentile(of.acuteFraction, losses), chronic: percentile(of.damageFraction, damages) };
}

function byYearOf(byPath: Map<string, SortedByYear>, path: string): SortedByYear {
  return remembered(byPath, path, () => new Map<number, Float64Array>());
}

function remembered<Key, Value>(cache: Map<Key, Value>, key: Key, compute: () => Value): Value {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const value = compute();
  cache.set(key, value);
  return value;
}

function sortedOver(valueOf: (country: Country) => number): Float64Array {
  return Float64Array.from(TIER_A_COUNTRIES, valueOf).toSorted();
}

/** Percentage of smaller values plus half of the equal ones. */
function percentile(value: number, sorted: Float64Array): number {
  const smaller = countSmaller(sorted, value);
  let equal = 0;
  while (sorted[smaller + equal] === value) equal++;
  return (100 * (smaller + equal / 2)) / sorted.length;
}

/** Counts the values below a value, by binary search. */
function countSmaller(sorted: Float64Array, value: number): number {
  let [min, max] = [0, sorted.length];
  while (min < max) {
    const middle = (min + max) >> 1;
    if ((sorted[middle] ?? NaN) < value) min = middle + 1;
    else max = middle;
  }
  return min;
}
