import { type FileHandle, open } from "node:fs/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type {
  AsyncBuffer,
  ColumnMetaData,
  CompressionCodec,
  Compressors,
  FileMetaData,
  ParquetScan,
  SchemaElement,
} from "hyparquet";
import { ZSTDDecoder } from "zstddec";
import { Fault, isFault } from "../../errors.ts";
import { requirePackages } from "../../validation/optionalPackages.ts";
import { quote } from "../../validation/schemaErrors.ts";

/** A column of the top level. */
export interface ParquetColumn {
  readonly name: string;
  /** Undefined for lists, maps and structures. */
  readonly element: SchemaElement | undefined;
  /** Number of the first leaf, which is the position of the column in a row group. */
  readonly leafIndex: number;
}

/** A flat column to be read. */
interface ReadColumn<Value> {
  readonly element: SchemaElement;
  readonly leafIndex: number;
  /** Converts stored values that are not null; a value of a dictionary only once. Undefined if they are kept as stored. */
  readonly convert: ((stored: unknown) => Value) | undefined;
}

/** An open Parquet file whose flat columns can be read. */
export interface ParquetFile {
  readonly metadata: FileMetaData;
  readonly columns: readonly ParquetColumn[];
  readonly rowCount: number;
  /** Returns the largest mean size of a row of columns, uncompressed: in the file, or in a row group of many rows. */
  meanRowBytesMax(columns: readonly Pick<ParquetColumn, "leafIndex">[]): number;
  /** Returns readers of columns that are read together. */
  openColumns<Value>(columns: readonly ReadColumn<Value>[]): Promise<readonly ColumnReader<Value>[]>;
  close(): Promise<void>;
}

/** Why bytes of a Parquet file cannot be decoded. */
class ParquetDamage extends Error {
  override readonly name = "ParquetDamage";
}

/** @throws ParquetDamage if the condition does not hold */
export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ParquetDamage(message);
}

/**
 * Opens a Parquet file. Only its footer is read.
 * @throws Fault `invalid_request` if the file is not Parquet, is damaged or uses a feature that is not supported
 * @throws Fault `configuration_invalid` if a package that it needs is not installed
 */
export async function openParquetFile(path: string, sizeBytes: number): Promise<ParquetFile> {
  requirePackages("Reading Parquet files", ["hyparquet"]);
  const handle = await open(path, "r");
  try {
    return await readParquetFile(handle, sizeBytes);
  } catch (error) {
    await handle.close();
    if (isFault(error) || (error instanceof Error && "syscall" in error)) throw error;
    const what = error instanceof ParquetDamage ? `it has ${error.message}` : String(error);
    throw new Fault("invalid_request", `The footer of the Parquet file cannot be read: ${what}.`, { cause: error });
  }
}

async function readParquetFile(handle: FileHandle, sizeBytes: number): Promise<ParquetFile> {
  const { parquetMetadataAsync } = await import("hyparquet");
  const file: AsyncBuffer = {
    byteLength: sizeBytes,
    slice: (start, end = sizeBytes) => {
      const bytes = readBytes(handle, { start, end, sizeBytes });
      bytes.catch(() => undefined); // hyparquet does not await all that it prefetches
      return bytes;
    },
  };
  await checkSignature(file);
  const metadata = await parquetMetadataAsync(file, { geoparquet: false });
  const { columns, leafCount } = readSchema(metadata.schema);
  const rowCount = countRows(metadata, leafCount);
  const compressors = await loadDecompressors(
    metadata.row_groups.flatMap((group) => group.columns.flatMap((column) => column.meta_data?.codec ?? [])),
  );
  let isOpen = true;
  return {
    metadata,
    columns,
    rowCount,
    meanRowBytesMax: (ofColumns) => meanRowBytesMax(metadata, ofColumns),
    async openColumns<Value>(ofColumns: readonly ReadColumn<Value>[]) {
      const spans = spansOf(metadata, ofColumns);
      const readers = ofColumns.map(async (column) => {
        const scan = await scanColumn(column, { file, metadata, compressors });
        return new ColumnReader<Value>(scan, column, spans);
      });
      return await Promise.all(readers);
    },
    async close() {
      if (isOpen) await handle.close();
      isOpen = false;
    },
  };
}

/** @throws ParquetDamage if the range is not in the file */
async function readBytes(
  handle: FileHandle,
  { start, end, sizeBytes }: { readonly start: number; readonly end: number; readonly sizeBytes: number },
): Promise<ArrayBuffer> {
  const isInFile = start >= 0 && start <= end && end <= sizeBytes;
  check(isInFile, `pages outside the file (bytes ${start} to ${end})`);
  const bytes = new Uint8Array(end - start);
  for (let count = 0; count < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, count, bytes.length - count, start + count);
    check(bytesRead > 0, "fewer bytes than stated");
    count += bytesRead;
  }
  return bytes.buffer;
}

async function checkSignature(file: AsyncBuffer): Promise<void> {
  const bytes = await file.slice(0, Math.min(4, file.byteLength));
  const signature = Buffer.from(bytes).toString("latin1");
  if (signature === "PARE") {
    throw new Fault("invalid_request", "The Parquet file is encrypted, which is not supported.");
  }
  if (signature !== "PAR1" || file.byteLength < 12) {
    throw new Fault("invalid_request", `The file is not a Parquet file (it begins with ${quote(signature)}).`);
  }
}

