import { isDeepStrictEqual } from "node:util";
import type { Encoding, SchemaElement } from "hyparquet";
import type { ColumnSource } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { parquetBytes, TEST_CODECS, wkbPoint } from "./parquetFixture.ts";
import { type ReadPlaces, readContent, readPlaces, withPlaceFile } from "./placeFile.ts";

const ROW_COUNT = 20_000;
const rows = Array.from({ length: ROW_COUNT }, (_, row) => row);
const LATITUDES = rows.map((row) => ((row * 37) % 18_000) / 100 - 90);
const LONGITUDES = rows.map((row) => ((row * 91) % 36_000) / 100 - 180);
const LOCATION: readonly ColumnSource[] = [
  { name: "latitude", data: LATITUDES, type: "DOUBLE" },
  { name: "longitude", data: LONGITUDES, type: "DOUBLE" },
];

/** Values with a null in every seventh row. */
function withNulls<T>(valueOf: (row: number) => T): (T | null)[] {
  return rows.map((row) => (row % 7 === 3 ? null : valueOf(row)));
}

const TEXTS = withNulls((row) => `Site ${row} é`);
const COUNTRIES = withNulls((row) => ["DE", "FR", "DJ"][row % 3] ?? "");
const INTEGERS = withNulls((row) => row - 5000);
const LONGS = withNulls((row) => BigInt(row) * 10_000_000_000_000n - 2n ** 62n);
const FLAGS = withNulls((row) => row % 3 === 0);
const FLOATS = withNulls((row) => row / 8);
const TIMES = withNulls((row) => new Date(Date.UTC(2026, 0, 1) + row * 1000));

function columnsWith(encodings: Partial<Record<"text" | "integer" | "number", Encoding>>): readonly ColumnSource[] {
  const { text, integer, number } = encodings;
  return [
    ...LOCATION,
    { name: "name", data: TEXTS, type: "STRING", ...(text === undefined ? {} : { encoding: text }) },
    { name: "country", data: COUNTRIES, type: "STRING" },
    { name: "count", data: INTEGERS, type: "INT32", ...(integer === undefined ? {} : { encoding: integer }) },
    { name: "serial", data: LONGS, type: "INT64", ...(integer === undefined ? {} : { encoding: integer }) },
    { name: "flag", data: FLAGS, type: "BOOLEAN" },
    { name: "share", data: FLOATS, type: "FLOAT", ...(number === undefined ? {} : { encoding: number }) },
    { name: "time", data: TIMES, type: "TIMESTAMP" },
  ];
}

const MILLISECONDS = TIMES.map((time) => (time === null ? null : BigInt(time.getTime())));
const EXPECTED_COLUMNS = [LATITUDES, LONGITUDES, TEXTS, COUNTRIES, INTEGERS, LONGS, FLAGS, FLOATS, MILLISECONDS];

/** Returns the first value that differs, because listing all differences would take long. */
function firstDifference(read: ReadPlaces): unknown {
  for (const [column, expected] of EXPECTED_COLUMNS.entries()) {
    const actual = read.blocks.flatMap((block) => block.kept[column] ?? []);
    const row = rows.findIndex((row) => !isDeepStrictEqual(actual[row], expected[row]));
    if (row >= 0 || actual.length !== ROW_COUNT) return { column, row, actual: actual[row], expected: expected[row] };
  }
  return undefined;
}

