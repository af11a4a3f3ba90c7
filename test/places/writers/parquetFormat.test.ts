import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { describe, expect, test } from "vitest";
import type { ScoredBlock } from "../../../src/places/scores/placeBlock.ts";
import { type Layout, outputColumns, type OutputPlan } from "../../../src/places/writers/outputColumns.ts";
import { parquetFormat } from "../../../src/places/writers/parquetFormat.ts";
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

const plan = (layout: Layout, hasGeometry = false): OutputPlan => ({
  layout,
  groups: GROUPS,
  keptColumns: KEPT_COLUMNS,
  hasGeometry,
});

async function parquetFile(outputPlan: OutputPlan, blocks: readonly ScoredBlock[]): Promise<ArrayBuffer> {
  const format = await parquetFormat(outputPlan, [{ key: "isotherm", value: "{}" }]);
  const bytes = await encodedFile(format, blocks);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

const readRows = (file: ArrayBuffer): Promise<Record<string, unknown>[]> => parquetReadObjects({ file, compressors });

/** Returns a row as it is read: timestamps are dates. */
const values = (rows: readonly ExpectedRow[]): readonly Record<string, unknown>[] =>
  rows.map(({ built = null, ...row }) => ({ ...row, built: built === null ? null : new Date(Number(built)) }));

describe.each(["long", "wide"] as const)("Parquet in the %s layout", (layout) => {
  const expectedRows = layout === "long" ? expectedLongRows : expectedWideRows;

  test("has the values, types and nulls of every row", async () => {
    const blocks = [
      randomBlock({ rowCount: 700, seed: 7 }),
      randomBlock({ rowCount: 300, seed: 8, index: 1 }),
      randomBlock({ rowCount: 1, seed: 9, index: 2 }),
    ];
    const file = await parquetFile(plan(layout), blocks);
    expect(await readRows(file)).toEqual(values(blocks.flatMap(expectedRows)));
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => Number(num_rows))).toEqual(
      blocks.map((block) => expectedRows(block).length),
    );
  });

  test("has columns without values if all rows are invalid", async () => {
    const block = randomBlock({ rowCount: 20, seed: 10 });
    const errors = new Map(
      Array.from({ length: 20 }, (_, row) => [row, { reason: "row_invalid", message: `row ${row}` }] as const),
    );
    const invalid = { ...block, places: { ...block.places, errors } };
    expect(await readRows(await parquetFile(plan(layout), [invalid]))).toEqual(values(expectedRows(invalid)));
  });

  test("has no rows and all columns if there are no blocks", async () => {
    const file = await parquetFile(plan(layout), []);
    expect(await readRows(file)).toEqual([]);
    const [block] = [randomBlock({ rowCount: 2 })];
    const names = parquetMetadata(file)
      .schema.slice(1)
      .map(({ name }) => name);
    expect(names).toEqual(Object.keys(expectedRows(block)[0] ?? {}));
  });
});

