import { describe, expect, test } from "vitest";
import { niceTicks } from "../../../../src/places/summary/report/reportCharts.ts";
import { coastlinesIn, type MapWindow } from "../../../../src/places/summary/report/coastlines.ts";
import { colorClasses, mapProjection, placeMap } from "../../../../src/places/summary/report/placeMap.ts";
import { randomFrom } from "../../../seededRandom.ts";

const place = (latitude: number, longitude: number, value: number, ordinal = 0) => ({
  ordinal,
  rowNumber: ordinal + 1,
  shown: [],
  id: null,
  latitude,
  longitude,
  value,
});

describe("coastlines of a map", () => {
  /** Returns whether a location is inside the rings, by the number of edges to its east. */
  function isLand(rings: ReturnType<typeof coastlinesIn>, latitude: number, longitude: number): boolean {
    let crossings = 0;
    for (const ring of rings) {
      for (const [i, [x, y]] of ring.entries()) {
        const [nextX, nextY] = ring[(i + 1) % ring.length] ?? [x, y];
        if (y > latitude === nextY > latitude) continue;
        if (longitude < x + ((latitude - y) / (nextY - y)) * (nextX - x)) crossings++;
      }
    }
    return crossings % 2 === 1;
  }
  const WORLD: MapWindow = { west: -180, east: 180, south: -90, north: 90 };
  const LAND = {
    Paris: [48.86, 2.35],
    Nairobi: [-1.29, 36.82],
    Chukotka: [67, 179],
    "South Pole": [-89, 0],
    Denver: [39.7, -105],
  };
  const SEA = {
    Atlantic: [30, -40],
    Pacific: [0, -150],
    "North Sea": [56, 3],
    Bering: [58, 179.5],
    Tasman: [-38, 160],
  };

  test.each(Object.entries(LAND))(
    "%s is on land, in the world and in its region",
    (_, [latitude = 0, longitude = 0]) => {
      expect(isLand(coastlinesIn(WORLD, 0.2), latitude, longitude)).toBe(true);
      expect(isLand(coastlinesIn(windowAround(latitude, longitude), 0.01), latitude, longitude)).toBe(true);
    },
  );

  test.each(Object.entries(SEA))("%s is at sea, in the world and in its region", (_, [latitude = 0, longitude = 0]) => {
    expect(isLand(coastlinesIn(WORLD, 0.2), latitude, longitude)).toBe(false);
    expect(isLand(coastlinesIn(windowAround(latitude, longitude), 0.01), latitude, longitude)).toBe(false);
  });

  test("of a region have the same land as those of the world, with fewer points", () => {
    const random = randomFrom(1);
    const window = { west: -6, east: 12, south: 42, north: 56 };
    const [world, region] = [coastlinesIn(WORLD, 0), coastlinesIn(window, 0)];
    const sizeOf = (rings: typeof world): number => rings.reduce((size, ring) => size + ring.length, 0);
    expect(sizeOf(region) * 5).toBeLessThan(sizeOf(world));
    for (let i = 0; i < 300; i++) {
      const latitude = random.between({ min: window.south, max: window.north });
      const longitude = random.between({ min: window.west, max: window.east });
      expect(isLand(region, latitude, longitude)).toBe(isLand(world, latitude, longitude));
    }
  });

  function windowAround(latitude: number, longitude: number): MapWindow {
    return { west: longitude - 5, east: longitude + 5, south: latitude - 4, north: latitude + 4 };
  }
});

describe("projection of a map", () => {
  test("contains all places, within the bounds of the world", () => {
    const random = randomFrom(2);
    for (let round = 0; round < 200; round++) {
      const span = 10 ** random.between({ min: -3, max: 2.3 });
      const middle = {
        latitude: random.between({ min: -90, max: 90 }),
        longitude: random.between({ min: -180, max: 180 }),
      };
      const places = Array.from({ length: 1 + random.below(5) }, () =>
        place(
          Math.max(-90, Math.min(90, middle.latitude + random.between({ min: -span, max: span }))),
          Math.max(-180, Math.min(180, middle.longitude + random.between({ min: -span, max: span }))),
          1,
        ),
      );
      const { window, height, toX, toY } = mapProjection(places);
      expect(
        Math.min(window.west + 180, 180 - window.east, window.south + 90, 90 - window.north),
      ).toBeGreaterThanOrEqual(0);
      expect(height).toBeGreaterThan(100);
      expect(height).toBeLessThan(1200);
      for (const { latitude, longitude } of places) {
        expect(toX(longitude)).toBeGreaterThanOrEqual(0);
        expect(toX(longitude)).toBeLessThanOrEqual(940.001);
        expect(toY(latitude)).toBeGreaterThanOrEqual(0);
        expect(toY(latitude)).toBeLessThanOrEqual(height + 1);
      }
    }
  });
});

