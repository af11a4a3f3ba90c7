import type { ColumnMetaData, PageHeader } from "hyparquet";
import * as column from "hyparquet/src/column.js";
import * as delta from "hyparquet/src/delta.js";
import { expect, test } from "vitest";
import { PageDecoder } from "../../../src/places/readers/parquet/pages.ts";

/** Encodes a timestamp as INT96: nanoseconds of the day (u64) and Julian day (u32), little-endian. */
function int96(nanoseconds: bigint, day: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(nanoseconds);
  bytes.writeUInt32LE(2_440_588 + day, 8);
  return bytes;
}

test("timestamps of the type INT96 are nanoseconds since 1970, in a dictionary and without one", () => {
  const decoder = new PageDecoder({
    modules: { column, delta },
    element: { name: "time", type: "INT96", repetition_type: "REQUIRED" },
    metadata: { codec: "UNCOMPRESSED" } as ColumnMetaData,
    codecs: new Map([["UNCOMPRESSED", (bytes) => bytes]]),
  });
  const page = Buffer.concat([int96(1n, 0), int96(86_399_999_999_999n, -1), int96(5n, 2_932_896)]);
  const sizes = { compressed_page_size: page.length, uncompressed_page_size: page.length };
  const dictionary: PageHeader = {
    ...sizes,
    type: "DICTIONARY_PAGE",
    dictionary_page_header: { num_values: 3, encoding: "PLAIN" },
  };
  const data: PageHeader = {
    ...sizes,
    type: "DATA_PAGE",
    data_page_header: {
      num_values: 3,
      encoding: "PLAIN",
      definition_level_encoding: "RLE",
      repetition_level_encoding: "RLE",
    },
  };
  const expected = [1n, -1n, 253_402_214_400_000_000_005n];
  expect(Array.from(decoder.dictionary(dictionary, page))).toEqual(expected);
  expect(Array.from(decoder.values(data, page, undefined).values)).toEqual(expected);
});
