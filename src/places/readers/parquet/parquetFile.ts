import { type FileHandle, open } from "node:fs/promises";
import type { FileMetaData, SchemaElement } from "hyparquet";
import { Fault, isFault } from "../../../errors.ts";
import { requirePackages } from "../../../validation/optionalPackages.ts";
import { quote } from "../../../validation/schemaErrors.ts";
import { loadCodecs } from "./codecs.ts";
import { type ColumnChunk, ColumnReader, type ParquetBytes, readBytes } from "./columnReader.ts";
import { check, ParquetDamage } from "./damage.ts";

/** A column of the top level. */
export interface ParquetColumn {
  readonly name: string;
  /** Undefined for lists, maps and structures. */
  readonly element: SchemaElement | undefined;
  /** Number of the first leaf, which is the position of the column in a row group. */
  readonly leafIndex: number;
}

/** An open Parquet file whose flat columns can be read. */
export interface ParquetFile {
  readonly metadata: FileMetaData;
  readonly columns: readonly ParquetColumn[];
  readonly rowCount: number;
  /** Returns the largest mean size of a row of columns, uncompressed: in the file, or in a row group of many rows. */
  meanRowBytesMax(columns: readonly Pick<ParquetColumn, "leafIndex">[]): number;
  /** Returns a reader of a column, which converts values that are not null. */
  openColumn<Value>(
    column: { readonly element: SchemaElement; readonly leafIndex: number },
    convert: (stored: unknown) => Value,
  ): ColumnReader<Value>;
  close(): Promise<void>;
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
    return await readParquetFile({ handle, sizeBytes });
  } catch (error) {
    await handle.close();
    if (isFault(error) || (error instanceof Error && "syscall" in error)) throw error;
    const what = error instanceof ParquetDamage ? `it has ${error.message}` : String(error);
    throw new Fault("invalid_request", `The footer of the Parquet file cannot be read: ${what}.`, { cause: error });
  }
}

async function readParquetFile(file: ParquetBytes): Promise<ParquetFile> {
  const { parquetMetadataAsync } = await import("hyparquet");
  // Its pages are decoded one by one, which the main module does not offer.
  const modules = { column: await import("hyparquet/src/column.js"), delta: await import("hyparquet/src/delta.js") };
  await checkSignature(file);
  const metadata = await parquetMetadataAsync(
    {
      byteLength: file.sizeBytes,
      slice: async (start, end = file.sizeBytes) => arrayBufferOf(await readBytes(file, start, end - start)),
    },
    { geoparquet: false },
  );
  const { columns, leafCount } = readSchema(metadata.schema);
  const groups = readRowGroups(metadata, leafCount);
  const rowCount = groups.at(-1)?.end ?? 0;
  const codecs = await loadCodecs(
    metadata.row_groups.flatMap((group) => group.columns.flatMap((column) => column.meta_data?.codec ?? [])),
  );
  const chunksOf = (leafIndex: number): readonly ColumnChunk[] =>
    groups.flatMap(({ group, firstRow, end }) => {
      const chunk = metadata.row_groups[group]?.columns[leafIndex]?.meta_data;
      return chunk === undefined ? [] : [{ group, firstRow, rowCount: end - firstRow, metadata: chunk }];
    });
  return {
    metadata,
    columns,
    rowCount,
    meanRowBytesMax: (ofColumns) => meanRowBytesMax(metadata, ofColumns),
    openColumn: ({ element, leafIndex }, convert) =>
      new ColumnReader({ file, modules, codecs, element, chunks: chunksOf(leafIndex), convert }),
    close: () => closeOnce(file.handle),
  };
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

const closed = new WeakSet<FileHandle>();

async function closeOnce(handle: FileHandle): Promise<void> {
  if (closed.has(handle)) return;
  closed.add(handle);
  await handle.close();
}

async function checkSignature(file: ParquetBytes): Promise<void> {
  const bytes = await readBytes(file, 0, Math.min(4, file.sizeBytes));
  const signature = Buffer.from(bytes).toString("latin1");
  if (signature === "PARE") {
    throw new Fault("invalid_request", "The Parquet file is encrypted, which is not supported.");
  }
  if (signature !== "PAR1" || file.sizeBytes < 12) {
    throw new Fault("invalid_request", `The file is not a Parquet file (it begins with ${quote(signature)}).`);
  }
}

function arrayBufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.buffer as ArrayBuffer;
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

interface RowRange {
  /** Number of the row group. */
  readonly group: number;
  readonly firstRow: number;
  readonly end: number;
}

function readRowGroups({ row_groups: groups, num_rows }: FileMetaData, leafCount: number): readonly RowRange[] {
  let firstRow = 0;
  const ranges = groups.map(({ columns, num_rows: groupRowCount }, group) => {
    const range = { group, firstRow, end: firstRow + Number(groupRowCount) };
    check(range.end >= firstRow && Number.isSafeInteger(range.end), "an impossible number of rows");
    check(columns.length === leafCount, "a row group without all columns");
    for (const { meta_data: chunk, file_path: path, crypto_metadata: encryption } of columns) {
      check(path === undefined, "columns in other files, which are not supported");
      check(encryption === undefined && chunk !== undefined, "encrypted columns, which are not supported");
    }
    firstRow = range.end;
    return range;
  });
  check(firstRow === Number(num_rows), "another number of rows than its row groups");
  return ranges;
}
