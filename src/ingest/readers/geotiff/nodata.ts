/** The numbers that a file stores, and the nodata values that mark missing ones. */
import { sourceFault } from "../../raster.ts";

export interface NumberFormat {
  readonly kind: "unsigned" | "integer" | "float";
  readonly bits: number;
}

/**
 * Parses a nodata value as GDAL writes it.
 * @param how the start of error messages, such as "declares"
 * @throws Fault `source_invalid` if it is not a number, or is a fraction although the file has integers
 */
export function nodataOf(
  file: string,
  declared: string | undefined,
  format: NumberFormat,
  how: string,
): number | undefined {
  const text = declared?.trim() ?? "";
  if (text === "") return undefined;
  if (/^[-+]?nan$/i.test(text)) return NaN;
  const value = /^[-+]?inf(inity)?$/i.test(text) ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);
  if (Number.isNaN(value)) {
    throw sourceFault(file, `${how} the nodata value ${JSON.stringify(text)}, which is not a number.`);
  }
  if (format.bits === 64 && format.kind !== "float" && !isExactNodata(value)) {
    throw sourceFault(
      file,
      `${how} the nodata value ${text}, which cannot be compared exactly with 64-bit integers. Integers from -(2^53 - 1) to 2^53 - 1 and the smallest and largest integer of the type are accepted. Convert the map with gdal_translate -ot Float64.`,
    );
  }
  if (format.kind !== "float" && fitsFormat(value, format) && !Number.isInteger(value)) {
    throw sourceFault(
      file,
      `${how} the nodata value ${value}, which its integers cannot represent. Set the intended value with gdal_edit.py -a_nodata.`,
    );
  }
  return value;
}

/**
 * Returns whether a nodata value can be compared with 64-bit integers. The floats nearest to the smallest and largest
 * integers stand for these integers only (see `floatsOf` in decoders.ts).
 */
function isExactNodata(value: number): boolean {
  return !(Math.abs(value) > Number.MAX_SAFE_INTEGER) || [-(2 ** 63), 2 ** 63, 2 ** 64].includes(value);
}

/** Returns whether a number format can represent a nodata value. If it cannot, the nodata value marks no cells. */
export function canRepresent(value: number, format: NumberFormat): boolean {
  return format.kind === "float" || (fitsFormat(value, format) && Number.isInteger(value));
}

function fitsFormat(value: number, { kind, bits }: NumberFormat): boolean {
  const min = kind === "unsigned" ? 0 : -(2 ** (bits - 1));
  const max = kind === "unsigned" ? 2 ** bits - 1 : 2 ** (bits - 1) - 1;
  return value >= min && value <= max;
}

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
  layout: { readonly format: NumberFormat; readonly fitsFloat32: boolean },
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
