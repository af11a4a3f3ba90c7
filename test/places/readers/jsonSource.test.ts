import { describe, expect, test } from "vitest";
import { randomFrom } from "../../seededRandom.ts";
import { readContent, readPlaces, withPlaceFile } from "./placeFile.ts";

function lines(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

describe("NDJSON files of places", () => {
  test("keeps all members with their types", async () => {
    const content = lines(
      { id: "A", lat: 1, lon: 2.5, floors: 3, isOpen: true, value: 1, note: null, tags: ["x"] },
      { id: "B", lat: -1, lon: 3, floors: null, value: 1.5, mixed: 7, extra: "e" },
      { id: "C", lat: 0, lon: 4, floors: 4, isOpen: false, mixed: "seven", tags: { a: [1] } },
    );
    const { source, ...read } = await readContent("a.ndjson", content);
    expect(source.rowCount).toBe(3);
    expect(source.keptColumns.map(({ name, type }) => `${name}: ${type}`)).toStrictEqual([
      "id: text",
      "lat: integer",
      "lon: number",
      "floors: integer",
      "isOpen: boolean",
      "value: number",
      "note: text",
      "tags: text",
      "mixed: text",
      "extra: text",
    ]);
    const none = { floors: null, isOpen: null, value: null, note: null, tags: null, mixed: null, extra: null };
    expect(read.rows).toStrictEqual([
      { id: "A", lat: 1, lon: 2.5, ...none, floors: 3, isOpen: true, value: 1, tags: '["x"]' },
      { id: "B", lat: -1, lon: 3, ...none, value: 1.5, mixed: "7", extra: "e" },
      { id: "C", lat: 0, lon: 4, ...none, floors: 4, isOpen: false, mixed: "seven", tags: '{"a":[1]}' },
    ]);
    expect([read.latitudes, read.longitudes]).toStrictEqual([
      [1, -1, 0],
      [2.5, 3, 4],
    ]);
  });

  test("keeps all digits of long integers", async () => {
    const content = [
      '{"lat": 1.1234567890123456789, "lon": 2, "id": 9007199254740993, "hash": 18446744073709551616, "mixed": 9007199254740993, "list": [9007199254740993]}',
      '{"lat": 1, "lon": 2, "id": 1, "hash": 5, "mixed": 0.5, "list": []}',
    ].join("\n");
    const { source, rows } = await readContent("a.jsonl", content);
    expect(source.keptColumns.map(({ type }) => type)).toStrictEqual([
      "number",
      "integer",
      "integer",
      "text",
      "text",
      "text",
    ]);
    expect(rows).toStrictEqual([
      {
        lat: 1.1234567890123457,
        lon: 2,
        id: 9_007_199_254_740_993n,
        hash: "18446744073709551616",
        mixed: "9007199254740993",
        list: "[9007199254740993]",
      },
      { lat: 1, lon: 2, id: 1, hash: "5", mixed: "0.5", list: "[]" },
    ]);
  });

  test("names the line of text that is not JSON, and continues", async () => {
    const content =
      '{"lat":1,"lon":2}\n\n{"lat":1,"lon":}\r\n[1]\n{"lat":1,"lat":2,"lon":3}\n{"lat":"x","lon":4}\n{"lat":5';
    const { errors, latitudes } = await readContent("a.ndjson", content);
    expect(Object.values(errors).map(({ reason, message }) => `${reason}: ${message}`)).toStrictEqual([
      'row_invalid: Line 3, column 16: expected a value (got "}")',
      "row_invalid: the row must be a JSON object (got an array)",
      'row_invalid: Line 5, column 10: the key "lat" is repeated in this object',
      'latitude_invalid: latitude in column "lat" must be a number between -90 and 90 degrees (got "x")',
      "row_invalid: Line 7, column 9: expected a comma or the end of the object (got the end of the document)",
    ]);
    expect(latitudes).toStrictEqual([1, NaN, NaN, NaN, NaN, NaN]);
  });

  test("reads GeoJSON features, one per line", async () => {
    const feature = { type: "Feature", geometry: { type: "Point", coordinates: [2, 1] }, properties: { a: 1 } };
    const { rows, source } = await readContent("a.ndjson", lines(feature));
    expect(source.columns.geometry).toBe("geometry");
    expect(rows).toStrictEqual([{ a: 1, latitude: 1, longitude: 2 }]);
  });

  test("rejects a line that is too long", async () => {
    await expect(readContent("a.ndjson", `{}\n"${"x".repeat(8 << 20)}`)).rejects.toThrow(
      "Line 2: a place must be at most 8388608 characters long.",
    );
  });

  test("rejects files with too many members", async () => {
    const members = Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`m${index}`, 1]));
    await expect(readContent("a.ndjson", lines(members))).rejects.toThrow("more than 5000 different members");
  });
});

