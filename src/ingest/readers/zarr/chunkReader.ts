/** Reads parts of a Zarr array with zarrita, chunk by chunk. */
import type { Array as ZarrArray, AsyncReadable, DataType } from "zarrita";
import type { NumberType } from "../../raster.ts";
import { countOf, type IndexRange, NUMBER_BYTES, type NumericArray } from "../arrays/arrayFile.ts";
import type { ZarrMetadata } from "./metadata.ts";
import type { ZarrFiles } from "./store.ts";

/** Decoded chunks that are kept, because maps of several return periods are often in the same chunk. */
const CACHED_BYTES_MAX = 128 << 20;

/** An array of a store. */
export interface ChunkedArray {
  readonly zarr: typeof import("zarrita");
  readonly files: ZarrFiles;
  /** Path of the array in the store; "" if the store is the array. */
  readonly path: string;
  readonly metadata: ZarrMetadata;
}

interface DecodedChunk {
  readonly data: NumericArray;
  readonly stride: readonly number[];
}

/** Reads parts of one array. */
export class ChunkReader {
  readonly #source: ChunkedArray;
  readonly #type: NumberType;
  /** Keys that were requested and do not exist. */
  readonly #absentKeys = new Set<string>();
  readonly #cache = new Map<string, Promise<DecodedChunk | undefined>>();
  #array: Promise<ZarrArray<DataType, AsyncReadable>> | undefined;

  constructor(source: ChunkedArray, type: NumberType) {
    this.#source = source;
    this.#type = type;
  }

  async read(ranges: readonly IndexRange[]): Promise<NumericArray> {
    const { chunkShape } = this.#source.metadata;
    const sizes = ranges.map(({ first, end }) => end - first);
    let values = emptyValues(this.#type, countOf(ranges));
    for (const coordinates of chunksOf(ranges, chunkShape)) {
      const chunk = await this.#chunk(coordinates);
      if (chunk === undefined) values = withNaN(values);
      copyChunk({ chunk, coordinates, chunkShape }, { values, ranges, sizes });
    }
    return values;
  }

  /** Returns a decoded chunk; undefined if it is not stored and the array has no fill value. */
  #chunk(coordinates: readonly number[]): Promise<DecodedChunk | undefined> {
    const key = coordinates.join(" ");
    let chunk = this.#cache.get(key);
    if (chunk === undefined) {
      chunk = this.#decode(coordinates);
      chunk.catch(() => this.#cache.delete(key)); // a failure is not cached
    }
    this.#cache.delete(key);
    this.#cache.set(key, chunk); // most recently used last
    const { chunkShape } = this.#source.metadata;
    const chunkBytes = chunkShape.reduce((product, size) => product * size, NUMBER_BYTES[this.#type]);
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= 1 || this.#cache.size * chunkBytes <= CACHED_BYTES_MAX) break;
      this.#cache.delete(oldest);
    }
    return chunk;
  }

  async #decode(coordinates: readonly number[]): Promise<DecodedChunk | undefined> {
    const { metadata } = this.#source;
    this.#array ??= this.#open();
    const array = await this.#array;
    const { data, stride, shape } = await array.getChunk([...coordinates]);
    // Only version 2 has arrays without a fill value, and it has no shards: each chunk is one key.
    if (metadata.fillValue === undefined && this.#absentKeys.has(coordinates.join("."))) return undefined;
    const expectedCount = metadata.chunkShape.reduce((product, size) => product * size, 1);
    const values = data as unknown as NumericArray;
    if (values.length !== expectedCount || shape.some((size, index) => size !== metadata.chunkShape[index]))
      throw new Error(`chunk ${coordinates.join(", ")} has ${values.length} values instead of ${expectedCount}`);
    return { data: values, stride };
  }

  #open(): Promise<ZarrArray<DataType, AsyncReadable>> {
    const { zarr, files, path, metadata } = this.#source;
    const absent = this.#absentKeys;
    const prefix = path === "" ? "" : `${path}/`;
    const store: AsyncReadable = {
      async get(key) {
        const bytes = await files.read(key.slice(1));
        if (bytes === undefined) absent.add(key.slice(1 + prefix.length).replaceAll("/", "."));
        return bytes;
      },
      getRange: (key, range) => files.read(key.slice(1), range),
    };
    const location = path === "" ? zarr.root(store) : zarr.root(store).resolve(path);
    return metadata.version === 2
      ? zarr.open.v2(location, { kind: "array" })
      : zarr.open.v3(location, { kind: "array" });
  }
}

/** Returns the coordinates of the chunks that ranges touch. */
function* chunksOf(ranges: readonly IndexRange[], chunkShape: readonly number[]): Generator<readonly number[]> {
  const first = ranges.map((range, index) => Math.floor(range.first / (chunkShape[index] ?? 1)));
  const last = ranges.map((range, index) => Math.ceil(range.end / (chunkShape[index] ?? 1)) - 1);
  const coordinates = [...first];
  for (;;) {
    yield [...coordinates];
    let axis = coordinates.length - 1;
    while (axis >= 0 && coordinates[axis] === last[axis]) {
      coordinates[axis] = first[axis] ?? 0;
      axis--;
    }
    if (axis < 0) return;
    coordinates[axis] = (coordinates[axis] ?? 0) + 1;
  }
}

function copyChunk(
  {
    chunk,
    coordinates,
    chunkShape,
  }: {
    readonly chunk: DecodedChunk | undefined;
    readonly coordinates: readonly number[];
    readonly chunkShape: readonly number[];
  },
  target: { readonly values: NumericArray; readonly ranges: readonly IndexRange[]; readonly sizes: readonly number[] },
): void {
  const values = target.values as Float64Array;
  const data = chunk?.data as Float64Array | undefined;
  const copy = (axis: number, from: number, to: number): void => {
    const range = target.ranges[axis];
    if (range === undefined) {
      values[to] = data === undefined ? NaN : (data[from] as number);
      return;
    }
    const start = (coordinates[axis] ?? 0) * (chunkShape[axis] ?? 1);
    const first = Math.max(start, range.first);
    const end = Math.min(start + (chunkShape[axis] ?? 1), range.end);
    const stride = chunk?.stride[axis] ?? 0;
    const isRun = axis === target.ranges.length - 1 && data !== undefined && stride === 1;
    const targetStart = to * (target.sizes[axis] ?? 1);
    if (isRun) {
      values.set(data.subarray(from + first - start, from + end - start), targetStart + first - range.first);
      return;
    }
    for (let index = first; index < end; index++) {
      copy(axis + 1, from + (index - start) * stride, targetStart + index - range.first);
    }
  };
  copy(0, 0, 0);
}

function emptyValues(type: NumberType, count: number): NumericArray {
  const constructors = {
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
  return new constructors[type](count);
}

/** Returns the values in an array that can hold NaN. */
function withNaN(values: NumericArray): NumericArray {
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array)
    throw new Error("a chunk of 64-bit integers is not stored and the array has no fill value");
  return Float64Array.from(values);
}
