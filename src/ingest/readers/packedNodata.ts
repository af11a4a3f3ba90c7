/** Finds the stored numbers of packed maps that nodata values from the user stand for. */

/** Largest distance of a value from the user's number, relative to the larger of the two terms of the value. */
const RELATIVE_TOLERANCE = 1e-6;

/**
 * Returns the stored integers whose values are the given ones. Values are not compared exactly, because stored x scale is not
 * the nearest number to its decimals: 9999 x 0.1 is 999.9000000000001.
 *
 * @param values after scale and offset, at most one integer for each
 */
export function storedIntegersOf(
  values: readonly number[],
  { scale, offset }: { readonly scale: number; readonly offset: number },
): readonly number[] {
  return values.flatMap((value) => {
    const stored = Math.round((value - offset) / scale);
    const distanceMax = RELATIVE_TOLERANCE * Math.max(Math.abs(scale), Math.abs(value), Math.abs(offset));
    return Math.abs(stored * scale + offset - value) <= distanceMax ? [stored] : [];
  });
}
