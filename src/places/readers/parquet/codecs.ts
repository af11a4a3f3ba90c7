import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { CompressionCodec } from "hyparquet";
import { ZSTDDecoder } from "zstddec";
import { requirePackages } from "../../../validation/optionalPackages.ts";
import { check, ParquetDamage } from "./damage.ts";

/** Decompresses a page to its known size. */
export type Decompress = (compressed: Uint8Array, sizeBytes: number) => Uint8Array;

const decompressGzip: Decompress = (compressed, sizeBytes) =>
  gunzipSync(compressed, { maxOutputLength: Math.max(1, sizeBytes) });
const decompressBrotli: Decompress = (compressed, sizeBytes) =>
  brotliDecompressSync(compressed, { maxOutputLength: Math.max(1, sizeBytes) });

/**
 * Returns the decompressors of the codecs.
 * @throws ParquetDamage naming a codec that is not supported
 * @throws Fault `configuration_invalid` if a package that a codec needs is not installed
 */
export async function loadCodecs(
  codecs: Iterable<CompressionCodec>,
): Promise<ReadonlyMap<CompressionCodec, Decompress>> {
  const loaded = new Map<CompressionCodec, Decompress>();
  for (const codec of codecs) if (!loaded.has(codec)) loaded.set(codec, withSizeCheck(await loadCodec(codec)));
  return loaded;
}

async function loadCodec(codec: CompressionCodec): Promise<Decompress> {
  switch (codec) {
    case "UNCOMPRESSED":
      return (bytes) => bytes.slice();
    case "SNAPPY": {
      const { snappyUncompress } = await import("hyparquet");
      return (compressed, sizeBytes) => {
        const bytes = new Uint8Array(sizeBytes);
        snappyUncompress(compressed, bytes);
        return bytes;
      };
    }
    case "GZIP":
      return decompressGzip;
    case "BROTLI":
      return decompressBrotli;
    case "ZSTD": {
      const decoder = new ZSTDDecoder();
      await decoder.init();
      // Given a size, the decoder writes at most that many bytes.
      return (compressed, sizeBytes) => decoder.decode(compressed, sizeBytes);
    }
    case "LZ4":
    case "LZ4_RAW": {
      requirePackages("Reading Parquet files with LZ4", ["hyparquet-compressors"]);
      const { compressors } = await import("hyparquet-compressors");
      const decompress = compressors[codec];
      check(decompress !== undefined, `the codec ${codec}, which is not supported`);
      return decompress;
    }
    default:
      throw new ParquetDamage(`the codec ${codec}, which is not supported`);
  }
}

function withSizeCheck(decompress: Decompress): Decompress {
  return (compressed, sizeBytes) => {
    if (sizeBytes === 0) return new Uint8Array(0);
    const bytes = decompress(compressed, sizeBytes);
    check(bytes.length === sizeBytes, "a page that has another size than stated");
    return bytes;
  };
}