describe("Parquet", () => {
  test("states types, metadata and statistics", async () => {
    const block = randomBlock({ rowCount: 500, seed: 11 });
    const metadata = parquetMetadata(await parquetFile(plan("long"), [block]));
    const types = Object.fromEntries(
      metadata.schema.map(({ name, type, logical_type }) => [name, [type, logical_type?.type]]),
    );
    expect(types).toMatchObject({
      id: ["INT64", undefined],
      name: ["BYTE_ARRAY", "STRING"],
      value: ["DOUBLE", undefined],
      insured: ["BOOLEAN", undefined],
      built: ["INT64", "TIMESTAMP"],
      hazard: ["BYTE_ARRAY", "STRING"],
      analysis_year: ["INT32", undefined],
      depth_meters: ["DOUBLE", undefined],
      status: ["BYTE_ARRAY", "STRING"],
    });
    expect(metadata.key_value_metadata).toEqual([{ key: "isotherm", value: "{}" }]);
    const depths = expectedLongRows(block).map(({ depth_meters }) => depth_meters as number | null);
    const present = depths.filter((depth) => depth !== null);
    const chunk = metadata.row_groups[0]?.columns.find(
      ({ meta_data }) => meta_data?.path_in_schema[0] === "depth_meters",
    );
    expect(chunk?.meta_data?.statistics).toMatchObject({
      min_value: Math.min(...present),
      max_value: Math.max(...present),
      null_count: BigInt(depths.length - present.length),
    });
  });

  test("keeps timestamps of all units with their time zone, before 1970 as well", async () => {
    const types = (["ms", "us", "ns"] as const).flatMap((unit) => [
      `timestamp[${unit}]` as const,
      `timestamp[${unit}, UTC]` as const,
    ]);
    const stored = [-1n, null, 1_700_000_000_123_456_789n, 2n ** 63n - 1n, -(2n ** 63n)];
    const block = invalidBlock(stored.map(String));
    const kept = types.map(() => stored);
    const keptColumns = types.map((type) => ({ name: type, type }));
    const outputPlan = { layout: "wide", groups: GROUPS, keptColumns, hasGeometry: false } as const;
    const file = await parquetFile(outputPlan, [{ ...block, places: { ...block.places, kept } }]);
    const integers = {
      timestampFromMilliseconds: String,
      timestampFromMicroseconds: String,
      timestampFromNanoseconds: String,
    };
    const rows = await parquetReadObjects({ file, compressors, parsers: integers });
    for (const type of types) {
      expect(rows.map((row) => row[type] as unknown)).toEqual(
        stored.map((value) => (value === null ? null : String(value))),
      );
    }
    const schema = parquetMetadata(file).schema.filter(({ name }) => name.startsWith("timestamp"));
    expect(schema.map(({ name, converted_type, logical_type }) => [name, converted_type, logical_type])).toEqual(
      types.map((type) => {
        const unit = { ms: "MILLIS", us: "MICROS", ns: "NANOS" }[type.slice(10, 12)];
        const isAdjustedToUTC = type.includes("UTC");
        return [type, unit === "NANOS" ? undefined : `TIMESTAMP_${unit}`, { type: "TIMESTAMP", isAdjustedToUTC, unit }];
      }),
    );
  });

  test("has the given numbers as the location of invalid rows", async () => {
    const block = invalidBlock(["north", " 146.5 ", "1e999", null, "-0"]);
    const typedLocation = { latitude: "latitude", longitude: "longitude" };
    const file = await parquetFile({ ...plan("long"), typedLocation }, [block]);
    const rows = await readRows(file);
    expect(rows.map(({ latitude }) => latitude)).toEqual([null, 146.5, null, null, -0]);
  });

  test("distinguishes -0 from 0 in kept columns", async () => {
    const block = randomBlock({ rowCount: 4, seed: 6 });
    const kept = block.places.kept.map((values, column) => (column === 4 ? [0, -0, -0, 0] : values));
    const file = await parquetFile(plan("wide"), [{ ...block, places: { ...block.places, kept } }]);
    const rows = await readRows(file);
    expect(rows.map(({ value }) => value)).toEqual([0, -0, -0, 0]);
  });

  test("renames kept columns that could be taken for scores", async () => {
    const keptColumns = ["cyclones.rcp2p6.2080.intensity", "acme.rcp2p6.2080.intensity", "status", "intensity"].map(
      (name) => ({ name, type: "text" as const }),
    );
    const names = (layout: Layout): readonly string[] =>
      outputColumns({ ...plan(layout), keptColumns })
        .slice(0, 4)
        .map(({ name }) => name);
    expect(names("wide")).toEqual([
      "input_cyclones.rcp2p6.2080.intensity",
      "acme.rcp2p6.2080.intensity",
      "input_status",
      "intensity",
    ]);
    expect(names("long")).toEqual([
      "cyclones.rcp2p6.2080.intensity",
      "acme.rcp2p6.2080.intensity",
      "input_status",
      "input_intensity",
    ]);
  });

  test("renames kept columns that differ only in case from a column of the output", () => {
    const namesOf = (inputNames: readonly string[], outputPlan: OutputPlan): readonly string[] => {
      const keptColumns = inputNames.map((name) => ({ name, type: "text" as const }));
      return outputColumns({ ...outputPlan, keptColumns })
        .slice(0, inputNames.length)
        .map(({ name }) => name);
    };
    const long = ["Hazard", "INPUT_hazard", "STATUS", "status", "Foo", "foo", "Geometry"];
    expect(namesOf(long, plan("long", true))).toEqual([
      "input_input_Hazard",
      "INPUT_hazard",
      "input_STATUS",
      "input_input_status",
      "Foo",
      "foo",
      "input_Geometry",
    ]);
    const wide = ["Cyclones.RCP2p6.2080.Intensity", "cyclones.rcp2p6.2080.intensity", "Hazard", "Error"];
    expect(namesOf(wide, plan("wide"))).toEqual([
      "input_Cyclones.RCP2p6.2080.Intensity",
      "input_input_cyclones.rcp2p6.2080.intensity",
      "Hazard",
      "input_Error",
    ]);
  });

  test("uses no dictionary for metrics with more distinct numbers than one can hold", async () => {
    const [group] = GROUPS;
    if (group === undefined) throw new Error("no group");
    const rowCount = 70_000;
    const block = randomBlock({ rowCount, seed: 12, groups: [group] });
    block.scores.values.forEach((_, i) => (block.scores.values[i] = i / 7));
    const outputPlan = { ...plan("wide"), groups: [group], keptColumns: [] };
    const rows = await readRows(await parquetFile(outputPlan, [block]));
    const expected = Array.from({ length: rowCount }, (_, row) =>
      block.places.errors.has(row) ? null : (row * 3) / 7,
    );
    expect(rows.map((row) => row["cyclones.baseline.1980.intensity"])).toEqual(expected);
  });

  test("has the points of valid places in a GeoParquet file", async () => {
    const block = randomBlock({ rowCount: 100, seed: 13 });
    const file = await parquetFile(plan("wide", true), [block]);
    const geo = parquetMetadata(file).key_value_metadata?.find(({ key }) => key === "geo");
    expect(JSON.parse(geo?.value ?? "")).toEqual({
      version: "1.1.0",
      primary_column: "geometry",
      columns: { geometry: { encoding: "WKB", geometry_types: ["Point"] } },
    });
    const { latitudes, longitudes, errors } = block.places;
    const rows = await readRows(file);
    expect(errors.size).toBeGreaterThan(0);
    expect(rows.map(({ geometry }) => geometry)).toEqual(
      Array.from(latitudes, (latitude, row) =>
        errors.has(row) ? null : { type: "Point", coordinates: [longitudes[row], latitude] },
      ),
    );
  });
});
