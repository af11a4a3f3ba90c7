/**
 * Reads NetCDF-3 files (classic and 64-bit offset). netcdfjs reads the header; values are read from the file window by window,
 * because netcdfjs would load the whole file.
 */
import { type FileHandle, open } from "node:fs/promises";
import { requirePackages } from "../../validation/optionalPackages.ts";
import { messageOf, type NumberType, sourceFault } from "../raster.ts";
import {
  type ArrayFile,
  type ArrayVariable,
  type Attribute,
  type Attributes,
  COORDINATE_COUNT_MAX,
  countOf,
  type Dimension,
  emptyValues,
  type IndexRange,
  NUMBER_BYTES,
  type NumericArray,
  VARIABLE_COUNT_MAX,
} from "./arrays/arrayFile.ts";

/** The header must be within this many bytes from the start of the file. */
const HEADER_BYTES_MAX = 8 << 20;
/** Largest part of the file that is read at once. */
const SPAN_BYTES_MAX = 16 << 20;
/** The number of records of a file whose writer did not finish. */
const STREAMING = 0xff_ff_ff_ff;

const TYPES: Readonly<Record<string, NumberType | "text">> = {
  byte: "int8",
  char: "text",
  short: "int16",
  int: "int32",
  float: "float32",
  double: "float64",
};

interface HeaderVariable {
  readonly name: string;
  readonly dimensions: readonly number[];
  readonly attributes: readonly HeaderAttribute[];
  readonly type: string;
  readonly offset: number;
}

interface HeaderAttribute {
  readonly name: string;
  readonly type: string;
  readonly value: string | number | readonly number[];
}

interface Header {
  readonly dimensions: readonly { readonly name: string; readonly size: number }[];
  readonly variables: readonly HeaderVariable[];
  readonly recordDimension: { readonly length: number; readonly id?: number };
}

/**
 * Opens a NetCDF-3 file on disk.
 *
 * @param path where the file is; `file` is its name in messages
 * @throws Fault `source_invalid` if the file is damaged or exceeds a limit; `configuration_invalid` if netcdfjs is not installed
 */
