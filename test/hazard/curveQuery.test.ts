import { describe, expect, test } from "vitest";
import type { Fault, FaultItem } from "../../src/errors.ts";
import { countCurves, parseCurveParameters, parseCurveQuery } from "../../src/hazard/curveQuery.ts";
import { faultOf, parametersOf, queryTextOf } from "./queries.ts";

const VALID_QUERY = {
  latitude: 11.5,
  longitude: 43.1,
  hazards: ["riverine_floods"],
  analysis_years: [2030, 2050],
  scenarios: ["baseline", "rcp8p5"],
};
const DAMAGE_CURVE = [
  { value: 0, damage_share: 0 },
  { value: 1, damage_share: 0.4 },
  { value: 3, damage_share: 0.4 },
];
const locationsOf = ({ items }: Fault): string[] => items.map((item) => item.pointer ?? `parameter ${item.parameter}`);

describe("a valid query", () => {
  test("has defaults and shares no lists with the input", () => {
    const damage_curve = DAMAGE_CURVE.map((point) => ({ ...point }));
    const query = parseCurveQuery({ ...VALID_QUERY, latitude: -0, return_periods: [30], floor: -0, damage_curve });
    expect(query).toStrictEqual({
      ...VALID_QUERY,
      latitude: 0,
      radius: 0,
      aggregation_method: "max",
      return_periods: [30],
      floor: 0,
      damage_curve: DAMAGE_CURVE,
      detail: false,
    });
    damage_curve.forEach((point) => (point.value = 9));
    expect(query.damage_curve).toStrictEqual(DAMAGE_CURVE);
    expect(countCurves(query)).toBe(4);
  });

  test("may state that it wants no metrics of hazard-risk queries, as a body and in a URL", () => {
    const input = { ...VALID_QUERY, total_hazard: false, anthropogenic: false };
    const expected = parseCurveQuery(VALID_QUERY);
    expect(parseCurveQuery(input)).toStrictEqual(expected);
    expect({ ...parseCurveParameters(queryTextOf(parametersOf(input))) }).toStrictEqual(expected);
    const wrong = faultOf(() => parseCurveQuery({ ...VALID_QUERY, total_hazard: "no" }));
    expect(wrong.items).toMatchObject([{ pointer: "/total_hazard", code: "wrong_type" }]);
  });

  test("has no member that was not requested", () => {
    const query = parseCurveQuery({ ...VALID_QUERY, threshold: undefined });
    expect(Object.keys(query).toSorted()).toEqual(
      [...Object.keys(VALID_QUERY), "radius", "aggregation_method", "detail"].toSorted(),
    );
  });

  test("parses to the same query from a query string and from an object", () => {
    const input = {
      ...VALID_QUERY,
      radius: 12.5,
      aggregation_method: "mean",
      threshold: 0.3,
      return_periods: [1, 30, 2.5e3],
      floor: 0.1,
      detail: true,
    };
    expect({ ...parseCurveParameters(queryTextOf(parametersOf(input))) }).toStrictEqual(parseCurveQuery(input));
  });

  test("from a query string is not validated again", () => {
    const query = parseCurveParameters(queryTextOf(parametersOf(VALID_QUERY)));
    expect(parseCurveQuery(query)).toBe(query);
  });
});

