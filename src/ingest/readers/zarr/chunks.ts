/**
 * Reads parts of a Zarr array with zarrita, chunk by chunk. The decoders of zarrita decode as many bytes as the data claim, and do
 * not verify checksums; they are replaced by decoders with a size limit.
 */
import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { createCRC32 } from "hash-wasm";
import type { Array as ZarrArray, AsyncReadable, DataType, registry } from "zarrita";
import { ZSTDDecoder } from "zstddec";
import { SizedCache } from "../../../concurrency/sizedCache.ts";
import type { NumberType } from "../../raster.ts";
import { countOf, emptyValues, type IndexRange, NUMBER_BYTES, type NumericArray } from "../arrays/arrayFile.ts";
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
  readonly #cache = new SizedCache<Promise<DecodedChunk | undefined>>(CACHED_BYTES_MAX);
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
      const { chunkShape } = this.#source.metadata;
      const chunkBytes = chunkShape.reduce((product, size) => product * size, NUMBER_BYTES[this.#type]);
      chunk = this.#decode(coordinates);
      this.#cache.set(key, chunk, Math.min(chunkBytes, CACHED_BYTES_MAX)); // the last one is always kept
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

/** Returns the values in an array that can hold NaN. */
function withNaN(values: NumericArray): NumericArray {
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array)
    throw new Error("a chunk of 64-bit integers is not stored and the array has no fill value");
  return Float64Array.from(values);
}

type Registry = typeof registry;
type CodecEntry = Awaited<ReturnType<NonNullable<ReturnType<Registry["get"]>>>>;
type ChunkMetadata = Parameters<CodecEntry["fromConfig"]>[1];

/** Decodes bytes into at most a number of bytes; throws if there would be more. */
type Decode = (encoded: Uint8Array, sizeBytesMax: number) => Promise<Uint8Array>;

const gunzipAsync = promisify(gunzip);
const inflateAsync = promisify(inflate);
const zstd = new ZSTDDecoder();

const decodeGzip: Decode = async (encoded, maxOutputLength) => gunzipAsync(encoded, { maxOutputLength });
const decodeZlib: Decode = async (encoded, maxOutputLength) => inflateAsync(encoded, { maxOutputLength });

const decodeZstd: Decode = async (encoded, sizeBytesMax) => {
  await zstd.init();
  // Given a size, the decoder writes at most that many bytes, and returns none on error.
  const decoded = zstd.decode(encoded, sizeBytesMax);
  if (decoded.length === 0) throw new Error("the zstd data are damaged or exceed the size of a chunk");
  return decoded;
};

/** CRC-32C (Castagnoli), reflected. */
const CASTAGNOLI = 0x82_f6_3b_78;

const checkCrc32c: Decode = async (encoded) => {
  const content = encoded.subarray(0, Math.max(0, encoded.length - 4));
  const hash = await createCRC32(CASTAGNOLI);
  const computed = hash.init().update(content).digest("binary");
  const stored = encoded.subarray(content.length);
  // The digest is big-endian, the stored checksum little-endian.
  if (stored.length === 4 && computed.every((byte, index) => byte === stored[3 - index])) return content;
  throw new Error("the CRC-32C checksum of a chunk does not match");
};

/** Bytes that a compressor may add to data that it cannot compress. */
const EXPANSION_BYTES = 65_536;

function sizeLimitOf({ dataType, shape }: ChunkMetadata): number {
  const valueBytes = (NUMBER_BYTES as Readonly<Record<string, number>>)[dataType] ?? 8;
  return shape.reduce((product, size) => product * size, valueBytes) + EXPANSION_BYTES;
}

/** Returns a codec that decodes with a limit and cannot encode. */
function bounded(decode: Decode, computeEncodedSize?: (decodedBytes: number) => number): () => Promise<CodecEntry> {
  const entry = {
    kind: "bytes_to_bytes",
    fromConfig: (_: unknown, metadata: ChunkMetadata) => ({
      kind: "bytes_to_bytes",
      encode: () => Promise.reject(new Error("encoding is not supported")),
      decode: (encoded: Uint8Array) => decode(encoded, sizeLimitOf(metadata)),
      ...(computeEncodedSize === undefined ? {} : { computeEncodedSize }),
    }),
  };
  return () => Promise.resolve(entry as unknown as CodecEntry);
}

/** Position of sizes in the header of compressed data. */
interface HeaderLayout {
  readonly sizeOf: (header: DataView) => number;
  readonly encodedSizeOf?: (header: DataView) => number;
}

/** Returns the decoder of zarrita, which is used only if the size in the header of the data is within the limit. */
function checkedHeader(
  original: () => Promise<CodecEntry>,
  { sizeOf, encodedSizeOf }: HeaderLayout,
): () => Promise<CodecEntry> {
  return async () => {
    const { fromConfig } = await original();
    const entry = {
      kind: "bytes_to_bytes",
      fromConfig(config: unknown, metadata: ChunkMetadata) {
        const codec = fromConfig(config, metadata);
        return {
          kind: "bytes_to_bytes",
          encode: () => Promise.reject(new Error("encoding is not supported")),
          decode(encoded: Uint8Array) {
            if (encoded.length < 16) throw new Error("the compressed data are truncated");
            const header = new DataView(encoded.buffer, encoded.byteOffset, 16);
            const encodedBytes = encodedSizeOf?.(header) ?? encoded.length;
            // The decoder would read past the end.
            if (encodedBytes !== encoded.length)
              throw new Error(`the compressed data have ${encoded.length} bytes instead of ${encodedBytes}`);
            const sizeBytes = sizeOf(header);
            if (!(sizeBytes <= sizeLimitOf(metadata)))
              throw new Error(`the compressed data claim ${sizeBytes} bytes, more than a chunk has`);
            return codec.decode(encoded);
          },
        };
      },
    };
    return entry as unknown as CodecEntry;
  };
}

const installed = new WeakSet<Registry>();

/** Replaces the decoders in the registry of zarrita. */
export function installCodecs(target: Registry): void {
  if (installed.has(target)) return;
  installed.add(target);
  const set = (name: string, entry: (() => Promise<CodecEntry>) | undefined): void => {
    if (entry === undefined) return;
    target.set(name, entry);
    target.set(`numcodecs.${name}`, entry);
  };
  const blosc = target.get("blosc");
  const lz4 = target.get("lz4");
  set("gzip", bounded(decodeGzip));
  set("zlib", bounded(decodeZlib));
  set("zstd", bounded(decodeZstd));
  set(
    "crc32c",
    bounded(checkCrc32c, (decodedBytes) => decodedBytes + 4),
  );
  set(
    "blosc",
    blosc &&
      checkedHeader(blosc, {
        sizeOf: (header) => header.getUint32(4, true),
        encodedSizeOf: (header) => header.getUint32(12, true),
      }),
  );
  set("lz4", lz4 && checkedHeader(lz4, { sizeOf: (header) => header.getUint32(0, true) }));
}