export async function openNetcdf3(file: string, path: string): Promise<ArrayFile> {
  requirePackages("Reading NetCDF-3 files", ["netcdfjs"]);
  const { NetCDFReader } = await import("netcdfjs");
  let handle: FileHandle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    throw sourceFault(file, `cannot be opened (${messageOf(error)}).`, { cause: error });
  }
  try {
    const { size: sizeBytes } = await handle.stat();
    const bytes = await readSpan(handle, 0, Math.min(sizeBytes, HEADER_BYTES_MAX));
    let header: Header;
    try {
      header = new NetCDFReader(bytes).header;
    } catch (error) {
      const limit = sizeBytes > HEADER_BYTES_MAX ? `, its header is larger than ${HEADER_BYTES_MAX} bytes` : "";
      throw sourceFault(
        file,
        `cannot be read as NetCDF-3 (${messageOf(error)}). The file is damaged or truncated${limit}, or a variable begins ` +
          "beyond 4 GiB; nccopy -k nc4 converts such files.",
        { cause: error },
      );
    }
    return {
      file,
      format: "NetCDF-3",
      variables: variablesOf(file, header, { handle, sizeBytes }),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface OpenBytes {
  readonly handle: FileHandle;
  readonly sizeBytes: number;
}

function variablesOf(file: string, header: Header, bytes: OpenBytes): ReadonlyMap<string, ArrayVariable> {
  const { recordDimension } = header;
  const dimensions = header.dimensions ?? [];
  const all = header.variables ?? [];
  if (all.length > VARIABLE_COUNT_MAX)
    throw sourceFault(file, `has ${all.length} variables; the limit is ${VARIABLE_COUNT_MAX}.`);
  const isRecord = ({ dimensions: ids }: HeaderVariable): boolean =>
    recordDimension.id !== undefined && ids[0] === recordDimension.id;
  const shapeOf = (variable: HeaderVariable): readonly number[] =>
    variable.dimensions.map((id, index) => {
      const dimension = dimensions[id];
      if (dimension === undefined || (index > 0 && id === recordDimension.id))
        throw sourceFault(file, `is damaged: variable ${variable.name} has an invalid dimension (${id}).`);
      return id === recordDimension.id ? recordDimension.length : dimension.size;
    });
  const typeOf = (variable: HeaderVariable): NumberType | "text" => {
    const type = TYPES[variable.type];
    if (type === undefined) throw sourceFault(file, `is damaged: variable ${variable.name} has an invalid type.`);
    return type;
  };
  const recordBytesOf = (variable: HeaderVariable): number =>
    shapeOf(variable)
      .slice(1)
      .reduce((product, size) => product * size, bytesOf(typeOf(variable)));
  const records = all.filter(isRecord);
  if (records.length > 0 && recordDimension.length === STREAMING)
    throw sourceFault(file, "has an unknown number of records: its writer did not finish. Repair it with nccopy.");
  // Records are padded to 4 bytes, unless there is only one variable with records.
  const padded = (size: number): number => Math.ceil(size / 4) * 4;
  const recordStep =
    records.length === 1
      ? records.reduce((_, variable) => recordBytesOf(variable), 0)
      : records.reduce((sum, variable) => sum + padded(recordBytesOf(variable)), 0);

  const variables = new Map<string, ArrayVariable>();
  const names = new Set(all.map(({ name }) => name));
  for (const variable of all) {
    const shape = shapeOf(variable);
    const type = typeOf(variable);
    const strides = stridesOf(shape, bytesOf(type));
    if (isRecord(variable)) strides[0] = recordStep;
    const layout: StoredLayout = { offset: variable.offset, strides, type };
    const lastByte = shape.reduce(
      (end, size, index) => end + (size - 1) * (strides[index] ?? 0),
      variable.offset + bytesOf(type),
    );
    if (!shape.includes(0) && !(lastByte <= bytes.sizeBytes)) {
      throw sourceFault(
        file,
        `is truncated: variable ${variable.name} would end at byte ${lastByte}, the file ends at ${bytes.sizeBytes}.`,
      );
    }
    const name = utf8(variable.name);
    variables.set(name, {
      name,
      shape,
      dimensions: variable.dimensions.map((id): Dimension => {
        const dimension = dimensions[id]?.name ?? "";
        return {
          name: utf8(dimension),
          coordinate: names.has(dimension) ? utf8(dimension) : undefined,
          values: undefined,
        };
      }),
      type: type === "text" && shape.length !== 2 && shape.length !== 1 ? { unsupported: "characters" } : type,
      attributes: attributesOf(variable.attributes ?? []),
      chunkShape: undefined,
      unsupported: undefined,
      missing: [],
      hasDefaultFill: true,
      notes: {},
      read: (ranges) => readPart(bytes.handle, layout, ranges),
      readTexts: () => readTexts(bytes.handle, layout, shape),
    });
  }
  return variables;
}

function bytesOf(type: NumberType | "text"): number {
  return type === "text" ? 1 : NUMBER_BYTES[type];
}

function stridesOf(shape: readonly number[], valueBytes: number): number[] {
  const strides = shape.map(() => valueBytes);
  for (let index = shape.length - 2; index >= 0; index--) {
    strides[index] = (strides[index + 1] ?? 0) * (shape[index + 1] ?? 0);
  }
  return strides;
}

/** netcdfjs decodes texts byte by byte. */
function utf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}

function attributesOf(list: readonly HeaderAttribute[]): Attributes {
  const attributes = new Map<string, Attribute>();
  for (const { name, type: typeName, value } of list) {
    const type = TYPES[typeName];
    if (typeof value === "string") {
      attributes.set(utf8(name), { value: utf8(value), type: undefined });
      continue;
    }
    const numbers = [value].flat();
    // netcdfjs reads signed bytes as unsigned.
    const signed = type === "int8" ? numbers.map((byte) => (byte > 127 ? byte - 256 : byte)) : numbers;
    attributes.set(utf8(name), { value: signed, type: type === "text" ? undefined : type });
  }
  return attributes;
}

/** Position of the values of a variable: byte offset = offset + sum of index x stride. */
interface StoredLayout {
  readonly offset: number;
  readonly strides: readonly number[];
  readonly type: NumberType | "text";
}

async function readSpan(handle: FileHandle, offset: number, sizeBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes);
  let filled = 0;
  while (filled < sizeBytes) {
    const { bytesRead } = await handle.read(bytes, filled, sizeBytes - filled, offset + filled);
    if (bytesRead === 0) throw new Error(`the file ends at byte ${offset + filled}`);
    filled += bytesRead;
  }
  return bytes;
}

