import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HAZARD_NAMES, SCENARIOS } from "../../src/contract/names.ts";
import { applyFragment, fragmentOf, historyStepOf, readLink } from "../../src/explorer/permalink.ts";
import { type ExplorerState, initialState, placePosition, VIEWS } from "../../src/explorer/state.ts";

type Values = { -readonly [Name in keyof ExplorerState]: ExplorerState[Name]["value"] };

function valuesOf(state: ExplorerState): Values {
  return Object.fromEntries(Object.entries(state).map(([name, part]) => [name, part.value])) as Values;
}

function stateWith(values: Partial<Values>): ExplorerState {
  const state = initialState();
  for (const [name, value] of Object.entries(values)) {
    (state[name as keyof ExplorerState] as { value: unknown }).value = value;
  }
  return state;
}

const record = <T>(model: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record<T>(model, { noNullPrototype: true });
const within = (min: number, max: number) => fc.double({ min, max, noNaN: true }).map((value) => value + 0);
const rounded = (min: number, max: number) => within(min, max).map((value) => Number(value.toFixed(5)) + 0);
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
const VALUES: fc.Arbitrary<Values> = record({
  view: fc.constantFrom(...VIEWS),
  hazard: fc.constantFrom(...HAZARD_NAMES),
  metric: fc.constantFrom("depth_meters", "wind_speed_mps", "total_hazard", "rp_100", "rp_2.5"),
  scenario: fc.constantFrom(...SCENARIOS),
  year: fc.constantFrom(1980, 2030, 2050, 2080),
  comparison: fc.constantFrom("none", ...SCENARIOS),
  threshold: fc.option(within(-100, 100), { nil: undefined }),
  place: fc.option(
    fc.oneof(
      record({ latitude: within(-90, 90), longitude: within(-180, 180) }),
      record({ latitude: within(-90, 90), longitude: within(-180, 180), name: text }),
    ),
    { nil: undefined },
  ),
  radiusKm: within(0, 100),
  method: fc.constantFrom("max", "mean"),
  totalHazard: fc.boolean(),
  anthropogenic: fc.boolean(),
  map: record({
    latitude: rounded(-85, 85),
    longitude: rounded(-180, 180),
    zoom: fc.integer({ min: 1, max: 13 }),
  }),
  alignmentInput: fc.option(text, { nil: undefined }),
  climateRiskInput: fc.option(text, { nil: undefined }),
});

test("reads back every state", () => {
  fc.assert(
    fc.property(VALUES, VALUES, (values, others) => {
      const reopened = stateWith(others);
      expect(applyFragment(reopened, `#${fragmentOf(stateWith(values))}`)).toStrictEqual([]);
      expect(valuesOf(reopened)).toStrictEqual(values);
    }),
    { numRuns: 100 },
  );
});

test("writes a readable fragment", () => {
  const state = stateWith({ place: { latitude: 11.59, longitude: 43.15, name: "Djibouti, Djibouti" }, radiusKm: 10 });
  expect(fragmentOf(state)).toBe(
    "view=hazards&hazard=riverine_floods&metric=depth_meters&scenario=rcp8p5&year=2050" +
      "&place=11.59,43.15,Djibouti,%20Djibouti&radius=10&map=2/20/10",
  );
});

test("never fails on a fragment, and leaves only values that it accepts", () => {
  const parameters = fc.constantFrom(
    "view",
    "hazard",
    "year",
    "place",
    "map",
    "radius",
    "threshold",
    "minus",
    "x",
    "__proto__",
  );
  const pair = fc.tuple(parameters, fc.string({ unit: "binary", maxLength: 30 }));
  const fragment = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.array(pair, { maxLength: 6 }).map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&")),
  );
  fc.assert(
    fc.property(fragment, (given) => {
      const state = initialState();
      applyFragment(state, given);
      const again = initialState();
      expect(applyFragment(again, fragmentOf(state))).toStrictEqual([]);
      expect(valuesOf(again)).toStrictEqual(valuesOf(state));
    }),
    { numRuns: 150 },
  );
});

