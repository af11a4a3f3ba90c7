/** Detection of missing values. */
import type { Layout } from "./layout.ts";

/** Relative tolerances with which GDAL compares values to nodata, as a fraction of their sum. */
const FLOAT32_TOLERANCE = 2 * 2 ** -23;
const FLOAT64_TOLERANCE = 2 * 2 ** -52;

/**
 * Returns the test for missing values of each band, or undefined if only NaN is missing. Declared nodata values are compared
 * as in GDAL, which ignores the last bits of floats because files store nodata as rounded decimals. Given values are rounded
 * to the number format of the file and compared exactly.
 *
 * @param declared nodata of each band, from index 0
 * @param given additional nodata values for all bands
 */
export function nodataMatchers(
  layout: Layout,
  declared: readonly (number | undefined)[],
  given: readonly number[],
): (band: number) => ((value: number) => boolean) | undefined {
  const asStored = (value: number): number => (layout.fitsFloat32 ? Math.fround(value) : value);
  const exact = given.filter((value) => !Number.isNaN(value)).map(asStored);
  const relative = layout.format.bits === 64 ? FLOAT64_TOLERANCE : FLOAT32_TOLERANCE;
  const isFloat = layout.format.kind === "float";
  return (band) => {
    const nodata = declared[band - 1];
    const values = nodata === undefined || Number.isNaN(nodata) ? exact : [asStored(nodata), ...exact];
    const [first, ...more] = values;
    if (first === undefined) return undefined;
    if (!isFloat || nodata === undefined || Number.isNaN(nodata) || !Number.isFinite(first)) {
      return more.length === 0 ? (value) => value === first : (value) => values.includes(value);
    }
    const distanceMax = 3 * relative * Math.abs(first);
    const near = (value: number): boolean =>
      value === first ||
      (Math.abs(value - first) <= distanceMax && Math.abs(value - first) < relative * Math.abs(value + first));
    return more.length === 0 ? near : (value) => near(value) || more.includes(value);
  };
}