describe("an invalid query", () => {
  const { latitude: _, ...withoutLatitude } = VALID_QUERY;
  const pointAt = (index: number, change: object) =>
    DAMAGE_CURVE.map((point, i) => (i === index ? { ...point, ...change } : point));
  const rows: [what: string, query: unknown, pointer: string, code: FaultItem["code"], detail: RegExp][] = [
    ["a missing member", withoutLatitude, "/latitude", "missing", /latitude is required/],
    ["no object", [VALID_QUERY], "", "wrong_type", /must be an object/],
    ["a latitude out of range", { ...VALID_QUERY, latitude: 91 }, "/latitude", "out_of_range", /between -90 and 90/],
    [
      "two hazards",
      { ...VALID_QUERY, hazards: ["riverine_floods", "cyclones"] },
      "/hazards",
      "too_many",
      /exactly one/,
    ],
    ["no hazard", { ...VALID_QUERY, hazards: [] }, "/hazards", "empty", /must not be empty/],
    ["a duplicate year", { ...VALID_QUERY, analysis_years: [2030, 2030] }, "/analysis_years/1", "duplicate", /2030/],
    ["an unknown member", { ...VALID_QUERY, treshold: 1 }, "/treshold", "unknown", /threshold/],
    ["a threshold of 0", { ...VALID_QUERY, threshold: 0 }, "/threshold", "out_of_range", /greater than 0/],
    ["a threshold that is not a number", { ...VALID_QUERY, threshold: NaN }, "/threshold", "not_finite", /NaN/],
    ["an infinite threshold", { ...VALID_QUERY, threshold: Infinity }, "/threshold", "not_finite", /Infinity/],
    ["a negative floor", { ...VALID_QUERY, floor: -0.1 }, "/floor", "out_of_range", /at least 0/],
    ["no return periods", { ...VALID_QUERY, return_periods: [] }, "/return_periods", "empty", /must not be empty/],
    [
      "a return period below 1",
      { ...VALID_QUERY, return_periods: [100, 0.5] },
      "/return_periods/1",
      "out_of_range",
      /1/,
    ],
    ["a repeated return period", { ...VALID_QUERY, return_periods: [9, 9] }, "/return_periods/1", "duplicate", /9/],
    [
      "too many return periods",
      { ...VALID_QUERY, return_periods: Array.from({ length: 33 }, (_, i) => i + 1) },
      "/return_periods",
      "too_many",
      /at most 32/,
    ],
    [
      "one damage point",
      { ...VALID_QUERY, damage_curve: DAMAGE_CURVE.slice(0, 1) },
      "/damage_curve",
      "out_of_range",
      /an array of 2 to 64 items, each an object with value, damage_share \(got 1\)/,
    ],
    [
      "a damage share above 1",
      { ...VALID_QUERY, damage_curve: pointAt(2, { damage_share: 1.1 }) },
      "/damage_curve/2/damage_share",
      "out_of_range",
      /between 0 and 1/,
    ],
    [
      "an unknown member of a damage point",
      { ...VALID_QUERY, damage_curve: pointAt(1, { depth: 1 }) },
      "/damage_curve/1/depth",
      "unknown",
      /value, damage_share/,
    ],
    [
      "damage at the first point",
      { ...VALID_QUERY, damage_curve: pointAt(0, { damage_share: 0.1 }) },
      "/damage_curve/0/damage_share",
      "out_of_range",
      /must be 0, so that values below the first point cause no damage \(got 0\.1\)/,
    ],
    [
      "damage values that do not increase",
      { ...VALID_QUERY, damage_curve: pointAt(2, { value: 1 }) },
      "/damage_curve/2/value",
      "out_of_range",
      /above that of the previous point, 1 \(got 1\)/,
    ],
    [
      "damage shares that decrease",
      { ...VALID_QUERY, damage_curve: pointAt(2, { damage_share: 0.3 }) },
      "/damage_curve/2/damage_share",
      "out_of_range",
      /at least that of the previous point, 0\.4 \(got 0\.3\)/,
    ],
    [
      "total_hazard",
      { ...VALID_QUERY, total_hazard: true },
      "/total_hazard",
      "not_expected",
      /total_hazard does not apply to curves/,
    ],
    [
      "anthropogenic",
      { ...VALID_QUERY, anthropogenic: true },
      "/anthropogenic",
      "not_expected",
      /anthropogenic does not apply to curves/,
    ],
  ];

  test.each(rows)("with %s is rejected", (_what, query, pointer, code, detail) => {
    const fault = faultOf(() => parseCurveQuery(query));
    expect(fault.code).toBe("invalid_request");
    expect(fault.items).toHaveLength(1);
    expect(fault.items[0]).toMatchObject({ pointer, code });
    expect(fault.items[0]?.detail).toMatch(detail);
  });

  test("is rejected with all errors", () => {
    const query = {
      ...VALID_QUERY,
      latitude: "x",
      total_hazard: true,
      floor: -1,
      damage_curve: DAMAGE_CURVE.toReversed(),
    };
    expect(locationsOf(faultOf(() => parseCurveQuery(query)))).toEqual([
      "/total_hazard",
      "/latitude",
      "/floor",
      "/damage_curve/0/damage_share",
      "/damage_curve/1/value",
      "/damage_curve/2/value",
      "/damage_curve/2/damage_share",
    ]);
  });

  test("is rejected with the errors of all damage points, except where a point has an invalid number", () => {
    const damage_curve = [
      { value: 1, damage_share: 0.1 },
      { value: 1, damage_share: 0.4 },
      { value: 0.5, damage_share: 2 },
      { value: 0.4, damage_share: 0.3 },
      { value: 0.4, damage_share: 0.2 },
      null,
    ];
    expect(locationsOf(faultOf(() => parseCurveQuery({ ...VALID_QUERY, damage_curve })))).toEqual([
      "/damage_curve/2/damage_share",
      "/damage_curve/5",
      "/damage_curve/0/damage_share",
      "/damage_curve/1/value",
      "/damage_curve/4/value",
      "/damage_curve/4/damage_share",
    ]);
  });

  test("from a query string is rejected by parameter", () => {
    const text = queryTextOf(
      parametersOf({
        ...VALID_QUERY,
        threshold: "high",
        total_hazard: true,
        anthropogenic: true,
        damage_curve: "0:0",
        x: 1,
      }),
    );
    const fault = faultOf(() => parseCurveParameters(text));
    expect(Object.fromEntries(fault.items.map(({ parameter, code }) => [parameter, code]))).toEqual({
      anthropogenic: "not_expected",
      damage_curve: "not_expected",
      threshold: "wrong_type",
      total_hazard: "not_expected",
      x: "unknown",
    });
    const damage = fault.items.find(({ parameter }) => parameter === "damage_curve");
    expect(damage?.detail).toContain("POST /api/v1/hazard-risk/curve/batch");
  });

  test("with years and scenarios that the hazard does not offer is unavailable", () => {
    const query = { ...VALID_QUERY, analysis_years: [2025], scenarios: ["baseline", "rcp2p6"] };
    const fault = faultOf(() => parseCurveQuery(query));
    expect(fault.code).toBe("combination_unavailable");
    expect(locationsOf(fault)).toEqual(["/analysis_years/0", "/scenarios/1"]);
    const fromUrl = faultOf(() => parseCurveParameters(queryTextOf(parametersOf(query))));
    expect(locationsOf(fromUrl)).toEqual(["parameter analysis_years", "parameter scenarios"]);
  });
});
