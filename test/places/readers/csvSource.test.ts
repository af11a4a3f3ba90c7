import { describe, expect, test } from "vitest";
import { randomFrom } from "../../seededRandom.ts";
import { readContent, readPlaces, withPlaceFile } from "./placeFile.ts";

describe("CSV files of places", () => {
  test("keeps all columns as text, and empty cells as null", async () => {
    const content =
      '\ufeffSite ID,Name, Latitude ,lng,value\r\nA1,"Main\n""office""",48.5,2.25,007\r\n\r\nA2,,-33,-70.5,\r\n';
    const { source, ...read } = await readContent("places.CSV", content);
    expect(source.columns).toStrictEqual({
      id: "Site ID",
      latitude: "Latitude",
      longitude: "lng",
      geometry: undefined,
      radiusKm: undefined,
    });
    expect(source.keptColumns).toStrictEqual(
      ["Site ID", "Name", "Latitude", "lng", "value"].map((name) => ({ name, type: "text" })),
    );
    expect(read.rows).toStrictEqual([
      { "Site ID": "A1", Name: 'Main\n"office"', Latitude: "48.5", lng: "2.25", value: "007" },
      { "Site ID": "A2", Name: null, Latitude: "-33", lng: "-70.5", value: null },
    ]);
    expect([read.latitudes, read.longitudes, read.radiiKm]).toStrictEqual([
      [48.5, -33],
      [2.25, -70.5],
      [0, 0],
    ]);
    expect(read.errors).toStrictEqual({});
  });

  test.each([
    ["a semicolon", "id;lat;lon;note\n1;2;3;a,b\n"],
    ["a tab", "id\tlat\tlon\tnote\n1\t2\t3\ta,b\n"],
    ["a comma", '"id;x",lat,lon,note\n1,2,3,"a,b"\n'],
  ])("detects %s as the delimiter from the header", async (_, content) => {
    const read = await readContent("places.txt", content);
    expect([read.latitudes, read.longitudes]).toStrictEqual([[2], [3]]);
    expect(read.rows[0]?.["note"]).toBe("a,b");
  });

  test("names columns without a name by their position", async () => {
    const read = await readContent("a.csv", ",lat,lon,\n0,1,2,x\n");
    expect(read.rows).toStrictEqual([{ column_1: "0", lat: "1", lon: "2", column_4: "x" }]);
  });

  test.each([
    ["", "latitude_missing", /^latitude in column "lat" is missing; it must be between -90 and 90 degrees$/],
    ["  ", "latitude_missing", /missing/],
    ["91", "latitude_invalid", /^latitude in column "lat" must be between -90 and 90 degrees \(got "91"\)$/],
    ['"48,85"', "latitude_invalid", /write 48.85 with a decimal point$/],
    ["NaN", "latitude_invalid", /must be a number/],
    ["Infinity", "latitude_invalid", /must be a number/],
    ["0x10", "latitude_invalid", /must be a number/],
    ["1_0", "latitude_invalid", /must be a number/],
    ["12 apples", "latitude_invalid", /must be a number between -90 and 90 degrees \(got "12 apples"\)$/],
    ['48°51\'24""N', "latitude_invalid", /write decimal degrees/],
    ["48 51 24 N", "latitude_invalid", /write decimal degrees/],
    ["33.8 S", "latitude_invalid", /write decimal degrees/],
  ])("rejects the latitude %j as %s and keeps the row", async (cell, reason, message) => {
    const text = cell.includes('"') && !cell.startsWith('"') ? `"${cell}"` : cell;
    const read = await readContent("a.csv", `id,lat,lon\n1,${text},10\n2,20,30\n`);
    expect(read.errors).toStrictEqual({ 0: { reason, message: expect.stringMatching(message) } });
    expect(read.latitudes).toStrictEqual([NaN, 20]);
    expect(read.longitudes).toStrictEqual([NaN, 30]);
    expect(read.rows[0]?.["id"]).toBe("1");
  });

  test.each(["48.5", "+48.5", "48.50", "4.85e1", " 48.5 ", "48.5\u00a0"])("accepts the latitude %j", async (cell) => {
    const read = await readContent("a.csv", `lat,lon\n${cell},10\n`);
    expect([read.latitudes, read.errors]).toStrictEqual([[48.5], {}]);
  });

  test("accepts the limits of coordinates", async () => {
    const read = await readContent("a.csv", "lat,lon\n90,180\n-90,-180\n90.0000001,0\n0,-180.0000001\n");
    expect(read.latitudes).toStrictEqual([90, -90, NaN, NaN]);
    expect(read.longitudes).toStrictEqual([180, -180, NaN, NaN]);
  });

  test("names all errors of a row, and advises on longitudes above 180", async () => {
    const read = await readContent("a.csv", "lat,lon\nx,190\n");
    expect(read.errors).toStrictEqual({
      0: {
        reason: "latitude_invalid",
        message:
          'latitude in column "lat" must be a number between -90 and 90 degrees (got "x"); longitude in column "lon" must be between -180 and 180 degrees (got "190"); subtract 360 from longitudes above 180',
      },
    });
  });

  test.each([
    [";", "\n"],
    [",", "\r\n"],
    ["\t", "\r"],
  ])("skips a first line that states the delimiter %j", async (delimiter, lineEnd) => {
    // Other delimiters are more frequent in the header.
    const id = `id${[",", ";", "\t"]
      .filter((other) => other !== delimiter)
      .join("-")
      .repeat(3)}`;
    const rows = [
      [id, "lat", "lon"],
      ["a", "1", "2"],
      ["b", "3"],
    ].map((cells) => cells.join(delimiter));
    const content = [`sep=${delimiter}`, ...rows].join(lineEnd);
    for (const chunkSizeBytes of [1, 1 << 20]) {
      const read = await readContent("a.csv", content, { chunkSizeBytes });
      expect([read.latitudes, read.longitudes]).toStrictEqual([
        [1, NaN],
        [2, NaN],
      ]);
      expect(read.errors).toMatchObject({ 1: { message: "the row has 2 cells, but the header has 3" } });
    }
  });

  test("rejects rows with another number of cells", async () => {
    const read = await readContent("a.csv", "id,lat,lon\n1,2\n3,4,5,6\n7,8,9\n");
    expect(read.errors).toStrictEqual({
      0: { reason: "row_invalid", message: "the row has 2 cells, but the header has 3" },
      1: {
        reason: "row_invalid",
        message: "the row has 4 cells, but the header has 3; cells that contain the delimiter must be quoted",
      },
    });
    expect(read.rows).toStrictEqual([
      { id: "1", lat: "2", lon: null },
      { id: "3", lat: "4", lon: "5" },
      { id: "7", lat: "8", lon: "9" },
    ]);
    expect(read.latitudes).toStrictEqual([NaN, NaN, 8]);
  });

  test("notes that columns may be swapped if that explains most rows of a block", async () => {
    const swapped = await readContent("a.csv", "lat,lon\n146,-35\n120,30\n10,20\n");
    expect(swapped.errors[0]?.message).toMatch(/\(got "146"\); latitude and longitude may be swapped$/);
    const single = await readContent("a.csv", "lat,lon\n146,-35\n12,30\n10,20\n");
    expect(single.errors[0]?.message).toMatch(/\(got "146"\)$/);
  });

  test("reads a radius for each place", async () => {
    const content = "lat,lon,accuracy_km\n1,2,0.5\n1,2,\n1,2,100.5\n1,2,-1\n";
    const options = { radiusColumn: "accuracy_km" };
    const read = await readContent("a.csv", content, options);
    expect(read.radiiKm).toStrictEqual([0.5, NaN, NaN, NaN]);
    expect(Object.values(read.errors)).toStrictEqual([
      { reason: "radius_invalid", message: expect.stringMatching(/^radius in column "accuracy_km" is missing/) },
      {
        reason: "radius_invalid",
        message: 'radius in column "accuracy_km" must be between 0 and 100 kilometers (got "100.5")',
      },
      { reason: "radius_invalid", message: expect.stringMatching(/must be between 0 and 100 kilometers \(got "-1"\)/) },
    ]);
    const withDefault = await readContent("a.csv", content, { ...options, radiusKm: 5 });
    expect(withDefault.radiiKm).toStrictEqual([0.5, 5, NaN, NaN]);
    expect((await readContent("a.csv", content, { radiusKm: 7 })).radiiKm).toStrictEqual([7, 7, 7, 7]);
  });

  test("keeps quotes in unquoted cells", async () => {
    const read = await readContent("a.csv", 'id,size,lat,lon\n1,5" pipe,2,3\n');
    expect([read.errors, read.latitudes, read.rows[0]?.["size"]]).toStrictEqual([{}, [2], '5" pipe']);
  });

  test.each([
    [
      "an unclosed quote",
      '1,"Paris,5,6',
      'line 3, column "name": the closing quote of a cell is missing',
      { id: "1", name: '"Paris', lat: "5", lon: "6" },
    ],
    [
      "text after a closing quote",
      '"1"x,Paris,5,6',
      'line 3, column "id": unexpected text after the closing quote of a cell; write a quote inside a quoted cell twice',
      { id: '"1"x', name: "Paris", lat: "5", lon: "6" },
    ],
    [
      "text after a closing quote of a further cell",
      '1,Paris,5,6,"7"x',
      "line 3: unexpected text after the closing quote of a cell; write a quote inside a quoted cell twice",
      { id: "1", name: "Paris", lat: "5", lon: "6" },
    ],
    [
      "more than 1 MiB of text",
      `1,${"x".repeat(1 << 20)},5,6`,
      "line 3: a row must be at most 1048576 characters long; a closing quote may be missing",
      { id: null, name: null, lat: null, lon: null },
    ],
  ])("reads on after a row with %s", async (_, line, message, row) => {
    const read = await readContent("a.csv", `id,name,lat,lon\n0,Rome,1,2\n${line}\n2,Bern,7,8\n`);
    expect(read.errors).toStrictEqual({ 1: { reason: "row_invalid", message } });
    expect([read.latitudes, read.longitudes]).toStrictEqual([
      [1, NaN, 7],
      [2, NaN, 8],
    ]);
    expect(read.rows[1]).toStrictEqual(row);
    expect(read.rows[2]).toStrictEqual({ id: "2", name: "Bern", lat: "7", lon: "8" });
  });

  test("reads on after a row with bytes that are not UTF-8, which it replaces by U+FFFD", async () => {
    const content = Buffer.from(
      'id,name,lat,lon\n0,M\xc3\xbcnchen \xef\xbf\xbd,1,2\n1,K\xf6ln,3,4\n2,"a\nb\n\xe2\x82",5,6\n3,\xff,"7,8\n4,\xff,9\n5,Bern,11,\xe2\x82',
      "latin1",
    );
    const rows = [
      { id: "0", name: "München \ufffd", lat: "1", lon: "2" },
      { id: "1", name: "K\ufffdln", lat: "3", lon: "4" },
      { id: "2", name: "a\nb\n\ufffd", lat: "5", lon: "6" },
      { id: "3", name: "\ufffd", lat: '"7', lon: "8" },
      { id: "4", name: "\ufffd", lat: "9", lon: null },
      { id: "5", name: "Bern", lat: "11", lon: "\ufffd" },
    ];
    const messages = [
      'line 3, column "name": the text is not valid UTF-8',
      'line 6, column "name": the text is not valid UTF-8',
      'line 7, column "lat": the closing quote of a cell is missing',
      'line 8, column "name": the text is not valid UTF-8',
      'line 9, column "lon": the text is not valid UTF-8',
    ];
    for (const chunkSizeBytes of [1, 7, undefined]) {
      const read = await readContent("a.csv", content, { chunkSizeBytes });
      expect(read.rows).toStrictEqual(rows);
      expect(read.latitudes).toStrictEqual([1, NaN, NaN, NaN, NaN, NaN]);
      expect(read.errors).toStrictEqual(
        Object.fromEntries(messages.map((message, i) => [i + 1, { reason: "row_invalid", message }])),
      );
    }
  });

  test.each([
    ["a header with an unclosed quote", '"id,lat,lon\n1,2,3\n', /Line 1: the closing quote of a cell is missing/],
    [
      "a header in Latin-1",
      Buffer.from("\nid,lat,lon,H\xf6he\n1,2,3,4\n", "latin1"),
      /Line 2: the text is not valid UTF-8\. Save the file as UTF-8\./,
    ],
    ["UTF-16", Buffer.from("\ufeffid,lat,lon\n1,2,3\n", "utf16le"), /The file is text in UTF-16; save it as UTF-8/],
    ["blank lines only", "\n\n\n", /The file has no header line/],
    [
      "another delimiter",
      "id|lat|lon\n1|2|3\n",
      /The header has only the column "id\|lat\|lon"; columns must be separated by a comma, a semicolon or a tab\./,
    ],
    [
      "a line that states another delimiter",
      "sep=|\nid|lat|lon\n1|2|3\n",
      /Line 1: the delimiter must be a comma, a semicolon or a tab \(got "sep=\|"\)/,
    ],
    ["repeated columns", "lat,lon,id,id\n1,2,3,4\n", /Several columns have the same name: "id"/],
  ])("rejects a file with %s", async (_, content, message) => {
    await expect(readContent("a.csv", content)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(message),
    });
  });

  test("has no blocks without rows", async () => {
    expect((await readContent("a.csv", "lat,lon\n")).blocks).toStrictEqual([]);
  });
});