describe("JSON files of places with bytes that are not UTF-8", () => {
  const error = (message: string) => ({ reason: "row_invalid", message });

  test("have an invalid row for each line with them", async () => {
    const content = Buffer.from(
      '{"id":"\xef\xbf\xbd","lat":1,"lon":2}\n{"id":"K\xf6ln","lat":3,"lon":4}\n{"\xff":1,"lat":5,"lon":6}\n{"id":"x","lat":7,"lon":8}\n\xe2\x82',
      "latin1",
    );
    for (const chunkSizeBytes of [1, 7, undefined]) {
      const read = await readContent("a.ndjson", content, { chunkSizeBytes });
      expect(read.source.keptColumns.map(({ name }) => name)).toStrictEqual(["id", "lat", "lon"]);
      const empty = { id: null, lat: null, lon: null };
      expect(read.rows).toStrictEqual([
        { id: "\ufffd", lat: 1, lon: 2 },
        empty,
        empty,
        { id: "x", lat: 7, lon: 8 },
        empty,
      ]);
      expect(read.errors).toStrictEqual({
        1: error("Line 2, column 9: the text is not valid UTF-8"),
        2: error("Line 3, column 3: the text is not valid UTF-8"),
        4: error("Line 5, column 1: the text is not valid UTF-8"),
      });
    }
  });

  test("have an invalid row for each feature with them", async () => {
    const feature = (name: string) =>
      `{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"name":"${name}"}}`;
    const features = ["A", "K\xf6ln", "B"].map(feature).join(",\n");
    const text = `{"type":"FeatureCollection","features":[\n${features}]}`;
    const read = await readContent("a.geojson", Buffer.from(text, "latin1"));
    expect(read.rows.map(({ name }) => name)).toStrictEqual(["A", null, "B"]);
    expect(read.errors).toStrictEqual({ 1: error("Line 3, column 90: the text is not valid UTF-8") });
    const damaged = Buffer.from(`${text.slice(0, -1)},"name":"K\xf6ln"}`, "latin1");
    await expect(readContent("a.geojson", damaged)).rejects.toThrow("Line 4: the text is not valid UTF-8.");
  });
});

const POINT = { type: "Point", coordinates: [10, 50, 120] };
const FEATURE = { type: "Feature", geometry: POINT, properties: { name: "A" } };

function collection(features: unknown, more: object = {}): string {
  return JSON.stringify({ type: "FeatureCollection", ...more, features });
}

