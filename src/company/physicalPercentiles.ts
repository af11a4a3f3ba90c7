import { type Country, TIER_A_COUNTRIES } from "./countryFigures.ts";
import { acuteLossFraction, damageFractionOf, type DamageFunction, type Warming } from "./physical.ts";

/** Percentile ranks of a country among the tier A countries in the same scenario and year. */
export interface PhysicalPercentiles {
  readonly acute: number;
  readonly chronic: number;
}

/** Sorted values of the tier A countries, by temperature path and year, and for damages by damage function. */
const SORTED_LOSSES = new Map<string, Float64Array>();
const SORTED_DAMAGES = new Map<string, Float64Array>();

/** Ranks the average annual loss and the damage of a country. */
export function percentilesOf(
  of: { readonly acuteFraction: number; readonly damageFraction: number },
  at: { readonly temperaturePath: string; readonly year: number; readonly warming: Warming },
  damageFunction: DamageFunction,
): PhysicalPercentiles {
  const { warming } = at;
  const key = `${at.temperaturePath} ${at.year}`;
  const losses = sortedValues(SORTED_LOSSES, key, (country) => acuteLossFraction(country, warming.endC));
  const damages = sortedValues(SORTED_DAMAGES, `${key} ${damageFunction}`, (country) =>
    damageFractionOf(damageFunction, country, warming),
  );
  return { acute: percentile(of.acuteFraction, losses), chronic: percentile(of.damageFraction, damages) };
}

function sortedValues(
  cache: Map<string, Float64Array>,
  key: string,
  valueOf: (country: Country) => number,
): Float64Array {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const sorted = Float64Array.from(TIER_A_COUNTRIES, valueOf).toSorted();
  cache.set(key, sorted);
  return sorted;
}

/** Percentage of smaller values plus half of the equal ones. */
function percentile(value: number, sorted: Float64Array): number {
  const smaller = countBelow(sorted, (other) => other < value);
  const smallerOrEqual = countBelow(sorted, (other) => other <= value);
  return (100 * (smaller + (smallerOrEqual - smaller) / 2)) / sorted.length;
}

/** Counts the leading values for which the predicate holds, by binary search. */
function countBelow(sorted: Float64Array, holds: (other: number) => boolean): number {
  let [min, max] = [0, sorted.length];
  while (min < max) {
    const middle = (min + max) >> 1;
    if (holds(sorted[middle] ?? NaN)) min = middle + 1;
    else max = middle;
  }
  return min;
}
