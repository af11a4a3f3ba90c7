import type { FileHandle } from "node:fs/promises";
import type { ColumnMetaData, CompressionCodec, PageHeader, SchemaElement } from "hyparquet";
import { Fault, isFault } from "../../../errors.ts";
import { quote } from "../../../validation/schemaErrors.ts";
import type { Decompress } from "./codecs.ts";
import { check, ParquetDamage } from "./damage.ts";
import { checkPageSizes, PageDecoder, type PageModules, pageRowCount } from "./pages.ts";

/** Most pages and their headers fit, so that they are read at once. */
const WINDOW_SIZE_BYTES = 256 << 10;
const HEADER_SIZE_BYTES_MAX = 16 << 20;

/** An open Parquet file. */
export interface ParquetBytes {
  readonly handle: FileHandle;
  readonly sizeBytes: number;
}

/** The part of a column in one row group. */
export interface ColumnChunk {
  /** Number of the row group, from 0. */
  readonly group: number;
  readonly firstRow: number;
  readonly rowCount: number;
  readonly metadata: ColumnMetaData;
}

interface Page<Value> {
  readonly firstRow: number;
  readonly values: readonly Value[];
}

/**
 * Reads a flat column forwards, one page at a time, so that memory does not grow with the row groups.
 */
export class ColumnReader<Value> {
  readonly #file: ParquetBytes;
  readonly #modules: PageModules;
  readonly #codecs: ReadonlyMap<CompressionCodec, Decompress>;
  readonly #element: SchemaElement;
  readonly #chunks: readonly ColumnChunk[];
  readonly #convert: (stored: unknown) => Value;
  #cursor: ChunkCursor | undefined;
  #chunkIndex = -1;
  #decoder: PageDecoder | undefined;
  #dictionary: Value[] | undefined;
  #page: Page<Value | null> = { firstRow: 0, values: [] };
  /** The row after the last page that was read or skipped. */
  #nextRow = 0;

  constructor(options: {
    readonly file: ParquetBytes;
    readonly modules: PageModules;
    readonly codecs: ReadonlyMap<CompressionCodec, Decompress>;
    readonly element: SchemaElement;
    readonly chunks: readonly ColumnChunk[];
    /** Converts stored values that are not null. */
    readonly convert: (stored: unknown) => Value;
  }) {
    this.#file = options.file;
    this.#modules = options.modules;
    this.#codecs = options.codecs;
    this.#element = options.element;
    this.#chunks = options.chunks;
    this.#convert = options.convert;
  }

  /**
   * Reads the values of rows, which must not be before those of an earlier call.
   * @throws Fault `invalid_request` naming column and row if the file is damaged
   */
  async read(firstRow: number, rowCount: number): Promise<(Value | null)[]> {
    try {
      const values: (Value | null)[] = [];
      while (values.length < rowCount) {
        const row = firstRow + values.length;
        const { firstRow: pageRow, values: pageValues } = this.#page;
        const start = row - pageRow;
        if (start >= 0 && start < pageValues.length) {
          const end = Math.min(pageValues.length, start + rowCount - values.length);
          for (let index = start; index < end; index++) values.push(pageValues[index] ?? null);
        } else await this.#readPage(row);
      }
      return values;
    } catch (error) {
      throw this.#faultOf(error);
    }
  }

