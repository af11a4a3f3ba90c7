/** Writes GeoTIFF files strip by strip: one band of 32-bit floats in WGS84 degrees, compressed with DEFLATE. */
import { type FileHandle, open, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { Grid } from "../kernel/grid.ts";

const deflated = promisify(deflate);

/** Files of up to this size have 32-bit offsets; larger ones are BigTIFF. Compression never adds more than a few bytes. */
const CLASSIC_BYTES_MAX = 4_000_000_000;

export interface GeoTiffOptions {
  readonly grid: Grid;
  /** The last strip may have fewer rows. */
  readonly rowsPerStrip: number;
  /** Unit and description of the band, and other texts, as GDAL stores them. */
  readonly unit: string;
  readonly description: string;
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * Writes a file. Missing cells are NaN, which is declared as the nodata value. A file that could not be finished is removed.
 * @param strips the values of each strip, from north to south
 */
export async function writeGeoTiff(
  path: string,
  options: GeoTiffOptions,
  strips: AsyncIterable<Float32Array>,
): Promise<void> {
  const file = await open(path, "w");
  try {
    await writeStrips(file, options, strips);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function writeStrips(
  file: FileHandle,
  options: GeoTiffOptions,
  strips: AsyncIterable<Float32Array>,
): Promise<void> {
  const { rowCount, columnCount } = options.grid;
  const isBig = rowCount * columnCount * Float32Array.BYTES_PER_ELEMENT > CLASSIC_BYTES_MAX;
  const headerSize = isBig ? 16 : 8;
  const [offsets, sizes]: [number[], number[]] = [[], []];
  let end = headerSize;
  for await (const strip of strips) {
    const bytes = await deflated(new Uint8Array(strip.buffer, strip.byteOffset, strip.byteLength));
    await file.write(bytes, 0, bytes.length, end);
    offsets.push(end);
    sizes.push(bytes.length);
    end += bytes.length + (bytes.length % 2);
  }
  const directory = encodeDirectory(entriesOf(options, { offsets, sizes }), { offset: end, isBig });
  await file.write(directory, 0, directory.length, end);
  await file.write(encodeHeader(end, isBig), 0, headerSize, 0);
}

/** `SHORT`, `DOUBLE`, `ASCII`, or an offset: LONG in classic files, LONG8 in BigTIFF. */
type TagValue =
  | { readonly kind: "short" | "double" | "offset"; readonly values: readonly number[] }
  | { readonly kind: "text"; readonly text: string };

type Entry = readonly [tag: number, value: TagValue];

function entriesOf(
  { grid, rowsPerStrip, unit, description, texts }: GeoTiffOptions,
  { offsets, sizes }: { readonly offsets: readonly number[]; readonly sizes: readonly number[] },
): readonly Entry[] {
  const short = (...values: readonly number[]): TagValue => ({ kind: "short", values });
  const double = (...values: readonly number[]): TagValue => ({ kind: "double", values });
  const offset = (values: readonly number[]): TagValue => ({ kind: "offset", values });
  const items = [
    `<Item name="DESCRIPTION" sample="0" role="description">${itemText(description)}</Item>`,
    `<Item name="UNITTYPE" sample="0" role="unittype">${itemText(unit)}</Item>`,
    ...Object.entries(texts).map(([name, text]) => `<Item name="${escaped(name)}">${itemText(text)}</Item>`),
  ];
  const longitude = grid.westDeg >= 180 ? grid.westDeg - 360 : grid.westDeg;
  return [
    [256, offset([grid.columnCount])],
    [257, offset([grid.rowCount])],
    [258, short(32)],
    [259, short(8)], // DEFLATE
    [262, short(1)], // 0 is black
    [273, offset(offsets)],
    [277, short(1)],
    [278, offset([rowsPerStrip])],
    [279, offset(sizes)],
    [284, short(1)],
    [339, short(3)], // IEEE floats
    [33_550, double(grid.cellSizeLonDeg, grid.cellSizeLatDeg, 0)],
    [33_922, double(0, 0, 0, longitude, grid.northDeg, 0)],
    // GeoTIFF 1.1: geographic, values belong to cells, EPSG:4326, degrees.
    [34_735, short(1, 1, 1, 4, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326, 2054, 0, 1, 9102)],
    [42_112, { kind: "text", text: `<GDALMetadata>\n${items.join("\n")}\n</GDALMetadata>` }],
    [42_113, { kind: "text", text: "nan" }],
  ];
}

/** GDAL escapes the texts of its metadata twice, and undoes both. */
function itemText(text: string): string {
  return escaped(escaped(text));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function encodeHeader(directoryOffset: number, isBig: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(isBig ? 16 : 8));
  view.setUint16(0, 0x4949, true); // little-endian
  view.setUint16(2, isBig ? 43 : 42, true);
  if (isBig) {
    view.setUint16(4, 8, true);
    view.setBigUint64(8, BigInt(directoryOffset), true);
  } else view.setUint32(4, directoryOffset, true);
  return new Uint8Array(view.buffer);
}

const TYPE_CODES = { short: 3, double: 12, text: 2 } as const;

/** Encodes the directory, followed by the values that do not fit into its entries. */
function encodeDirectory(
  entries: readonly Entry[],
  { offset, isBig }: { readonly offset: number; readonly isBig: boolean },
): Uint8Array {
  const [countSize, entrySize, pointerSize] = isBig ? [8, 20, 8] : [2, 12, 4];
  const directorySize = countSize + entries.length * entrySize + pointerSize;
  const directory = new DataView(new ArrayBuffer(directorySize));
  const setPointer = (at: number, value: number): void => {
    if (isBig) directory.setBigUint64(at, BigInt(value), true);
    else directory.setUint32(at, value, true);
  };
  if (isBig) directory.setBigUint64(0, BigInt(entries.length), true);
  else directory.setUint16(0, entries.length, true);
  const extra: Uint8Array[] = [];
  let end = offset + directorySize;
  for (const [index, [tag, value]] of entries.entries()) {
    const at = countSize + index * entrySize;
    const { bytes, count } = encodeValue(value, isBig);
    directory.setUint16(at, tag, true);
    directory.setUint16(at + 2, value.kind === "offset" ? (isBig ? 16 : 4) : TYPE_CODES[value.kind], true);
    setPointer(at + 4, count);
    const valueAt = at + 4 + pointerSize;
    if (bytes.length <= pointerSize) new Uint8Array(directory.buffer).set(bytes, valueAt);
    else {
      setPointer(valueAt, end);
      const padded = new Uint8Array(bytes.length + (bytes.length % 2));
      padded.set(bytes);
      extra.push(padded);
      end += padded.length;
    }
  }
  return Buffer.concat([new Uint8Array(directory.buffer), ...extra]);
}

function encodeValue(value: TagValue, isBig: boolean): { readonly bytes: Uint8Array; readonly count: number } {
  if (value.kind === "text") {
    const bytes = new TextEncoder().encode(`${value.text}\0`);
    return { bytes, count: bytes.length };
  }
  const { kind, values } = value;
  const size = kind === "short" ? 2 : kind === "double" || isBig ? 8 : 4;
  const view = new DataView(new ArrayBuffer(size * values.length));
  for (const [index, number] of values.entries()) {
    const at = index * size;
    if (kind === "short") view.setUint16(at, number, true);
    else if (kind === "double") view.setFloat64(at, number, true);
    else if (isBig) view.setBigUint64(at, BigInt(number), true);
    else view.setUint32(at, number, true);
  }
  return { bytes: new Uint8Array(view.buffer), count: values.length };
}