function readSchema(schema: readonly SchemaElement[]): {
  readonly columns: readonly ParquetColumn[];
  readonly leafCount: number;
} {
  let index = 1;
  let leafCount = 0;
  const skipElement = (): void => {
    const element = schema[index++];
    check(element !== undefined, "an incomplete schema");
    const childCount = element.num_children ?? 0;
    if (childCount === 0) leafCount++;
    for (let child = 0; child < childCount; child++) skipElement();
  };
  const columns: ParquetColumn[] = [];
  const columnCount = schema[0]?.num_children ?? 0;
  for (let column = 0; column < columnCount; column++) {
    const element = schema[index];
    check(element !== undefined, "an incomplete schema");
    check(typeof element.name === "string", "a column without a name"); // hyparquet does not check it
    const isFlat = (element.num_children ?? 0) === 0 && element.repetition_type !== "REPEATED";
    columns.push({ name: element.name, element: isFlat ? element : undefined, leafIndex: leafCount });
    skipElement();
  }
  return { columns, leafCount };
}

/** Checks the row groups and returns the number of their rows. */
function countRows({ row_groups: groups, num_rows }: FileMetaData, leafCount: number): number {
  let rowCount = 0;
  for (const { columns, num_rows: groupRowCount } of groups) {
    rowCount += Number(groupRowCount);
    check(groupRowCount >= 0 && Number.isSafeInteger(rowCount), "an impossible number of rows");
    check(columns.length === leafCount, "a row group without all columns");
    for (const { meta_data: chunk, file_path: path, crypto_metadata: encryption } of columns) {
      check(path === undefined, "columns in other files, which are not supported");
      check(encryption === undefined && chunk !== undefined, "encrypted columns, which are not supported");
    }
  }
  check(rowCount === Number(num_rows), "another number of rows than its row groups");
  return rowCount;
}

/**
 * Returns the decompressors of codecs.
 * @throws ParquetDamage naming a codec that is not supported
 * @throws Fault `configuration_invalid` if a package that a codec needs is not installed
 */
async function loadDecompressors(codecs: Iterable<CompressionCodec>): Promise<Compressors> {
  const loaded: Compressors = {};
  for (const codec of new Set(codecs)) {
    if (codec === "UNCOMPRESSED") continue;
    const decompress = await loadDecompressor(codec);
    // Pages without values may have no bytes.
    loaded[codec] = (bytes, sizeBytes) => (sizeBytes === 0 ? new Uint8Array(0) : decompress(bytes, sizeBytes));
  }
  return loaded;
}

type Decompress = NonNullable<Compressors[CompressionCodec]>;

