import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HAZARD_NAMES, SCENARIOS } from "../../src/contract/names.ts";
import type { Scenario } from "../../src/contract/wireTypes.ts";
import {
  availableChoice,
  catalogHazard,
  catalogLayer,
  choiceOptions,
  comparedLayer,
  type LayerChoice,
  metricLabel,
  metricMeaning,
  metricsOf,
  scaleMetricOf,
  shownLayer,
} from "../../src/explorer/map/layerChoice.ts";
import { catalogOf, layer } from "./catalogs.ts";

const FLOODS = catalogOf({
  riverine_floods: [layer("baseline", 1980, [10, 100]), layer("rcp4p5", 2030), layer("rcp8p5", 2050, [10, 100])],
});
const CHOICE: LayerChoice = {
  hazard: "riverine_floods",
  metric: "depth_meters",
  scenario: "rcp8p5",
  year: 2050,
  comparison: "none",
};

const unavailable = (options: readonly { value: unknown; unavailable: string | undefined }[]) =>
  Object.fromEntries(options.map(({ value, unavailable: reason }) => [String(value), reason]));

describe("choiceOptions", () => {
  test("offers the layers of the atlas, and gives the reason for the others", () => {
    const options = choiceOptions(FLOODS, CHOICE);
    expect(unavailable(options.hazards)).toStrictEqual({
      cyclones: "not in this atlas",
      wildfire: "not in this atlas",
      coastal_floods: "not in this atlas",
      riverine_floods: undefined,
    });
    expect(unavailable(options.scenarios)).toStrictEqual({ baseline: undefined, rcp4p5: undefined, rcp8p5: undefined });
    expect(unavailable(options.years)).toStrictEqual({
      1980: undefined,
      2030: "not in this atlas",
      2050: undefined,
      2080: "not in this atlas",
    });
    expect(unavailable(options.metrics)).toMatchObject({ depth_meters: undefined, rp_100: undefined });
    expect(unavailable(options.comparisons)).toStrictEqual({
      none: undefined,
      baseline: undefined,
      rcp4p5: "not in this atlas",
      rcp8p5: "the layer shown",
    });
  });

  test("under the baseline, only 1980 can be chosen and nothing can be subtracted", () => {
    const options = choiceOptions(FLOODS, { ...CHOICE, scenario: "baseline", year: 1980 });
    expect(options.years.filter((year) => year.unavailable === undefined).map(({ value }) => value)).toStrictEqual([
      1980,
    ]);
    expect(unavailable(options.comparisons)).toStrictEqual({
      none: undefined,
      baseline: "the layer shown",
      rcp4p5: "the layer shown",
      rcp8p5: "the layer shown",
    });
  });

  test("a return period that only another layer keeps is listed with the reason", () => {
    const options = choiceOptions(FLOODS, { ...CHOICE, scenario: "rcp4p5", year: 2030 });
    expect(unavailable(options.metrics)).toMatchObject({ depth_meters: undefined, rp_10: "not in this layer" });
    const withPeriod = choiceOptions(FLOODS, { ...CHOICE, metric: "rp_100" });
    expect(unavailable(withPeriod.comparisons)).toMatchObject({ baseline: undefined });
  });
});

describe("layers of a choice", () => {
  test("1980 is the baseline under every scenario", () => {
    const choice = { ...CHOICE, year: 1980 };
    expect(shownLayer(choice)).toMatchObject({ scenario: "baseline", analysisYear: 1980 });
  });

  test("the comparison is the baseline of 1980, or the same year under the other scenario", () => {
    expect(comparedLayer(CHOICE)).toBeUndefined();
    expect(comparedLayer({ ...CHOICE, comparison: "baseline" })).toMatchObject({
      scenario: "baseline",
      analysisYear: 1980,
      metric: "depth_meters",
    });
    expect(comparedLayer({ ...CHOICE, comparison: "rcp4p5" })).toMatchObject({
      scenario: "rcp4p5",
      analysisYear: 2050,
    });
  });
});

