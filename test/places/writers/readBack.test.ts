/** Reads encoded outputs with DuckDB, which shares no code with the program. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance, type DuckDBTimestampTZValue, type DuckDBValue } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SegmentFormat } from "../../../src/places/segmentFormat.ts";
import { CSV_SYNTAX, NDJSON_SYNTAX, rowTextFormat } from "../../../src/places/writers/rowText.ts";
import type { Layout, OutputPlan } from "../../../src/places/writers/outputColumns.ts";
import { parquetFormat } from "../../../src/places/writers/parquetFormat.ts";
import type { KeptValue, ScoredBlock } from "../../../src/places/scores/placeBlock.ts";
import { withTempFolder } from "../../atlas/makeAtlas.ts";
import { encodedFile } from "./encodedFile.ts";
import {
  expectedLongRows,
  expectedWideRows,
  type ExpectedRow,
  GROUPS,
  invalidBlock,
  KEPT_COLUMNS,
  randomBlock,
} from "./scoredBlocks.ts";

let database: DuckDBInstance;
let connection: DuckDBConnection;
beforeAll(async () => {
  database = await DuckDBInstance.create(":memory:");
  connection = await database.connect();
  await connection.run("set TimeZone = 'UTC'");
});
afterAll(() => {
  connection.closeSync();
  database.closeSync();
});

const blocks = [1, 2, 3].map((seed, index) => randomBlock({ rowCount: 150, seed, index }));

function planOf(layout: Layout, hasGeometry = false): OutputPlan {
  return { layout, groups: GROUPS, keptColumns: KEPT_COLUMNS, hasGeometry };
}

/** Encodes blocks into a file and queries it. `from` returns the table function of a path. */
async function queryFile(
  format: SegmentFormat,
  { of = blocks, select = "*", from }: { of?: readonly ScoredBlock[]; select?: string; from(path: string): string },
) {
  return await withTempFolder(async (folder) => {
    const path = join(folder, "scores");
    await writeFile(path, await encodedFile(format, of));
    const reader = await connection.runAndReadAll(`select ${select} from ${from(`'${path}'`)}`);
    const types = reader.columnTypes().map(String);
    return {
      rows: reader.getRowObjects(),
      types: Object.fromEntries(reader.columnNames().map((name, i) => [name, types[i]])),
    };
  });
}

const readParquet = (path: string): string => `read_parquet(${path})`;

const TYPES: Readonly<Record<string, string>> = { id: "BIGINT", insured: "BOOLEAN", analysis_year: "INTEGER" };

/** Returns the type that DuckDB should find in a column of Parquet, except for timestamps. */
function typeOf(name: string, rows: readonly ExpectedRow[]): string {
  const isNumber = rows.some((row) => typeof row[name] === "number");
  return TYPES[name] ?? (isNumber ? "DOUBLE" : "VARCHAR");
}

/** Returns the milliseconds of the column with timestamps. */
function withMilliseconds({ built, ...row }: Record<string, DuckDBValue>): Record<string, unknown> {
  return { ...row, built: built === null ? null : (built as DuckDBTimestampTZValue).micros / 1000n };
}

function timeText(value: KeptValue): string | null {
  return value === null ? null : new Date(Number(value)).toISOString();
}