async function loadDecompressor(codec: CompressionCodec): Promise<Decompress> {
  switch (codec) {
    case "SNAPPY": {
      const { snappyUncompress } = await import("hyparquet");
      return (compressed, sizeBytes) => {
        const bytes = new Uint8Array(sizeBytes);
        snappyUncompress(compressed, bytes);
        return bytes;
      };
    }
    case "GZIP":
      return (compressed, sizeBytes) => gunzipSync(compressed, { maxOutputLength: sizeBytes });
    case "BROTLI":
      return (compressed, sizeBytes) => brotliDecompressSync(compressed, { maxOutputLength: sizeBytes });
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

/** Smaller row groups have a large mean size because of the headers of their pages. */
const MEAN_ROWS_MIN = 1024;

function meanRowBytesMax(
  { row_groups: groups, num_rows }: FileMetaData,
  columns: readonly Pick<ParquetColumn, "leafIndex">[],
): number {
  let totalBytes = 0;
  let groupMeanMax = 0;
  for (const { columns: chunks, num_rows: groupRowCount } of groups) {
    const sizes = columns.map(({ leafIndex }) => Number(chunks[leafIndex]?.meta_data?.total_uncompressed_size ?? 0));
    const groupBytes = sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
    totalBytes += groupBytes;
    groupMeanMax = Math.max(groupMeanMax, groupBytes / Math.max(MEAN_ROWS_MIN, Number(groupRowCount)));
  }
  return Math.max(groupMeanMax, totalBytes / Math.max(1, Number(num_rows)));
}

/** Rows of a row group whose values are in memory together. */
interface Span {
  /** Number of the row group, from 0. */
  readonly group: number;
  readonly firstRow: number;
  readonly end: number;
}

/** Size of the values of a span, uncompressed. */
const SPAN_SIZE_BYTES = 64 << 20;
/** A column of a row group is read again for each of its spans. */
const SPANS_PER_GROUP_MAX = 16;
/** A value takes at least this much memory. */
const VALUE_SIZE_BYTES = 8;

/** Divides large row groups, so that few of their values are in memory. */
function spansOf(
  { row_groups: groups }: FileMetaData,
  columns: readonly Pick<ParquetColumn, "leafIndex">[],
): readonly Span[] {
  const spans: Span[] = [];
  let groupStart = 0;
  for (const [group, { columns: chunks, num_rows }] of groups.entries()) {
    const rowCount = Number(num_rows);
    let sizeBytes = 0;
    for (const { leafIndex } of columns) {
      const stored = Number(chunks[leafIndex]?.meta_data?.total_uncompressed_size ?? 0);
      sizeBytes += Math.max(stored, VALUE_SIZE_BYTES * rowCount);
    }
    const spanCount = Math.min(SPANS_PER_GROUP_MAX, Math.max(1, Math.ceil(sizeBytes / SPAN_SIZE_BYTES)));
    const spanRowCount = Math.ceil(rowCount / spanCount);
    for (let row = 0; row < rowCount; row += spanRowCount) {
      const end = Math.min(rowCount, row + spanRowCount);
      spans.push({ group, firstRow: groupStart + row, end: groupStart + end });
    }
    groupStart += rowCount;
  }
  return spans;
}

/** Describes a column as the only one of its file, so that hyparquet plans and converts no other. */
async function scanColumn<Value>(
  { element, leafIndex, convert }: ReadColumn<Value>,
  { file, metadata, compressors }: Pick<ParquetScan, "metadata"> & { file: AsyncBuffer; compressors: Compressors },
): Promise<ParquetScan> {
  const { parquetScan } = await import("hyparquet");
  const { name, type, type_length, repetition_type } = element;
  const groups = metadata.row_groups.map((group) => {
    const chunk = group.columns[leafIndex];
    const columns = chunk?.meta_data === undefined ? [] : [{ ...chunk, meta_data: flatChunk(chunk.meta_data, name) }];
    return { ...group, columns };
  });
  // Logical types are converted here. Those functions of hyparquet that convert dates and INT96 can be replaced, and it calls
  // them once for each value of a dictionary.
  const column: SchemaElement = { name };
  if (type !== undefined) column.type = type;
  if (type_length !== undefined) column.type_length = type_length;
  if (repetition_type !== undefined) column.repetition_type = repetition_type;
  if (convert !== undefined && type !== "INT96") column.converted_type = "DATE";
  const parse = convert as ((stored: unknown) => never) | undefined;
  return await parquetScan({
    file,
    metadata: { ...metadata, schema: [{ name: "schema", num_children: 1 }, column], row_groups: groups },
    compressors,
    utf8: false,
    geoparquet: false,
    ...(parse === undefined ? {} : { parsers: { dateFromDays: parse, timestampFromNanoseconds: parse } }),
  });
}

function flatChunk(chunk: ColumnMetaData, name: string): ColumnMetaData {
  return { ...chunk, path_in_schema: [name] };
}

/** Reads a flat column forwards, one span at a time. */
class ColumnReader<Value> {
  readonly #scan: ParquetScan;
  readonly #element: SchemaElement;
  readonly #spans: readonly Span[];
  #spanIndex = 0;
  /** Values of the span; undefined if they have not been read. */
  #values: ArrayLike<Value | null> | undefined;

  constructor(scan: ParquetScan, { element }: Pick<ReadColumn<Value>, "element">, spans: readonly Span[]) {
    this.#scan = scan;
    this.#element = element;
    this.#spans = spans;
  }

  /**
   * Reads the values of rows, which must not be before those of an earlier call.
   * @throws Fault `invalid_request` naming column and row if the file is damaged
   */
  async read(firstRow: number, rowCount: number): Promise<(Value | null)[]> {
    const values: (Value | null)[] = [];
    while (values.length < rowCount) {
      const row = firstRow + values.length;
      const span = this.#spanAt(row);
      const spanValues = (this.#values ??= await this.#readSpan(span));
      const start = row - span.firstRow;
      const end = Math.min(spanValues.length, start + rowCount - values.length);
      for (let index = start; index < end; index++) values.push(spanValues[index] as Value | null);
    }
    return values;
  }

  #spanAt(row: number): Span {
    for (;;) {
      const span = this.#spans[this.#spanIndex];
      if (span === undefined) throw new Error(`Row ${row} is not in the file.`);
      if (row < span.end) return span;
      this.#spanIndex++;
      this.#values = undefined;
    }
  }

  async #readSpan({ group, firstRow, end }: Span): Promise<ArrayLike<Value | null>> {
    try {
      const values = await this.#scan.readColumn({ column: this.#element.name, rowStart: firstRow, rowEnd: end });
      check(values.length === end - firstRow, "fewer rows than its row group");
      check(!values.includes(undefined), "a value that is not in the dictionary");
      return values as ArrayLike<Value | null>;
    } catch (error) {
      // Errors of the file system have a code; all others are caused by the bytes of the file.
      if (isFault(error) || (error instanceof Error && "syscall" in error)) throw error;
      const what = error instanceof ParquetDamage ? error.message : `bytes that cannot be decoded (${String(error)})`;
      const [column, row] = [this.#element.name, firstRow + 1];
      const message = `The Parquet file is damaged in column ${quote(column)}, row group ${group + 1}, near row ${row}: it has ${what}.`;
      throw new Fault("invalid_request", message, { details: { column, row }, cause: error });
    }
  }
}