describe("availableChoice", () => {
  test("keeps what the atlas offers", () => {
    const choice: LayerChoice = { ...CHOICE, metric: "rp_100", comparison: "baseline" };
    expect(availableChoice(FLOODS, choice)).toStrictEqual(choice);
  });

  test.each<[string, Partial<LayerChoice>, Partial<LayerChoice>]>([
    ["a hazard that the atlas has", { hazard: "wildfire", metric: "fire_danger_days" }, {}],
    ["the closest year", { year: 2080 }, {}],
    ["the closest year of the scenario", { scenario: "rcp4p5", year: 2080 }, { scenario: "rcp4p5", year: 2030 }],
    ["the scenario with the closest forcing", { scenario: "rcp2p6" }, { scenario: "rcp4p5", year: 2030 }],
    ["the scenario with the closest forcing, below", { scenario: "rcp6p0" }, { scenario: "rcp4p5", year: 2030 }],
    ["1980 under the baseline", { scenario: "baseline" }, { scenario: "baseline", year: 1980 }],
    ["the metric of the hazard", { metric: "rp_7" }, {}],
    ["no comparison with a layer that is missing", { comparison: "rcp4p5" }, {}],
  ])("chooses %s", (_name, wanted, expected) => {
    expect(availableChoice(FLOODS, { ...CHOICE, ...wanted })).toStrictEqual({ ...CHOICE, ...expected });
  });

  test("chooses the baseline only if the hazard has no projection", () => {
    const wanted: LayerChoice = { ...CHOICE, scenario: "rcp2p6" };
    const withBoth = catalogOf({ riverine_floods: [layer("baseline", 1980), layer("rcp8p5", 2050)] });
    expect(availableChoice(withBoth, wanted)).toStrictEqual(CHOICE);
    const historical = catalogOf({ riverine_floods: [layer("baseline", 1980)] });
    expect(availableChoice(historical, wanted)).toStrictEqual({ ...CHOICE, scenario: "baseline", year: 1980 });
  });

  test("an atlas without layers leaves the choice as it is", () => {
    expect(availableChoice(catalogOf({}), CHOICE)).toStrictEqual(CHOICE);
  });

  test("is offered and stays the same when it is applied again, for random atlases and choices", () => {
    const layers = fc.uniqueArray(
      fc.record({
        scenario: fc.constantFrom<Scenario>("rcp4p5", "rcp8p5"),
        year: fc.constantFrom(2030, 2050, 2080),
        periods: fc.option(fc.constant([10, 100]), { nil: undefined }),
      }),
      { selector: ({ scenario, year }) => `${scenario} ${year}`, minLength: 1 },
    );
    const wanted: fc.Arbitrary<LayerChoice> = fc.record({
      hazard: fc.constantFrom(...HAZARD_NAMES),
      metric: fc.constantFrom("depth_meters", "rp_10", "wind_speed_mps", "intensity"),
      scenario: fc.constantFrom(...SCENARIOS),
      year: fc.constantFrom(1980, 2025, 2030, 2050, 2080, 2099),
      comparison: fc.constantFrom("none", ...SCENARIOS),
    });
    fc.assert(
      fc.property(layers, fc.boolean(), wanted, (entries, hasBaseline, choice) => {
        const given = entries.map(({ scenario, year, periods }) => layer(scenario, year, periods));
        const catalog = catalogOf({ coastal_floods: hasBaseline ? [...given, layer("baseline", 1980)] : given });
        const available = availableChoice(catalog, choice);
        expect(availableChoice(catalog, available)).toStrictEqual(available);
        const hazard = catalogHazard(catalog, available.hazard);
        for (const address of [shownLayer(available), comparedLayer(available)]) {
          if (address === undefined) continue;
          const found = catalogLayer(hazard, address.scenario, address.analysisYear);
          expect(found === undefined ? [] : metricsOf(found)).toContain(address.metric);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test("a return period has the scale, the name and the meaning of the metric that it is measured as", () => {
  const hazard = catalogHazard(FLOODS, "riverine_floods");
  expect(scaleMetricOf(hazard, "rp_100")).toBe("depth_meters");
  expect(scaleMetricOf(catalogHazard(FLOODS, "cyclones"), "rp_10")).toBe("wind_speed_mps");
  expect(metricLabel(hazard, "rp_100")).toBe("Flood depth, return period 100 years");
  expect(metricMeaning(hazard, "rp_100")).toBe("Flood depth that is reached or exceeded once in 100 years on average.");
  expect(metricMeaning(hazard, "none")).toBe("");
});
