/**
 * Presents a TIFF file to geotiff.js as a little-endian BigTIFF with one directory, which describes the blocks as our
 * decoders return them: not compressed, without predictor, little-endian, and with 64-bit floats instead of 64-bit integers.
 * geotiff.js misreads the block index of big-endian files and the predictors of big-endian numbers, and has no 64-bit
 * integers. It reads only tags that have been validated.
 */
import type { GeoTIFF } from "geotiff";
import type { ByteSource } from "./byteSource.ts";
import { type Directory, TAG } from "./directory.ts";
import type { Layout } from "./layout.ts";

type GeotiffSource = Parameters<typeof GeoTIFF.fromSource>[0];

const COPIED_TAGS: readonly number[] = [
  TAG.imageWidth,
  TAG.imageLength,
  TAG.bitsPerSample,
  TAG.photometric,
  TAG.samplesPerPixel,
  TAG.rowsPerStrip,
  TAG.planarConfiguration,
  TAG.tileWidth,
  TAG.tileLength,
  TAG.sampleFormat,
  TAG.modelPixelScale,
  TAG.modelTiepoint,
  TAG.modelTransformation,
  TAG.geoKeyDirectory,
  TAG.geoDoubleParams,
  TAG.geoAsciiParams,
  TAG.gdalNodata,
];
const INDEX_TAGS: readonly number[] = [TAG.stripOffsets, TAG.stripByteCounts, TAG.tileOffsets, TAG.tileByteCounts];

const SHORT = 3;
const LONG8 = 16;
const FLOAT_FORMAT = 3;
const HEADER_BYTES = 16;
const ENTRY_BYTES = 20;

/** Values of a tag: bytes in memory, or an index that is converted when it is read. */
interface Field {
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly bytes?: Uint8Array;
}

/** A block index, at a position that is beyond the end of the file. */
interface IndexRegion {
  readonly start: number;
  readonly end: number;
  readonly tag: number;
}

/** Returns the source that geotiff.js reads. Its blocks are at the positions of the file. */
export async function normalizedSource(
  source: ByteSource,
  directory: Directory,
  layout: Layout,
): Promise<GeotiffSource> {
  const fields = await normalizedFields(directory, layout);
  const directoryStart = 8 * Math.ceil((source.sizeBytes + HEADER_BYTES) / 8);
  const { bytes, regions } = encodeDirectory(fields, directoryStart);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("II", 0, "latin1");
  header.writeUInt16LE(43, 2);
  header.writeUInt16LE(8, 4);
  header.writeBigUInt64LE(BigInt(directoryStart), 8);

  const read = async (offset: number, sizeBytes: number): Promise<Uint8Array<ArrayBuffer>> => {
    if (offset === 0) return new Uint8Array(header); // no block is at the start of a file
    if (offset < directoryStart) return source.read(offset, sizeBytes);
    const region = regions.find(({ start, end }) => offset >= start && offset < end);
    if (region === undefined) {
      const from = offset - directoryStart;
      return new Uint8Array(bytes.subarray(from, from + sizeBytes));
    }
    const first = (offset - region.start) / 8;
    const end = Math.min((region.end - region.start) / 8, first + Math.ceil(sizeBytes / 8));
    return longsOf(await directory.numbers(region.tag, first, end));
  };
  const fetchSlice: GeotiffSource["fetchSlice"] = async ({ offset, length }) => {
    const data = await read(offset, length);
    return { data: data.buffer, offset, length: data.length };
  };
  return {
    fetchSlice,
    fetch: (slices, signal) => Promise.all(slices.map(async (slice) => (await fetchSlice(slice, signal)).data)),
    get fileSize() {
      return regions.at(-1)?.end ?? directoryStart + bytes.length;
    },
    close: () => source.close(),
  };
}

async function normalizedFields(directory: Directory, layout: Layout): Promise<readonly Field[]> {
  const fields: Field[] = [];
  for (const tag of COPIED_TAGS) {
    const entry = directory.entry(tag);
    if (entry === undefined || entry.count === 0) continue;
    const { type, count } = entry;
    const perBand =
      tag === TAG.sampleFormat ? formatCode(layout) : tag === TAG.bitsPerSample ? layout.format.bits : undefined;
    fields.push(
      perBand === undefined
        ? { tag, type, count, bytes: await directory.littleEndianBytes(tag) }
        : { tag, type: SHORT, count: layout.bandCount, bytes: bytesPerBand(layout, perBand) },
    );
  }
  for (const tag of INDEX_TAGS) {
    const count = directory.count(tag);
    // A value of eight bytes is stored in its entry.
    if (count === 1) fields.push({ tag, type: LONG8, count, bytes: longsOf(await directory.numbers(tag)) });
    else if (count > 1) fields.push({ tag, type: LONG8, count });
  }
  return fields.toSorted((a, b) => a.tag - b.tag);
}

function formatCode({ format }: Layout): number {
  return format.bits === 64 ? FLOAT_FORMAT : { unsigned: 1, integer: 2, float: FLOAT_FORMAT }[format.kind];
}

/** Returns the values of a tag that has the same number for every band. */
function bytesPerBand({ bandCount }: Layout, number: number): Uint8Array {
  return new Uint8Array(Uint16Array.from({ length: bandCount }, () => number).buffer);
}

function encodeDirectory(
  fields: readonly Field[],
  directoryStart: number,
): { readonly bytes: Buffer; readonly regions: readonly IndexRegion[] } {
  const valuesStart = 8 + ENTRY_BYTES * fields.length + 8;
  const isInline = ({ bytes }: Field): boolean => bytes !== undefined && bytes.length <= 8;
  const paddedSize = ({ bytes }: Field): number => 8 * Math.ceil((bytes?.length ?? 0) / 8);
  const valueBytes = fields.reduce((sum, field) => sum + (isInline(field) ? 0 : paddedSize(field)), 0);
  const bytes = Buffer.alloc(valuesStart + valueBytes);
  bytes.writeBigUInt64LE(BigInt(fields.length), 0);
  const regions: IndexRegion[] = [];
  let nextValue = valuesStart;
  let nextRegion = 8 * Math.ceil((directoryStart + bytes.length) / 8);
  for (const [index, field] of fields.entries()) {
    const entry = 8 + ENTRY_BYTES * index;
    bytes.writeUInt16LE(field.tag, entry);
    bytes.writeUInt16LE(field.type, entry + 2);
    bytes.writeBigUInt64LE(BigInt(field.count), entry + 4);
    if (field.bytes === undefined) {
      bytes.writeBigUInt64LE(BigInt(nextRegion), entry + 12);
      regions.push({ tag: field.tag, start: nextRegion, end: nextRegion + 8 * field.count });
      nextRegion += 8 * field.count;
    } else if (isInline(field)) {
      bytes.set(field.bytes, entry + 12);
    } else {
      bytes.writeBigUInt64LE(BigInt(directoryStart + nextValue), entry + 12);
      bytes.set(field.bytes, nextValue);
      nextValue += paddedSize(field);
    }
  }
  return { bytes, regions };
}

/** Encodes numbers as LONG8. Numbers above 2^53 - 1, which are read as infinite, become 2^53 - 1. */
function longsOf(numbers: readonly number[]): Uint8Array<ArrayBuffer> {
  const longs = numbers.map((number) => BigInt(Math.min(number, Number.MAX_SAFE_INTEGER)));
  return new Uint8Array(BigUint64Array.from(longs).buffer);
}