describe.each(["long", "wide"] as const)("DuckDB reads the %s layout", (layout) => {
  const expected = blocks.flatMap(layout === "long" ? expectedLongRows : expectedWideRows);

  test.each([false, true])("of Parquet, with types, nulls and values; as GeoParquet: %s", async (hasGeometry) => {
    const format = await parquetFormat(planOf(layout, hasGeometry), []);
    const select = hasGeometry ? "* exclude (geometry)" : "*";
    const { rows, types } = await queryFile(format, { select, from: readParquet });
    expect(rows.map(withMilliseconds)).toEqual(expected);
    expect(types["built"]).toBe("TIMESTAMP WITH TIME ZONE");
    for (const name of Object.keys(expected[0] ?? {})) {
      if (name !== "built") expect([name, types[name]]).toEqual([name, typeOf(name, expected)]);
    }
  });

  test("of NDJSON, with types, nulls and values", async () => {
    const names = Object.keys(expected[0] ?? {});
    const columns = names.map((name) => `"${name}": '${name === "built" ? "VARCHAR" : typeOf(name, expected)}'`);
    const from = (path: string): string =>
      `read_json(${path}, format = 'newline_delimited', columns = {${columns.join()}})`;
    const { rows } = await queryFile(rowTextFormat(planOf(layout), NDJSON_SYNTAX), { from });
    expect(rows).toEqual(expected.map((row) => ({ ...row, built: timeText(row["built"] ?? null) })));
  });

  test("of CSV, with the text of every value", async () => {
    const from = (path: string): string => `read_csv(${path}, header = true, all_varchar = true)`;
    const { rows } = await queryFile(rowTextFormat(planOf(layout), CSV_SYNTAX), { from });
    const texts = expected.map((row) => {
      const shown: ExpectedRow = { ...row, built: timeText(row["built"] ?? null) };
      // CSV does not distinguish an empty text from a missing value.
      const text = (value: KeptValue): string | null => (value === null || value === "" ? null : String(value));
      return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, text(value)]));
    });
    expect(rows).toEqual(texts);
  });
});

describe("DuckDB reads Parquet", () => {
  test("with the points of GeoParquet", async () => {
    const format = await parquetFormat(planOf("wide", true), []);
    const { rows, types } = await queryFile(format, {
      select: "ST_AsText(geometry) as point, typeof(geometry) as type",
      from: readParquet,
    });
    expect(types["point"]).toBe("VARCHAR");
    const points = blocks.flatMap(({ places: { latitudes, longitudes, errors } }) =>
      Array.from(latitudes, (latitude, row) => (errors.has(row) ? null : `POINT (${longitudes[row]} ${latitude})`)),
    );
    expect(rows.map(({ point }) => point)).toEqual(points);
    expect(new Set(rows.map(({ type }) => type))).toEqual(new Set(["GEOMETRY('OGC:CRS84')"]));
  });

  test("with statistics that select the right row groups", async () => {
    const format = await parquetFormat(planOf("long"), []);
    const values = blocks.flatMap(expectedLongRows).flatMap(({ depth_meters }) => depth_meters ?? []) as number[];
    for (const limit of [-1, 0, 0.5, 0.999, 2]) {
      const from = (path: string): string => `read_parquet(${path}) where depth_meters > ${limit}`;
      const { rows } = await queryFile(format, { select: "count(*)::int as count", from });
      expect(rows).toEqual([{ count: values.filter((value) => value > limit).length }]);
    }
  });

  test("with timestamps of all units, in UTC and local, before 1970 as well", async () => {
    const columns = [
      { type: "timestamp[ms]", duckDb: "TIMESTAMP", scale: 1000n },
      { type: "timestamp[ms, UTC]", duckDb: "TIMESTAMP WITH TIME ZONE", scale: 1000n },
      { type: "timestamp[us]", duckDb: "TIMESTAMP", scale: 1n },
      { type: "timestamp[us, UTC]", duckDb: "TIMESTAMP WITH TIME ZONE", scale: 1n },
      { type: "timestamp[ns]", duckDb: "TIMESTAMP_NS", scale: undefined },
    ] as const;
    const stored = [-1n, null, 0n, 1_700_000_000_123n];
    const block = invalidBlock(stored.map(String));
    const keptColumns = columns.map(({ type }) => ({ name: type, type }));
    const kept = columns.map(() => stored);
    const plan = { ...planOf("wide"), keptColumns };
    const { rows, types } = await queryFile(await parquetFormat(plan, []), {
      of: [{ ...block, places: { ...block.places, kept } }],
      select: columns
        .map(({ type, scale }) => `${scale === undefined ? "epoch_ns" : "epoch_us"}("${type}") as "${type}"`)
        .concat(columns.map(({ type }) => `typeof("${type}") as "type of ${type}"`))
        .join(", "),
      from: readParquet,
    });
    expect(types["timestamp[ns]"]).toBe("BIGINT");
    for (const { type, duckDb, scale = 1n } of columns) {
      expect([type, rows.map((row) => row[type])]).toEqual([
        type,
        stored.map((value) => (value === null ? null : value * scale)),
      ]);
      expect([type, rows[0]?.[`type of ${type}`]]).toEqual([type, duckDb]);
    }
  });
});
