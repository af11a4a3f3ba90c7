/** Detection of missing values. */
import type { Layout } from "./layout.ts";

/** Relative tolerances of GDAL's comparison of values with nodata, as a fraction of their sum. */
const FLOAT32_TOLERANCE = 2 * 2 ** -23;
const FLOAT64_TOLERANCE = 2 * 2 ** -52;

/**
 * Returns the test for missing values of each band, or undefined if only NaN is missing. Declared nodata values are compared
 * as in GDAL, which ignores the last bits of floats because files store nodata as rounded decimals. Additional values are
 * rounded to the number format of the file and compared exactly.
 *
 * @param declared nodata of each band, from index 0
 * @param additional nodata values that the user gives for all bands
 */
export function nodataMatchers(
  layout: Layout,
  declared: readonly (number | undefined)[],
  additional: readonly number[],
): (band: number) => ((value: number) => boolean) | undefined {
  const asStored = (value: number): number => (layout.fitsFloat32 ? Math.fround(value) : value);
  const exact = additional.filter((value) => !Number.isNaN(value)).map(asStored);
  const relativeTolerance = layout.format.bits === 64 ? FLOAT64_TOLERANCE : FLOAT32_TOLERANCE;
  const isFloat = layout.format.kind === "float";
  return (band) => {
    const nodata = declared[band - 1];
    const values = nodata === undefined || Number.isNaN(nodata) ? exact : [asStored(nodata), ...exact];
    const [firstNodata, ...otherNodata] = values;
    if (firstNodata === undefined) return undefined;
    if (!isFloat || nodata === undefined || Number.isNaN(nodata) || !Number.isFinite(firstNodata)) {
      return otherNodata.length === 0 ? (value) => value === firstNodata : (value) => values.includes(value);
    }
    const distanceMax = 3 * relativeTolerance * Math.abs(firstNodata);
    const isNear = (value: number): boolean =>
      value === firstNodata ||
      (Math.abs(value - firstNodata) <= distanceMax &&
        Math.abs(value - firstNodata) < relativeTolerance * Math.abs(value + firstNodata));
    return otherNodata.length === 0 ? isNear : (value) => isNear(value) || otherNodata.includes(value);
  };
}
