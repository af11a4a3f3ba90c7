/** Statistics of values by sorting all of them. */

export interface ReferenceStatistics {
  readonly count: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly mean: number;
  readonly quantiles: readonly number[];
  readonly aboveCounts: readonly number[];
}

/** Returns the statistics of values; undefined if there are none. */
export function referenceStatistics(
  values: readonly number[],
  { shares, thresholds }: { readonly shares: readonly number[]; readonly thresholds: readonly number[] },
): ReferenceStatistics | undefined {
  const ascending = values.toSorted((a, b) => a - b);
  if (ascending.length === 0) return undefined;
  return {
    count: ascending.length,
    minimum: ascending[0] ?? NaN,
    maximum: ascending.at(-1) ?? NaN,
    // Summed from the smallest to the largest magnitude.
    mean: values.toSorted((a, b) => Math.abs(a) - Math.abs(b)).reduce((sum, value) => sum + value, 0) / values.length,
    quantiles: shares.map((share) => smallestWithShare(ascending, share)),
    aboveCounts: thresholds.map((threshold) => values.filter((value) => value >= threshold).length),
  };
}

/** Returns the smallest value that is not exceeded by at least `share` of the values. `share` has at most 4 decimals. */
function smallestWithShare(ascending: readonly number[], share: number): number {
  // Integers, because 0.07 x 100 is not 7 in floating point.
  const tenThousandths = Math.round(share * 10_000);
  const index = ascending.findIndex((_, i) => (i + 1) * 10_000 >= tenThousandths * ascending.length);
  return ascending[index] ?? NaN;
}

/** Returns the items with the largest positive values; of equal values, the first. */
export function referenceTop<Item extends { readonly value: number }>(items: readonly Item[], count: number): Item[] {
  return items
    .filter(({ value }) => value > 0)
    .map((item, index) => ({ item, index }))
    .toSorted((a, b) => b.item.value - a.item.value || a.index - b.index)
    .slice(0, count)
    .map(({ item }) => item);
}
