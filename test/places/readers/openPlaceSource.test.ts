import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";

import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openPlaceSource } from "../../../src/places/readers/openPlaceSource.ts";
import { readContent } from "./placeFile.ts";

describe("opening a file of places", () => {
  test.each([
    ["places.csv.gz", /the extension .gz is not supported; the file must end in \.csv, .*; decompress it first/],
    ["places.xlsx", /the extension .xlsx is not supported; .* or set --from to one of csv, ndjson, geojson, parquet/],
    ["places", /the name has no extension/],
  ])("rejects the name %s", async (name, message) => {
    await expect(readContent(name, "lat,lon\n1,2\n")).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringMatching(message),
    });
  });

  test.each<readonly [name: string, content: Buffer, message: string]>([
    ["a.csv", gzipSync("lat,lon\n1,2\n"), "The file is compressed with gzip; decompress it first."],
    [
      "a.ndjson",
      Buffer.from("PK\u0003\u0004"),
      "The file is a zip archive or an Excel workbook; extract the file in it",
    ],
    ["a.parquet", gzipSync("PAR1"), "The file is compressed with gzip; decompress it first."],
    ["a.csv", Buffer.from("PAR1 and more"), "The file is a Parquet file; set --from to parquet."],
    ["a.csv", Buffer.from("\ufefflat,lon\n1,2\n", "utf16le"), "The file is text in UTF-16; save it as UTF-8."],
    ["a.csv", Buffer.from("lat,lon\n1,2\n", "utf16le"), "The file is text in UTF-16; save it as UTF-8."],
    ["a.csv", Buffer.from("lat,lon\n1,2\n", "utf16le").swap16(), "The file is text in UTF-16; save it as UTF-8."],
    ["a.json", Buffer.from("SQLite format 3\0"), "The file is a GeoPackage or SQLite database; export it"],
  ])("rejects %s with the content of another kind of file: %j", async (name, content, message) => {
    await expect(readContent(name, content)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining(`${name}: ${message}`),
    });
  });

  test("reads any name in a given format", async () => {
    expect((await readContent("places", "lat,lon\n1,2\n", { format: "csv" })).latitudes).toStrictEqual([1]);
  });

  test("rejects standard input, folders, missing and empty files", async () => {
    const folder = await mkdtemp(join(tmpdir(), "isotherm-places-"));
    try {
      await mkdir(join(folder, "a.csv"));
      await expect(openPlaceSource(join(folder, "a.csv"))).rejects.toThrow("is a folder");
      await expect(openPlaceSource(join(folder, "b.csv"))).rejects.toThrow("b.csv: no such file.");
      await expect(openPlaceSource("-", { format: "csv" })).rejects.toThrow("Standard input is not supported");
      await expect(readContent("a.csv", "")).rejects.toThrow("the file is empty");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("rejects a radius above 100 km", async () => {
    await expect(readContent("a.csv", "lat,lon\n1,2\n", { radiusKm: 101 })).rejects.toThrow(
      "radius must be between 0 and 100 kilometers (got 101).",
    );
  });

  test.each(["csv", "ndjson", "geojson", "parquet"] as const)("names the file in errors of %s", async (format) => {
    await expect(readContent("a.data", "nothing", { format })).rejects.toMatchObject({
      message: expect.stringMatching(/a\.data: /),
    });
  });
});
