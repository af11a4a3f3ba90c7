import type { ColumnSource } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import type { PlaceFormat } from "../../../src/places/readers/openPlaceSource.ts";
import { randomFrom, type SeededRandom } from "../../seededRandom.ts";
import { parquetBytes, TEST_CODECS, wkbPoint } from "./parquetFixture.ts";
import { readPlaces, withPlaceFile } from "./placeFile.ts";

/** The number of damaged files of each kind; `DAMAGED_FILE_COUNT` tests more. */
const FILE_COUNT = Number(process.env["DAMAGED_FILE_COUNT"] ?? 150);
const ROW_COUNT = 300;

const random = randomFrom(Number(process.env["DAMAGED_FILE_SEED"] ?? 1));
interface Place {
  readonly id: string;
  readonly latitude: unknown;
  readonly longitude: unknown;
  readonly name: string;
}

const rows: readonly Place[] = Array.from({ length: ROW_COUNT }, (_, row) => ({
  id: `P${row}`,
  latitude: (row % 180) - 89.5,
  longitude: (row % 360) - 179.5,
  name: ["Depot", 'Works "North"', "Büro\nSüd", ""][row % 4] ?? "",
}));

function csv(delimiter: string, places = rows): Buffer {
  const cell = (value: unknown): string => {
    const text = String(value);
    return /["\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = places.map((row) => Object.values(row).map(cell).join(delimiter));
  return Buffer.from([["id", "latitude", "longitude", "name"].join(delimiter), ...lines].join("\r\n"));
}

function ndjson(places = rows): Buffer {
  return Buffer.from(places.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

function geojson(places = rows): Buffer {
  const features = places.map(({ id, latitude, longitude, name }) => ({
    type: "Feature",
    id,
    geometry: { type: "Point", coordinates: [longitude, latitude] },
    properties: { name },
  }));
  return Buffer.from(JSON.stringify({ type: "FeatureCollection", features }, undefined, 1));
}

function parquet(options: Omit<Parameters<typeof parquetBytes>[0], "columns">, places = rows): Buffer {
  const text: ColumnSource["encoding"] = random.pick(["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]);
  const columns: ColumnSource[] = [
    { name: "id", data: places.map(({ id }) => id), type: "STRING", encoding: text },
    { name: "latitude", data: places.map(({ latitude }) => latitude), type: "DOUBLE" },
    { name: "longitude", data: places.map(({ longitude }) => longitude), type: "DOUBLE" },
    { name: "name", data: places.map(({ name }) => (name === "" ? null : name)), type: "STRING" },
    { name: "count", data: places.map((_, row) => row), type: "INT32", encoding: "DELTA_BINARY_PACKED" },
    { name: "flag", data: places.map((_, row) => row % 2 === 0), type: "BOOLEAN" },
    { name: "time", data: places.map((_, row) => new Date(row)), type: "TIMESTAMP" },
  ];
  return Buffer.from(parquetBytes({ columns, rowGroupSize: 100, pageSize: 400, ...options }));
}

function geoParquet(geometries = rows.map(pointOf)): Buffer {
  const geo = {
    version: "1.1.0",
    primary_column: "geometry",
    columns: { geometry: { encoding: "WKB", geometry_types: ["Point"] } },
  };
  const columns: ColumnSource[] = [{ name: "geometry", data: geometries, type: "BYTE_ARRAY" }];
  return Buffer.from(parquetBytes({ columns, kvMetadata: [{ key: "geo", value: JSON.stringify(geo) }] }));
}

function pointOf({ longitude, latitude }: Place): Uint8Array | null {
  return wkbPoint(Number(longitude), Number(latitude));
}

/**
 * Returns a copy with some bytes changed, removed, repeated or inserted.
 * @param isFooterOnly whether only the end of the file is damaged
 */
function damage(random: SeededRandom, content: Buffer, isFooterOnly: boolean): Buffer {
  let damaged = Buffer.from(content);
  const changeCount = 1 + random.below(random.pick([1, 3, 10]));
  for (let change = 0; change < changeCount; change++) {
    // Footers are small, and decide how the rest is read.
    const start = isFooterOnly || random.chance(0.3) ? Math.max(0, damaged.length - 600) : 0;
    const index = start + random.below(Math.max(1, damaged.length - start));
    const size = 1 + random.below(random.pick([1, 8, 200]));
    const [head, tail] = [damaged.subarray(0, index), damaged.subarray(index)];
    switch (random.below(5)) {
      case 0:
        damaged[index] = random.below(256);
        break;
      case 1:
        damaged[index] = (damaged[index] ?? 0) ^ (1 << random.below(8));
        break;
      case 2:
        damaged = Buffer.concat([head, tail.subarray(size)]);
        break;
      case 3:
        damaged = Buffer.concat([head, tail.subarray(0, size), tail]);
        break;
      default:
        damaged = Buffer.concat([
          head,
          Buffer.from(random.pick(['"', ",", "\n", "{", "]", "\0", "9".repeat(20)])),
          tail,
        ]);
    }
    if (random.chance(0.02)) damaged = damaged.subarray(0, index);
  }
  return damaged;
}

const KINDS: readonly (readonly [string, PlaceFormat, () => Buffer])[] = [
  ["CSV", "csv", () => csv(random.pick([",", ";", "\t"]))],
  ["NDJSON", "ndjson", () => ndjson()],
  ["GeoJSON", "geojson", () => geojson()],
  ...TEST_CODECS.map((codec) => [`Parquet, ${codec}`, "parquet", () => parquet({ codec })] as const),
  ["GeoParquet", "parquet", () => geoParquet()],
];

/** Faults that concern the file as a whole: its columns, its format, or that nothing is left of it. */
const WHOLE_FILE =
  /No column has a usual name|could both be|Several columns|FeatureCollection|features must be|reference system|is missing or not binary|key geo|encoded as WKB|not a Parquet file|footer of the Parquet file|encrypted|empty|no header line/;
const LOCATED = /[Ll]ine \d+|near row \d+/;

describe("damaged files of places", () => {
  test.each(KINDS)("are read as far as they are valid, or rejected with a location: %s", async (_, format, content) => {
    const outcomes = { rows: 0, faults: 0 };
    for (let file = 0; file < FILE_COUNT; file++) {
      // Of several hundred Parquet files with damaged pages, one keeps hyparquet from ending.
      const damaged = damage(random, content(), format === "parquet");
      await withPlaceFile("damaged", damaged, async (path) => {
        try {
          const read = await readPlaces(path, { format });
          const isWrong = (latitude: number, row: number): boolean =>
            Object.hasOwn(read.errors, row) ? !Number.isNaN(latitude) : !(Math.abs(latitude) <= 90);
          expect(read.latitudes.filter(isWrong)).toStrictEqual([]);
          outcomes.rows++;
        } catch (error) {
          if (!isFault(error)) throw error;
          expect(error.message).toMatch(path);
          if (!WHOLE_FILE.test(error.message)) expect(error.message).toMatch(LOCATED);
          outcomes.faults++;
        }
      });
    }
    expect(outcomes.rows + outcomes.faults).toBe(FILE_COUNT);
    expect(Math.min(outcomes.rows, outcomes.faults)).toBeGreaterThan(0);
  });
});

const CELL = "<cell>";

/** A file with one damaged cell, and the error that its row must have. */
interface DamagedCell {
  readonly content: Buffer;
  readonly row: number;
  readonly error: { readonly reason: string; readonly message: unknown };
}

/** Writes a file and replaces the text of one cell. `error` returns the error of its row. */
function withCell(
  write: (places: readonly Place[]) => Buffer,
  { row, column, text }: { readonly row: number; readonly column: keyof Place; readonly text: string },
  error: (position: { readonly line: number; readonly column: number }) => DamagedCell["error"],
): DamagedCell {
  const content = write(rows.map((place, index) => (index === row ? { ...place, [column]: CELL } : place)));
  const cell = content.includes(`"${CELL}"`) ? `"${CELL}"` : CELL;
  const start = content.indexOf(cell);
  const [head, tail] = [content.subarray(0, start), content.subarray(start + cell.length)];
  const lines = head.toString().split("\n");
  const position = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  return { content: Buffer.concat([head, Buffer.from(text, "latin1"), tail]), row, error: error(position) };
}

const COORDINATES = ["latitude", "longitude"] as const;
const COLUMNS = ["id", ...COORDINATES, "name"] as const;
const containing = (message: string): unknown => expect.stringContaining(message);

function coordinateErrors(column: "latitude" | "longitude", name: string) {
  return {
    notNumber: { reason: `${column}_invalid`, message: containing(`${column} in column "${name}" must be a number`) },
    outOfRange: { reason: `${column}_invalid`, message: containing(`${column} in column "${name}" must be between`) },
    missing: { reason: `${column}_missing`, message: containing(`${column} in column "${name}" is missing`) },
  };
}

function damagedCsvCell(): DamagedCell {
  const delimiter = random.pick([",", ";", "\t"]);
  const write = (places: readonly Place[]): Buffer => csv(delimiter, places);
  // A malformed row is one line; the others of these rows would be rows of their own.
  const row = random.pick(rows.flatMap(({ name }, index) => (name.includes("\n") ? [] : [index])));
  if (random.chance(0.5)) {
    const column = random.pick(COORDINATES);
    const { notNumber, outOfRange, missing } = coordinateErrors(column, column);
    const [text, error] = random.pick([
      ["north", notNumber] as const,
      ["181", outOfRange] as const,
      ["", missing] as const,
    ]);
    return withCell(write, { row, column, text }, () => error);
  }
  const column = random.pick(COLUMNS);
  const [text, detail] = random.pick([
    ["K\xf6ln", "the text is not valid UTF-8"] as const,
    ['"a"x', "unexpected text after the closing quote of a cell"] as const,
  ]);
  return withCell(write, { row, column, text }, ({ line }) => ({
    reason: "row_invalid",
    message: containing(`line ${line}, column "${column}": ${detail}`),
  }));
}

function damagedNdjsonCell(): DamagedCell {
  const row = random.below(ROW_COUNT);
  if (random.chance(0.5)) {
    const column = random.pick(COORDINATES);
    const { notNumber, outOfRange, missing } = coordinateErrors(column, column);
    const [text, error] = random.pick([
      ['"north"', notNumber] as const,
      ["181", outOfRange] as const,
      ["null", missing] as const,
    ]);
    return withCell(ndjson, { row, column, text }, () => error);
  }
  const [text, offset, detail] = random.pick([
    ['"K\xf6ln"', 2, "the text is not valid UTF-8"] as const,
    ["}", 0, 'expected a value (got "}")'] as const,
  ]);
  return withCell(ndjson, { row, column: random.pick(COLUMNS), text }, ({ line, column }) => ({
    reason: "row_invalid",
    message: `Line ${line}, column ${column + offset}: ${detail}`,
  }));
}

function damagedGeojsonCell(): DamagedCell {
  const row = random.below(ROW_COUNT);
  if (random.chance(0.5)) {
    const column = random.pick(COORDINATES);
    const notNumber = { reason: "geometry_invalid", message: "the coordinates of the geometry must be numbers" };
    const { outOfRange } = coordinateErrors(column, "geometry");
    const [text, error] = random.pick([
      ['"north"', notNumber] as const,
      ["null", notNumber] as const,
      ["181", outOfRange] as const,
    ]);
    return withCell(geojson, { row, column, text }, () => error);
  }
  const column = random.pick(["id", "name"] as const);
  return withCell(geojson, { row, column, text: '"K\xf6ln"' }, (position) => ({
    reason: "row_invalid",
    message: `Line ${position.line}, column ${position.column + 2}: the text is not valid UTF-8`,
  }));
}

function damagedParquetCell(): DamagedCell {
  const row = random.below(ROW_COUNT);
  const column = random.pick(COORDINATES);
  const { notNumber, outOfRange, missing } = coordinateErrors(column, column);
  const [value, error] = random.pick([
    [NaN, notNumber] as const,
    [-181, outOfRange] as const,
    [null, missing] as const,
  ]);
  const places = rows.map((place, index) => (index === row ? { ...place, [column]: value } : place));
  return { content: parquet({ codec: random.pick(TEST_CODECS) }, places), row, error };
}

function damagedGeometry(): DamagedCell {
  const row = random.below(ROW_COUNT);
  const { outOfRange } = coordinateErrors("latitude", "geometry");
  const [geometry, error] = random.pick([
    [null, { reason: "geometry_missing", message: containing("the geometry is missing") }] as const,
    [wkbPoint(1, 2).subarray(0, 9), { reason: "geometry_invalid", message: containing("the WKB is damaged") }] as const,
    [wkbPoint(0, 181), outOfRange] as const,
  ]);
  return { content: geoParquet(rows.map((place, index) => (index === row ? geometry : pointOf(place)))), row, error };
}

describe("files of places with one damaged cell", () => {
  test.each([
    ["CSV", "csv", damagedCsvCell],
    ["NDJSON", "ndjson", damagedNdjsonCell],
    ["GeoJSON", "geojson", damagedGeojsonCell],
    ["Parquet", "parquet", damagedParquetCell],
    ["GeoParquet", "parquet", damagedGeometry],
  ] as const)("have an error in its row that names its column: %s", async (_, format, next) => {
    for (let file = 0; file < FILE_COUNT; file++) {
      const { content, row, error } = next();
      await withPlaceFile("damaged", content, async (path) => {
        const read = await readPlaces(path, { format });
        expect(read.errors).toStrictEqual({ [row]: error });
        expect(read.latitudes).toStrictEqual(rows.map(({ latitude }, index) => (index === row ? NaN : latitude)));
        expect(read.longitudes).toStrictEqual(rows.map(({ longitude }, index) => (index === row ? NaN : longitude)));
      });
    }
  });
});
