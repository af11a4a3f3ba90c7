import { describe, expect, test } from "vitest";
import { HAZARD_NAMES } from "../../src/hazard/hazards.ts";
import { cellCenter } from "../../src/kernel/grid.ts";
import { STEPS_NODATA, STEPS_OUTSIDE } from "../../src/kernel/kernel.generated.ts";
import { coastDistanceKm, isLand, readCoast } from "../oracle/coast.ts";
import { randomFrom } from "../seededRandom.ts";
import { baselineAt, cellAt, hazardOf, LAYER_COUNT, randomPlace, readCells } from "./openedDemo.ts";

describe("the geography of the demo", () => {
  test("all land has values for all four hazards, and the open sea only for cyclones", () => {
    const coast = readCoast();
    const random = randomFrom(9);
    const seen = { land: 0, sea: 0 };
    for (let i = 0; i < 300; i++) {
      // Half of the places anywhere, half near a shore, where errors in the coast distances are most likely.
      const edge = 4 * random.below(coast.edges.length / 4);
      const latDeg = (coast.edges[edge + 1] ?? 0) + random.between({ min: -0.1, max: 0.1 });
      const lonDeg = (coast.edges[edge] ?? 0) + random.between({ min: -0.1, max: 0.1 });
      const place = i % 2 === 0 && Math.abs(latDeg) < 89 ? { latDeg, lonDeg } : randomPlace(random);
      const hasLand = isLand(coast, place);
      // The nodes around a place are at most 16 km away, and a coarse cell extends 8 km further.
      if (!hasLand && coastDistanceKm(coast, place) < 28) continue;
      seen[hasLand ? "land" : "sea"] += 1;
      expect(baselineAt("cyclones", place.latDeg, place.lonDeg)[1]).toBeLessThanOrEqual(12_000);
      for (const name of ["wildfire", "coastal_floods", "riverine_floods"] as const) {
        const isMissing = baselineAt(name, place.latDeg, place.lonDeg)[1] === STEPS_NODATA;
        expect({ name, ...place, isMissing }).toEqual({ name, ...place, isMissing: !hasLand });
      }
    }
    expect(seen.land).toBeGreaterThan(80);
    expect(seen.sea).toBeGreaterThan(60);
  });

  test.each([
    ["Paris", 48.8566, 2.3522],
    ["London", 51.5074, -0.1278],
    ["Tokyo", 35.6762, 139.6503],
    ["Denver", 39.7392, -104.9903],
    ["New York", 40.7128, -74.006],
    ["Miami", 25.7617, -80.1918],
    ["Sao Paulo", -23.5505, -46.6333],
    ["Manaus", -3.119, -60.0217],
    ["Lagos", 6.5244, 3.3792],
    ["Cape Town", -33.9249, 18.4241],
    ["Mumbai", 19.076, 72.8777],
    ["Dhaka", 23.8103, 90.4125],
    ["Singapore", 1.3521, 103.8198],
    ["Sydney", -33.8688, 151.2093],
    ["Wellington", -41.2866, 174.7756],
    ["Honolulu", 21.3069, -157.8583],
    ["Suva", -18.1248, 178.4501],
    ["Valletta", 35.8989, 14.5146],
    ["Reykjavik", 64.1466, -21.9426],
    ["Hong Kong", 22.3193, 114.1694],
    ["Djibouti", 11.5886, 43.1456],
    ["Male", 4.1755, 73.5093],
    ["Key West", 24.5551, -81.78],
    ["the Sahara", 25, 10],
    ["Amazonia", -5, -62],
    ["Chukotka, beyond the antimeridian", 67, -178],
    ["Greenland's ice", 74, -40],
    ["the South Pole", -90, 0],
  ])("%s has values for all four hazards", (_, latDeg, lonDeg) => {
    for (const name of HAZARD_NAMES) {
      for (const steps of baselineAt(name, latDeg, lonDeg)) expect(steps).toBeLessThan(STEPS_OUTSIDE);
    }
  });

  test.each([
    ["the mid-Pacific", 5, -140],
    ["the North Pole", 90, 0],
    ["the Caspian Sea", 41.8, 50.6],
    ["the South Atlantic", -30, -20],
  ])("%s is sea, with values for cyclones only", (_, latDeg, lonDeg) => {
    for (const name of ["wildfire", "coastal_floods", "riverine_floods"] as const) {
      expect(baselineAt(name, latDeg, lonDeg)).toEqual([STEPS_NODATA, STEPS_NODATA, STEPS_NODATA, STEPS_NODATA]);
    }
    expect(baselineAt("cyclones", latDeg, lonDeg)[1]).toBeLessThanOrEqual(12_000);
  });

  test("cyclones avoid the equator, the South Atlantic and high latitudes, and weaken inland", () => {
    const random = randomFrom(10);
    const { grid, source } = hazardOf("cyclones");
    const strongest = source.groups.length - 1;
    const calm = [
      ...Array.from({ length: 500 }, () => ({ latDeg: random.next() * 8 - 4, lonDeg: random.next() * 360 - 180 })),
      ...Array.from({ length: 500 }, () => ({ latDeg: -60 * random.next(), lonDeg: -60 + 70 * random.next() })),
      ...Array.from({ length: 500 }, () => ({ latDeg: 52 + 38 * random.next(), lonDeg: random.next() * 360 - 180 })),
    ].map((place) => cellAt(grid, place));
    expect(new Set(readCells("cyclones", strongest, calm))).toEqual(new Set([0]));

    const windMps = (latDeg: number, lonDeg: number): number => (baselineAt("cyclones", latDeg, lonDeg)[1] ?? 0) / 100;
    expect(windMps(22, 130)).toBeGreaterThan(60);
    expect(windMps(25.8, -80)).toBeGreaterThan(45);
    expect(windMps(-17, 60)).toBeGreaterThan(50);
    // Two places on opposite sides of the basin's center: 200 km inland in Australia, and at sea.
    expect(windMps(-20.5, 122.5)).toBeGreaterThan(0);
    expect(windMps(-20.5, 122.5)).toBeLessThan(0.75 * windMps(-13.5, 111.5));
    expect(windMps(48.9, 2.4)).toBe(0);
    expect(windMps(39.7, -105)).toBe(0);
  });

  test("wildfire is limited to fire-prone regions", () => {
    const days = (latDeg: number, lonDeg: number): number => (baselineAt("wildfire", latDeg, lonDeg)[1] ?? 0) / 100;
    expect(days(39, -121.5)).toBeGreaterThan(60);
    expect(days(-16, 133)).toBeGreaterThan(40);
    expect(days(24, 8)).toBe(0);
    expect(days(-4, -63)).toBe(0);
    expect(days(75, -40)).toBe(0);
    expect(days(-80, 60)).toBe(0);
    expect(days(53, -1.5)).toBeLessThan(15);
  });

  test("surges flood flat shores but no place far inland", () => {
    const { grid } = hazardOf("coastal_floods");
    const around = (latDeg: number, lonDeg: number): number => {
      const { row, column } = cellAt(grid, { latDeg, lonDeg });
      const cells = Array.from({ length: 3600 }, (_, i) => ({
        row: row - 30 + Math.floor(i / 60),
        column: column - 30 + (i % 60),
      }));
      const depths = readCells("coastal_floods", 0, cells).filter((_, i) => i % LAYER_COUNT === 1);
      const valid = depths.filter((steps) => steps !== STEPS_NODATA);
      return valid.filter((steps) => steps > 0).length / valid.length;
    };
    expect(around(22.2, 89.8)).toBeGreaterThan(0.6);
    expect(around(48.9, 2.4)).toBe(0);
    expect(around(39.7, -105)).toBe(0);
  });

  test("rivers are thin and long: most water is in large connected components", () => {
    const { grid } = hazardOf("riverine_floods");
    const { row, column } = cellAt(grid, { latDeg: 52, lonDeg: 16 });
    const side = 500;
    const cells = Array.from({ length: side * side }, (_, i) => ({
      row: row + Math.floor(i / side),
      column: column + (i % side),
    }));
    const isWet = readCells("riverine_floods", 0, cells)
      .filter((_, i) => i % LAYER_COUNT === 1)
      .map((steps) => (steps > 0 ? 1 : 0));
    const visited = new Uint8Array(isWet.length);
    const sizes: number[] = [];
    for (const start of isWet.keys()) {
      if (isWet[start] === 0 || visited[start] === 1) continue;
      const stack = [start];
      visited[start] = 1;
      let size = 0;
      for (let cell = stack.pop(); cell !== undefined; cell = stack.pop()) {
        size += 1;
        const x = cell % side;
        const neighbors = [cell - side, cell + side, ...(x > 0 ? [cell - 1] : []), ...(x < side - 1 ? [cell + 1] : [])];
        for (const next of neighbors) {
          if (isWet[next] !== 1 || visited[next] === 1) continue;
          visited[next] = 1;
          stack.push(next);
        }
      }
      sizes.push(size);
    }
    const wetCount = isWet.reduce((sum, wet) => sum + wet, 0);
    expect(wetCount / isWet.length).toBeGreaterThan(0.05);
    expect(wetCount / isWet.length).toBeLessThan(0.2);
    // Most of the water is in connected components of more cells than the square is wide.
    const long = sizes.filter((size) => size > side).reduce((sum, size) => sum + size, 0);
    expect(long / wetCount).toBeGreaterThan(0.5);
  });

  test("neighboring cells across the antimeridian have similar values", () => {
    const { grid } = hazardOf("cyclones");
    for (const latDeg of [-17, -11]) {
      const west = cellAt(grid, { latDeg, lonDeg: 179.99 });
      const east = cellAt(grid, { latDeg, lonDeg: -179.99 });
      expect(cellCenter(grid, west).lonDeg).toBeCloseTo(179.95, 9);
      const [, windWest = 0] = readCells("cyclones", 0, [west]);
      const [, windEast = 0] = readCells("cyclones", 0, [east]);
      expect(Math.abs(windWest - windEast)).toBeLessThan(100);
      expect(windWest).toBeGreaterThan(0);
    }
  });
});
