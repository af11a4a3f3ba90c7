import { signal } from "@preact/signals";
import { describe, expect, test } from "vitest";
import type { HazardCatalog } from "../../src/contract/wireTypes.ts";
import { withoutHistoryStep } from "../../src/explorer/addressBar.ts";
import { createMapModel } from "../../src/explorer/map/mapModel.ts";
import { type LinkReading, readLink } from "../../src/explorer/permalink.ts";
import { initialState } from "../../src/explorer/state.ts";
import { catalogOf, layer } from "./catalogs.ts";

const FLOODS = [layer("baseline", 1980, [10]), layer("rcp4p5", 2050, [10]), layer("rcp8p5", 2050)];
const WIND = [layer("rcp2p6", 2040), layer("rcp8p5", 2050)].map((entry) => ({
  ...entry,
  metrics: ["intensity", "wind_speed_mps", "probability"] as const,
}));
const CATALOG = catalogOf({ riverine_floods: FLOODS, cyclones: WIND });

/** Opens a link, as the page does. */
function open(fragment: string, catalog: HazardCatalog = CATALOG) {
  const state = initialState();
  const link = signal<LinkReading>(readLink(state, fragment));
  const map = createMapModel(catalog, state, link);
  return { state, link, map };
}

const RCP_2P6 = "hazard=riverine_floods&scenario=rcp2p6&year=2050&metric=depth_meters";

describe("the replacement of a layer that the atlas does not have", () => {
  test("is the closest one, and the page says what was wanted", () => {
    const { state, map } = open(RCP_2P6);
    expect(state.scenario.value).toBe("rcp4p5");
    expect(map.replacement.value).toBe(
      "The atlas does not have the layer “River floods, RCP 2.6 2050”. The map shows “River floods, RCP 4.5 2050”.",
    );
  });

  test.each([
    [
      "hazard=wildfire&metric=fire_danger_days",
      "The atlas does not have layers of Wildfire. The map shows “Cyclones, Wind speed, RCP 8.5 2050”.",
    ],
    [
      "metric=rp_7",
      "The atlas does not have the layer “River floods, Flood depth, return period 7 years, RCP 8.5 2050”. The map shows “River floods, Flood depth, RCP 8.5 2050”.",
    ],
    [
      "metric=unheard_of",
      "The atlas does not have the layer “River floods, unheard_of, RCP 8.5 2050”. The map shows “River floods, Flood depth, RCP 8.5 2050”.",
    ],
    [
      "hazard=cyclones&scenario=rcp8p5&year=2050&minus=baseline",
      "Nothing is subtracted, because the atlas does not have “Baseline 1980” with this metric.",
    ],
    ["minus=rcp8p5", "Nothing is subtracted, because “RCP 8.5 2050” is the layer that is shown."],
  ])("of the link %s is described", (fragment, text) => {
    expect(open(fragment).map.replacement.value).toBe(text);
  });

  test.each([
    ["", "RCP 8.5"],
    ["hazard=cyclones", "the metric of another hazard"],
    ["scenario=RCP26", "a parameter that is ignored"],
    ["scenario=baseline", "the year of the baseline"],
    ["year=1980", "the scenario of the baseline"],
  ])("is not mentioned if the link %j does not ask for another layer (%s)", (fragment) => {
    expect(open(fragment).map.replacement.value).toBeUndefined();
  });

  test("is not mentioned if the page opens without a link on an atlas without the default layer", () => {
    const { state, map } = open("", catalogOf({ cyclones: WIND }));
    expect(state.hazard.value).toBe("cyclones");
    expect(map.replacement.value).toBeUndefined();
  });

  test("is no longer mentioned after the next choice, also if that returns to the layer", () => {
    const { map } = open(RCP_2P6);
    map.choose({ scenario: "rcp8p5" });
    expect(map.replacement.value).toBeUndefined();
    map.choose({ scenario: "rcp4p5" });
    expect(map.replacement.value).toBeUndefined();
  });

  test("is described after a change of the link, and no longer after a link to a layer of the atlas", () => {
    const { state, link, map } = open("");
    const follow = (fragment: string): void =>
      withoutHistoryStep(state, () => (link.value = readLink(state, fragment)));
    follow(RCP_2P6);
    expect(map.replacement.value).toContain("RCP 2.6 2050");
    follow(RCP_2P6.replace("rcp2p6", "rcp8p5"));
    expect(map.replacement.value).toBeUndefined();
  });

  test("is described after a choice of a hazard, without the metric that only the other hazard has", () => {
    const { state, map } = open("scenario=rcp4p5");
    map.choose({ hazard: "cyclones" });
    expect(state.metric.value).toBe("wind_speed_mps");
    expect(map.replacement.value).toBe(
      "The atlas does not have the layer “Cyclones, RCP 4.5 2050”. The map shows “Cyclones, RCP 2.6 2040”.",
    );
    map.choose({ hazard: "riverine_floods", scenario: "rcp8p5", year: 2050 });
    map.choose({ hazard: "cyclones" });
    expect(map.replacement.value).toBeUndefined();
  });
});
