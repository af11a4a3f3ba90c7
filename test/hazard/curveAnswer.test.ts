import { Compile } from "typebox/compile";
import { beforeAll, describe, expect, test } from "vitest";
import { CurveResultSchema } from "../../src/contract/curve.ts";
import type { CurveQueryInput, CurveResult, CurveYearResult } from "../../src/contract/wireTypes.ts";
import { isFault } from "../../src/errors.ts";
import type { LocalAtlas } from "../../src/hazard/answer.ts";
import { parseCurveParameters, parseCurveQuery } from "../../src/hazard/curveQuery.ts";
import { containingCellByDefinition } from "../oracle/points.ts";
import { circleByDefinition } from "../oracle/radius.ts";
import { oracleExpectedAnnual, oracleReturnPeriodOf, oracleValueAt } from "../oracle/returnPeriodCurve.ts";
import { randomFrom } from "../seededRandom.ts";
import { faultOf, parametersOf, queryTextOf } from "./queries.ts";
import { CURVES, GRID, type StoredCurve, storedValues, useCurveAtlas } from "./curveAtlas.ts";

const opened = useCurveAtlas();
let atlas: LocalAtlas;
beforeAll(() => {
  ({ atlas } = opened());
});

const QUERY = {
  latitude: 0,
  longitude: 0,
  hazards: ["riverine_floods"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
} as const satisfies CurveQueryInput;

const [BASELINE, FLOODS, WINDS] = CURVES as readonly [StoredCurve, StoredCurve, StoredCurve];

function yearsOf(result: CurveResult): readonly CurveYearResult[] {
  return result.results.flatMap(({ scenarios }) => scenarios.flatMap(({ analysis_years }) => analysis_years));
}

async function yearAt(query: CurveQueryInput): Promise<CurveYearResult> {
  const [year] = yearsOf(await atlas.curve(query));
  if (year === undefined) throw new Error("no analysis year");
  return year;
}

const cellAt = (latDeg: number, lonDeg: number) =>
  containingCellByDefinition(GRID, { latDeg, lonDeg }) ?? { row: NaN, column: NaN };

/** Returns the first location, at the center of a cell, at which the curve fulfills a condition. */
function locationWhere(curve: StoredCurve, accepts: (values: readonly number[] | undefined) => boolean) {
  for (let row = 30; row < 150; row++) {
    for (let column = 0; column < GRID.columnCount; column++) {
      if (accepts(storedValues(curve, { row, column }))) return { latitude: 89.5 - row, longitude: -179.5 + column };
    }
  }
  throw new Error("no such cell");
}

describe("a point", () => {
  test("returns the stored values of the containing cell", async () => {
    const random = randomFrom(171);
    let missingCount = 0;
    for (let i = 0; i < 200; i++) {
      const latitude = random.pick([90, -90, random.between({ min: -90, max: 90 })]);
      const longitude = random.pick([180, random.between({ min: -180, max: 180 })]);
      for (const stored of [FLOODS, WINDS]) {
        const year = await yearAt({ ...QUERY, hazards: [stored.hazard], latitude, longitude });
        const values = storedValues(stored, cellAt(latitude, longitude));
        if (values === undefined) {
          missingCount++;
          expect(year).toStrictEqual({ analysis_year: 2050, unit: stored.unit, curve: null, no_data: "no_data" });
          continue;
        }
        const curve = stored.returnPeriodsYears.map((return_period, k) => ({ return_period, value: values[k] }));
        expect(year).toStrictEqual({ analysis_year: 2050, unit: stored.unit, curve });
      }
    }
    expect(missingCount).toBeGreaterThan(20);
  });

  test("has the derived members that the query requests", async () => {
    const location = locationWhere(FLOODS, (values) => (values?.[1] ?? 0) > 0.1 && (values?.[0] ?? 1) === 0);
    const values = storedValues(FLOODS, cellAt(location.latitude, location.longitude)) ?? [];
    const curve = { variate: "gumbel" as const, returnPeriodsYears: FLOODS.returnPeriodsYears, values };
    const [threshold, floor] = [(values[1] ?? 0) / 2, 0.05];
    const year = await yearAt({ ...QUERY, ...location, threshold, floor, return_periods: [30, 1.5, 4000, 100] });
    expect(year.exceedance?.probability).toBeCloseTo(1 / oracleReturnPeriodOf(curve, threshold), 10);
    expect(year.exceedance).toStrictEqual({
      threshold,
      probability: year.exceedance?.probability,
      return_period: 1 / (year.exceedance?.probability ?? NaN),
    });
    expect(year.return_levels?.[0]?.value).toBeCloseTo(oracleValueAt(curve, 30), 12);
    expect(year.return_levels).toStrictEqual([
      { return_period: 30, value: year.return_levels?.[0]?.value },
      { return_period: 1.5, value: 0, bound: "at_most" },
      { return_period: 4000, value: values.at(-1), bound: "at_least" },
      { return_period: 100, value: values[5] },
    ]);
    const above = (value: number): number => Math.max(0, value - floor);
    expect(year.expected_annual_value?.value).toBeCloseTo(oracleExpectedAnnual(curve, above), 10);
    expect(year.expected_annual_value).toStrictEqual({
      floor,
      value: year.expected_annual_value?.value,
      tail: { value: above(values.at(-1) ?? NaN) * 0.001, bound: "at_least" },
    });
    expect(year.expected_annual_damage).toBeUndefined();
    const damage_curve = [
      { value: 0, damage_share: 0 },
      { value: 20, damage_share: 1 },
    ];
    const damaged = await yearAt({ ...QUERY, ...location, damage_curve });
    const shareOf = (value: number): number => value / 20;
    expect(damaged.expected_annual_damage?.value).toBeCloseTo(oracleExpectedAnnual(curve, shareOf), 10);
    expect(damaged.expected_annual_damage?.tail).toStrictEqual({
      value: expect.closeTo(shareOf(values.at(-1) ?? NaN) * 0.001, 15) as number,
      bound: "at_least",
    });
    expect(damaged.exceedance).toBeUndefined();
  });

  test("has bounds for thresholds outside the curve", async () => {
    const location = locationWhere(WINDS, (values) => (values?.[0] ?? 0) > 1);
    const values = storedValues(WINDS, cellAt(location.latitude, location.longitude)) ?? [];
    const query = { ...QUERY, ...location, hazards: ["cyclones"] } as const;
    const [low, high] = [(values[0] ?? NaN) - 0.5, (values.at(-1) ?? NaN) + 0.01];
    expect((await yearAt({ ...query, threshold: low })).exceedance).toStrictEqual({
      threshold: low,
      probability: 0.1,
      return_period: 10,
      bound: "at_least",
      limit: 0.1,
    });
    expect((await yearAt({ ...query, threshold: high })).exceedance).toStrictEqual({
      threshold: high,
      probability: 0,
      return_period: null,
      bound: "at_most",
      limit: 0.001,
    });
  });

  test("of a dry cell is a curve of zeros, not missing data", async () => {
    const location = locationWhere(FLOODS, (values) => values?.every((value) => value === 0) === true);
    const { curve, no_data, exceedance, expected_annual_value } = await yearAt({
      ...QUERY,
      ...location,
      threshold: 0.5,
      floor: 0,
    });
    expect(curve?.map(({ value }) => value)).toEqual(FLOODS.returnPeriodsYears.map(() => 0));
    expect(no_data).toBeUndefined();
    expect(exceedance).toMatchObject({ probability: 0, bound: "at_most", limit: 0.001 });
    expect(expected_annual_value).toMatchObject({ value: 0, tail: { value: 0 } });
  });
});

describe("a circle", () => {
  test.each(["max", "mean"] as const)("aggregates each return period: %s", async (aggregation_method) => {
    const random = randomFrom(172);
    let comparedCount = 0;
    for (let i = 0; i < 12; i++) {
      const [latitude, longitude] = [random.between({ min: -60, max: 60 }), random.between({ min: -180, max: 180 })];
      const query = { ...QUERY, latitude, longitude, radius: 100, aggregation_method };
      const result = await atlas.curve(query);
      expect(result.aggregation).toStrictEqual({ radius_km: 100, method: aggregation_method });
      const cells = circleByDefinition(GRID, { latDeg: latitude, lonDeg: longitude, radiusM: 100_000 });
      const valid = cells.flatMap((cell) => {
        const values = storedValues(FLOODS, cell);
        return values === undefined ? [] : [{ values, weight: areaOfRow(cell.row) }];
      });
      const [year] = yearsOf(result);
      if (valid.length === 0) {
        expect(year).toMatchObject({ curve: null, no_data: "no_data" });
        continue;
      }
      comparedCount++;
      const expected = FLOODS.returnPeriodsYears.map((_, k) =>
        aggregation_method === "max"
          ? Math.max(...valid.map(({ values }) => values[k] ?? NaN))
          : valid.reduce((sum, { values, weight }) => sum + (values[k] ?? NaN) * weight, 0) /
            valid.reduce((sum, { weight }) => sum + weight, 0),
      );
      for (const [k, { value }] of (year?.curve ?? []).entries()) expect(value).toBeCloseTo(expected[k] ?? NaN, 9);
      expect(year?.curve).toHaveLength(FLOODS.returnPeriodsYears.length);
    }
    expect(comparedCount).toBeGreaterThan(6);
  });

  /** Area of a cell on the ellipsoid, up to a constant factor. */
  function areaOfRow(row: number): number {
    const e2 = 0.00669437999014;
    const e = Math.sqrt(e2);
    const q = (latDeg: number): number => {
      const sin = Math.sin((latDeg * Math.PI) / 180);
      return sin / (1 - e2 * sin * sin) + Math.atanh(e * sin) / e;
    };
    return q(90 - row) - q(89 - row);
  }
});

describe("a result", () => {
  test("is nested by hazard, scenario and year in the requested order; 1980 is the baseline", async () => {
    const location = locationWhere(BASELINE, (values) => values !== undefined);
    const query = { ...QUERY, ...location, scenarios: ["rcp8p5", "baseline"], analysis_years: [2050, 1980] } as const;
    const { location: echoed, results, aggregation, sources } = await atlas.curve(query);
    expect(echoed).toStrictEqual(location);
    expect([aggregation, sources]).toStrictEqual([undefined, undefined]);
    expect(results.map(({ hazard }) => hazard)).toEqual(["riverine_floods"]);
    const [rcp8p5, baseline] = results[0]?.scenarios ?? [];
    expect([rcp8p5?.scenario, baseline?.scenario]).toEqual(["rcp8p5", "baseline"]);
    expect(rcp8p5?.analysis_years.map(({ analysis_year }) => analysis_year)).toEqual([2050, 1980]);
    expect(rcp8p5?.analysis_years[1]).toStrictEqual(baseline?.analysis_years[1]);
    expect(baseline?.analysis_years[0]?.curve).toStrictEqual(baseline?.analysis_years[1]?.curve);
  });

  test("has the reason layer_missing if the atlas has no curve of the scenario and year", async () => {
    for (const analysis_year of [2030, 2080]) {
      const query = { ...QUERY, scenarios: ["rcp4p5"], analysis_years: [analysis_year] } as const;
      expect(await yearAt(query)).toStrictEqual({ analysis_year, unit: "m", curve: null, no_data: "layer_missing" });
    }
  });

  test("has cells, shares, sources and rules with detail", async () => {
    const location = locationWhere(FLOODS, (values) => values !== undefined);
    const query = { ...QUERY, ...location, detail: true, analysis_years: [2050, 2080] };
    const result = await atlas.curve(query);
    const [year, missing] = yearsOf(result);
    const center = { latitude: location.latitude, longitude: location.longitude };
    expect(year?.detail).toStrictEqual({
      cells: 1,
      valid_share: 1,
      cell_center: center,
      source: "riverine_floods/rcp8p5/2050",
      rules: {
        design_return_period_years: 100,
        threshold: 0.5,
        threshold_unit: "m",
        curve: "gumbel",
        return_periods_years: FLOODS.returnPeriodsYears,
      },
      variate: "gumbel",
      caveats: [expect.stringContaining("mean over climate models") as string],
    });
    expect(missing?.detail).toMatchObject({ cells: 0, valid_share: 0 });
    expect(missing?.detail?.source).toBeUndefined();
    expect(result.sources?.["riverine_floods/rcp8p5/2050"]).toMatchObject({ climate_models: ["A", "B"] });
    const [circle] = yearsOf(await atlas.curve({ ...query, radius: 100 }));
    expect(circle?.detail?.cells).toBeGreaterThan(1);
    expect(circle?.detail?.cell_center).toBeUndefined();
    expect(circle?.detail?.caveats).toHaveLength(2);
  });

  test("matches the schema, with all members", async () => {
    const checker = Compile(CurveResultSchema);
    const query = {
      ...QUERY,
      ...locationWhere(FLOODS, (values) => values !== undefined),
      threshold: 0.5,
      floor: 0,
      return_periods: [30, 2000],
      damage_curve: [
        { value: 0, damage_share: 0 },
        { value: 2, damage_share: 0.5 },
      ],
      detail: true,
      radius: 50,
    };
    const result = await atlas.curve(query);
    expect([...checker.Errors(result)]).toEqual([]);
    expect(Object.keys(yearsOf(result)[0] ?? {})).toEqual([
      "analysis_year",
      "unit",
      "curve",
      "return_levels",
      "exceedance",
      "expected_annual_value",
      "expected_annual_damage",
      "detail",
    ]);
  });
});

describe("laws", () => {
  test("the probability never rises with the threshold, and values never fall with the return period", async () => {
    const random = randomFrom(173);
    let curveCount = 0;
    for (let i = 0; i < 60; i++) {
      const query = {
        ...QUERY,
        hazards: [random.pick([FLOODS, WINDS]).hazard],
        latitude: random.between({ min: -80, max: 80 }),
        longitude: random.between({ min: -180, max: 180 }),
        ...(random.chance(0.3) ? { radius: 80, aggregation_method: random.pick(["max", "mean"] as const) } : {}),
      };
      const return_periods = Array.from({ length: 30 }, () => 1.2 * 2000 ** random.next()).toSorted((a, b) => a - b);
      const { curve, return_levels } = await yearAt({ ...query, return_periods });
      if (curve === null) continue;
      curveCount++;
      for (const list of [curve, return_levels ?? []]) {
        const values = list.map(({ value }) => value);
        expect(values).toEqual(values.toSorted((a, b) => a - b));
      }
      const highest = (curve.at(-1)?.value ?? 0) + 0.1;
      const thresholds = Array.from({ length: 20 }, () => highest * (random.next() + 1e-6)).toSorted((a, b) => a - b);
      const probabilities: number[] = [];
      for (const threshold of thresholds) {
        probabilities.push((await yearAt({ ...query, threshold })).exceedance?.probability ?? NaN);
      }
      expect(probabilities).toEqual(probabilities.toSorted((a, b) => b - a));
    }
    expect(curveCount).toBeGreaterThan(30);
  });

  test("a batch returns the results of its queries, and errors in place of those of invalid queries", async () => {
    const random = randomFrom(174);
    const queries = Array.from({ length: 70 }, (): CurveQueryInput => ({
      ...QUERY,
      latitude: random.between({ min: -90, max: 90 }),
      longitude: random.between({ min: -180, max: 180 }),
      radius: random.pick([0, 0, 60]),
      threshold: 0.4,
      detail: random.chance(0.5),
    }));
    queries[7] = { ...QUERY, latitude: 95 };
    queries[9] = { ...QUERY, hazards: ["coastal_floods"] };
    const results = await atlas.curveBatch(queries);
    expect(results).toHaveLength(queries.length);
    for (const [i, element] of results.entries()) {
      if ("error" in element) continue;
      expect(JSON.stringify(element)).toBe(JSON.stringify(await atlas.curve(queries[i] ?? QUERY)));
    }
    const errors = results.flatMap((element, i) => ("error" in element ? [[i, element.error.code]] : []));
    expect(errors).toEqual([
      [7, "invalid_request"],
      [9, "combination_unavailable"],
    ]);
  });
});

describe("an atlas without curves of the hazard", () => {
  const query = { ...QUERY, hazards: ["coastal_floods"] } as const;

  test("rejects the query, and names the hazards that have curves", async () => {
    const fault = await atlas.curve(query).catch((error: unknown) => error);
    if (!isFault(fault, "combination_unavailable")) throw new Error("no fault");
    expect(fault.message).toBe(
      "This atlas has no return-period curves of coastal_floods: it has curves of cyclones, riverine_floods.",
    );
    expect(fault.items).toMatchObject([
      { pointer: "/hazards/0", code: "combination_unavailable", allowed: ["cyclones", "riverine_floods"] },
    ]);
    const fromUrl = await atlas.curve(parseCurveParameters(queryTextOf(parametersOf(query)))).catch((error) => error);
    expect(fromUrl).toMatchObject({ items: [{ parameter: "hazards", code: "combination_unavailable" }] });
  });

  test("checks the query first", () => {
    expect(faultOf(() => parseCurveQuery({ ...query, radius: 101 })).code).toBe("invalid_request");
  });
});