  /** Reads the next page, or skips it if it ends before a row. */
  async #readPage(row: number): Promise<void> {
    if (this.#cursor === undefined || row >= this.#chunkEnd()) this.#openChunk(row);
    const { header, body } = await (this.#cursor as ChunkCursor).next();
    if (header.type === "DICTIONARY_PAGE") {
      const stored = this.#pageDecoder().dictionary(header, await body());
      this.#dictionary = Array.from(stored, (value) => this.#convert(value));
    } else if (header.type === "DATA_PAGE" || header.type === "DATA_PAGE_V2") {
      const firstRow = this.#nextRow;
      this.#nextRow += pageRowCount(header);
      check(this.#nextRow <= this.#chunkEnd(), "a page with more rows than its row group");
      if (this.#nextRow <= row) return;
      const values = this.#valuesOf(header, await body());
      this.#page = { firstRow, values };
    }
  }

  #valuesOf(header: PageHeader, body: Uint8Array): (Value | null)[] {
    const { values, usesDictionary } = this.#pageDecoder().values(header, body, this.#dictionary);
    return Array.from(values, (value) => {
      if (value === null) return null;
      check(value !== undefined, "a value that is not in the dictionary");
      return usesDictionary ? (value as Value) : this.#convert(value);
    });
  }

  #openChunk(row: number): void {
    let index = Math.max(0, this.#chunkIndex);
    while (row >= chunkEnd(this.#chunks[index])) index++;
    const chunk = this.#chunks[index];
    check(chunk !== undefined, "missing rows");
    this.#chunkIndex = index;
    this.#decoder = undefined;
    this.#dictionary = undefined;
    this.#nextRow = chunk.firstRow;
    this.#cursor = new ChunkCursor(this.#file, this.#modules, chunk.metadata);
  }

  #pageDecoder(): PageDecoder {
    const chunk = this.#chunks[this.#chunkIndex];
    check(chunk !== undefined, "missing rows");
    this.#decoder ??= new PageDecoder({
      modules: this.#modules,
      element: this.#element,
      metadata: chunk.metadata,
      codecs: this.#codecs,
    });
    return this.#decoder;
  }

  #chunkEnd(): number {
    return chunkEnd(this.#chunks[this.#chunkIndex]);
  }

  /** Errors of the file system have a code; all others are caused by the bytes of the file. */
  #faultOf(error: unknown): unknown {
    if (isFault(error) || (error instanceof Error && "syscall" in error)) return error;
    const what = error instanceof ParquetDamage ? error.message : `bytes that cannot be decoded (${String(error)})`;
    const row = this.#nextRow + 1;
    const group = (this.#chunks[this.#chunkIndex]?.group ?? 0) + 1;
    const message = `The Parquet file is damaged in column ${quote(this.#element.name)}, row group ${group}, near row ${row}: it has ${what}.`;
    return new Fault("invalid_request", message, { details: { column: this.#element.name, row }, cause: error });
  }
}

function chunkEnd(chunk: ColumnChunk | undefined): number {
  return chunk === undefined ? Infinity : chunk.firstRow + chunk.rowCount;
}

/** Reads the pages of a column of a row group in turn. */
class ChunkCursor {
  readonly #file: ParquetBytes;
  readonly #modules: PageModules;
  /** Position of the next page in the file, and end of the last one. */
  #offset: number;
  readonly #end: number;
  #window: { readonly start: number; readonly bytes: Uint8Array } = { start: 0, bytes: new Uint8Array(0) };

  constructor(file: ParquetBytes, modules: PageModules, metadata: ColumnMetaData) {
    this.#file = file;
    this.#modules = modules;
    const dataStart = Number(metadata.data_page_offset);
    const dictionaryStart = Number(metadata.dictionary_page_offset ?? 0);
    this.#offset = dictionaryStart > 0 ? Math.min(dictionaryStart, dataStart) : dataStart;
    this.#end = this.#offset + Number(metadata.total_compressed_size);
    const isInFile = this.#offset >= 0 && this.#offset <= this.#end && this.#end <= file.sizeBytes;
    check(isInFile, `pages outside the file (bytes ${this.#offset} to ${this.#end})`);
  }

  /** Reads the header of the next page; `body` reads its compressed bytes. */
  async next(): Promise<{ readonly header: PageHeader; readonly body: () => Promise<Uint8Array> }> {
    check(this.#offset < this.#end, "fewer rows than its row group");
    const { header, sizeBytes } = await this.#header();
    const start = this.#offset + sizeBytes;
    checkPageSizes(header, this.#end - start);
    this.#offset = start + header.compressed_page_size;
    return { header, body: () => this.#read(start, header.compressed_page_size) };
  }

  async #header(): Promise<{ readonly header: PageHeader; readonly sizeBytes: number }> {
    for (let sizeBytes = 1 << 10; ; sizeBytes *= 8) {
      const bytes = await this.#read(this.#offset, Math.min(sizeBytes, this.#end - this.#offset));
      const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
      try {
        const header = this.#modules.column.parquetHeader(reader);
        if (reader.offset <= bytes.length) return { header, sizeBytes: reader.offset };
      } catch (error) {
        // Statistics can make a header long.
        if (bytes.length < sizeBytes || sizeBytes >= HEADER_SIZE_BYTES_MAX) throw error;
        continue;
      }
      check(bytes.length === sizeBytes && sizeBytes < HEADER_SIZE_BYTES_MAX, "a page header that is not complete");
    }
  }

  async #read(start: number, sizeBytes: number): Promise<Uint8Array> {
    const { start: windowStart, bytes: windowBytes } = this.#window;
    if (start < windowStart || start + sizeBytes > windowStart + windowBytes.length) {
      const windowSize = Math.min(Math.max(sizeBytes, WINDOW_SIZE_BYTES), this.#end - start);
      this.#window = { start, bytes: await readBytes(this.#file, start, windowSize) };
    }
    const offset = start - this.#window.start;
    return this.#window.bytes.subarray(offset, offset + sizeBytes);
  }
}

/** @throws ParquetDamage if the file ends before */
export async function readBytes({ handle }: ParquetBytes, start: number, sizeBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(sizeBytes);
  for (let count = 0; count < sizeBytes;) {
    const { bytesRead } = await handle.read(bytes, count, sizeBytes - count, start + count);
    check(bytesRead > 0, "fewer bytes than stated");
    count += bytesRead;
  }
  return bytes;
}
