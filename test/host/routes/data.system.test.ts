import { describe, expect, test } from "vitest";
import { HAZARDS } from "../../../src/hazard/hazards.ts";
import { alignment } from "../../../src/host/routes/alignment.ts";
import { hazardRisk } from "../../../src/host/routes/hazardRisk.ts";
import { hazards } from "../../../src/host/routes/hazards.ts";
import { limits } from "../../../src/host/routes/limits.ts";
import { countries, industries, scenarios } from "../../../src/host/routes/reference.ts";
import { totalClimateRisk } from "../../../src/host/routes/totalClimateRisk.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../../hazard/queries.ts";
import { RouteCaller } from "../routeCaller.ts";
import { ENTITY } from "../entities.ts";
import { fakeAtlas, quarterResult } from "../testHost.ts";
import type { AnalysisYearResult } from "../../../src/contract/wireTypes.ts";

/** Returns an atlas that answers every analysis year with the same result. */
function atlasWith(year: Omit<AnalysisYearResult, "analysis_year">) {
  return fakeAtlas((query) => {
    const { results, ...rest } = quarterResult(query);
    return Promise.resolve({
      ...rest,
      results: results.map(({ hazard, scenarios: all }) => ({
        hazard,
        scenarios: all.map(({ scenario, analysis_years }) => ({
          scenario,
          analysis_years: analysis_years.map(({ analysis_year }) => ({ analysis_year, ...year })),
        })),
      })),
    });
  });
}

describe("usage units", () => {
  test.each([
    ["all metrics", { metrics: { intensity: 0, probability: 0 } }, 8],
    ["some metrics", { metrics: { intensity: 0.5, total_hazard: null }, no_data: "layer_missing" as const }, 8],
    ["no metric", { metrics: { intensity: null, probability: null }, no_data: "no_data" as const }, 0],
  ])("count analysis years with values in %s", async (_what, year, units) => {
    const routes = new RouteCaller({ atlas: atlasWith(year) });
    const result = await routes.call(hazardRisk, { queryText: queryTextOf(parametersOf(VALID_QUERY)) });
    expect(result.units).toBe(units);
  });

  test("count temperatures but not nulls", async () => {
    const [baseline] = ENTITY.data;
    const zeroBaseline = { ...ENTITY, data: [{ ...baseline, emissions: { scope1: 0 } }] };
    const routes = new RouteCaller();
    expect((await routes.call(alignment, { body: [ENTITY, zeroBaseline] })).units).toBe(
      ENTITY.projected_emissions.length,
    );
    expect((await routes.call(alignment, { body: [zeroBaseline] })).units).toBe(0);
  });

  test("count the distinct pairs of scenario and year of a company", async () => {
    const body = {
      ...(totalClimateRisk.description.body?.example as object),
      transition_scenarios: ["IPCC_C1", "ipcc c1", "NGFS_NET_ZERO_2050"],
      assessment_years: [2030, 2040, 2030, 2050],
    };
    expect((await new RouteCaller().call(totalClimateRisk, { body })).units).toBe(6);
  });
});

describe("the company route", () => {
  const example = totalClimateRisk.description.body?.example as Readonly<Record<string, unknown>>;

  test("accepts numbers as JSON numbers and as text", async () => {
    const routes = new RouteCaller();
    const asNumbers = Object.fromEntries(
      Object.entries(example).map(([name, value]) => [
        name,
        typeof value === "string" && /^[0-9]+$/.test(value) ? Number(value) : value,
      ]),
    );
    const [text, numbers] = [example, asNumbers].map((body) => routes.call(totalClimateRisk, { body }));
    expect((await text)?.text).toBe((await numbers)?.text);
  });

  test("reports all errors together", async () => {
    const body = { ...example, country: "Atlantis", revenue: "1,000", assessment_years: [2024] };
    await expect(new RouteCaller().call(totalClimateRisk, { body })).rejects.toMatchObject({ code: "invalid_request" });
    const fault = await new RouteCaller().call(totalClimateRisk, { body }).catch((error: unknown) => error);
    const pointers = (fault as { items: { pointer: string }[] }).items.map(({ pointer }) => pointer);
    expect(pointers.toSorted()).toStrictEqual(["/assessment_years/0", "/country", "/revenue"]);
  });
});

