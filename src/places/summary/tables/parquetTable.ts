import type { PlaceTextFile } from "../../readers/fileText.ts";
import { columnTypeOf, HEXADECIMAL } from "../../readers/parquet/columnTypes.ts";
import { openParquetFile, type ParquetFile } from "../../readers/parquet/parquetFile.ts";
import { readColumnNames } from "../../readers/placeColumnNames.ts";
import { timestampOf, timestampText } from "../../timestamps.ts";
import type { ScoreTable, TableBatch } from "../scoreTable.ts";

const ROWS_PER_BATCH = 8192;

/** Opens an output in Parquet or GeoParquet. Only the columns that are asked for are read. */
export async function openParquetTable({ path, sizeBytes }: PlaceTextFile): Promise<ScoreTable> {
  const file = await openParquetFile(path, sizeBytes);
  try {
    return {
      columnNames: readColumnNames(file.columns.map(({ name }) => name)),
      sizeBytes,
      batches: (names, onBytes) => readBatches(file, names, { sizeBytes, onBytes }),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* readBatches(
  file: ParquetFile,
  names: readonly string[],
  { sizeBytes, onBytes }: { readonly sizeBytes: number; readonly onBytes: ((sizeBytes: number) => void) | undefined },
): AsyncGenerator<TableBatch> {
  const readers = names.map((name) => {
    const column = file.columns.find((other) => other.name === name);
    const { element, leafIndex = 0 } = column ?? {};
    if (element === undefined) return undefined; // a list or structure, whose cells are empty
    const { type, convert } = columnTypeOf(element) ?? HEXADECIMAL;
    const timestamp = timestampOf(type);
    return file.openColumn({ element, leafIndex }, (stored) => {
      const value = convert(stored);
      return timestamp === undefined ? value : timestampText(value as bigint, timestamp);
    });
  });
  for (let firstRow = 0; firstRow < file.rowCount; firstRow += ROWS_PER_BATCH) {
    const rowCount = Math.min(ROWS_PER_BATCH, file.rowCount - firstRow);
    const columns: (readonly unknown[])[] = [];
    for (const reader of readers) columns.push((await reader?.read(firstRow, rowCount)) ?? []);
    yield { rowCount, columns };
    // The columns are not read in the order of the file.
    const bytesBefore = (rows: number): number => Math.round((sizeBytes * rows) / file.rowCount);
    onBytes?.(bytesBefore(firstRow + rowCount) - bytesBefore(firstRow));
  }
}