async function readPart(
  handle: FileHandle,
  { offset, strides, type }: StoredLayout,
  ranges: readonly IndexRange[],
): Promise<NumericArray> {
  if (type === "text") throw new Error("the variable stores text");
  const values = emptyValues(type, countOf(ranges));
  const first = ranges.reduce((sum, range, index) => sum + range.first * (strides[index] ?? 0), offset);
  const counts = ranges.map((range) => range.end - range.first);
  await readBlock(handle, { first, counts, strides, type }, { values, start: 0 });
  return values;
}

interface Block {
  /** Byte offset of the first value. */
  readonly first: number;
  readonly counts: readonly number[];
  readonly strides: readonly number[];
  readonly type: NumberType;
}

/** Reads a block in one span if it is small enough; otherwise reads its parts along the first dimension. */
async function readBlock(
  handle: FileHandle,
  { first, counts, strides, type }: Block,
  target: { readonly values: NumericArray; readonly start: number },
): Promise<void> {
  const [count = 1, ...innerCounts] = counts;
  const [stride = 0, ...innerStrides] = strides;
  const spanBytes = counts.reduce((sum, size, index) => sum + (size - 1) * (strides[index] ?? 0), NUMBER_BYTES[type]);
  const innerCount = innerCounts.reduce((product, size) => product * size, 1);
  if (spanBytes > SPAN_BYTES_MAX && counts.length > 0) {
    const partCount = Math.max(1, Math.floor(count / Math.ceil(spanBytes / SPAN_BYTES_MAX)));
    for (let index = 0; index < count; index += partCount) {
      const size = Math.min(partCount, count - index);
      const part =
        size === 1 ? { counts: innerCounts, strides: innerStrides } : { counts: [size, ...innerCounts], strides };
      await readBlock(
        handle,
        { first: first + index * stride, type, ...part },
        { values: target.values, start: target.start + index * innerCount },
      );
    }
    return;
  }
  const bytes = await readSpan(handle, first, spanBytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READERS[type];
  if (read === undefined) throw new Error(`numbers of type ${type} do not exist in NetCDF-3`);
  let position = target.start;
  const gather = (dimension: number, offset: number): void => {
    if (dimension === counts.length) {
      target.values[position++] = read(view, offset);
      return;
    }
    const step = strides[dimension] ?? 0;
    for (let index = 0; index < (counts[dimension] ?? 0); index++) gather(dimension + 1, offset + index * step);
  };
  gather(0, 0);
}

/** Functions that read a big-endian number of each type. */
const READERS: Readonly<Record<string, (view: DataView, offset: number) => number>> = {
  int8: (view, offset) => view.getInt8(offset),
  int16: (view, offset) => view.getInt16(offset),
  int32: (view, offset) => view.getInt32(offset),
  float32: (view, offset) => view.getFloat32(offset),
  float64: (view, offset) => view.getFloat64(offset),
};

/** Reads a list of texts, stored as an array of characters whose last dimension is the length. */
async function readTexts(
  handle: FileHandle,
  { offset, strides }: StoredLayout,
  shape: readonly number[],
): Promise<readonly string[]> {
  const [count, length] = shape.length === 1 ? [1, shape[0] ?? 0] : [shape[0] ?? 0, shape[1] ?? 0];
  const step = shape.length === 1 ? length : (strides[0] ?? length);
  if (!(count * length <= COORDINATE_COUNT_MAX && count * step <= SPAN_BYTES_MAX))
    throw new Error(`has ${count} texts of ${length} characters; the limit is ${COORDINATE_COUNT_MAX} characters`);
  const bytes = count === 0 ? new Uint8Array(0) : await readSpan(handle, offset, (count - 1) * step + length);
  return Array.from({ length: count }, (_, index) =>
    new TextDecoder().decode(bytes.subarray(index * step, index * step + length)).replace(/[\0 ]*$/, ""),
  );
}
