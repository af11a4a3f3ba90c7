import { readFile, writeFile } from "node:fs/promises";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import {
  parsePlaceFileOptions,
  parsePlaceOptions,
  placeFileOptionsSchemaText,
} from "../../../src/places/scores/placeOptions.ts";
import { faultOf } from "../../hazard/queries.ts";

const FILE = new URL("../../../docs/schemas/portfolio-options.json", import.meta.url);
const VALID = {
  hazards: ["riverine_floods"],
  scenarios: ["rcp8p5"],
  analysis_years: [2050],
  aggregation_method: "mean",
  metrics: ["depth_meters", "total_hazard"],
  thresholds: { riverine_floods: 0.3 },
  total_hazard: true,
} as const;

describe("the published schema of the options of files", () => {
  test("is the one that is checked (update: ISOTHERM_UPDATE_SCHEMAS=1)", async () => {
    if (process.env["ISOTHERM_UPDATE_SCHEMAS"] === "1") await writeFile(FILE, placeFileOptionsSchemaText());
    expect(await readFile(FILE, "utf8")).toBe(placeFileOptionsSchemaText());
  });

  test("accepts the options that the program accepts", () => {
    const schema = Compile(JSON.parse(placeFileOptionsSchemaText()) as Record<string, unknown>);
    const options = {
      $schema: "portfolio-options.json",
      ...VALID,
      radius_column: "km",
      columns: { id: "site" },
      layout: "wide",
    };
    expect(schema.Check(options)).toBe(true);
    expect(parsePlaceFileOptions(options)).toBe(options);
    expect(schema.Check({ ...options, extra: 1 })).toBe(false);
  });
});

describe("the options of a file", () => {
  test("are rejected with all errors, and with the closest name of an unknown member", () => {
    const { code, items } = faultOf(() =>
      parsePlaceFileOptions({ hazard: ["hail"], scenarios: [], radius: 101, columns: { lat: "y" }, layout: "tall" }),
    );
    expect(code).toBe("invalid_request");
    expect(items).toMatchObject([
      { pointer: "/scenarios", code: "empty" },
      { pointer: "/radius", code: "out_of_range", detail: "radius must be between 0 and 100 (got 101)." },
      { pointer: "/columns/lat", code: "unknown", did_you_mean: "latitude" },
      { pointer: "/layout", code: "not_allowed" },
      { pointer: "/hazard", code: "unknown", did_you_mean: "hazards" },
    ]);
  });

  test("do not contradict each other", () => {
    const options = {
      metrics: ["total_hazard"],
      total_hazard: false,
      anthropogenic: true,
      thresholds: { cyclones: 33 },
    };
    expect(faultOf(() => parsePlaceFileOptions(options)).items).toMatchObject([
      { pointer: "/total_hazard", code: "not_allowed" },
      { pointer: "/thresholds", code: "not_expected" },
    ]);
  });

  test.each([[null], [[]], ["max"], [undefined]])("are rejected if they are %j", (input) => {
    expect(faultOf(() => parsePlaceFileOptions(input)).items).toMatchObject([{ pointer: "", code: "wrong_type" }]);
  });
});

describe("the options of a call", () => {
  test("contain a signal but no members for files", () => {
    const options = { ...VALID, radius: 5, signal: new AbortController().signal };
    expect(parsePlaceOptions(options)).toBe(options);
    const { items } = faultOf(() => parsePlaceOptions({ layout: "wide", columns: {}, radius_column: "km", signal: 1 }));
    expect(items).toMatchObject([
      { pointer: "/signal", code: "wrong_type" },
      { pointer: "/layout", code: "not_expected" },
      { pointer: "/columns", code: "not_expected" },
      { pointer: "/radius_column", code: "not_expected" },
    ]);
  });
});
