/**
 * The interface between readers of multidimensional arrays (NetCDF, HDF5, Zarr) and the code that makes maps of them by
 * the CF conventions.
 */
import type { NumberType } from "../../raster.ts";

/** Texts, or one or more numbers. 64-bit integers are converted to the nearest number. */
type AttributeValue = string | readonly number[];

/** An attribute and the type of its numbers; undefined in formats that store attributes as JSON. */
export interface Attribute {
  readonly value: AttributeValue;
  readonly type: NumberType | undefined;
}

export type Attributes = ReadonlyMap<string, Attribute>;

export type NumericArray = InstanceType<(typeof NUMBER_ARRAYS)[NumberType]>;

export interface Dimension {
  /** As users write it: without the path of its group. */
  readonly name: string;
  /** Name of the variable with the coordinates along this dimension. */
  readonly coordinate: string | undefined;
  /** Coordinates that are stored with the variable itself instead. */
  readonly values: readonly (number | string)[] | undefined;
}

/** Indexes from `first` up to, but not including, `end`. */
export interface IndexRange {
  readonly first: number;
  readonly end: number;
}

/** An array of a file. */
export interface ArrayVariable {
  /** With the path of its group: `group/variable`. */
  readonly name: string;
  readonly shape: readonly number[];
  readonly dimensions: readonly Dimension[];
  /** The type of the numbers, `text`, or what is stored instead and cannot be read. */
  readonly type: NumberType | "text" | { readonly unsupported: string };
  readonly attributes: Attributes;
  /** Shape of the parts that are decoded together; undefined if any part can be read by itself. */
  readonly chunkShape: readonly number[] | undefined;
  /** Why the values cannot be read although the type is supported, such as an unknown compression. */
  readonly unsupported: string | undefined;
  /**
   * Values that mark missing cells besides the attributes, such as the fill value of a Zarr array that follows the
   * conventions of xarray.
   */
  readonly missing: readonly number[];
  /** Whether numbers are missing if they are the default fill value of NetCDF for their type and there is no other. */
  readonly hasDefaultFill: boolean;
  /** Facts about the storage for the provenance. */
  readonly notes: Readonly<Record<string, unknown>>;
  /**
   * Reads a part, one range for each dimension, in the order of the dimensions (the last one varies fastest). A part that
   * the file does not store, and for which it has no fill value, is returned as NaN in a Float64Array.
   * @throws Error if the bytes cannot be read or decoded
   */
  read(ranges: readonly IndexRange[]): Promise<NumericArray>;
  /** Reads all values of a variable of type `text`. */
  readTexts(): Promise<readonly string[]>;
}

export interface ArrayFile {
  /** The path as given; used in messages. */
  readonly file: string;
  /** `NetCDF-4`, `NetCDF-3` or `Zarr`. */
  readonly format: string;
  readonly variables: ReadonlyMap<string, ArrayVariable>;
  close(): Promise<void>;
}

/** Largest decoded size of a chunk. */
export const CHUNK_BYTES_MAX = 256 << 20;
/** Largest number of variables in a file. */
export const VARIABLE_COUNT_MAX = 10_000;
/** Largest length of a coordinate variable. */
export const COORDINATE_COUNT_MAX = 4_000_000;

const NUMBER_ARRAYS = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export const NUMBER_BYTES = Object.fromEntries(
  Object.entries(NUMBER_ARRAYS).map(([type, { BYTES_PER_ELEMENT }]) => [type, BYTES_PER_ELEMENT]),
) as Readonly<Record<NumberType, number>>;

/** Returns an array of zeros. */
export function emptyValues(type: NumberType, count: number): NumericArray {
  return new NUMBER_ARRAYS[type](count);
}

/** Returns the text of an attribute; undefined if it is absent or numeric. */
export function textOf(attributes: Attributes, name: string): string | undefined {
  const value = attributes.get(name)?.value;
  return typeof value === "string" ? value : undefined;
}

/** Returns the numbers of an attribute; undefined if it is absent or text. */
export function numbersOf(attributes: Attributes, name: string): readonly number[] | undefined {
  const value = attributes.get(name)?.value;
  return typeof value === "string" ? undefined : value;
}

export function countOf(ranges: readonly IndexRange[]): number {
  return ranges.reduce((count, { first, end }) => count * (end - first), 1);
}

/** Returns the ranges of all values of a variable. */
export function wholeOf({ shape }: ArrayVariable): readonly IndexRange[] {
  return shape.map((size) => ({ first: 0, end: size }));
}

/**
 * Returns the variable that a name in an attribute refers to: in the group of the variable with the attribute, or in the
 * nearest group above it.
 */
export function findVariable(file: ArrayFile, from: ArrayVariable, name: string): ArrayVariable | undefined {
  const path = from.name.split("/").slice(0, -1);
  if (name.startsWith("/")) return file.variables.get(name.slice(1));
  for (;;) {
    const found = file.variables.get([...path, name].join("/"));
    if (found !== undefined || path.length === 0) return found;
    path.pop();
  }
}