describe("places of a map", () => {
  test("at the same point are drawn once, in the color of the largest value", () => {
    const sample = [place(10, 20, 1, 0), place(10, 20, 9, 1), place(10, 20, NaN, 2), place(40, 50, NaN, 3)];
    const colors = colorClasses(
      sample.map(({ value }) => value),
      { high: 9, unit: "m" },
    );
    const text = { id: "map", title: "Map", description: "Places", unit: "m" };
    const { html } = placeMap({ sample, top: [] }, mapProjection(sample), colors, text);
    const points = [...html.matchAll(/class="point large (\w+)"\s+d="((?:M[\d.]+ [\d.]+h0)+)"/g)].map(
      ([, style, path = ""]) => [style, path.split("M").length - 1] as const,
    );
    const legend = colors.classes.map(({ style }) => [style, 1] as const);
    // The last class has no value and is drawn first.
    expect(points).toEqual([["none", 1], ["c6", 1], ...legend]);
  });

  test("have classes of colors with round limits that include every value", () => {
    const random = randomFrom(3);
    for (let round = 0; round < 300; round++) {
      const scale = 10 ** random.between({ min: -4, max: 4 });
      const offset = random.chance(0.5) ? 0 : -0.5;
      const values = Array.from({ length: 50 }, () => (random.chance(0.2) ? 0 : (random.next() + offset) * scale));
      const high = values.toSorted((a, b) => a - b)[48] ?? 0;
      const { classes, indexOf } = colorClasses([...values, NaN], { high, unit: "1" });
      expect(classes.length).toBeGreaterThanOrEqual(2);
      expect(new Set(classes.map(({ style }) => style)).size).toBe(classes.length);
      expect(classes.at(-1)).toEqual({ style: "none", label: "no value" });
      expect(indexOf(NaN)).toBe(classes.length - 1);
      for (const value of values) expect(indexOf(value)).toBeLessThan(classes.length - 1);
      const ascending = values.toSorted((a, b) => a - b).map(indexOf);
      expect(ascending).toEqual(ascending.toSorted((a, b) => a - b));
      if (offset === 0) {
        expect(classes[0]).toEqual({ style: "zero", label: "0" });
        for (const value of values) expect(indexOf(value) === 0).toBe(value === 0);
      }
    }
  });

  test("have a legend whose limits are those of the classes", () => {
    const { classes, indexOf } = colorClasses([0, 0.5, 3, 12], { high: 10, unit: "m" });
    expect(classes.map(({ label }) => label)).toEqual([
      "0 m",
      "above 0, below 2 m",
      "2 to 4 m",
      "4 to 6 m",
      "6 to 8 m",
      "8 or more m",
      "no value",
    ]);
    expect([0, 1.99, 2, 3.99, 4, 7.99, 8, 1000].map(indexOf)).toEqual([0, 1, 2, 2, 3, 4, 5, 5]);
  });
});

test("ticks of an axis are round numbers that include the range", () => {
  expect(niceTicks(0, 0.5, 5)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
  expect(niceTicks(0, 82.1, 5)).toEqual([0, 20, 40, 60, 80, 100]);
  expect(niceTicks(-0.3, 0.7, 5)).toEqual([-0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8]);
  const random = randomFrom(4);
  for (let round = 0; round < 500; round++) {
    const minimum = random.between({ min: -1, max: 1 }) * 10 ** random.between({ min: -6, max: 6 });
    const maximum = minimum + 10 ** random.between({ min: -3, max: 6 }) * Math.max(1e-3, Math.abs(minimum));
    const ticks = niceTicks(minimum, maximum, 5);
    expect(ticks.length).toBeLessThanOrEqual(7);
    expect(ticks[0]).toBeLessThanOrEqual(minimum + 1e-6 * (maximum - minimum));
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(maximum - 1e-6 * (maximum - minimum));
  }
});
