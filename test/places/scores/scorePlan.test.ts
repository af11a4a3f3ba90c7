import { describe, expect, test } from "vitest";
import type { PlaceOptions } from "../../../src/contract/wireTypes.ts";
import type { AtlasHoldings } from "../../../src/hazard/answer.ts";
import { planScores } from "../../../src/places/scores/scorePlan.ts";
import { faultOf } from "../../hazard/queries.ts";

const GRID = {
  north_deg: 90,
  west_deg: -180,
  cell_size_lat_deg: 1,
  cell_size_lon_deg: 1,
  row_count: 180,
  column_count: 360,
};
const layer = (scenario: "baseline" | "rcp4p5" | "rcp8p5", analysis_year: number, periods?: readonly number[]) => ({
  scenario,
  analysis_year,
  metrics: ["intensity"],
  source: {},
  ...(periods && { curve_return_periods: periods }),
});
const HOLDINGS: readonly AtlasHoldings[] = [
  { hazard: "cyclones", grid: GRID, rules: {}, layers: [layer("baseline", 1980), layer("rcp8p5", 2040)] },
  {
    hazard: "riverine_floods",
    grid: GRID,
    rules: {},
    layers: [layer("baseline", 1980, [2, 100]), layer("rcp4p5", 2030), layer("rcp8p5", 2030), layer("rcp8p5", 2080)],
  },
];
const plan = (options: PlaceOptions, holdings = HOLDINGS) => planScores({ holdings }, options);
const namesOf = (options: PlaceOptions, holdings = HOLDINGS): readonly string[] =>
  plan(options, holdings).groups.map(({ hazard, scenario, analysisYear }) => `${hazard} ${scenario} ${analysisYear}`);

describe("the groups of a plan", () => {
  test("are all that the atlas holds by default, with all metrics except total_hazard", () => {
    expect(namesOf({})).toEqual([
      "cyclones baseline 1980",
      "cyclones rcp8p5 2040",
      "riverine_floods baseline 1980",
      "riverine_floods rcp4p5 2030",
      "riverine_floods rcp8p5 2030",
      "riverine_floods rcp8p5 2080",
    ]);
    expect(plan({}).groups[0]?.metrics).toEqual(["intensity", "wind_speed_mps", "probability"]);
    expect(plan({}).groups[5]?.metrics).toEqual(["intensity", "depth_meters", "probability"]);
    expect(plan({})).toMatchObject({ method: "max", anthropogenic: false, radiusKm: 0, omissions: [] });
  });

  test("are what the atlas holds of one given list", () => {
    expect(namesOf({ scenarios: ["rcp8p5"] })).toEqual([
      "cyclones rcp8p5 2040",
      "riverine_floods rcp8p5 2030",
      "riverine_floods rcp8p5 2080",
    ]);
    const { groups, omissions } = plan({ analysis_years: [2030] });
    expect(groups.map(({ hazard, scenario }) => `${hazard} ${scenario}`)).toEqual([
      "riverine_floods rcp4p5",
      "riverine_floods rcp8p5",
    ]);
    expect(omissions).toEqual([
      { hazard: "cyclones", analysis_year: 2030, detail: "The atlas holds no cyclones of 2030." },
    ]);
  });

  test("are the combinations of both lists that the hazards offer, in the given order, held or not", () => {
    const options: PlaceOptions = {
      hazards: ["riverine_floods", "cyclones"],
      scenarios: ["rcp8p5", "rcp2p6"],
      analysis_years: [2050, 2040],
    };
    expect(namesOf(options)).toEqual([
      "riverine_floods rcp8p5 2050",
      "cyclones rcp8p5 2050",
      "cyclones rcp8p5 2040",
      "cyclones rcp2p6 2050",
      "cyclones rcp2p6 2040",
    ]);
    expect(plan(options).omissions).toEqual([
      {
        hazard: "riverine_floods",
        scenario: "rcp2p6",
        detail: "riverine_floods has no scenario rcp2p6; it offers baseline, rcp4p5, rcp8p5.",
      },
      {
        hazard: "riverine_floods",
        analysis_year: 2040,
        detail: "riverine_floods has no analysis year 2040; it offers 1980, 2030, 2050, 2080.",
      },
    ]);
  });

  test("have the requested metrics in the order of the hazard, and total_hazard if it is requested in either way", () => {
    const metricsOf = (options: PlaceOptions) => plan({ hazards: ["riverine_floods"], ...options }).groups[0]?.metrics;
    expect(metricsOf({ metrics: ["probability", "intensity"] })).toEqual(["intensity", "probability"]);
    expect(metricsOf({ metrics: ["total_hazard"] })).toEqual(["total_hazard"]);
    expect(metricsOf({ metrics: ["depth_meters"], total_hazard: true })).toEqual(["depth_meters", "total_hazard"]);
    expect(metricsOf({ total_hazard: true })).toEqual(["intensity", "depth_meters", "probability", "total_hazard"]);
  });

  test("leave out a hazard that has none of the metrics", () => {
    const { groups, omissions } = plan({ metrics: ["depth_meters"] });
    expect(new Set(groups.map(({ hazard }) => hazard))).toEqual(new Set(["riverine_floods"]));
    expect(omissions).toEqual([{ hazard: "cyclones", detail: "cyclones has none of the requested metrics." }]);
  });

  test("have the threshold of their hazard", () => {
    const { groups } = plan({ thresholds: { riverine_floods: 0.3 } });
    expect(groups.map(({ threshold }) => threshold)).toEqual([undefined, undefined, 0.3, 0.3, 0.3, 0.3]);
  });

  test("have a common radius unless a column gives each place its own", () => {
    expect(planScores({ holdings: HOLDINGS }, { radius: 5 }).radiusKm).toBe(5);
    expect(planScores({ holdings: HOLDINGS }, { radius_column: "km" }).radiusKm).toBeUndefined();
  });
});

