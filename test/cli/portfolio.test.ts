/** The flags, formats and messages of `isotherm portfolio`. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ColumnSource } from "hyparquet-writer";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { placeFileOptionsOf } from "../../src/cli/portfolioFlags.ts";
import { runProgram } from "../../src/cli/program.ts";
import { parquetBytes } from "../places/readers/parquetFixture.ts";
import { useCapturedOutput } from "./capturedOutput.ts";

const folder = join(tmpdir(), `isotherm-portfolio-${randomUUID()}`);
const printed = useCapturedOutput();

beforeEach(() => {
  mkdirSync(folder);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Runs a command; words that begin with @ are names in the folder. */
const run = (...words: string[]): Promise<number | undefined> =>
  runProgram(words.map((word) => (word.startsWith("@") ? join(folder, word.slice(1)) : word)));

/** Scores places with one group per hazard. */
const score = (...words: string[]): Promise<number | undefined> =>
  run("portfolio", ...words, "--atlas", "demo", "--workers", "0");

const PLACES = "site,breite,lon,geocode_km\nA,25.76,-80.19,0\nB,95,1,5\nC,23.81,90.41,5\n";

describe("isotherm portfolio", () => {
  test("reads flags and a file of options, of which flags take precedence", async () => {
    writeFileSync(join(folder, "places.csv"), PLACES);
    const options = {
      $schema: "portfolio-options.json",
      hazards: ["cyclones"],
      scenarios: ["rcp8p5"],
      analysis_years: [2050],
      radius: 7,
      layout: "long",
      columns: { id: "geocode_km", latitude: "breite" },
    };
    writeFileSync(join(folder, "options.json"), JSON.stringify(options));
    const flags = ["--options", "@options.json", "--id", "site", "--years", "2080", "--layout", "wide"];
    const code = await score(
      "@places.csv",
      "@out.ndjson",
      ...flags,
      "--radius-column",
      "geocode_km",
      "--method",
      "mean",
      "--metrics",
      "wind_speed_mps,total_hazard",
      "--total-hazard",
      "--anthropogenic",
      "--json",
    );
    expect([code, printed.stderr]).toEqual([undefined, expect.stringMatching(/^SYNTHETIC/)]);
    const report = JSON.parse(printed.stdout) as Record<string, unknown>;
    expect(report["options"]).toEqual({
      $schema: "portfolio-options.json",
      hazards: ["cyclones"],
      scenarios: ["rcp8p5"],
      analysis_years: [2080],
      radius_column: "geocode_km",
      aggregation_method: "mean",
      metrics: ["wind_speed_mps", "total_hazard"],
      total_hazard: true,
      anthropogenic: true,
      layout: "wide",
      columns: { id: "site", latitude: "breite" },
    });
    expect(report).toMatchObject({ place_count: 3, invalid_row_count: 1, row_count: 3 });
    const [first = "{}"] = readFileSync(join(folder, "out.ndjson"), "utf8").split("\n");
    expect(Object.keys(JSON.parse(first) as object)).toEqual([
      "site",
      "breite",
      "lon",
      "geocode_km",
      "cyclones.rcp8p5.2080.wind_speed_mps",
      "cyclones.rcp8p5.2080.total_hazard",
      "cyclones.rcp8p5.2080.total_hazard_limit",
      "cyclones.rcp8p5.2080.status",
      "status",
      "error",
    ]);
  });

  test("adds the columns of flags to those of the file of options", async () => {
    writeFileSync(join(folder, "places.csv"), "ref,lat,lon,lat_corrected,lon_corrected\nA,0,0,25.76,-80.19\n");
    const columns = { latitude: "lat_corrected", longitude: "lon_corrected" };
    writeFileSync(join(folder, "options.json"), JSON.stringify({ hazards: ["cyclones"], columns }));
    expect(await score("@places.csv", "@out.csv", "--options", "@options.json", "--id", "ref", "--json")).toBe(
      undefined,
    );
    expect(JSON.parse(printed.stdout)).toMatchObject({ options: { columns: { id: "ref", ...columns } } });
  });

  test("rejects columns of a file of options that are no object", async () => {
    writeFileSync(join(folder, "places.csv"), PLACES);
    writeFileSync(join(folder, "options.json"), JSON.stringify({ columns: ["lat"] }));
    expect(await score("@places.csv", "@out.csv", "--options", "@options.json", "--id", "site")).toBe(1);
    expect(printed.stderr).toContain("columns must be");
  });

  test("adds the thresholds of flags to those of the file of options, hazard by hazard", async () => {
    const options = join(folder, "options.json");
    writeFileSync(options, JSON.stringify({ thresholds: { riverine_floods: 0.3, wildfire: 20 } }));
    const threshold = { wildfire: 30, cyclones: 33 };
    expect(await placeFileOptionsOf({ workers: 0, options, threshold })).toEqual({
      thresholds: { riverine_floods: 0.3, wildfire: 30, cyclones: 33 },
    });
    expect(await placeFileOptionsOf({ workers: 0, options })).toEqual({
      thresholds: { riverine_floods: 0.3, wildfire: 20 },
    });
    writeFileSync(options, JSON.stringify({ thresholds: [0.3] }));
    await expect(placeFileOptionsOf({ workers: 0, options, threshold })).rejects.toThrow("thresholds must be");
  });

  test("prints counts, invalid rows and rates", async () => {
    writeFileSync(join(folder, "places.csv"), PLACES);
    await score(
      "@places.csv",
      "@out.csv",
      "--lat",
      "breite",
      "--hazards",
      "riverine_floods,cyclones",
      "--scenarios",
      "rcp2p6",
      "--years",
      "2050",
    );
    expect(printed.stdout).toMatch(/cyclones .* 2 /);
    expect(printed.stdout).toContain("invalid rows: 1 latitude_invalid\n  row 2: ");
    expect(printed.stdout).toContain("left out: riverine_floods has no scenario rcp2p6");
    expect(printed.stdout).toMatch(/3 places, 1 of them invalid; 3 rows and 6 values written in/);
  });

  test("says where the invalid rows are that are not listed", async () => {
    writeFileSync(join(folder, "places.csv"), `lat,lon\n25.76,-80.19\n${"91,0\n".repeat(1007)}`);
    await score("@places.csv", "@out.csv", "--hazards", "cyclones", "--years", "2050");
    expect(printed.stdout).toMatch(
      /  row 6: .*\n  and 1,002 more: rows of the output with the status invalid_row and the reason in the column error\n1,008 places/,
    );
  });

  test("previews a run without writing", async () => {
    writeFileSync(join(folder, "places.csv"), PLACES);
    await score(
      "@places.csv",
      "@out.parquet",
      "--lat",
      "breite",
      "--geo",
      "--hazards",
      "cyclones",
      "--years",
      "2050",
      "--dry-run",
    );
    expect(printed.stdout).toContain("3 places");
    expect(printed.stdout).toContain("columns found: latitude breite, longitude lon");
    expect(printed.stdout).toContain("cyclones: rcp2p6 2050, rcp4p5 2050");
    expect(printed.stdout).toMatch(
      /geoparquet\): about 9 rows, .*columns: site, breite, lon, geocode_km, geometry, hazard/,
    );
    expect(existsSync(join(folder, "out.parquet"))).toBe(false);
    expect(existsSync(join(folder, "out.parquet.partial"))).toBe(false);
  });

  test("names the columns of the input that are left out, also after a merge", async () => {
    const columns: readonly ColumnSource[] = [
      { name: "latitude", data: [25.76] },
      { name: "longitude", data: [-80.19] },
      { name: "tags", data: [{ a: 1 }], type: "VARIANT" },
    ];
    writeFileSync(join(folder, "places.parquet"), parquetBytes({ columns }));
    const words = ["@places.parquet", "@part.csv", "--hazards", "cyclones", "--years", "2050"];
    const line =
      'left out: the columns "tags" of the input, which have lists, structures or a type that is not supported';
    expect(await score(...words, "--dry-run"), printed.stderr).toBeUndefined();
    expect(printed.stdout).toContain(line);
    printed.stdout = "";
    expect(await score(...words, "--shard", "1/1"), printed.stderr).toBeUndefined();
    expect(printed.stdout).toContain(line);
    expect(await run("portfolio", "merge", "@merged.csv", "@part.csv")).toBeUndefined();
    const report = JSON.parse(readFileSync(join(folder, "merged.csv.report.json"), "utf8")) as object;
    expect(report).toMatchObject({ place_count: 1, invalid_row_count: 0, omitted_columns: ["tags"] });
  });

  test("escapes control characters of the input when it prints", async () => {
    const [column, value] = ["re\u001b[31mgion", "\u009b2J\u007fnorth"];
    writeFileSync(join(folder, "places.csv"), `id,lat,lon,${column}\n\u001bA,25.76,-80.19,${value}\n`);
    const flags = ["--hazards", "cyclones", "--scenarios", "rcp8p5", "--years", "2050"];
    await score("@places.csv", "@out.csv", ...flags, "--dry-run");
    expect(printed.stdout).toContain("columns: id, lat, lon, re\\u001b[31mgion, hazard");
    await score("@places.csv", "@out.csv", ...flags);
    expect(await run("portfolio", "summary", "@out.csv", "--group-by", column), printed.stderr).toBeUndefined();
    expect(printed.stdout).toMatch(/wind_speed_mps by re\\u001b\[31mgion\n.*\n│ re\\u001b\[31mgion +│/);
    expect(printed.stdout).toContain("│ \\u009b2J\\u007fnorth │");
    expect(printed.stdout).toContain("│ \\u001bA ");
    expect(printed.stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("writes shards and joins them", async () => {
    writeFileSync(join(folder, "places.csv"), PLACES);
    const flags = ["--lat", "breite", "--hazards", "cyclones", "--years", "2050"];
    await score("@places.csv", "@whole.csv", ...flags);
    for (const shard of ["1/2", "2/2"]) await score("@places.csv", `@part-${shard[0]}.csv`, ...flags, "--shard", shard);
    printed.stdout = "";
    printed.stderr = "";
    expect(await run("portfolio", "merge", "@merged.csv", "@part-2.csv", "@part-1.csv", "--json")).toBeUndefined();
    expect(printed.stderr).toMatch(/^SYNTHETIC: not real data \(atlas demo-/);
    expect(JSON.parse(printed.stdout)).toMatchObject({ place_count: 3, shard: null });
    expect(readFileSync(join(folder, "merged.csv"))).toEqual(readFileSync(join(folder, "whole.csv")));
    expect(await run("portfolio", "merge", "@merged.csv", "@part-1.csv")).toBe(1);
    expect(printed.stderr).toContain("Missing of 2 parts: 2.");
  });

  test("replaces a part by a whole output or a part of another number of parts only with --restart", async () => {
    writeFileSync(join(folder, "places.csv"), PLACES);
    const words = ["@places.csv", "@part-1.csv", "--lat", "breite", "--hazards", "cyclones", "--years", "2050"];
    expect(await score(...words, "--shard", "1/3")).toBeUndefined();
    const first = readFileSync(join(folder, "part-1.csv.manifest.json"), "utf8");
    expect(await score(...words, "--shard", "1/2")).toBe(1);
    expect(printed.stderr).toMatch(/part-1\.csv is part 1 of 3, and would be replaced by part 1 of 2\. .* --restart/);
    expect(readFileSync(join(folder, "part-1.csv.manifest.json"), "utf8")).toBe(first);
    expect(existsSync(join(folder, "part-1.csv.partial"))).toBe(false);
    expect(await score(...words, "--shard", "1/3")).toBeUndefined();
    expect(await score(...words, "--shard", "1/2", "--restart")).toBeUndefined();
    expect(readFileSync(join(folder, "part-1.csv.manifest.json"), "utf8")).toContain('"shard":{"index":1,"count":2}');
    expect(await score(...words)).toBe(1);
    expect(printed.stderr).toMatch(
      /part-1\.csv is part 1 of 2, and would be replaced by the whole output\. .* --restart/,
    );
    expect(readFileSync(join(folder, "part-1.csv.manifest.json"), "utf8")).toContain('"shard":{"index":1,"count":2}');
    expect(existsSync(join(folder, "part-1.csv.partial"))).toBe(false);
    expect(await score(...words, "--restart")).toBeUndefined();
    expect(await score(...words)).toBeUndefined();
    writeFileSync(join(folder, "part-1.csv.manifest.json"), "{}");
    expect(await score(...words, "--shard", "1/2")).toBeUndefined();
  });

  const rejected: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["an input that does not exist", ["@none.csv", "@out.csv"], /none\.csv: no such file/],
    [
      "an output without a format",
      ["@places.csv", "@out"],
      /the name has no extension; OUT must end in \.csv, \.ndjson/,
    ],
    [
      "an output that contradicts --to",
      ["@places.csv", "@out.csv", "--to", "ndjson"],
      /the extension means csv, but --to/,
    ],
    ["a geometry in CSV", ["@places.csv", "@out.csv", "--geo"], /only Parquet files have a geometry/],
    ["standard input", ["-", "@out.csv", "--from", "csv"], /Standard input is not supported: the input must be a file/],
    ["standard output", ["@places.csv", "-"], /Standard output is not supported/],
    ["an output that is the input", ["@places.csv", "@places.csv"], /is also the input/],
    ["a column that does not exist", ["@places.csv", "@out.csv", "--lat", "latt"], /latt/],
    [
      "an unknown hazard and a large radius",
      ["@places.csv", "@out.csv", "--hazards", "hail", "--radius", "300"],
      /hail[^]*300/,
    ],
    [
      "a threshold without curves",
      ["@places.csv", "@out.csv", "--lat", "breite", "--threshold", "wildfire=33"],
      /--keep-curves/,
    ],
    [
      "a threshold without a value",
      ["@places.csv", "@out.csv", "--threshold", "cyclones"],
      /must be a hazard and a value/,
    ],
    [
      "two thresholds of a hazard",
      ["@places.csv", "@out.csv", "--threshold", "cyclones=1", "--threshold", "cyclones=2"],
      /has two thresholds/,
    ],
    [
      "a shard beyond the number of shards",
      ["@places.csv", "@out.csv", "--shard", "9/8"],
      /a part and the number of parts/,
    ],
    ["options that are no JSON", ["@places.csv", "@out.csv", "--options", "@places.csv"], /places\.csv: /],
  ];
  test.each(rejected)("rejects %s", async (_, words, expected) => {
    writeFileSync(join(folder, "places.csv"), PLACES);
    expect(await score(...words)).toBe(1);
    expect(printed.stderr).toMatch(expected);
    expect(existsSync(join(folder, "out.csv"))).toBe(false);
  });

  test("scores places without a radius of their own with the given one", async () => {
    const selection = ["--hazards", "cyclones", "--scenarios", "rcp8p5", "--years", "2080"];
    writeFileSync(join(folder, "radii.csv"), "lat,lon,km\n14.6,121,\n14.6,121,50\n14.6,121,0\n");
    const cellsOf = async (...words: readonly string[]): Promise<readonly string[]> => {
      expect(await score("@radii.csv", "@out.csv", ...selection, ...words), printed.stderr).toBeUndefined();
      const lines = readFileSync(join(folder, "out.csv"), "utf8").trimEnd().split("\n").slice(1);
      return lines.map((line) => line.replace(/^14\.6,121,[0-9]*,/, ""));
    };
    const [at50 = ""] = await cellsOf("--radius", "50");
    const [at0 = ""] = await cellsOf();
    expect(at0).not.toBe(at50);
    expect(await cellsOf("--radius", "50", "--radius-column", "km")).toEqual([at50, at50, at0]);
    const [invalid] = await cellsOf("--radius-column", "km");
    expect(invalid).toContain('invalid_row,"radius in column ""km"" is missing');
  });

  test("escapes the control characters of names from files in errors", async () => {
    writeFileSync(join(folder, "places.csv"), "lat,lon,a\u009b31m\u007f,a\u009b31m\u007f\n1,2,3,4\n");
    expect(await score("@places.csv", "@out.csv")).toBe(1);
    expect(printed.stderr).toContain(String.raw`"a\u009b31m\u007f"`);
    expect(printed.stderr.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  test("reads on after rows with quotes that are not closed", async () => {
    writeFileSync(join(folder, "places.csv"), `${PLACES}D,"1,2,0\n5" pipe,1,2,0\n6,"x"y,2,0\nE,23.81,90.41,5\n`);
    const flags = ["--lat", "breite", "--hazards", "cyclones", "--years", "2050", "--scenarios", "rcp8p5", "--json"];
    expect(await score("@places.csv", "@out.csv", ...flags)).toBeUndefined();
    expect(JSON.parse(printed.stdout)).toMatchObject({
      place_count: 7,
      invalid_rows: {
        by_reason: { latitude_invalid: 1, row_invalid: 3 },
        first: [
          { row: 2 },
          { row: 4, message: /^line 6, column "breite": unexpected text after the closing quote/ },
          { row: 5, message: /^line 6, column "site": quote in an unquoted cell/ },
          { row: 6, message: /^line 7, column "breite": unexpected text/ },
        ],
      },
    });
    const lines = readFileSync(join(folder, "out.csv"), "utf8").trimEnd().split("\n");
    expect(lines[4]).toMatch(/^D,"""1",2,0,,,,.*,invalid_row,"line 6, /);
    expect(lines[7]).toMatch(/^E,23\.81,90\.41,5,cyclones,.*,value,$/);
  });
});
