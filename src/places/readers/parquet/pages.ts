import type { ColumnMetaData, CompressionCodec, DecodedArray, PageHeader, SchemaElement } from "hyparquet";
import type { Decompress } from "./codecs.ts";
import { check } from "./damage.ts";
import { checkDeltaHeader, checkHybridRuns, countDefined } from "./hybridRuns.ts";

/** Functions of hyparquet that decode single pages. Its main module decodes whole row groups, which may not fit in memory. */
export interface PageModules {
  readonly column: typeof import("hyparquet/src/column.js");
  readonly delta: typeof import("hyparquet/src/delta.js");
}
type ColumnDecoder = Parameters<PageModules["column"]["readPage"]>[2];

/** Pages of usual writers have a few megabytes and less than a million rows. */
const PAGE_SIZE_BYTES_MAX = 128 << 20;
const PAGE_ROW_COUNT_MAX = 1 << 24;

/** The values of a page; null where a value is missing. */
export interface PageValues {
  readonly values: ArrayLike<unknown>;
  /** Whether the values are taken from the given dictionary; otherwise they are as stored. */
  readonly usesDictionary: boolean;
}

/** Returns the number of rows of a data page of a flat column. */
export function pageRowCount(header: PageHeader): number {
  const count = header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? NaN;
  check(count >= 0 && count <= PAGE_ROW_COUNT_MAX, `a page of ${count} rows (at most ${PAGE_ROW_COUNT_MAX})`);
  return count;
}

/** @throws ParquetDamage if the sizes of a page are impossible */
export function checkPageSizes(header: PageHeader, remainingBytes: number): void {
  const { compressed_page_size: compressedSize, uncompressed_page_size: size } = header;
  check(compressedSize >= 0 && compressedSize <= remainingBytes, "a page that exceeds its column");
  check(size >= 0 && size <= PAGE_SIZE_BYTES_MAX, `a page of ${size} bytes (at most ${PAGE_SIZE_BYTES_MAX})`);
}

/** Decodes the pages of a flat column of a row group, and checks what hyparquet does not. */
export class PageDecoder {
  readonly #modules: PageModules;
  readonly #decompress: Decompress;
  readonly #decoder: ColumnDecoder;
  readonly #isOptional: boolean;

  constructor({
    modules,
    element,
    metadata,
    codecs,
  }: {
    readonly modules: PageModules;
    readonly element: SchemaElement;
    readonly metadata: ColumnMetaData;
    readonly codecs: ReadonlyMap<CompressionCodec, Decompress>;
  }) {
    const decompress = codecs.get(metadata.codec);
    check(decompress !== undefined, `the codec ${metadata.codec}, which is not supported`);
    this.#modules = modules;
    this.#decompress = decompress;
    this.#decoder = rawDecoder(element);
    this.#isOptional = element.repetition_type !== "REQUIRED";
  }

  /** Decodes a dictionary page. */
  dictionary(header: PageHeader, compressed: Uint8Array): ArrayLike<unknown> {
    const page = this.#decompress(compressed, header.uncompressed_page_size);
    const count = header.dictionary_page_header?.num_values ?? -1;
    check(count >= 0 && count <= page.length, "a dictionary that is longer than its page");
    const values = this.#read(withPageSize(header, page), page, undefined);
    return this.#decoder.type === "INT96" ? Array.from(values as ArrayLike<bigint>, int96Nanoseconds) : values;
  }

  /**
   * Decodes a data page.
   * @param dictionary the values of the dictionary, in any form
   */
  values(header: PageHeader, compressed: Uint8Array, dictionary: unknown[] | undefined): PageValues {
    const rowCount = pageRowCount(header);
    const v2 = header.data_page_header_v2;
    const encoding = v2?.encoding ?? header.data_page_header?.encoding ?? "of an unknown kind";
    const usesDictionary = encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY";
    check(!usesDictionary || dictionary !== undefined, "a page without its dictionary");
    const page =
      v2 === undefined
        ? this.#decompress(compressed, header.uncompressed_page_size)
        : this.#decompressV2(header, compressed);
    const { valueOffset, valueCount } = this.#readLevels(header, page);
    if (valueCount === 0) return { values: Array.from({ length: rowCount }, () => null), usesDictionary };
    this.#checkEncoding(page.subarray(valueOffset), { encoding, count: valueCount, isV2: v2 !== undefined });
    const values = this.#read(withPageSize(header, page), page, dictionary);
    check(values.length === rowCount, `a page of ${values.length} values instead of ${rowCount}`);
    return { values, usesDictionary };
  }