describe("faulty parameters get their defaults and are named", () => {
  test.each([
    ["view", "nowhere"],
    ["hazard", "earthquakes"],
    ["metric", "<b>"],
    ["scenario", "RCP8P5"],
    ["year", "2050.5"],
    ["year", "twothousand"],
    ["minus", "all"],
    ["threshold", "NaN"],
    ["threshold", "1e999"],
    ["place", "91,0"],
    ["place", "0,181"],
    ["place", "11.5"],
    ["place", "1,"],
    ["radius", "101"],
    ["radius", "-1"],
    ["radius", ""],
    ["method", "median"],
    ["total", "yes"],
    ["map", "14/0/0"],
    ["map", "2.5/0/0"],
    ["map", "2/0"],
    ["map", "2/0/0/0"],
  ])("%s=%s", (name, value) => {
    const state = stateWith({ radiusKm: 5, year: 2030 });
    expect(applyFragment(state, `${name}=${encodeURIComponent(value)}`)).toStrictEqual([name]);
    expect(valuesOf(state)).toStrictEqual(valuesOf(initialState()));
  });

  test("unknown and repeated parameters are named, and the first value is used", () => {
    const state = initialState();
    expect(applyFragment(state, "color=red&year=2030&year=2080")).toStrictEqual(["color", "year"]);
    expect(state.year.value).toBe(2030);
  });
});

test("a link accepts the parameters that it does not ignore", () => {
  const link = readLink(initialState(), "#hazard=cyclones&scenario=RCP&color=red&year=2030&year=2080");
  expect(link).toStrictEqual({ accepted: new Set(["hazard"]), ignored: ["color", "scenario", "year"] });
});

describe("a link with a place and without a position of the map", () => {
  const mapOf = (fragment: string) => {
    const state = initialState();
    applyFragment(state, fragment);
    return state.map.value;
  };

  test("shows the place", () => {
    expect(mapOf("place=11.59,43.15")).toStrictEqual({ latitude: 11.59, longitude: 43.15, zoom: 9 });
    expect(mapOf("place=11.59,43.15&map=3/1/2")).toStrictEqual({ latitude: 1, longitude: 2, zoom: 3 });
    expect(mapOf("place=95,43.15")).toStrictEqual(initialState().map.value);
  });

  test.each([0.5, 1, 5, 20, 100])("shows the whole circle of %d km, and not much more", (radiusKm) => {
    for (const latitude of [0, -33.9, 60, 80]) {
      const { zoom } = mapOf(`place=${latitude},18&radius=${radiusKm}`);
      const metersPerPixel = (40_075_016.686 / 256 / 2 ** zoom) * Math.cos((latitude * Math.PI) / 180);
      const diameterPixels = (2000 * radiusKm) / metersPerPixel;
      expect(diameterPixels).toBeLessThanOrEqual(300);
      // The closest zoom ends smaller circles.
      if (zoom < 13) expect(diameterPixels).toBeGreaterThan(150);
    }
  });

  test("has a zoom at the poles", () => {
    expect(mapOf("place=90,0&radius=100").zoom).toBe(4);
  });
});

test("a chosen place keeps a closer zoom, unless a circle must be visible", () => {
  const place = { latitude: 0, longitude: 0 };
  expect(placePosition(place, 0, 12).zoom).toBe(12);
  expect(placePosition(place, 0, 2).zoom).toBe(9);
  expect(placePosition(place, 100, 12).zoom).toBe(7);
});

test("only a change of what is shown is a step of the history", () => {
  const state = initialState();
  const step = historyStepOf(state);
  state.map.value = { latitude: 1, longitude: 2, zoom: 3 };
  state.threshold.value = 0.5;
  state.radiusKm.value = 20;
  expect(historyStepOf(state)).toBe(step);
  state.year.value = 2080;
  expect(historyStepOf(state)).not.toBe(step);
});
