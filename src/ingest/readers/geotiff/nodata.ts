import type { Layout } from "./layout.ts";

/** How far values may be from a declared marker, as GDAL compares them: in units of their sum. */
const FLOAT32_TOLERANCE = 2 * 2 ** -23;
const FLOAT64_TOLERANCE = 2 * 2 ** -52;

/**
 * Returns for each band what tells its missing values. Markers that the file declares are compared as GDAL does, which
 * lets floats differ in their last bits (files carry markers in rounded decimals); given ones exactly as the file's
 * number format holds them. NaN is missing anyway.
 *
 * @param declared by band, from index 0
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
    const markers = nodata === undefined || Number.isNaN(nodata) ? exact : [asStored(nodata), ...exact];
    const [first, ...more] = markers;
    if (first === undefined) return undefined;
    if (!isFloat || nodata === undefined || Number.isNaN(nodata) || !Number.isFinite(first)) {
      return more.length === 0 ? (value) => value === first : (value) => markers.includes(value);
    }
    const reach = 3 * relative * Math.abs(first);
    const near = (value: number): boolean =>
      value === first ||
      (Math.abs(value - first) <= reach && Math.abs(value - first) < relative * Math.abs(value + first));
    return more.length === 0 ? near : (value) => near(value) || more.includes(value);
  };
}