describe("blocks of a CSV file", () => {
  const random = randomFrom(5);
  const lines = Array.from({ length: 20_000 }, (_, row) => {
    const latitude = random.chance(0.05) ? random.pick(["", "x", "95", "é"]) : random.between({ min: -90, max: 90 });
    const names = ["plain", '"two\r\nlines"', '"a,b"', "é\u{1f600}", '"""quoted"""', '5" pipe', '"a"b'];
    const name = random.chance(0.0005) ? '"not closed' : random.pick(names);
    return `${row},${name},${latitude},${random.between({ min: -180, max: 180 })}`;
  });
  const content = `id,name,lat,lon\r\n${lines.join("\r\n")}`;

  test("do not depend on how the file is read", async () => {
    await withPlaceFile("a.csv", content, async (path) => {
      const whole = await readPlaces(path);
      expect(whole.blocks.map(({ index, rowCount }) => [index, rowCount])).toStrictEqual([
        [0, 8192],
        [1, 8192],
        [2, 3616],
      ]);
      for (const chunkSizeBytes of [61, 1000, 1 + random.below(50_000)]) {
        const { blocks } = await readPlaces(path, { chunkSizeBytes });
        // One comparison of all values would list every difference.
        expect(JSON.stringify(blocks) === JSON.stringify(whole.blocks), `${chunkSizeBytes} bytes`).toBe(true);
      }
    });
  });

  test("are the same if others are skipped", async () => {
    await withPlaceFile("a.csv", content, async (path) => {
      const whole = await readPlaces(path);
      for (const wanted of [0, 1, 2]) {
        const { blocks } = await readPlaces(path, {}, (index) => index === wanted);
        expect(blocks).toStrictEqual([whole.blocks[wanted]]);
      }
    });
  });

  test("are read until the signal aborts", async () => {
    await withPlaceFile("a.csv", content, async (path) => {
      const { openPlaceSource } = await import("../../../src/places/readers/openPlaceSource.ts");
      const source = await openPlaceSource(path, { chunkSizeBytes: 1000 });
      const abort = new AbortController();
      const read = async (): Promise<void> => {
        for await (const block of source.blocks({ isWanted: () => true, signal: abort.signal })) {
          expect(block.index).toBe(0);
          abort.abort(new Error("stopped"));
        }
      };
      await expect(read()).rejects.toThrow("stopped");
    });
  });

  test("report all bytes of the file", async () => {
    await withPlaceFile("a.csv", content, async (path) => {
      const { openPlaceSource } = await import("../../../src/places/readers/openPlaceSource.ts");
      const source = await openPlaceSource(path);
      let sizeBytes = 0;
      const onBytes = (count: number): void => void (sizeBytes += count);
      for await (const block of source.blocks({ isWanted: (index) => index > 0, onBytes })) {
        expect(block.index).toBeGreaterThan(0);
      }
      expect([sizeBytes, source.sizeBytes]).toStrictEqual([Buffer.byteLength(content), Buffer.byteLength(content)]);
    });
  });
});
