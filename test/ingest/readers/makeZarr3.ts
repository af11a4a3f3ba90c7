/** Writes a small Zarr store of version 3, with compressed and sharded arrays. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const BYTES = { name: "bytes", configuration: { endian: "little" } };
const GZIP = { name: "gzip", configuration: { level: 5 } };

interface ArraySpec {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly type: "float32" | "float64" | "int32";
  readonly names: readonly string[];
  readonly codecs: readonly unknown[];
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly fill?: number;
}

/**
 * Writes depths of rows x columns cells: the map `depth` in one compressed chunk, and `sharded`, whose shard has two chunks.
 *
 * @param grid positions of the northwest corner, and the size of cells in degrees
 */
export async function writeZarr3(
  folder: string,
  {
    values,
    rowCount,
    columnCount,
    grid,
  }: {
    readonly values: readonly number[];
    readonly rowCount: number;
    readonly columnCount: number;
    readonly grid: { readonly northDeg: number; readonly westDeg: number; readonly cellSizeDeg: number };
  },
): Promise<void> {
  const writeArray = async (name: string, spec: ArraySpec, chunk: Uint8Array): Promise<void> => {
    const path = join(folder, name);
    const chunkPath = join(path, "c", ...spec.shape.map(() => "0"));
    await mkdir(join(chunkPath, ".."), { recursive: true });
    await writeFile(chunkPath, chunk);
    await writeFile(join(path, "zarr.json"), JSON.stringify(metadataOf(spec)));
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "zarr.json"), JSON.stringify({ zarr_format: 3, node_type: "group", attributes: {} }));
  const wgs84 = {
    grid_mapping_name: "latitude_longitude",
    longitude_of_prime_meridian: 0,
    semi_major_axis: 6378137,
    inverse_flattening: 298.257223563,
  };
  await writeArray(
    "crs",
    { shape: [], chunkShape: [], type: "int32", names: [], codecs: [BYTES], attributes: wgs84 },
    new Uint8Array(4),
  );
  const centers = (start: number, count: number, step: number): Float64Array =>
    Float64Array.from({ length: count }, (_, index) => start + (index + 0.5) * step);
  for (const [name, count, start, step] of [
    ["lat", rowCount, grid.northDeg, -grid.cellSizeDeg],
    ["lon", columnCount, grid.westDeg, grid.cellSizeDeg],
  ] as const) {
    const attributes = { units: name === "lat" ? "degrees_north" : "degrees_east" };
    const spec = {
      shape: [count],
      chunkShape: [count],
      type: "float64",
      names: [name],
      codecs: [BYTES],
      attributes,
    } as const;
    await writeArray(name, spec, new Uint8Array(centers(start, count, step).buffer));
  }
  const depths = Float32Array.from(values);
  const shape = [rowCount, columnCount];
  const attributes = { units: "m", grid_mapping: "crs", _FillValue: -9999 };
  const depth = { shape, chunkShape: shape, type: "float32", names: ["lat", "lon"], attributes, fill: -9999 } as const;
  await writeArray("depth", { ...depth, codecs: [BYTES, GZIP] }, gzipSync(new Uint8Array(depths.buffer)));
  const half = [rowCount / 2, columnCount];
  const inner = { chunk_shape: half, codecs: [BYTES, GZIP], index_codecs: [BYTES, { name: "crc32c" }] };
  const sharding = [{ name: "sharding_indexed", configuration: { ...inner, index_location: "end" } }];
  const middle = depths.length / 2;
  const parts = [depths.slice(0, middle), depths.slice(middle)].map((part) => gzipSync(new Uint8Array(part.buffer)));
  await writeArray("sharded", { ...depth, codecs: sharding }, shardOf(parts));
}

function metadataOf({ shape, chunkShape, type, names, codecs, attributes = {}, fill = 0 }: ArraySpec): unknown {
  return {
    zarr_format: 3,
    node_type: "array",
    shape,
    data_type: type,
    chunk_grid: { name: "regular", configuration: { chunk_shape: chunkShape } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    fill_value: fill,
    codecs,
    dimension_names: names,
    attributes,
  };
}

/** Joins chunks and appends their index: offset and size of each, and a checksum. */
function shardOf(parts: readonly Uint8Array[]): Uint8Array {
  const index = Buffer.alloc(16 * parts.length + 4);
  let offset = 0;
  for (const [number, part] of parts.entries()) {
    index.writeBigUInt64LE(BigInt(offset), 16 * number);
    index.writeBigUInt64LE(BigInt(part.length), 16 * number + 8);
    offset += part.length;
  }
  index.writeUInt32LE(crc32c(index.subarray(0, -4)), index.length - 4);
  return Buffer.concat([...parts, index]);
}

/** CRC-32C (Castagnoli), RFC 3720. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