  #read(header: PageHeader, page: Uint8Array, dictionary: DecodedArray | undefined): DecodedArray {
    const reader = { view: new DataView(page.buffer, page.byteOffset, page.byteLength), offset: 0 };
    const { data } = this.#modules.column.readPage(reader, header, this.#decoder, dictionary, undefined, 0);
    check(data !== undefined, "a page without values");
    return data;
  }

  /** Returns the levels, which are never compressed, and the decompressed values of a page of version 2. */
  #decompressV2(header: PageHeader, compressed: Uint8Array): Uint8Array {
    const { definition_levels_byte_length: levelsSize = -1, repetition_levels_byte_length: repetitionsSize } =
      header.data_page_header_v2 ?? {};
    check(repetitionsSize === 0, "repetition levels in a column without lists");
    const valuesSize = header.uncompressed_page_size - levelsSize;
    check(levelsSize >= 0 && levelsSize <= compressed.length && valuesSize >= 0, "levels that exceed their page");
    const isCompressed = header.data_page_header_v2?.is_compressed !== false;
    const stored = compressed.subarray(levelsSize);
    const values = isCompressed ? this.#decompress(stored, valuesSize) : stored;
    const page = new Uint8Array(levelsSize + values.length);
    page.set(compressed.subarray(0, levelsSize));
    page.set(values, levelsSize);
    return page;
  }

  /** Checks the definition levels. Returns where the values begin, and how many there are. */
  #readLevels(header: PageHeader, page: Uint8Array): { readonly valueOffset: number; readonly valueCount: number } {
    const rowCount = pageRowCount(header);
    const v2 = header.data_page_header_v2;
    if (v2 !== undefined) {
      const valueOffset = v2.definition_levels_byte_length;
      const valueCount = this.#isOptional ? countDefined(page.subarray(0, valueOffset), rowCount) : rowCount;
      check(valueCount === rowCount - v2.num_nulls, "another number of missing values than stated");
      return { valueOffset, valueCount };
    }
    if (!this.#isOptional) return { valueOffset: 0, valueCount: rowCount };
    check(page.length >= 4, "a page without definition levels");
    const levelsSize = new DataView(page.buffer, page.byteOffset).getUint32(0, true);
    check(levelsSize <= page.length - 4, "definition levels that exceed their page");
    return { valueOffset: 4 + levelsSize, valueCount: countDefined(page.subarray(4, 4 + levelsSize), rowCount) };
  }

  /** @throws ParquetDamage if hyparquet might not end or fill the memory with these values */
  #checkEncoding(
    bytes: Uint8Array,
    { encoding, count, isV2 }: { readonly encoding: string; readonly count: number; readonly isV2: boolean },
  ): void {
    switch (encoding) {
      case "PLAIN":
        return;
      case "PLAIN_DICTIONARY":
      case "RLE_DICTIONARY":
        // In pages of version 1, hyparquet does not read values of 0 bits.
        if (isV2 || (bytes[0] ?? 0) > 0) checkHybridRuns(bytes.subarray(1), { bitWidth: bytes[0] ?? 0, count });
        return;
      case "RLE":
        check(this.#decoder.type === "BOOLEAN", "run lengths in a column that is not boolean");
        checkHybridRuns(bytes.subarray(4), { bitWidth: 1, count });
        return;
      case "BYTE_STREAM_SPLIT": {
        const width = this.#decoder.element.type_length ?? 1;
        check(count * width <= bytes.length, "values that exceed their page");
        return;
      }
      case "DELTA_BINARY_PACKED":
      case "DELTA_LENGTH_BYTE_ARRAY":
        checkDeltaHeader(bytes);
        return;
      case "DELTA_BYTE_ARRAY":
        this.#checkDeltaByteArray(bytes, count);
        return;
      default:
        check(false, `the encoding ${encoding}, which is not supported`);
    }
  }

  /** Checks the lengths of texts that repeat the beginning of the previous one, before hyparquet allocates them. */
  #checkDeltaByteArray(bytes: Uint8Array, count: number): void {
    const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
    const readLengths = (): Int32Array => {
      const lengths = new Int32Array(count);
      checkDeltaHeader(bytes.subarray(reader.offset));
      this.#modules.delta.deltaBinaryUnpack(reader, count, lengths);
      return lengths;
    };
    const prefixes = readLengths();
    const suffixes = readLengths();
    let previousLength = 0;
    let sizeBytes = 0;
    for (let index = 0; index < count; index++) {
      const prefix = prefixes[index] ?? 0;
      const suffix = suffixes[index] ?? 0;
      check(prefix >= 0 && prefix <= previousLength && suffix >= 0, "a text that repeats more than the previous one");
      previousLength = prefix + suffix;
      sizeBytes += previousLength;
    }
    check(sizeBytes <= PAGE_SIZE_BYTES_MAX, `texts of ${sizeBytes} bytes in a page (at most ${PAGE_SIZE_BYTES_MAX})`);
  }
}

const DAY_NS = 86_400_000_000_000n;
/** Julian day of 1970-01-01. */
const EPOCH_DAY = 2_440_588n;

/** Returns the nanoseconds since 1970 of an INT96 of a dictionary: 64 bits of nanoseconds of the day, and the Julian day. */
function int96Nanoseconds(stored: bigint): bigint {
  return ((stored >> 64n) - EPOCH_DAY) * DAY_NS + BigInt.asUintN(64, stored);
}

/** Returns the header of a page that has been decompressed. */
function withPageSize(header: PageHeader, page: Uint8Array): PageHeader {
  const { data_page_header_v2: v2, ...rest } = header;
  return {
    ...rest,
    compressed_page_size: page.length,
    uncompressed_page_size: page.length,
    ...(v2 === undefined ? {} : { data_page_header_v2: { ...v2, is_compressed: false } }),
  };
}

/** Returns settings with which hyparquet returns values as stored, but INT96 of pages without a dictionary as nanoseconds. */
function rawDecoder({ name, type, type_length, repetition_type }: SchemaElement): ColumnDecoder {
  check(type !== undefined, "a column without a type");
  const element: SchemaElement = {
    name,
    type,
    ...(type_length === undefined ? {} : { type_length }),
    ...(repetition_type === undefined ? {} : { repetition_type }),
  };
  const identity = (value: unknown): unknown => value;
  return {
    pathInSchema: [name],
    type,
    element,
    schemaPath: [
      { element: { name: "schema" }, children: [], count: 2, path: [] },
      { element, children: [], count: 1, path: [name] },
    ],
    codec: "UNCOMPRESSED",
    utf8: false,
    parsers: {
      timestampFromMilliseconds: identity,
      timestampFromMicroseconds: identity,
      timestampFromNanoseconds: identity,
      dateFromDays: identity,
      stringFromBytes: identity,
      jsonFromBytes: identity,
      geometryFromBytes: identity,
      geographyFromBytes: identity,
      uuidFromBytes: identity,
    },
  };
}
