import fc from "fast-check";
import { Compile } from "typebox/compile";
import { describe, expect, test } from "vitest";
import type { Fault, FaultItem } from "../../src/errors.ts";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import { countValues, parseHazardParameters, parseHazardQuery } from "../../src/hazard/query.ts";
import { faultOf, parametersOf, queryTextOf, rejectionOf, VALID_QUERY, validQueries } from "./queries.ts";
import { HazardQueryInputSchema } from "../../src/contract/hazardQuery.ts";

const locationsOf = ({ items }: Fault): string[] => items.map((item) => item.pointer ?? `parameter ${item.parameter}`);

describe("a valid query", () => {
  test("has defaults and shares no lists with the input", () => {
    const hazards = ["wildfire"];
    const query = parseHazardQuery({ ...VALID_QUERY, hazards });
    expect(query).toStrictEqual({
      latitude: 11.5,
      longitude: 43.1,
      hazards: ["wildfire"],
      analysis_years: [2030, 2050],
      scenarios: ["baseline", "rcp8p5"],
      radius: 0,
      aggregation_method: "max",
      total_hazard: false,
      anthropogenic: false,
      detail: false,
    });
    hazards.push("hail");
    expect(query.hazards).toStrictEqual(["wildfire"]);
  });

  test("treats an undefined member as absent", () => {
    expect(parseHazardQuery({ ...VALID_QUERY, radius: undefined, detail: undefined })).toMatchObject({
      radius: 0,
      detail: false,
    });
  });

  test("may have values at the limits of their ranges", () => {
    for (const [latitude, longitude, radius] of [
      [90, 180, 100],
      [-90, -180, 0],
    ]) {
      expect(parseHazardQuery({ ...VALID_QUERY, latitude, longitude, radius })).toMatchObject({
        latitude,
        longitude,
        radius,
      });
    }
  });

  test("has 0 in place of -0", () => {
    const query = parseHazardQuery({ ...VALID_QUERY, latitude: -0, longitude: -0, radius: -0 });
    expect([query.latitude, query.longitude, query.radius].every((value) => Object.is(value, 0))).toBe(true);
  });

  test("requests hazards x scenarios x years values", () => {
    expect(countValues(parseHazardQuery({ ...VALID_QUERY, analysis_years: [1980, 2030, 2050] }))).toBe(2 * 2 * 3);
  });

  test("parses to the same query from a query string and from an object", () => {
    fc.assert(
      fc.property(validQueries, (input) => {
        const query = parseHazardQuery(input);
        expect({ ...parseHazardParameters(queryTextOf(parametersOf(input))) }).toStrictEqual(query);
        expect({ ...parseHazardParameters(queryTextOf(parametersOf(query))) }).toStrictEqual(query);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("an invalid query", () => {
  const { latitude: _, ...withoutLatitude } = VALID_QUERY;
  const rows: [what: string, query: unknown, pointer: string, code: FaultItem["code"]][] = [
    ["a missing member", withoutLatitude, "/latitude", "missing"],
    ["text for a number", { ...VALID_QUERY, latitude: "11.5" }, "/latitude", "wrong_type"],
    ["null for a number", { ...VALID_QUERY, longitude: null }, "/longitude", "wrong_type"],
    ["NaN", { ...VALID_QUERY, latitude: NaN }, "/latitude", "not_finite"],
    ["an infinity", { ...VALID_QUERY, radius: -Infinity }, "/radius", "not_finite"],
    ["a latitude above 90", { ...VALID_QUERY, latitude: 90.0001 }, "/latitude", "out_of_range"],
    ["a longitude below -180", { ...VALID_QUERY, longitude: -180.0001 }, "/longitude", "out_of_range"],
    ["a radius below zero", { ...VALID_QUERY, radius: -1 }, "/radius", "out_of_range"],
    ["a radius above 100 km", { ...VALID_QUERY, radius: 100.5 }, "/radius", "out_of_range"],
    ["an unknown member", { ...VALID_QUERY, "a/b~c": 1 }, "/a~1b~0c", "unknown"],
    ["a member named like one of Object.prototype", { ...VALID_QUERY, ["constructor"]: 1 }, "/constructor", "unknown"],
    ["a list that is text", { ...VALID_QUERY, hazards: "cyclones" }, "/hazards", "wrong_type"],
    ["an empty list", { ...VALID_QUERY, analysis_years: [] }, "/analysis_years", "empty"],
    ["a hazard twice", { ...VALID_QUERY, hazards: ["cyclones", "wildfire", "cyclones"] }, "/hazards/2", "duplicate"],
    ["a year twice", { ...VALID_QUERY, analysis_years: [2050, 2050] }, "/analysis_years/1", "duplicate"],
    [
      "a hole in a list",
      { ...VALID_QUERY, hazards: Array.from({ length: 2 }).fill("cyclones", 0, 1) },
      "/hazards/1",
      "wrong_type",
    ],
    // oxlint-disable-next-line no-sparse-arrays
    ["a sparse list", { ...VALID_QUERY, scenarios: ["baseline", , "rcp8p5"] }, "/scenarios/1", "wrong_type"],
    ["a hazard not in the list", { ...VALID_QUERY, hazards: ["hail"] }, "/hazards/0", "not_allowed"],
    ["a scenario not in the list", { ...VALID_QUERY, scenarios: ["baseline", "rcp3"] }, "/scenarios/1", "not_allowed"],
    ["a year with a fraction", { ...VALID_QUERY, analysis_years: [2050.5] }, "/analysis_years/0", "wrong_type"],
    ["a year as text", { ...VALID_QUERY, analysis_years: ["2050"] }, "/analysis_years/0", "wrong_type"],
    ["an unknown method", { ...VALID_QUERY, aggregation_method: "median" }, "/aggregation_method", "not_allowed"],
    [
      "an invalid method with radius 0",
      { ...VALID_QUERY, radius: 0, aggregation_method: 1 },
      "/aggregation_method",
      "wrong_type",
    ],
    ["text for a boolean", { ...VALID_QUERY, detail: "true" }, "/detail", "wrong_type"],
    ["a list instead of an object", [VALID_QUERY], "", "wrong_type"],
    ["undefined", undefined, "", "wrong_type"],
  ];
  test.each(rows)("with %s is rejected with the pointer of the error", (_what, query, pointer, code) => {
    const fault = faultOf(() => parseHazardQuery(query));
    expect(fault.code).toBe("invalid_request");
    expect(fault.items.map((item) => [item.pointer, item.code])).toStrictEqual([[pointer, code]]);
    expect(fault.message).toBe(fault.items[0]?.detail);
  });

  test("is rejected with all errors", () => {
    const fault = faultOf(() =>
      parseHazardQuery({ latitude: 91, hazards: ["cyclone", "hail"], analysis_years: [], scenarios: "rcp8p5", lon: 1 }),
    );
    expect(locationsOf(fault)).toStrictEqual([
      "/latitude",
      "/longitude",
      "/hazards/0",
      "/hazards/1",
      "/analysis_years",
      "/scenarios",
      "/lon",
    ]);
    expect(fault.items[2]).toMatchObject({
      allowed: ["cyclones", "wildfire", "coastal_floods", "riverine_floods"],
      did_you_mean: "cyclones",
    });
    expect(fault.items[3]).not.toHaveProperty("did_you_mean");
    expect(fault.items[6]).toMatchObject({ did_you_mean: "longitude" });
    expect(fault.message).toMatch(
      /^7 errors in the query\. The first: latitude must be between -90 and 90 \(got 91\)\.$/,
    );
  });

  test("is rejected with at most 100 errors", () => {
    const fault = faultOf(() =>
      parseHazardQuery({ ...VALID_QUERY, hazards: Array.from({ length: 100_000 }, (_v, i) => `h${i}`) }),
    );
    expect(fault.items).toHaveLength(100);
    expect(fault.message).toMatch(/^At least 100 errors/);
    const halves = Array.from({ length: 99 }, () => 0.5);
    expect(
      faultOf(() => parseHazardQuery({ ...VALID_QUERY, scenarios: halves, analysis_years: halves })).items,
    ).toHaveLength(100);
    const years = Array.from({ length: 50_000 }, (_v, i) => i + 10_000);
    expect(faultOf(() => parseHazardQuery({ ...VALID_QUERY, analysis_years: years })).items).toHaveLength(100);
  });

  test("has its value quoted in the message, shortened to one line", () => {
    const { items } = faultOf(() => parseHazardQuery({ ...VALID_QUERY, hazards: [`a\nb${"x".repeat(10_000)}`] }));
    expect(items[0]?.detail.length).toBeLessThan(250);
    expect(items[0]?.detail).not.toContain("\n");
  });

  test("is rejected exactly if the published schema rejects it, at the modified member", () => {
    const published = Compile(HazardQueryInputSchema);
    const member = fc.constantFrom(...Object.keys(HazardQueryInputSchema.properties), "other");
    const value = fc.oneof(
      fc.jsonValue(),
      fc.anything(),
      fc.array(fc.constantFrom("cyclones", "wildfire", "rcp8p5", 2030, 2050, 2050.5, undefined), { maxLength: 12 }),
      fc.shuffledSubarray([1980, 1999, 2025, 2030, 2050]),
      fc.double(),
    );
    const seen = new Set<string>();
    fc.assert(
      fc.property(member, value, (name, invalidValue) => {
        const input = { ...VALID_QUERY, [name]: invalidValue };
        const fault = rejectionOf(() => parseHazardQuery(input));
        seen.add(fault?.code ?? "accepted");
        expect(published.Check(input)).toBe(fault?.code !== "invalid_request");
        expect(fault === undefined || fault.items.length > 0).toBe(true);
        const namedLocations = fault?.code === "invalid_request" ? locationsOf(fault) : [];
        expect(namedLocations.filter((location) => location.split("/")[1] !== name)).toStrictEqual([]);
      }),
      { numRuns: 5000 },
    );
    expect([...seen].toSorted()).toStrictEqual(["accepted", "combination_unavailable", "invalid_request"]);
  });
});

describe("years and scenarios that a hazard does not offer", () => {
  test("are listed by hazard, with the years and scenarios that it offers", () => {
    const fault = faultOf(() =>
      parseHazardQuery({
        ...VALID_QUERY,
        hazards: ["coastal_floods", "cyclones", "riverine_floods"],
        analysis_years: [2025, 2030, 1999],
        scenarios: ["rcp8p5", "rcp6p0"],
      }),
    );
    expect(fault.code).toBe("combination_unavailable");
    expect(fault.items.map((item) => [item.hazard, item.pointer])).toStrictEqual([
      ["coastal_floods", "/analysis_years/0"],
      ["coastal_floods", "/analysis_years/2"],
      ["coastal_floods", "/scenarios/1"],
      ["cyclones", "/analysis_years/2"],
      ["riverine_floods", "/analysis_years/0"],
      ["riverine_floods", "/analysis_years/2"],
      ["riverine_floods", "/scenarios/1"],
    ]);
    expect(fault.items[0]).toStrictEqual({
      pointer: "/analysis_years/0",
      code: "combination_unavailable",
      detail:
        "coastal_floods has no analysis year 2025; it offers the years 1980, 2030, 2050, 2080 and the scenarios baseline, rcp4p5, rcp8p5.",
      allowed: [1980, 2030, 2050, 2080],
      hazard: "coastal_floods",
      offered_years: [1980, 2030, 2050, 2080],
      offered_scenarios: ["baseline", "rcp4p5", "rcp8p5"],
    });
    expect(fault.items[2]?.allowed).toStrictEqual(["baseline", "rcp4p5", "rcp8p5"]);
  });

  test("are reported only if the rest of the query is valid", () => {
    const fault = faultOf(() => parseHazardQuery({ ...VALID_QUERY, analysis_years: [1999], radius: 101 }));
    expect(fault.code).toBe("invalid_request");
    expect(locationsOf(fault)).toStrictEqual(["/radius"]);
  });

  test("are rejected, and all offered combinations are accepted", () => {
    for (const spec of Object.values(HAZARDS)) {
      for (const year of [1980, 2025, 2030, 2040, 2050, 2080]) {
        for (const scenario of ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"] as const) {
          const input = { ...VALID_QUERY, hazards: [spec.hazard], analysis_years: [year], scenarios: [scenario] };
          const errorCount = Number(!spec.years.includes(year)) + Number(!spec.scenarios.includes(scenario));
          const fault = rejectionOf(() => parseHazardQuery(input));
          expect(fault?.items.length ?? 0, `${spec.hazard} ${year} ${scenario}`).toBe(errorCount);
        }
      }
    }
  });
});
