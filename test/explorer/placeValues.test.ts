import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CatalogHazard, HazardName, HazardResult } from "../../src/contract/wireTypes.ts";
import {
  curveQuery,
  curveValueText,
  exceedanceText,
  namedCurves,
  returnPeriodsOf,
} from "../../src/explorer/place/curveTable.ts";
import {
  answerOf,
  metricSeries,
  metricTable,
  metricValue,
  type PlaceChoice,
  placeQuery,
  rangeText,
  valueText,
} from "../../src/explorer/place/placeQuery.ts";
import { cellsText, rulesOf, sourcesOf } from "../../src/explorer/place/provenance.ts";
import type { Atlas } from "../../src/hazard/answer.ts";
import { describeHazards } from "../../src/hazard/hazardCatalog.ts";
import { openAtlas } from "../../src/openAtlas.ts";

const LAND: PlaceChoice = {
  place: { latitude: 11.59, longitude: 43.15 },
  radiusKm: 0,
  method: "max",
  totalHazard: false,
  anthropogenic: false,
};
const SEA: PlaceChoice = { ...LAND, place: { latitude: 0, longitude: -30 } };

let atlas: Atlas;
beforeAll(async () => {
  atlas = await openAtlas("demo");
});
afterAll(() => atlas.close());

function hazardOf(name: HazardName): CatalogHazard {
  const found = describeHazards(atlas).hazards.find(({ hazard }) => hazard === name);
  if (found === undefined) throw new Error("the demo has all hazards");
  return found;
}

const ask = (hazard: HazardName, choice: PlaceChoice): Promise<HazardResult> =>
  atlas.hazardRisk(placeQuery(hazardOf(hazard), choice));

describe("placeQuery", () => {
  test("asks for all years and scenarios, with the baseline as 1980", () => {
    expect(placeQuery(hazardOf("riverine_floods"), LAND)).toEqual({
      latitude: 11.59,
      longitude: 43.15,
      hazards: ["riverine_floods"],
      analysis_years: [1980, 2030, 2050, 2080],
      scenarios: ["rcp4p5", "rcp8p5"],
      detail: true,
    });
  });

  test("has the options that are chosen, and a method only with a radius", () => {
    const query = placeQuery(hazardOf("cyclones"), {
      ...LAND,
      radiusKm: 20,
      method: "mean",
      totalHazard: true,
      anthropogenic: true,
    });
    expect(query).toMatchObject({ radius: 20, aggregation_method: "mean", total_hazard: true, anthropogenic: true });
    expect(placeQuery(hazardOf("cyclones"), { ...LAND, method: "mean" })).not.toHaveProperty("aggregation_method");
  });
});

describe("metricTable", () => {
  test("has one value for the baseline, and one per scenario in the other years", async () => {
    const table = metricTable(await ask("riverine_floods", LAND), "depth_meters", false);
    expect(table.scenarios).toEqual(["rcp4p5", "rcp8p5"]);
    expect(table.rows.map(({ year, values }) => [year, values.length])).toEqual([
      [1980, 1],
      [2030, 2],
      [2050, 2],
      [2080, 2],
    ]);
    const { years, lines } = metricSeries(table);
    expect(years).toEqual([1980, 2030, 2050, 2080]);
    expect(lines.map(({ scenario }) => scenario)).toEqual(["rcp4p5", "rcp8p5"]);
    expect(lines[0]?.values[0]).toBe(table.rows[0]?.values[0]?.value);
    expect(lines[1]?.values[2]).toBe(table.rows[2]?.values[1]?.value);
    expect(lines[0]?.values[0]).toBe(lines[1]?.values[0]);
    expect(lines[0]?.values.every((value) => value !== null && value > 0)).toBe(true);
  });

  test("has no row of the baseline for changes", async () => {
    const result = await ask("riverine_floods", { ...LAND, anthropogenic: true });
    expect(metricTable(result, "depth_meters", true).rows.map(({ year }) => year)).toEqual([2030, 2050, 2080]);
  });

  test("gives the reason for missing values, and draws no line for them", async () => {
    const table = metricTable(await ask("riverine_floods", SEA), "depth_meters", false);
    expect(metricSeries(table).lines).toEqual([]);
    for (const { values } of table.rows) {
      for (const value of values) expect(valueText("depth_meters", value)).toBe("no data in the source");
    }
  });

  test("states bounds in words", async () => {
    const result = await ask("riverine_floods", { ...LAND, radiusKm: 50 });
    const answer = answerOf(result, "rcp8p5", 2050);
    if (answer === undefined) throw new Error("the year was requested");
    expect(valueText("probability", metricValue(answer, "probability"))).toBe("at least 50 %");
    expect(
      valueText("probability", {
        value: 0,
        reason: undefined,
        bound: { bound: "at_most", limit: 0.001 },
        range: undefined,
      }),
    ).toBe("at most 0.1 %");
    expect(
      valueText("probability", { value: 0.2, reason: undefined, bound: { bound: "indeterminate" }, range: undefined }),
    ).toBe("20 % (not known exactly)");
  });

  test("states changes with their sign, and ranges over models", () => {
    const value = { value: 0.25, reason: undefined, bound: undefined, range: undefined };
    expect(valueText("depth_meters", value, true)).toBe("+0.25 m");
    expect(valueText("probability", { ...value, bound: { bound: "at_most", limit: -0.01 } }, true)).toBe(
      "at most -1 percentage points",
    );
    expect(rangeText("depth_meters", { minimum: 0.5, maximum: 2 })).toBe("models 0.50 to 2.00");
  });

  test("finds the baseline in any scenario", async () => {
    const result = await ask("cyclones", LAND);
    expect(answerOf(result, "baseline", 2050)).toEqual(answerOf(result, "rcp2p6", 1980));
    expect(answerOf(result, "rcp2p6", 2050)).not.toEqual(answerOf(result, "rcp8p5", 2050));
  });
});