describe("Parquet files of places", () => {
  test.each(TEST_CODECS)("reads all types with nulls, row groups and pages, compressed with %s", async (codec) => {
    const read = await readContent("a.parquet", parquetBytes({ columns: columnsWith({}), codec }));
    expect(firstDifference(read)).toBeUndefined();
    expect(read.latitudes).toStrictEqual(LATITUDES);
    expect(read.longitudes).toStrictEqual(LONGITUDES);
    expect(read.errors).toStrictEqual({});
    expect(read.source.rowCount).toBe(ROW_COUNT);
    expect(read.source.keptColumns.map(({ type }) => type)).toStrictEqual([
      "number",
      "number",
      "text",
      "text",
      "integer",
      "integer",
      "boolean",
      "number",
      "timestamp[ms, UTC]",
    ]);
    expect(read.blocks.map(({ index, rowCount }) => [index, rowCount])).toStrictEqual([
      [0, 8192],
      [1, 8192],
      [2, 3616],
    ]);
  });

  test.each([
    { text: "PLAIN", integer: "PLAIN", number: "PLAIN" },
    { text: "DELTA_LENGTH_BYTE_ARRAY", integer: "DELTA_BINARY_PACKED", number: "BYTE_STREAM_SPLIT" },
    { text: "DELTA_BYTE_ARRAY", integer: "BYTE_STREAM_SPLIT" },
  ] as const)("reads the encodings %j", async (encodings) => {
    const read = await readContent("a.parquet", parquetBytes({ columns: columnsWith(encodings) }));
    expect(firstDifference(read)).toBeUndefined();
  });

  test("reads only the wanted blocks, with the same content", async () => {
    const bytes = parquetBytes({ columns: columnsWith({}) });
    await withPlaceFile("a.parquet", bytes, async (path) => {
      const all = await readPlaces(path);
      const second = await readPlaces(path, {}, (index) => index === 1);
      const last = await readPlaces(path, {}, (index) => index === 2);
      expect(second.blocks).toStrictEqual([all.blocks[1]]);
      expect(last.blocks).toStrictEqual([all.blocks[2]]);
    });
  });

  test("keeps logical types as numbers or as text without loss", async () => {
    const element = (name: string, more: Partial<SchemaElement>): SchemaElement => ({
      name,
      repetition_type: "OPTIONAL",
      ...more,
    });
    const fields: readonly {
      readonly element: SchemaElement;
      readonly data: unknown[];
      readonly expected: unknown[];
    }[] = [
      {
        element: element("lat", { type: "FLOAT" }),
        data: [1.5, null],
        expected: [1.5, null],
      },
      { element: element("lon", { type: "DOUBLE" }), data: [2, 3], expected: [2, 3] },
      {
        element: element("date", { type: "INT32", converted_type: "DATE" }),
        data: [new Date("1969-12-31"), new Date("2026-11-23")],
        expected: ["1969-12-31", "2026-11-23"],
      },
      {
        element: element("micros", {
          type: "INT64",
          logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
        }),
        data: [-1n, 1_500_999n],
        expected: [-1n, 1_500_999n],
      },
      {
        element: element("nanos", {
          type: "INT64",
          logical_type: { type: "TIMESTAMP", isAdjustedToUTC: false, unit: "NANOS" },
        }),
        data: [1_999_999n, null],
        expected: [1_999_999n, null],
      },
      {
        element: element("old", { type: "INT64", converted_type: "TIMESTAMP_MICROS" }),
        data: [-1n, null],
        expected: [-1n, null],
      },
      {
        element: element("price", { type: "INT64", converted_type: "DECIMAL", precision: 15, scale: 2 }),
        data: [-1005n, 7n],
        expected: [-10.05, 0.07],
      },
      {
        element: element("total", { type: "INT64", converted_type: "DECIMAL", precision: 18, scale: 3 }),
        data: [-999_999_999_999_999_999n, 5n],
        expected: ["-999999999999999.999", "0.005"],
      },
      {
        element: element("unsigned", { type: "INT32", converted_type: "UINT_32" }),
        data: [4_294_967_295, 0],
        expected: [4_294_967_295, 0],
      },
      {
        element: element("id", { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, logical_type: { type: "UUID" } }),
        data: ["00112233-4455-6677-8899-aabbccddeeff", null],
        expected: ["00112233-4455-6677-8899-aabbccddeeff", null],
      },
      {
        element: element("half", { type: "FIXED_LEN_BYTE_ARRAY", type_length: 2, logical_type: { type: "FLOAT16" } }),
        data: [0.5, -2],
        expected: [0.5, -2],
      },
      {
        element: element("hash", { type: "FIXED_LEN_BYTE_ARRAY", type_length: 2 }),
        data: [Uint8Array.of(0, 255), null],
        expected: ["00ff", null],
      },
      {
        element: element("json", { type: "BYTE_ARRAY", converted_type: "JSON" }),
        data: [{ a: 1 }, [1]],
        expected: ['{"a":1}', "[1]"],
      },
    ];
    const read = await readContent(
      "a.parquet",
      parquetBytes({
        columns: fields.map(({ element: { name }, data }) => ({ name, data })),
        schema: [{ name: "root", num_children: fields.length }, ...fields.map((field) => field.element)],
      }),
    );
    expect(read.source.keptColumns.slice(3, 6).map(({ type }) => type)).toStrictEqual([
      "timestamp[us, UTC]",
      "timestamp[ns]",
      "timestamp[us, UTC]",
    ]);
    for (const [column, { element: field, expected }] of fields.entries()) {
      expect(read.blocks[0]?.kept[column], field.name).toStrictEqual(expected);
    }
    expect(read.errors).toStrictEqual({
      1: { reason: "latitude_missing", message: expect.stringMatching(/^latitude in column "lat" is missing/) },
    });
  });

  test("rejects a damaged file with a column without a name", async () => {
    const bytes = Buffer.from(parquetBytes({ columns: LOCATION }));
    const footerStart = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
    const name = bytes.indexOf("latitude", footerStart);
    // The name follows its length, which follows the number of the field relative to the field before and its type.
    bytes.writeUInt8((bytes[name - 2] ?? 0) | 0xf0, name - 2);
    await expect(readContent("a.parquet", bytes)).rejects.toMatchObject({
      code: "invalid_request",
      message: /The footer of the Parquet file cannot be read: it has a column without a name\.$/,
    });
  });

  test("names a column of binary values that are not text", async () => {
    const columns = [
      ...LOCATION,
      { name: "shape", data: rows.map(() => Uint8Array.of(1, 255)), type: "BYTE_ARRAY" },
    ] as const;
    await expect(readContent("a.parquet", parquetBytes({ columns }))).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining(
        'The column "shape" has binary values, which are not text; leave it out',
      ) as string,
    });
  });

  test("leaves out columns of a type that is not supported, and names them", async () => {
    const bytes = parquetBytes({
      columns: [
        { name: "latitude", data: [1] },
        { name: "longitude", data: [2] },
        { name: "tags", data: [{ a: 1 }], type: "VARIANT" },
      ],
    });
    const { source, ...read } = await readContent("a.parquet", bytes);
    expect(source.omittedColumns).toStrictEqual(["tags"]);
    expect([read.rows, read.latitudes]).toStrictEqual([[{ latitude: 1, longitude: 2 }], [1]]);
  });
});

