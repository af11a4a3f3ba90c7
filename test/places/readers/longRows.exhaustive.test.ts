/** Files of places with long texts, which are read in blocks of bounded size. */
import { describe, expect, test } from "vitest";
import type { PlaceBlock } from "../../../src/places/scores/placeBlock.ts";
import { parquetBytes } from "./parquetFixture.ts";
import { readContent, readPlaces, withPlaceFile } from "./placeFile.ts";

const LONG = 1_000_000;

/** Returns the rows of blocks, as indices of the first and the number. */
const rangesOf = (blocks: readonly PlaceBlock[]): readonly (readonly number[])[] =>
  blocks.map(({ index, firstRow, rowCount }) => [index, firstRow, rowCount]);

describe("blocks of long rows", () => {
  const csvRow = (text: string): string => `1,2,"${text}"`;
  const jsonRow = (text: string): string => JSON.stringify({ lat: 1, lon: 2, text });
  test.each([
    ["csv", `lat,lon,text\n${`${csvRow("x".repeat(LONG - csvRow("").length))}\n`.repeat(40)}`],
    ["ndjson", `${jsonRow("x".repeat(LONG - jsonRow("").length))}\n`.repeat(40)],
  ])("of %s have fewer rows, also if others are skipped", async (extension, content) => {
    await withPlaceFile(`long.${extension}`, content, async (path) => {
      const { blocks } = await readPlaces(path);
      const ranges = [
        [0, 0, 17],
        [1, 17, 17],
        [2, 34, 6],
      ];
      expect(rangesOf(blocks)).toStrictEqual(ranges);
      for (const wanted of [0, 1, 2]) {
        const some = await readPlaces(path, {}, (index) => index === wanted);
        expect(rangesOf(some.blocks)).toStrictEqual([ranges[wanted]]);
      }
    });
  });

  test("of Parquet have as many rows as fit at the mean size, also if others are skipped", async () => {
    const texts = Array.from({ length: 2000 }, (_, row) => `${row} `.padEnd(20_000, "x"));
    const degrees = texts.map((_, row) => row / 100);
    const bytes = parquetBytes({
      columns: [
        { name: "lat", data: degrees, type: "DOUBLE" },
        { name: "lon", data: degrees, type: "DOUBLE" },
        { name: "text", data: texts, type: "STRING", encoding: "PLAIN" },
      ],
      codec: "UNCOMPRESSED",
    });
    await withPlaceFile("long.parquet", bytes, async (path) => {
      const { blocks } = await readPlaces(path);
      const [rowCount = 0] = blocks.map((block) => block.rowCount);
      expect(rowCount * 20_000).toBeLessThanOrEqual(16 << 20);
      expect(rowCount * 20_000).toBeGreaterThan(15 << 20);
      expect(rangesOf(blocks)).toStrictEqual([
        [0, 0, rowCount],
        [1, rowCount, rowCount],
        [2, 2 * rowCount, 2000 - 2 * rowCount],
      ]);
      expect(blocks.flatMap(({ latitudes }) => [...latitudes])).toStrictEqual(degrees);
      const second = await readPlaces(path, {}, (index) => index === 1);
      expect(rangesOf(second.blocks)).toStrictEqual([[1, rowCount, rowCount]]);
    });
  });

  test("of Parquet are not shortened by a row group with few rows", async () => {
    const degrees = Array.from({ length: 8193 }, () => 1);
    const texts = Array.from({ length: 150 }, (_, column) => ({
      name: `text ${column}`,
      data: degrees.map(() => "x"),
      type: "STRING" as const,
    }));
    const columns = [
      { name: "lat", data: degrees, type: "DOUBLE" as const },
      { name: "lon", data: degrees, type: "DOUBLE" as const },
      ...texts,
    ];
    const { blocks } = await readContent("wide.parquet", parquetBytes({ columns, rowGroupSize: 8192 }));
    expect(rangesOf(blocks)).toStrictEqual([
      [0, 0, 8192],
      [1, 8192, 1],
    ]);
  });

  test("of Parquet are rejected if a long text is stored once for thousands of rows", async () => {
    const long = "x".repeat(40_000);
    const degrees = Array.from({ length: 8000 }, () => 1);
    const bytes = parquetBytes({
      columns: [
        { name: "lat", data: degrees, type: "DOUBLE" },
        { name: "lon", data: degrees, type: "DOUBLE" },
        { name: "text", data: degrees.map(() => long), type: "STRING" },
      ],
    });
    expect(bytes.length).toBeLessThan(1 << 20);
    await expect(readContent("repeated.parquet", bytes)).rejects.toMatchObject({
      code: "invalid_request",
      message: /Rows 1 to 8000 have more than 256 Mi characters of text; leave out the columns with long texts\.$/,
    });
  });
});
