import { parquetMetadata } from "hyparquet";
import { ByteWriter } from "hyparquet-writer";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import { describe, expect, test } from "vitest";
import { footerEncoder } from "../../../src/places/writers/parquetFooter.ts";
import { parquetFormat } from "../../../src/places/writers/parquetFormat.ts";
import { readRowGroupTrailer, rowGroupTrailer } from "../../../src/places/writers/rowGroupTrailer.ts";
import { encodedFile } from "./encodedFile.ts";
import { GROUPS, KEPT_COLUMNS, randomBlock } from "./scoredBlocks.ts";

const keyValues = [{ key: "isotherm", value: "{}" }];

/** A chunk whose members all differ. */
const CHUNK = {
  isCompressed: true,
  dictionarySizeBytes: 10,
  sizeBytes: 100,
  uncompressedSizeBytes: 200,
  nullCount: 3,
  min: -0.5,
  max: 1e300,
};

describe("the footer of a Parquet file", () => {
  test.each([0, 1, 14, 15, 40])("of %i row groups has the bytes that hyparquet-writer writes", async (count) => {
    const plan = { layout: "wide", groups: GROUPS, keptColumns: KEPT_COLUMNS, hasGeometry: true } as const;
    const blocks = Array.from({ length: count }, (_, index) => randomBlock({ rowCount: 9, seed: index, index }));
    const file = await encodedFile(await parquetFormat(plan, keyValues), blocks);
    const metadata = parquetMetadata(file, { geoparquet: false });
    expect(metadata.row_groups).toHaveLength(count);
    const writer = new ByteWriter();
    writeMetadata(writer, metadata);
    const expected = writer.getBytes();
    const footer = file.subarray(file.length - 4 - expected.length, -4);
    expect(footer.equals(expected)).toBe(true);
  });

  test("of 10,000 row groups is written in chunks of about a megabyte", async () => {
    const schema = Array.from({ length: 3 }, (_, i) => ({ name: `column ${i}`, type: "DOUBLE" }) as const);
    const encode = await footerEncoder({ schema, keyValues });
    const trailer = rowGroupTrailer(schema.map(() => CHUNK));
    const sizeBytes = schema.length * CHUNK.sizeBytes + trailer.length;
    const segments = Array.from({ length: 10_000 }, (_, block) => ({ block, sizeBytes, rowCount: 8192 }));
    const chunks: Uint8Array[] = [];
    const written = { segments, read: () => Promise.resolve(trailer) };
    for await (const chunk of encode(written)) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) expect(chunk.length).toBeLessThan(1.1 * 2 ** 20);
    const file = Buffer.concat([Buffer.from("PAR1"), ...chunks]);
    const metadata = parquetMetadata(file);
    expect(metadata.num_rows).toBe(81_920_000n);
    expect(metadata.row_groups).toHaveLength(10_000);
    const last = metadata.row_groups[9999]?.columns[2];
    const start = BigInt(4 + 9999 * sizeBytes + 2 * CHUNK.sizeBytes);
    expect(last?.meta_data).toMatchObject({
      dictionary_page_offset: start,
      data_page_offset: start + 10n,
      total_compressed_size: 100n,
      statistics: { null_count: 3n, min_value: -0.5, max_value: 1e300 },
    });
  });
});

describe("the trailer of a row group", () => {
  test("has all that the footer needs", () => {
    const { min: _min, max: _max, ...withoutRange } = CHUNK;
    const chunks = [CHUNK, { ...withoutRange, isCompressed: false, dictionarySizeBytes: 0 }];
    expect(readRowGroupTrailer(rowGroupTrailer(chunks))).toEqual(chunks);
  });

  test("of another number of columns is rejected", () => {
    expect(() => readRowGroupTrailer(rowGroupTrailer([CHUNK, CHUNK]).subarray(36))).toThrow(/no valid trailer/);
  });
});
