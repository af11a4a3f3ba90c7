/** Decodes LERC blocks, whose masks become NaN. */
import Lerc from "lerc";
import type { Layout } from "./layout.ts";
import type { NumberFormat } from "./nodata.ts";

/** Decompresses a block that is compressed again with DEFLATE or ZSTD. */
type Decompress = (compression: number, encoded: Uint8Array, sizeBytesMax: number) => Uint8Array | Promise<Uint8Array>;

const DEFLATE = 8;
const ZSTD = 50_000;
/** LERC versions with a checksum. */
const VERSION_MIN = 3;
const VERSION_MAX = 5;
/** Bytes of the header of version 4 and later: key, version, checksum, rows, columns, dimensions and eight more numbers. */
const HEADER_BYTES = 66;
/** A LERC block is at most as large as its numbers, its mask and its header; the limit allows for small blocks. */
const OVERHEAD_BYTES = 65_536;

/** Number formats by the code in the header. */
const FORMATS: readonly NumberFormat[] = [
  { kind: "integer", bits: 8 },
  { kind: "unsigned", bits: 8 },
  { kind: "integer", bits: 16 },
  { kind: "unsigned", bits: 16 },
  { kind: "integer", bits: 32 },
  { kind: "unsigned", bits: 32 },
  { kind: "float", bits: 32 },
  { kind: "float", bits: 64 },
];

/**
 * Decodes one block. Its header must describe a block of the file, so that damaged data cannot exhaust memory.
 * @throws Error if the block is damaged, or has missing cells that its number format cannot represent
 */
export async function decodeLerc(encoded: Uint8Array, layout: Layout, decompress: Decompress): Promise<Uint8Array> {
  const sizeBytesMax = 2 * layout.blockBytes + OVERHEAD_BYTES;
  const blob = await withoutCompression(encoded, (compression) => decompress(compression, encoded, sizeBytesMax));
  const { rowCount, dimensionCount } = checkHeader(blob, layout);
  const { pixels, mask } = decode(blob);
  const [numbers, ...others] = pixels;
  if (numbers === undefined || others.length > 0) throw new Error(`its LERC data have ${pixels.length} parts`);
  const cellCount = rowCount * layout.blockColumnCount;
  if (numbers.length !== cellCount * dimensionCount)
    throw new Error("the size of its LERC data differs from that of the block");
  if (mask === undefined || mask === null)
    return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  if (layout.format.kind !== "float") {
    throw new Error("its LERC data mark missing cells, but its integers have no value for them");
  }
  for (let cell = 0; cell < cellCount; cell++) {
    if (mask[cell] === 0) numbers.fill(NaN, cell * dimensionCount, (cell + 1) * dimensionCount);
  }
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Decompresses a block that does not start with the key of LERC. */
async function withoutCompression(
  encoded: Uint8Array,
  decompress: (compression: number) => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (hasKey(encoded)) return encoded;
  const isZstd = [0x28, 0xb5, 0x2f, 0xfd].every((byte, index) => encoded[index] === byte);
  const blob = await decompress(isZstd ? ZSTD : DEFLATE);
  if (!hasKey(blob)) throw new Error("its LERC data are of the first version or damaged");
  return blob;
}

function hasKey(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(0, 6)) === "Lerc2 ";
}

function checkHeader(blob: Uint8Array, layout: Layout): { readonly rowCount: number; readonly dimensionCount: number } {
  if (blob.length < HEADER_BYTES) throw new Error("its LERC data end within their header");
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength);
  const version = view.getInt32(6, true);
  if (!(version >= VERSION_MIN && version <= VERSION_MAX)) {
    throw new Error(`its LERC data are of version ${version}; ${VERSION_MIN} to ${VERSION_MAX} are supported`);
  }
  const rowCount = view.getUint32(14, true);
  const columnCount = view.getUint32(18, true);
  // Version 4 added the number of dimensions, which are bands.
  const dimensionCount = version >= 4 ? view.getUint32(22, true) : 1;
  const rest = version >= 4 ? 26 : 22;
  const validCount = view.getUint32(rest, true);
  const sizeBytes = view.getInt32(rest + 8, true);
  const format = FORMATS[view.getInt32(rest + 12, true)];
  const bandCount = layout.isPlanar ? 1 : layout.bandCount;
  // The last strip of a file has only the remaining rows.
  const isWhole = rowCount === layout.blockRowCount;
  const isLastStrip = !layout.isTiled && rowCount === layout.rowCount % layout.blockRowCount;
  if (
    !(isWhole || isLastStrip) ||
    columnCount !== layout.blockColumnCount ||
    dimensionCount !== bandCount ||
    format?.kind !== layout.format.kind ||
    format.bits !== layout.format.bits
  ) {
    throw new Error(
      `its LERC data have ${rowCount} rows, ${columnCount} columns, ${dimensionCount} bands and ${format?.kind ?? "unknown"} numbers of ${format?.bits ?? "unknown"} bits, unlike the block`,
    );
  }
  if (sizeBytes !== blob.length) {
    throw new Error(`its LERC data state a size of ${sizeBytes} bytes but have ${blob.length} bytes`);
  }
  if (!(validCount <= rowCount * columnCount))
    throw new Error("its LERC data state more valid cells than the block has");
  return { rowCount, dimensionCount };
}

function decode(blob: Uint8Array): ReturnType<typeof Lerc.decode> {
  try {
    // The decoder reads from the start of a buffer, and decodes several bands in a row.
    return Lerc.decode(new Uint8Array(blob).buffer, { returnPixelInterleavedDims: true });
  } catch (error) {
    // The decoder throws strings.
    throw error instanceof Error ? error : new Error(`its LERC data are damaged: ${String(error)}`);
  }
}