describe("GeoJSON files of places", () => {
  test("keeps identifiers, properties and coordinates", async () => {
    const features = [
      { ...FEATURE, id: 7 },
      { ...FEATURE, id: 8, properties: null },
      { ...FEATURE, properties: { name: 'features": [', nested: { a: [1, { b: "}" }] } } },
    ];
    const content = `{"note": {"features": [1]}, ${collection(features, { more: '"features": [' }).slice(1)}`;
    const { source, ...read } = await readContent("a.geojson", content);
    expect(source.columns).toStrictEqual({
      id: "id",
      latitude: undefined,
      longitude: undefined,
      geometry: "geometry",
      radiusKm: undefined,
    });
    expect(source.rowCount).toBe(3);
    const coordinates = { latitude: 50, longitude: 10 };
    expect(read.rows).toStrictEqual([
      { id: 7, name: "A", nested: null, ...coordinates },
      { id: 8, name: null, nested: null, ...coordinates },
      { id: null, name: 'features": [', nested: '{"a":[1,{"b":"}"}]}', ...coordinates },
    ]);
    expect([read.latitudes, read.longitudes]).toStrictEqual([
      [50, 50, 50],
      [10, 10, 10],
    ]);
  });

  test("names columns of coordinates apart from properties, and long identifiers exactly", async () => {
    const content = collection([{ ...FEATURE, id: 1, properties: { id: "p", latitude: 0 } }]).replace(
      '"id":1',
      '"id":12345678901234567',
    );
    const { rows } = await readContent("a.json", content);
    expect(rows).toStrictEqual([
      { feature_id: 12_345_678_901_234_567n, id: "p", latitude: 0, geometry_latitude: 50, geometry_longitude: 10 },
    ]);
  });

  test("names columns apart from properties that differ only in case", async () => {
    const properties = { ID: "p", Feature_ID: 2, LATITUDE: 0, Geometry_Longitude: "x" };
    const { rows } = await readContent("a.json", collection([{ ...FEATURE, id: 1, properties }]));
    expect(rows).toStrictEqual([{ feature_id_: 1, ...properties, geometry_latitude_: 50, geometry_longitude_: 10 }]);
  });

  test("uses properties as coordinates if they are given", async () => {
    const features = [{ type: "Feature", geometry: null, properties: { a: 1, b: 2 } }];
    const read = await readContent("a.geojson", collection(features), { columns: { latitude: "a", longitude: "b" } });
    expect([read.rows, read.latitudes]).toStrictEqual([[{ a: 1, b: 2 }], [1]]);
  });

  test.each([
    [{ ...FEATURE, geometry: null }, "geometry_missing", /the geometry is missing/],
    [{ ...FEATURE, geometry: { type: "Polygon", coordinates: [] } }, "geometry_invalid", /of the type "Polygon"/],
    [
      { ...FEATURE, geometry: { type: "Point", coordinates: [] } },
      "geometry_invalid",
      /array of longitude and latitude/,
    ],
    [{ ...FEATURE, geometry: { type: "Point", coordinates: ["1", 2] } }, "geometry_invalid", /must be numbers/],
    [{ ...FEATURE, geometry: 5 }, "geometry_invalid", /the geometry is 5/],
    [
      { ...FEATURE, geometry: { type: "Point", coordinates: [1, 95] } },
      "latitude_invalid",
      /latitude in column "geometry" must be between -90 and 90 degrees \(got 95\)/,
    ],
    [{ ...FEATURE, type: "feature" }, "row_invalid", /the type must be "Feature"/],
    [{ ...FEATURE, properties: [] }, "row_invalid", /the properties must be an object/],
    [[], "row_invalid", /the feature must be an object/],
  ])("reports the feature %j as %s", async (feature, reason, message) => {
    const read = await readContent("a.geojson", collection([FEATURE, feature]));
    expect(read.errors).toStrictEqual({ 1: { reason, message: expect.stringMatching(message) } });
  });

  test.each([
    ["a list", "[]", /must be a GeoJSON FeatureCollection; an array/],
    ["a feature", JSON.stringify(FEATURE), /must be a GeoJSON FeatureCollection \(got the type "Feature"\)/],
    ["no features", '{"type":"FeatureCollection"}', /features must be an array \(got undefined\)/],
    ["features that are an object", '{"type":"FeatureCollection","features":{}}', /features must be an array/],
    [
      "another reference system",
      collection([], { crs: { type: "name", properties: { name: "urn:ogc:def:crs:EPSG::3857" } } }),
      /must be OGC:CRS84 or EPSG:4326 \(got "urn:ogc:def:crs:EPSG::3857"\)/,
    ],
    ["a truncated feature", collection([FEATURE]).slice(0, -20), /Line 1, column \d+/],
    ["a truncated list", '{"type":"FeatureCollection",\n"features":[\n{},', /Line 3, column 4: expected a value/],
    ["a missing bracket", '{"type":"FeatureCollection","features":[{}}', /Line 1, column 4[23]/],
    ["a comma too many", `{"type":"FeatureCollection","features":[\n{},\n]}`, /Line 3, column 1: expected a value/],
    ["a malformed feature", `{"type":"FeatureCollection","features":[{},\n {"a":}]}`, /Line 2, column 7/],
    [
      "an error after the features",
      '{"type":"FeatureCollection","features":[\n{}\n],\n"crs":}',
      /Line 4, column 7: expected/,
    ],
    ["text after the end", `${collection([])}x`, /Line 1, column \d+: expected the end of the document/],
    ["two lists of features", '{"type":"FeatureCollection","features":[],"features":[]}', /"features" is repeated/],
    ["nothing but spaces", "  ", /Line 1, column 3: expected a value/],
  ])("rejects %s with its position", async (_, content, message) => {
    await expect(readContent("a.geojson", content)).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });

  test.each(["urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326", "OGC:CRS84"])(
    "accepts the reference system %s",
    async (name) => {
      const crs = { type: "name", properties: { name } };
      expect((await readContent("a.geojson", collection([FEATURE], { crs }))).latitudes).toStrictEqual([50]);
    },
  );

  test("reads the same blocks in pieces of any size", async () => {
    const random = randomFrom(6);
    const features = Array.from({ length: 9000 }, (_, row) => ({
      type: "Feature",
      geometry: random.chance(0.1) ? null : { type: "Point", coordinates: [row / 50 - 90, row / 100 - 45] },
      properties: { name: random.pick(["a", "é\u{1f600}", '"', "\\", "[{", "\n"]), row },
    }));
    const content = JSON.stringify({ features, type: "FeatureCollection" }, undefined, 1);
    await withPlaceFile("a.geojson", content, async (path) => {
      const whole = await readPlaces(path);
      expect(whole.blocks.map(({ rowCount }) => rowCount)).toStrictEqual([8192, 808]);
      for (const chunkSizeBytes of [777, 20_000]) {
        const { blocks } = await readPlaces(path, { chunkSizeBytes });
        expect(JSON.stringify(blocks) === JSON.stringify(whole.blocks), `${chunkSizeBytes} bytes`).toBe(true);
      }
      const { blocks } = await readPlaces(path, {}, (index) => index === 1);
      expect(JSON.stringify(blocks) === JSON.stringify(whole.blocks.slice(1))).toBe(true);
    });
  });
});
