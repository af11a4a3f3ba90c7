/**
 * Decoders of Zarr chunks with a size limit. Those of zarrita decode as many bytes as the data claim, and do not verify
 * checksums.
 */
import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { createCRC32 } from "hash-wasm";
import { ZSTDDecoder } from "zstddec";
import type { registry } from "zarrita";
import { NUMBER_BYTES } from "../arrays/arrayFile.ts";

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