describe("the hazard catalog", () => {
  test("lists the specification of each hazard and the layers of the atlas", async () => {
    const grid = {
      north_deg: 13,
      west_deg: 41,
      cell_size_lat_deg: 0.5,
      cell_size_lon_deg: 0.25,
      row_count: 4,
      column_count: 12,
    };
    const layers = [
      { scenario: "baseline" as const, analysis_year: 1980, metrics: ["depth_meters"], source: { model: "WRI" } },
    ];
    const holding = { hazard: "riverine_floods" as const, grid, rules: { threshold: 0.5 }, layers };
    const routes = new RouteCaller({ atlas: { ...fakeAtlas(), holdings: [holding] } });
    const answer = JSON.parse((await routes.call(hazards)).text) as { hazards: Record<string, unknown>[] };
    expect(answer).toMatchObject({ release: "test-1", synthetic: true });
    expect(answer.hazards.map(({ hazard, analysis_years }) => [hazard, analysis_years])).toStrictEqual(
      Object.values(HAZARDS).map(({ hazard, years }) => [hazard, years]),
    );
    expect(answer.hazards[3]).toMatchObject({ ...holding, coverage: { north: 13, south: 11, west: 41, east: 44 } });
    expect(answer.hazards[0]).toMatchObject({ grid: null, coverage: null, rules: {}, layers: [] });
  });

  test("describes metrics with the rules of the atlas, and names rules that the atlas lacks", async () => {
    const grid = {
      north_deg: 13,
      west_deg: 41,
      cell_size_lat_deg: 0.5,
      cell_size_lon_deg: 0.25,
      row_count: 4,
      column_count: 12,
    };
    const layers: [] = [];
    const holdings = [
      { hazard: "cyclones" as const, grid, layers, rules: { threshold: 50, intensity_reference: 80 } },
      {
        hazard: "wildfire" as const,
        grid,
        layers,
        rules: { threshold: 45, intensity_reference: 90, danger_threshold: 25 },
      },
      {
        hazard: "riverine_floods" as const,
        grid,
        layers,
        rules: { design_return_period_years: 1000, threshold: 0.25, intensity_reference: 5 },
      },
    ];
    const routes = new RouteCaller({ atlas: { ...fakeAtlas(), holdings } });
    const answer = JSON.parse((await routes.call(hazards)).text) as {
      hazards: { hazard: string; metrics: { metric: string; meaning: string }[] }[];
    };
    const meaningsOf = (name: string): readonly string[] =>
      answer.hazards.find(({ hazard }) => hazard === name)?.metrics.map(({ meaning }) => meaning) ?? [];
    const total = "intensity x probability of the cell: severity times likelihood";
    expect(meaningsOf("riverine_floods")).toStrictEqual([
      "min(1, depth_meters / 5 m)",
      "flood depth above ground with a return period of 1000 years, without protection",
      "annual probability of a depth of at least 0.25 m",
      total,
    ]);
    expect(meaningsOf("cyclones")).toStrictEqual([
      "min(1, wind_speed_mps / 80 m/s)",
      "1-minute sustained wind 10 m above ground with a return period of the atlas's design_return_period_years",
      "annual probability of wind of at least 50 m/s",
      total,
    ]);
    expect(meaningsOf("wildfire")).toStrictEqual([
      "min(1, mean annual maximum of the Fire Weather Index / 90)",
      "mean number of days a year with a Fire Weather Index above 25",
      "annual probability that the year's largest Fire Weather Index reaches 45",
      total,
    ]);
    // A hazard that the atlas does not have is described with the default rules.
    expect(meaningsOf("coastal_floods")).toStrictEqual(HAZARDS.coastal_floods.metrics.map(({ meaning }) => meaning));
    expect(HAZARDS.coastal_floods.metrics[2]?.meaning).toBe("annual probability of a depth of at least 0.5 m");
    expect(HAZARDS.cyclones.metrics[2]?.meaning).toContain("33 m/s (Saffir-Simpson category 1)");
  });

  test("lists every layer of the demo", async () => {
    const atlas = await openAtlas("demo");
    try {
      const answer = JSON.parse((await new RouteCaller({ atlas }).call(hazards)).text) as {
        hazards: { layers: { metrics: string[] }[]; coverage: unknown }[];
      };
      // The baseline, and every other scenario in every year after 1980.
      expect(answer.hazards.map(({ layers }) => layers.length)).toStrictEqual([21, 21, 7, 7]);
      for (const { layers } of answer.hazards) for (const { metrics } of layers) expect(metrics).toHaveLength(4);
      for (const { coverage } of answer.hazards) expect(coverage).toMatchObject({ north: 90, west: -180 });
    } finally {
      await atlas.close();
    }
  });
});

test("returns the configured limits", async () => {
  const routes = new RouteCaller({ limits: { batchCount: 7, customerCount: 30, requestsPerS: 0.5 } });
  expect(JSON.parse((await routes.call(limits)).text)).toStrictEqual({
    head_bytes: 16_384,
    body_bytes: 8_388_608,
    json_depth: 16,
    json_values: 1_048_576,
    json_object_keys: 1_000,
    batch_elements: 7,
    hazard_values: 100_000,
    entities: 5000,
    alignment_values: 100_000,
    detail_values: 10_000,
    radius_km: 100,
    customers: 30,
    requests_per_second: 0.5,
    request_burst: 100,
    tiles_per_second: 100,
    tile_burst: 400,
  });
});

test.each([
  ["industries", industries, 147],
  ["countries", countries, 248],
  ["scenarios", scenarios, 21],
] as const)("returns all %s", async (_what, route, count) => {
  const { items } = JSON.parse((await new RouteCaller().call(route as typeof industries)).text) as {
    items: { id: string }[];
  };
  expect(new Set(items.map(({ id }) => id)).size).toBe(count);
});

test.each([hazards, limits, industries])("$path rejects query parameters", async (route) => {
  await expect(new RouteCaller().call(route as typeof limits, { queryText: "a=1" })).rejects.toMatchObject({
    code: "invalid_request",
    items: [{ parameter: "a", code: "unknown" }],
  });
});
