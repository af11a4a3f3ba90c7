import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import type { KeptValue, ScoredBlock } from "../../../src/places/scores/placeBlock.ts";
import type { SegmentContent, SegmentFormat } from "../../../src/places/segmentFormat.ts";
import { CSV_SYNTAX, NDJSON_SYNTAX, rowTextFormat } from "../../../src/places/writers/rowText.ts";
import type { Layout, OutputPlan } from "../../../src/places/writers/outputColumns.ts";
import { expectedLongRows, expectedWideRows, GROUPS, KEPT_COLUMNS, invalidBlock, randomBlock } from "./scoredBlocks.ts";

const plan = (layout: Layout): OutputPlan => ({
  layout,
  groups: GROUPS,
  keptColumns: KEPT_COLUMNS,
  hasGeometry: false,
});

/** Returns the text of a block and the number of chunks. Chunks are copied, because they are overwritten. */
function encode(
  format: SegmentFormat,
  block: ScoredBlock,
): { text: string; chunkCount: number; content: SegmentContent } {
  const chunks: Uint8Array[] = [];
  const generator = format.encode(block);
  for (;;) {
    const { value, done } = generator.next();
    if (done === true) return { text: Buffer.concat(chunks).toString(), chunkCount: chunks.length, content: value };
    chunks.push(value.slice());
  }
}

function csvText([name, value]: readonly [string, KeptValue]): string {
  return name === "built" && value !== null ? builtText(value) : String(value ?? "");
}

function jsonValue(name: string, value: KeptValue): unknown {
  if (name === "built" && value !== null) return builtText(value);
  return typeof value === "bigint" ? Number(value) : value;
}

function builtText(value: KeptValue): string {
  return new Date(Number(value)).toISOString();
}

describe.each(["long", "wide"] as const)("text in the %s layout", (layout) => {
  const expectedRows = layout === "long" ? expectedLongRows : expectedWideRows;

  test("CSV has the header and the values of every row", () => {
    const format = rowTextFormat(plan(layout), CSV_SYNTAX);
    const block = randomBlock({ rowCount: 300 });
    const expected = expectedRows(block);
    const { text, content } = encode(format, block);
    const [header = [], ...rows] = parse(Buffer.from(format.header).toString() + text);
    expect(header).toEqual(Object.keys(expected[0] ?? {}));
    expect(rows).toEqual(expected.map((row) => Object.entries(row).map(csvText)));
    expect(content).toEqual({ rowCount: expected.length });
    expect(format.footer).toBeUndefined();
  });

  test("NDJSON has the values of every row with their types", () => {
    const format = rowTextFormat(plan(layout), NDJSON_SYNTAX);
    const block = randomBlock({ rowCount: 300, seed: 2 });
    const lines = encode(format, block).text.trimEnd().split("\n");
    const expected = expectedRows(block).map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, jsonValue(name, value)])),
    );
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(expected);
    expect(format.header).toHaveLength(0);
  });
});

describe("text", () => {
  test("is divided into chunks at rows, in the same bytes as a single chunk", () => {
    const format = rowTextFormat(plan("long"), NDJSON_SYNTAX);
    const block = randomBlock({ rowCount: 3000, seed: 3 });
    const { text, chunkCount } = encode(format, block);
    expect(chunkCount).toBeGreaterThan(1);
    expect(text.trimEnd().split("\n")).toHaveLength(expectedLongRows(block).length);
    const parts = [0, 1, 2].map((part) => encode(format, slice(block, part * 1000, (part + 1) * 1000)).text);
    expect(parts.join("")).toBe(text);
  });

  test("holds rows that are longer than a chunk", () => {
    const format = rowTextFormat(plan("long"), CSV_SYNTAX);
    const block = randomBlock({ rowCount: 3, seed: 4 });
    const long = "x".repeat(5 << 20);
    const kept = block.places.kept.map((values, column) => (column === 1 ? values.map(() => long) : values));
    const { text } = encode(format, { ...block, places: { ...block.places, kept } });
    expect(text.split(long)).toHaveLength(expectedLongRows(block).length + 1);
  });

  test("has the coordinates as numbers if the location is typed", () => {
    const format = rowTextFormat(
      { ...plan("wide"), typedLocation: { latitude: "latitude", longitude: "longitude" } },
      NDJSON_SYNTAX,
    );
    const block = randomBlock({ rowCount: 50, seed: 5 });
    const rows = encode(format, block)
      .text.trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { latitude: unknown });
    const kept = block.places.kept[2] ?? [];
    expect(block.places.errors.size).toBeGreaterThan(0);
    // Invalid rows also have the number that was given.
    expect(rows.map(({ latitude }) => latitude)).toEqual(kept.map(Number));
  });

  test("has no coordinates in invalid rows whose text is not a finite number", () => {
    const typedLocation = { latitude: "latitude", longitude: "longitude" };
    const format = rowTextFormat({ ...plan("wide"), typedLocation }, NDJSON_SYNTAX);
    const block = invalidBlock(["north", " 146.5 ", "1e999", null, "-0"]);
    const rows = encode(format, block).text.trimEnd().split("\n");
    const latitudes = rows.map((row) => /"latitude":([^,]*),/.exec(row)?.[1]);
    expect(latitudes).toEqual(["null", "146.5", "null", "null", "-0"]);
  });

  test("keeps the sign of -0", () => {
    const block = randomBlock({ rowCount: 2, seed: 6 });
    const kept = block.places.kept.map((values, column) => (column === 4 ? [-0, 0] : values));
    const signed = { ...block, places: { ...block.places, kept, errors: new Map() } };
    const { text } = encode(rowTextFormat(plan("wide"), NDJSON_SYNTAX), signed);
    expect(text.match(/"value":[^,]*/g)).toEqual(['"value":-0', '"value":0']);
  });

  test("writes infinite kept numbers as text in CSV and as null in JSON", () => {
    const block = randomBlock({ rowCount: 1, seed: 6 });
    const kept = block.places.kept.map((values, column) => (column === 4 ? [-Infinity] : values));
    const special = { ...block, places: { ...block.places, kept, errors: new Map() } };
    expect(encode(rowTextFormat(plan("wide"), CSV_SYNTAX), special).text).toContain(",-Infinity,");
    expect(encode(rowTextFormat(plan("wide"), NDJSON_SYNTAX), special).text).toContain('"value":null,');
  });
});

/** Returns some rows of a block. */
function slice({ places, scores }: ScoredBlock, from: number, to: number): ScoredBlock {
  const rows = <Values extends Float64Array | Uint8Array>(values: Values): Values => {
    const width = values.length / places.rowCount;
    return values.slice(from * width, to * width) as Values;
  };
  return {
    places: {
      ...places,
      rowCount: to - from,
      latitudes: rows(places.latitudes),
      longitudes: rows(places.longitudes),
      errors: new Map(
        [...places.errors].flatMap(([row, error]) => (row >= from && row < to ? [[row - from, error]] : [])),
      ),
      kept: places.kept.map((values) => values.slice(from, to)),
    },
    scores: Object.fromEntries(
      Object.entries(scores).map(([name, values]) => [name, rows(values as Float64Array)]),
    ) as unknown as ScoredBlock["scores"],
  };
}
