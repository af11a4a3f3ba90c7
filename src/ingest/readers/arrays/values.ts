/** Converts stored numbers to values: scale, offset and missing values by the CF and NetCDF conventions. */
import { type NumberType, type RasterValues, sourceFault } from "../../raster.ts";
import { storedIntegersOf } from "../storedMap.ts";
import { type ArrayVariable, type Attributes, numbersOf, type NumericArray, textOf } from "./arrayFile.ts";

/** How the stored numbers of a variable become values. */
export interface Packing {
  readonly type: NumberType;
  readonly scale: number;
  readonly offset: number;
  /** Stored numbers that are missing. */
  readonly nodata: readonly number[];
  /** Largest and smallest stored number that is not missing. */
  readonly storedMin: number;
  readonly storedMax: number;
  /** Largest and smallest value, after scale and offset, that is not missing. */
  readonly valueMin: number;
  readonly valueMax: number;
  /** Values, after scale and offset, that the user declares as missing. */
  readonly extraNodata: readonly number[];
  /** 2 to the number of bits if signed integers are to be read as unsigned. */
  readonly unsignedModulus: number | undefined;
}

/** Default fill values of NetCDF; there is none for 8-bit integers. */
const DEFAULT_FILL: Readonly<Partial<Record<NumberType, number>>> = {
  int16: -32_767,
  uint16: 65_535,
  int32: -2_147_483_647,
  uint32: 4_294_967_295,
  int64: Number(-9_223_372_036_854_775_806n),
  uint64: Number(18_446_744_073_709_551_614n),
  float32: Math.fround(9.96920996838687e36),
  float64: 9.96920996838687e36,
};

/** Attributes that change the meaning of values in ways that are not supported. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  flag_values: "class codes (flag_values)",
  flag_masks: "bit fields (flag_masks)",
  compress: "an index list of compression by gathering (compress)",
};

/**
 * Reads the packing of a variable.
 * @throws Fault `source_invalid` naming the attribute that cannot be honored
 */
export function readPacking(file: string, variable: ArrayVariable, extraNodata: readonly number[] = []): Packing {
  const { attributes, name } = variable;
  const reject = (why: string): Error => sourceFault(file, `variable ${name} ${why}`);
  if (typeof variable.type !== "string") throw reject(`stores ${variable.type.unsupported}; numbers are accepted.`);
  if (variable.type === "text") throw reject("stores text; numbers are accepted.");
  if (variable.unsupported !== undefined) throw reject(variable.unsupported);
  const type = variable.type;
  for (const [attribute, what] of Object.entries(UNSUPPORTED)) {
    if (attributes.has(attribute)) throw reject(`stores ${what}; measured values are accepted.`);
  }
  const numbers = (attribute: string): readonly number[] | undefined => {
    const given = attributes.get(attribute)?.value;
    if (typeof given !== "string") return given;
    throw reject(`has the text ${JSON.stringify(given)} as ${attribute}; a number is expected. Correct the file.`);
  };
  const one = (attribute: string, absent: number): number => {
    const given = numbers(attribute);
    if (given === undefined) return absent;
    const [value = NaN] = given;
    if (given.length === 1 && Number.isFinite(value)) return value;
    throw reject(`has ${attribute} ${given.join(", ")}; one finite number is expected.`);
  };
  const scale = one("scale_factor", 1);
  const offset = one("add_offset", 0);
  if (scale === 0) throw reject("has scale_factor 0; it must not be 0.");
  const unsignedModulus = unsignedModulusOf(attributes, type, reject);
  const asStored = (value: number): number =>
    unsignedModulus === undefined ? roundTo(type, value) : (value + unsignedModulus) % unsignedModulus;

  const fill = numbers("_FillValue");
  const declared = [...(fill ?? []), ...(numbers("missing_value") ?? []), ...variable.missing];
  const defaultFill = variable.hasDefaultFill && fill === undefined ? DEFAULT_FILL[type] : undefined;
  const nodata = [...declared, ...(defaultFill === undefined ? [] : [defaultFill])]
    .filter((value) => !Number.isNaN(value))
    .map(asStored);
  return {
    type,
    scale,
    offset,
    nodata: [...new Set(nodata)],
    extraNodata,
    unsignedModulus,
    ...readValidRange(variable, { scale, offset, asStored, reject, type }),
  };
}

/** Rounds a number of an attribute to the type of the values, because attributes are often stored with more digits. */
function roundTo(type: NumberType, value: number): number {
  return type === "float32" ? Math.fround(value) : value;
}

function unsignedModulusOf(
  attributes: Attributes,
  type: NumberType,
  reject: (why: string) => Error,
): number | undefined {
  const unsigned = textOf(attributes, "_Unsigned")?.toLowerCase();
  if (unsigned === undefined || unsigned === "false" || type.startsWith("uint")) {
    if (unsigned === "false" && type.startsWith("uint"))
      throw reject("has unsigned integers and _Unsigned = false, which is not supported.");
    return undefined;
  }
  if (unsigned !== "true") throw reject(`has _Unsigned = ${JSON.stringify(unsigned)}; true or false is expected.`);
  const bits = { int8: 8, int16: 16, int32: 32 }[type as string];
  if (bits === undefined) throw reject(`has _Unsigned = true for numbers of type ${type}, which is not supported.`);
  return 2 ** bits;
}

