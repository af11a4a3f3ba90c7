import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHazardParameters, parseHazardQuery } from "../../src/hazard/query.ts";
import { faultOf, invalidParameters, parametersOf, queryTextOf, VALID_QUERY, validQueries } from "./queries.ts";

/**
 * Any UTF-16 code unit, including lone surrogates, or any supplementary character. Not `unit: "binary"`, which takes a
 * second to set up.
 */
const anyCharacter = fc.oneof(
  fc.integer({ min: 0, max: 0xffff }).map((codeUnit) => String.fromCharCode(codeUnit)),
  fc.integer({ min: 0x1_0000, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint)),
);

describe("a query string", () => {
  const validParameters = parametersOf(VALID_QUERY);
  const withText = (parameter: string, text: string): string =>
    queryTextOf(new Map([...validParameters, [parameter, text]]));

  test.each([
    ["-0.5", -0.5],
    ["007", 7],
    ["1e1", 10],
    ["1.5e-1", 0.15],
    ["1e+1", 10],
  ])("accepts %s as a number", (text, value) => {
    expect(parseHazardParameters(withText("latitude", text)).latitude).toBe(value);
  });

  test("reads -0 as 0, also if the rest of the query is known", () => {
    const queryText = queryTextOf(new Map([...validParameters, ["latitude", "-0"], ["longitude", "-0.0"]]));
    for (let i = 0; i < 2; i++) {
      const { latitude, longitude } = parseHazardParameters(queryText);
      expect([Object.is(latitude, 0), Object.is(longitude, 0)]).toEqual([true, true]);
    }
  });

  test("keeps plain and escaped plus signs", () => {
    const rest = "longitude=43&hazards=cyclones&analysis_years=2050&scenarios=rcp8p5";
    expect(parseHazardParameters(`latitude=1e+1&${rest}`).latitude).toBe(10);
    expect(parseHazardParameters(`latitude=1e%2B1&${rest}`).latitude).toBe(10);
    const fault = faultOf(() => parseHazardParameters(`latitude=1&${rest.replace("cyclones", "cyclones,+wildfire")}`));
    expect(fault.items).toMatchObject([{ parameter: "hazards", code: "not_allowed", did_you_mean: "wildfire" }]);
  });

  test("splits lists at plain and escaped commas, and skips empty pairs", () => {
    const query = "&latitude=1&&longitude=43&hazards=cyclones%2Cwildfire&analysis_years=2050,2030&scenarios=rcp8p5&";
    expect(parseHazardParameters(query)).toMatchObject({
      hazards: ["cyclones", "wildfire"],
      analysis_years: [2050, 2030],
    });
  });

  test("parses to the same query with and without a cached template", () => {
    fc.assert(
      fc.property(validQueries, validQueries, fc.nat(), fc.boolean(), (query, otherQuery, cut, isReversed) => {
        const pairs = [...parametersOf(query)].map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
        const { latitude, longitude } = otherQuery;
        const queryTextAt = (location: { readonly latitude: number; readonly longitude: number }): string => {
          const locationPairs = [`latitude=${location.latitude}`, `longitude=${location.longitude}`];
          const others = pairs.filter((pair) => !/^l(at|ong)itude=/.test(pair));
          const cutIndex = cut % (others.length + 1);
          return [
            ...(isReversed ? locationPairs.toReversed() : locationPairs),
            ...others.splice(cutIndex),
            "",
            ...others,
          ].join("&");
        };
        const first = parseHazardParameters(queryTextAt(query));
        const second = parseHazardParameters(queryTextAt(otherQuery));
        expect({ ...first }).toStrictEqual(parseHazardQuery(query));
        expect({ ...second }).toStrictEqual(parseHazardQuery({ ...query, latitude, longitude }));
        expect(Object.isFrozen(second) && Object.isFrozen(second.hazards) && Object.isFrozen(second.scenarios)).toBe(
          true,
        );
        expect(Object.isFrozen(second.analysis_years)).toBe(true);
        expect(parseHazardQuery(second)).toBe(second);
        for (const [suffix, code] of [
          ["&latitude=1", "repeated"],
          ["&%6Congitude=1", "repeated"],
          ["&latitude2=1", "unknown"],
        ] as const) {
          expect(faultOf(() => parseHazardParameters(queryTextAt(otherQuery) + suffix)).items[0]?.code).toBe(code);
        }
        for (const invalidText of ["90.5", "x", "", "1e999", "0x1"]) {
          const fault = faultOf(() =>
            parseHazardParameters(queryTextAt(query).replace(/(^|&)latitude=[^&]*/, `$1latitude=${invalidText}`)),
          );
          expect(fault.items.map(({ parameter }) => parameter)).toStrictEqual(["latitude"]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["before", (radius: string) => `${radius}&latitude=1&longitude=2`],
    ["between the members of", (radius: string) => `latitude=1&${radius}&longitude=2`],
    ["between the reversed members of", (radius: string) => `longitude=2&${radius}&latitude=1`],
    ["before the reversed members of", (radius: string) => `${radius}&longitude=2&latitude=1`],
    ["after the reversed members of", (radius: string) => `longitude=2&latitude=1&${radius}`],
  ])("is distinguished from one with another radius: radius %s the location", (_where, queryWithRadius) => {
    const rest = "&hazards=cyclones&analysis_years=2050&scenarios=rcp8p5";
    for (const radius of [3, 4, 3]) {
      expect(parseHazardParameters(queryWithRadius(`radius=${radius}`) + rest).radius).toBe(radius);
    }
  });

  test("is not cached if invalid", () => {
    for (let attempt = 0; attempt < 2; attempt++) {
      const fault = faultOf(() => parseHazardParameters(withText("analysis_years", "2025")));
      expect(fault.code).toBe("combination_unavailable");
      expect(faultOf(() => parseHazardParameters(withText("radius", "101"))).code).toBe("invalid_request");
    }
  });

  test.each(["%", "%zz", "%ff", "%c3%28"])("with %s in a value is rejected at that parameter", (text) => {
    const fault = faultOf(() => parseHazardParameters(`${queryTextOf(validParameters)}&radius=${text}`));
    expect(fault.items).toMatchObject([{ parameter: "radius", code: "malformed" }]);
  });

  test("with a name that cannot be decoded is rejected at that name", () => {
    const fault = faultOf(() => parseHazardParameters(`${queryTextOf(validParameters)}&%zz=1`));
    expect(fault.items).toMatchObject([{ parameter: "%zz", code: "malformed" }]);
  });

  test("with a repeated parameter is rejected with one error for it", () => {
    const fault = faultOf(() =>
      parseHazardParameters(`${queryTextOf(validParameters)}&hazards=wildfire&hazards=cyclones`),
    );
    expect(fault.items.map((item) => [item.parameter, item.code])).toStrictEqual([["hazards", "repeated"]]);
    expect(fault.message).toContain("commas");
  });

  test("is rejected with syntax errors, range errors and missing parameters in one list", () => {
    const fault = faultOf(() =>
      parseHazardParameters("latitude=91&hazards=&analysis_years=2050,x,2050&scenarios=rcp8.5&radius=%&lat=1&detail=1"),
    );
    expect(fault.code).toBe("invalid_request");
    expect(fault.items.map((item) => `${item.parameter} ${item.code}`).toSorted()).toStrictEqual([
      "analysis_years duplicate",
      "analysis_years wrong_type",
      "detail wrong_type",
      "hazards empty",
      "lat unknown",
      "latitude out_of_range",
      "longitude missing",
      "radius malformed",
      "scenarios not_allowed",
    ]);
    for (const item of fault.items) expect(item).not.toHaveProperty("pointer");
  });

  test("is rejected at the parameter whose value a hazard does not offer", () => {
    const fault = faultOf(() => parseHazardParameters(withText("analysis_years", "2025,2050")));
    expect(fault.code).toBe("combination_unavailable");
    expect(fault.items).toMatchObject([{ parameter: "analysis_years", hazard: "riverine_floods" }]);
  });

  test("with one invalid parameter is rejected at that parameter only", () => {
    fc.assert(
      fc.property(validQueries, invalidParameters, (query, { parameter, text }) => {
        const invalid = queryTextOf(new Map([...parametersOf(query), [parameter, text]]));
        const fault = faultOf(() => parseHazardParameters(invalid));
        expect(fault.code).toBe("invalid_request");
        expect(new Set(fault.items.map((item) => item.parameter))).toStrictEqual(new Set([parameter]));
      }),
      { numRuns: 2000 },
    );
  });

  test("of random text is rejected with a Fault", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        expect(faultOf(() => parseHazardParameters(text)).items.length).toBeGreaterThan(0);
      }),
    );
  });
});