const GEO_COLUMN = { encoding: "WKB", geometry_types: ["Point"] };

function geoBytes(column: object, geometries: unknown[], others: readonly ColumnSource[] = []): Uint8Array {
  const geo = { version: "1.1.0", primary_column: "geom", columns: { geom: column } };
  return parquetBytes({
    columns: [...others, { name: "geom", data: geometries, type: "BYTE_ARRAY" }],
    kvMetadata: [{ key: "geo", value: JSON.stringify(geo) }],
  });
}

describe("GeoParquet files of places", () => {
  test("reads points and replaces the geometry by its coordinates", async () => {
    const polygon = Uint8Array.of(1, 3, 0, 0, 0, 0, 0, 0, 0);
    const geometries = [
      wkbPoint(-120.5, 45.25),
      null,
      polygon,
      Uint8Array.of(1, 1),
      wkbPoint(NaN, NaN),
      wkbPoint(1, 91),
    ];
    const names = geometries.map((_, row) => `P${row}`);
    const bytes = geoBytes(GEO_COLUMN, geometries, [{ name: "id", data: names, type: "STRING" }]);
    const { source, ...read } = await readContent("a.geoparquet", bytes);
    expect(source.columns).toStrictEqual({
      id: "id",
      latitude: undefined,
      longitude: undefined,
      geometry: "geom",
      radiusKm: undefined,
    });
    expect(read.rows[0]).toStrictEqual({ id: "P0", latitude: 45.25, longitude: -120.5 });
    expect([read.latitudes[0], read.longitudes[0]]).toStrictEqual([45.25, -120.5]);
    expect(read.errors).toStrictEqual({
      1: { reason: "geometry_missing", message: "the geometry is missing; it must be a WKB point" },
      2: { reason: "geometry_invalid", message: "the geometry is of the type Polygon; it must be a WKB point" },
      3: { reason: "geometry_invalid", message: "the WKB is damaged; it must be a WKB point" },
      4: { reason: "geometry_missing", message: "the point is empty" },
      5: {
        reason: "latitude_invalid",
        message: 'latitude in column "geom" must be between -90 and 90 degrees (got 91)',
      },
    });
  });

  test.each([{ crs: { id: { authority: "OGC", code: "CRS84" } } }, { crs: { id: { authority: "EPSG", code: 4326 } } }])(
    "accepts the coordinate reference system %j",
    async (more) => {
      const read = await readContent("a.parquet", geoBytes({ ...GEO_COLUMN, ...more }, [wkbPoint(1, 2)]));
      expect(read.latitudes).toStrictEqual([2]);
    },
  );

  test.each([
    [{ crs: { id: { authority: "EPSG", code: 3857 } } }, /must be OGC:CRS84 or EPSG:4326 \(got "EPSG:3857"\)/],
    [{ crs: { name: "ETRS89" } }, /\(got "ETRS89"\)/],
    [{ crs: null }, /\(got an unknown system\)/],
    [{ encoding: "point" }, /must be encoded as WKB \(got "point"\)/],
  ])("rejects %j", async (more, message) => {
    await expect(
      readContent("a.parquet", geoBytes({ ...GEO_COLUMN, ...more }, [wkbPoint(1, 2)])),
    ).rejects.toMatchObject({ code: "invalid_request", message: expect.stringMatching(message) });
  });

  test("uses columns of coordinates instead of the geometry if they are given", async () => {
    const others: readonly ColumnSource[] = [
      { name: "latitude", data: [10], type: "DOUBLE" },
      { name: "longitude", data: [20], type: "DOUBLE" },
    ];
    const bytes = geoBytes({ ...GEO_COLUMN, crs: null }, [wkbPoint(1, 2)], others);
    const read = await readContent("a.parquet", bytes, { columns: { latitude: "latitude", longitude: "longitude" } });
    expect([read.latitudes, read.longitudes]).toStrictEqual([[10], [20]]);
    expect(read.rows[0]?.["geom"]).toBe(Buffer.from(wkbPoint(1, 2)).toString("hex"));
    const both = await readContent("a.parquet", geoBytes(GEO_COLUMN, [wkbPoint(1, 2)], others));
    expect(both.rows[0]).toStrictEqual({
      latitude: 10,
      longitude: 20,
      geometry_latitude: 2,
      geometry_longitude: 1,
    });
    expect([both.latitudes, both.longitudes]).toStrictEqual([[2], [1]]);
  });

  test("names both columns of the geometry apart if one name is taken", async () => {
    const others: readonly ColumnSource[] = [{ name: "latitude", data: ["north"], type: "STRING" }];
    const read = await readContent("a.parquet", geoBytes(GEO_COLUMN, [wkbPoint(1, 2)], others));
    expect(read.rows).toStrictEqual([{ latitude: "north", geometry_latitude: 2, geometry_longitude: 1 }]);
  });

  test("leaves out lists and structures, of any type, and reads the other columns", async () => {
    const schema: SchemaElement[] = [
      { name: "schema", num_children: 5 },
      { name: "id", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
      { name: "bbox", num_children: 2, repetition_type: "OPTIONAL" },
      { name: "xmin", type: "FLOAT", repetition_type: "OPTIONAL" },
      { name: "ymin", type: "FLOAT", repetition_type: "OPTIONAL" },
      { name: "geom", type: "BYTE_ARRAY", repetition_type: "OPTIONAL" },
      { name: "sources", num_children: 1, repetition_type: "OPTIONAL", converted_type: "LIST" },
      { name: "list", num_children: 1, repetition_type: "REPEATED" },
      { name: "element", num_children: 4, repetition_type: "OPTIONAL" },
      { name: "day", type: "INT32", converted_type: "DATE", repetition_type: "OPTIONAL" },
      {
        name: "price",
        type: "INT64",
        converted_type: "DECIMAL",
        scale: 2,
        precision: 18,
        repetition_type: "OPTIONAL",
      },
      { name: "key", type: "INT64", repetition_type: "OPTIONAL" },
      { name: "hash", type: "BYTE_ARRAY", repetition_type: "OPTIONAL" },
      { name: "country", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" },
    ];
    const source = { day: new Date(0), price: 1.25, key: 2n ** 60n, hash: Uint8Array.of(1, 255) };
    const geo = { version: "1.1.0", primary_column: "geom", columns: { geom: GEO_COLUMN } };
    const rowCount = 10_000;
    const data = <T>(valueOf: (row: number) => T): T[] => Array.from({ length: rowCount }, (_, row) => valueOf(row));
    const bytes = parquetBytes({
      schema,
      columns: [
        { name: "id", data: data((row) => `P${row}`) },
        { name: "bbox", data: data((row) => (row % 3 === 0 ? null : { xmin: row / 100, ymin: 1 })) },
        { name: "geom", data: data((row) => wkbPoint(row / 100, 1)) },
        {
          name: "sources",
          data: data((row) => (row % 4 === 0 ? null : Array.from({ length: row % 4 }, () => source))),
        },
        { name: "country", data: data((row) => (row % 2 === 0 ? "KE" : null)) },
      ],
      kvMetadata: [{ key: "geo", value: JSON.stringify(geo) }],
    });
    const read = await readContent("a.parquet", bytes);
    expect(read.source.omittedColumns).toStrictEqual(["bbox", "sources"]);
    expect(read.errors).toStrictEqual({});
    expect(read.rows).toHaveLength(rowCount);
    for (const row of [0, 5999, 6001, 9999]) {
      expect(read.rows[row]).toStrictEqual({
        id: `P${row}`,
        country: row % 2 === 0 ? "KE" : null,
        latitude: 1,
        longitude: row / 100,
      });
    }
    expect(read.longitudes).toStrictEqual(data((row) => row / 100));
  });
});