describe("provenance", () => {
  test("states cells, rules with their units, and sources once", async () => {
    const result = await ask("riverine_floods", LAND);
    const detail = answerOf(result, "rcp8p5", 2050)?.detail;
    if (detail === undefined) throw new Error("detail was requested");
    expect(cellsText(detail)).toEqual([
      ["Cells", "1"],
      ["Share of the area with data", "100 %"],
      ["Center of the cell", "11.59266° N, 43.15318° E"],
      ["Range over climate models", "not in this atlas"],
    ]);
    expect(rulesOf(detail)).toContainEqual(["Threshold", "0.5 m"]);
    expect(rulesOf(detail)).toContainEqual(["Return periods (years)", "2, 5, 10, 25, 50, 100, 250, 1000"]);
    const [source, ...others] = sourcesOf(result);
    expect(others).toEqual([]);
    expect(source?.layers).toContain("RCP 8.5 2050");
    expect(source?.members).toContainEqual(["Synthetic", "yes"]);
  });

  test("states shares by metric where they differ", () => {
    const pairs = cellsText({
      cells: 12,
      valid_share: 0,
      metrics: { depth_meters: { valid_share: 0.5 }, probability: { no_data: "layer_missing" } },
      rules: {},
    });
    expect(pairs).toEqual([
      ["Cells", "12"],
      ["Share with data, flood depth", "50 %"],
      ["Share with data, annual probability", "not in this atlas"],
    ]);
  });

  test("says whether a range over climate models is missing from the atlas, or not given for changes", () => {
    const name = "Range over climate models";
    const detail = { cells: 1, valid_share: 1, rules: {} };
    const rangeOf = (more: object) => cellsText({ ...detail, ...more }).find(([pair]) => pair === name)?.[1];
    expect(rangeOf({})).toBe("not in this atlas");
    expect(rangeOf({ baseline_source: "s1" })).toBe("not given for changes");
    expect(rangeOf({ model_range: { depth_meters: { minimum: 1, maximum: 2 } } })).toBeUndefined();
    expect(rangeOf({ valid_share: 0 })).toBeUndefined();
  });
});

describe("return-period curves", () => {
  test("has the baseline once, then every scenario", async () => {
    const query = curveQuery(hazardOf("riverine_floods"), LAND, { year: 2050, threshold: 1 });
    const curves = namedCurves(await atlas.curve(query));
    expect(curves.map(({ title }) => title)).toEqual(["Baseline 1980", "RCP 4.5 2050", "RCP 8.5 2050"]);
    expect(returnPeriodsOf(curves)).toEqual([2, 5, 10, 25, 50, 100, 250, 1000]);
    const [, , last] = curves;
    if (last === undefined) throw new Error("there are three curves");
    expect(curveValueText(last, 100, "depth_meters")).toBe("7.25");
    expect(exceedanceText(last.result.exceedance)).toBe("39.4 % a year (once in 2.5 years on average)");
  });

  test("gives the reason for a missing curve", async () => {
    const curves = namedCurves(
      await atlas.curve(curveQuery(hazardOf("riverine_floods"), SEA, { year: 2050, threshold: undefined })),
    );
    expect(returnPeriodsOf(curves)).toEqual([]);
    expect(curves.map((curve) => curveValueText(curve, 100, "depth_meters"))).toEqual(
      Array(3).fill("no data in the source"),
    );
  });

  test("states bounds of probabilities and return periods in words", () => {
    const exceedance = { threshold: 1, probability: 0.5, return_period: 2 };
    expect(exceedanceText({ ...exceedance, bound: "at_least", limit: 0.5 })).toBe(
      "at least 50 % a year (once in at most 2 years on average)",
    );
    expect(exceedanceText({ threshold: 20, probability: 0, return_period: null, bound: "at_most", limit: 0.001 })).toBe(
      "at most 0.1 % a year (once in at least 1,000 years on average)",
    );
    expect(exceedanceText(undefined)).toBe("no value");
  });
});