describe("options are rejected", () => {
  test("with every value that no requested hazard offers", () => {
    const options: PlaceOptions = {
      hazards: ["riverine_floods"],
      scenarios: ["rcp8p5", "rcp2p6"],
      analysis_years: [2031],
      metrics: ["fire_danger_days"],
    };
    const { code, items } = faultOf(() => plan(options));
    expect(code).toBe("combination_unavailable");
    expect(items).toMatchObject([
      { pointer: "/scenarios/1", allowed: ["baseline", "rcp4p5", "rcp8p5"] },
      { pointer: "/analysis_years/0", allowed: [1980, 2030, 2050, 2080] },
      { pointer: "/metrics/0", allowed: ["intensity", "depth_meters", "probability", "total_hazard"] },
    ]);
    expect(items[0]?.detail).toBe(
      "None of riverine_floods offers rcp2p6; scenarios must be of baseline, rcp4p5, rcp8p5.",
    );
  });

  test("if the atlas keeps no curves for a threshold, or its hazard is not scored", () => {
    const { items } = faultOf(() => plan({ thresholds: { cyclones: 33, wildfire: 1, riverine_floods: 0.1 } }));
    expect(items).toMatchObject([
      { pointer: "/thresholds/cyclones", allowed: ["riverine_floods"] },
      { pointer: "/thresholds/wildfire" },
    ]);
    expect(items[0]?.detail).toMatch(/it has curves of riverine_floods; curves are kept by .* --keep-curves\.$/);
    expect(items[1]?.detail).toBe("wildfire has a threshold but is not scored; hazards are cyclones, riverine_floods.");
  });

  test("if nothing is left to score", () => {
    const { items } = faultOf(() => plan({ hazards: ["cyclones"], scenarios: ["rcp2p6"] }));
    expect(items).toMatchObject([{ pointer: "", code: "combination_unavailable" }]);
    expect(items[0]?.detail).toBe(
      "The options select nothing that the atlas can score; it holds cyclones, riverine_floods. The atlas holds no cyclones of rcp2p6.",
    );
    expect(faultOf(() => plan({}, [])).items[0]?.detail).toMatch(/it holds no hazard\.$/);
  });
});
