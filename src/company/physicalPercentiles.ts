import { type Country, TIER_A_COUNTRIES } from "./countryFigures.ts";
import { acuteLossFraction, damageFractionOf, type DamageFunction, type Warming } from "./physical.ts";

/** Percentile ranks of a country among the tier A countries in the same scenario and year. */
export interface PhysicalPercentiles {
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
