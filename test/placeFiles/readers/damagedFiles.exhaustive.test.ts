import type { ColumnSource } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import type { PlaceFormat } from "../../../src/placeFiles/readers/openPlaceSource.ts";
import { randomFrom, type SeededRandom } from "../../seededRandom.ts";
import { parquetBytes, TEST_CODECS, wkbPoint } from "./parquetFixture.ts";
import { readPlaces, withPlaceFile } from "./placeFile.ts";

/** The number of damaged files of each kind; `DAMAGED_FILE_COUNT` tests more. */
const FILE_COUNT = Number(process.env["DAMAGED_FILE_COUNT"] ?? 150);
const ROW_COUNT = 300;

const random = randomFrom(Number(process.env["DAMAGED_FILE_SEED"] ?? 1));
const rows = Array.from({ length: ROW_COUNT }, (_, row) => ({
  id: `P${row}`,
  latitude: (row % 180) - 89.5,
  longitude: (row % 360) - 179.5,
  name: ["Depot", 'Works "North"', "Büro\nSüd", ""][row % 4] ?? "",
}));

function csv(delimiter: string): Buffer {
  const cell = (value: string | number): string => {
    const text = String(value);
    return /["\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => Object.values(row).map(cell).join(delimiter));
  return Buffer.from([["id", "latitude", "longitude", "name"].join(delimiter), ...lines].join("\r\n"));
}

function geojson(): Buffer {
  const features = rows.map(({ id, latitude, longitude, name }) => ({
    type: "Feature",
    id,
    geometry: { type: "Point", coordinates: [longitude, latitude] },
    properties: { name },
  }));
  return Buffer.from(JSON.stringify({ type: "FeatureCollection", features }, undefined, 1));
}

function parquet(options: Omit<Parameters<typeof parquetBytes>[0], "columns">): Buffer {
  const text: ColumnSource["encoding"] = random.pick(["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]);
  const columns: ColumnSource[] = [
    { name: "id", data: rows.map(({ id }) => id), type: "STRING", encoding: text },
    { name: "latitude", data: rows.map(({ latitude }) => latitude), type: "DOUBLE" },
    { name: "longitude", data: rows.map(({ longitude }) => longitude), type: "DOUBLE", nullable: false },
    { name: "name", data: rows.map(({ name }) => (name === "" ? null : name)), type: "STRING" },
    { name: "count", data: rows.map((_, row) => row), type: "INT32", encoding: "DELTA_BINARY_PACKED" },
    { name: "flag", data: rows.map((_, row) => row % 2 === 0), type: "BOOLEAN" },
    { name: "time", data: rows.map((_, row) => new Date(row)), type: "TIMESTAMP" },
  ];
  return Buffer.from(parquetBytes({ columns, rowGroupSize: 100, pageSize: 400, ...options }));
}

function geoParquet(): Buffer {
  const geo = {
    version: "1.1.0",
    primary_column: "geometry",
    columns: { geometry: { encoding: "WKB", geometry_types: ["Point"] } },
  };
  const data = rows.map(({ longitude, latitude }) => wkbPoint(longitude, latitude));
  const columns: ColumnSource[] = [{ name: "geometry", data, type: "BYTE_ARRAY" }];
  return Buffer.from(parquetBytes({ columns, kvMetadata: [{ key: "geo", value: JSON.stringify(geo) }] }));
}

/** Returns a copy with some bytes changed, removed, repeated or inserted. */
function damage(random: SeededRandom, content: Buffer): Buffer {
  let damaged = Buffer.from(content);
  const changeCount = 1 + random.below(random.pick([1, 3, 10]));
  for (let change = 0; change < changeCount; change++) {
    // Footers are small, and decide how the rest is read.
    const start = random.chance(0.3) ? Math.max(0, damaged.length - 600) : 0;
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
  ["NDJSON", "ndjson", () => Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""))],
  ["GeoJSON", "geojson", geojson],
  ...TEST_CODECS.map((codec) => [`Parquet, ${codec}`, "parquet", () => parquet({ codec })] as const),
  ["GeoParquet", "parquet", geoParquet],
];

/** Faults that concern the file as a whole: its columns, its format, or that nothing is left of it. */
const WHOLE_FILE =
  /No column has a usual name|could both be|Several columns|FeatureCollection|features must be|reference system|cannot be kept|is missing or not binary|key geo|encoded as WKB|not a Parquet file|footer of the Parquet file|encrypted|empty|no header line/;
const LOCATED = /[Ll]ine \d+|near row \d+/;

describe("damaged files of places", () => {
  test.each(KINDS)("are read as far as they are valid, or rejected with a location: %s", async (_, format, content) => {
    const outcomes = { rows: 0, faults: 0 };
    for (let file = 0; file < FILE_COUNT; file++) {
      const damaged = damage(random, content());
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