/**
 * Reads `valid_min`, `valid_max` and `valid_range`. They refer to stored numbers if they have the type of the stored
 * numbers, and to values if they have the type of the values (CF 1.11, section 2.5.1).
 */
function readValidRange(
  { attributes }: ArrayVariable,
  context: {
    readonly scale: number;
    readonly offset: number;
    readonly type: NumberType;
    readonly asStored: (value: number) => number;
    readonly reject: (why: string) => Error;
  },
): Pick<Packing, "storedMin" | "storedMax" | "valueMin" | "valueMax"> {
  const { scale, offset, type, asStored, reject } = context;
  const range = { storedMin: -Infinity, storedMax: Infinity, valueMin: -Infinity, valueMax: Infinity };
  const isPacked = scale !== 1 || offset !== 0;
  const set = (attribute: string, given: readonly number[], count: number): readonly number[] => {
    if (given.length === count && given.every((value) => !Number.isNaN(value))) return given;
    throw reject(
      `has ${attribute} ${given.join(", ")}; ${count === 1 ? "one number is" : "two numbers are"} expected.`,
    );
  };
  for (const [attribute, count] of [
    ["valid_min", 1],
    ["valid_max", 1],
    ["valid_range", 2],
  ] as const) {
    const entry = attributes.get(attribute);
    if (entry === undefined) continue;
    if (typeof entry.value === "string") throw reject(`has the text ${JSON.stringify(entry.value)} as ${attribute}.`);
    const given = set(attribute, entry.value, count);
    const low = attribute === "valid_max" ? undefined : given[0];
    const high = attribute === "valid_min" ? undefined : given.at(-1);
    const isOfStored = !isPacked || entry.type === type;
    const isOfValues = entry.type === "float32" || entry.type === "float64";
    if (!isOfStored && !isOfValues) {
      throw reject(
        `has ${attribute} with ${entry.type === undefined ? "no type" : `the type ${entry.type}`}, so that it is unclear whether it refers to the ` +
          `stored ${type} numbers or to the values. Remove the attribute, or write it with the type of the stored numbers.`,
      );
    }
    if (isOfStored) {
      if (low !== undefined) range.storedMin = asStored(low);
      if (high !== undefined) range.storedMax = asStored(high);
    } else {
      if (low !== undefined) range.valueMin = low;
      if (high !== undefined) range.valueMax = high;
    }
  }
  if (range.storedMin > range.storedMax || range.valueMin > range.valueMax)
    throw reject("has a valid range whose minimum is above its maximum.");
  return range;
}

/** Returns whether a Float32Array represents every value exactly. */
function fitsFloat32({ type, scale, offset }: Packing): boolean {
  return scale === 1 && offset === 0 && (type === "float32" || /^u?int(8|16)$/.test(type));
}

/** Thrown for a 64-bit integer that cannot be represented exactly. */
export class InexactIntegerError extends Error {
  override readonly name = "InexactIntegerError";
  /** Index of the number in the array. */
  readonly index: number;
  constructor(index: number, value: bigint) {
    super(`the 64-bit integer ${value} cannot be represented exactly`);
    this.index = index;
  }
}

/**
 * Converts stored numbers to values, with NaN for missing ones.
 * @throws InexactIntegerError if a 64-bit integer cannot be represented exactly
 */
export function unpack(stored: NumericArray, packing: Packing): RasterValues {
  const { scale, offset, nodata, storedMin, storedMax, valueMin, valueMax, extraNodata, unsignedModulus } = packing;
  const values = fitsFloat32(packing) ? new Float32Array(stored.length) : new Float64Array(stored.length);
  const isBig = stored instanceof BigInt64Array || stored instanceof BigUint64Array;
  const round = values instanceof Float32Array ? Math.fround : (value: number): number => value;
  const extra = extraNodata.filter((value) => !Number.isNaN(value)).map(round);
  const isPacked = scale !== 1 || offset !== 0;
  const extraStored = isPacked ? storedIntegersOf(extra, packing) : [];
  const [onlyNodata = NaN] = nodata;
  const hasSeveral = nodata.length > 1;
  for (let i = 0; i < stored.length; i++) {
    let number = isBig ? Number(stored[i]) : (stored[i] as number);
    if (unsignedModulus !== undefined && number < 0) number += unsignedModulus;
    const isValid =
      number >= storedMin && number <= storedMax && number !== onlyNodata && !(hasSeveral && nodata.includes(number));
    if (!isValid) {
      values[i] = NaN;
      continue;
    }
    if (isBig && !Number.isSafeInteger(number)) throw new InexactIntegerError(i, stored[i] as bigint);
    const value = isPacked ? number * scale + offset : number;
    const isExtraNodata = extra.length > 0 && (extra.includes(value) || extraStored.includes(number));
    values[i] = value >= valueMin && value <= valueMax && !isExtraNodata ? value : NaN;
  }
  return values;
}

/** Returns the unit of a variable; an empty text means that none is declared. */
export function unitOf({ attributes }: ArrayVariable): string | undefined {
  const unit = textOf(attributes, "units")?.trim();
  if (unit !== undefined && unit !== "") return unit;
  // `units: 1` is stored as a number by some writers.
  const [number] = numbersOf(attributes, "units") ?? [];
  return number === undefined ? undefined : String(number);
}
