import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { AtlasHazard, CellAtlas, CellSource } from "../../src/atlas/cellSource.ts";
import { openDemo } from "../../src/demo/world.ts";
import { HAZARD_NAMES, type HazardName, HAZARDS, SCENARIOS, totalHazardSteps } from "../../src/hazard/hazards.ts";
import type { Cell, Grid, Location } from "../../src/kernel/grid.ts";
import { cellCentre } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "../../src/kernel/kernel.generated.ts";
import { locateCell } from "../../src/kernel/points.ts";
import { coastDistanceKm, isLand, readCoast } from "../oracle/coast.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

const LAYERS = 4;
const TILE_CELLS = TILE_SIZE * TILE_SIZE;

let kernel: Kernel;
let demo: CellAtlas;

beforeAll(async () => {
  kernel = await Kernel.load();
  demo = await openDemo(kernel);
});

/** Evenly over the sphere. */
function randomPlace(random: SeededRandom): Location {
  return { latDeg: (Math.asin(2 * random.next() - 1) * 180) / Math.PI, lonDeg: random.next() * 360 - 180 };
}

function hazardOf(name: HazardName): AtlasHazard & { readonly source: CellSource } {
  const hazard = demo.hazards.find((item) => item.hazard === name);
  const [source] = hazard?.sources ?? [];
  if (hazard === undefined || source === undefined) throw new Error(`The demo has no ${name}.`);
  return { ...hazard, source };
}

function readCells(name: HazardName, group: number, cells: readonly Cell[]): Uint16Array {
  const { source } = hazardOf(name);
  if (source.readCells === undefined) throw new Error("The demo makes no single cells.");
  return source.readCells(group, cells);
}

function cellAt(grid: Grid, place: Location): Cell {
  const cell = locateCell(kernel, grid, place);
  if (cell === undefined) throw new Error(`No cell at ${place.latDeg}, ${place.lonDeg}.`);
  return cell;
}

function randomCells(grid: Grid, count: number, seed: number): Cell[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => cellAt(grid, randomPlace(random)));
}

/** Steps of the baseline's intensity, own metric, probability and total at a place. */
function baselineAt(name: HazardName, latDeg: number, lonDeg: number): number[] {
  return [...readCells(name, 0, [cellAt(hazardOf(name).grid, { latDeg, lonDeg })])];
}

async function loadTile(name: HazardName, group: number, tile: { tileRow: number; tileColumn: number }) {
  const [cells = new Uint16Array()] = await hazardOf(name).source.load([{ group, ...tile }]);
  return cells;
}

describe("what the demo says about itself", () => {
  test("is synthetic, in its release and in every layer", () => {
    expect(demo.synthetic).toBe(true);
    expect(demo.release).toMatch(/^demo-synthetic-\d+-[0-9a-f]{8}$/);
    for (const { sources } of demo.hazards) {
      for (const { provenance } of sources.flatMap(({ groups }) => groups)) {
        expect(provenance["synthetic"]).toBe(true);
        expect(provenance["description"]).toContain("Invented");
      }
    }
  });

  test.each(HAZARD_NAMES)("has every layer of the catalogue for %s, and the table's metrics in their order", (name) => {
    const { years, scenarios, metrics, rules } = HAZARDS[name];
    const { source, rules: stated } = hazardOf(name);
    const later = years.filter((year) => year > 1980);
    expect(source.groups.map(({ scenario, year }) => `${scenario} ${year}`)).toEqual([
      "baseline 1980",
      ...scenarios.filter((s) => s !== "baseline").flatMap((s) => later.map((year) => `${s} ${year}`)),
    ]);
    for (const { layers } of source.groups) {
      expect(layers.map((layer) => [layer.metric, layer.steps_per_unit, layer.offset, layer.unit])).toEqual(
        metrics.map((metric) => [metric.metric, metric.stepsPerUnit, metric.offset, metric.unit]),
      );
    }
    expect(stated).toEqual(rules);
  });

  test("states between which return periods its curves run, where it has curves", () => {
    for (const { hazard, sources } of demo.hazards) {
      for (const { provenance } of sources.flatMap(({ groups }) => groups)) {
        expect(provenance["return_periods_years"]).toEqual(hazard === "wildfire" ? undefined : [2, 1000]);
      }
    }
  });

  test("closes the circle on both grids", () => {
    for (const { grid } of demo.hazards) {
      expect(grid.columnCount * grid.cellSizeLonDeg).toBeCloseTo(360, 9);
      expect(grid.rowCount * grid.cellSizeLatDeg).toBeCloseTo(180, 9);
      expect([grid.northDeg, grid.westDeg]).toEqual([90, -180]);
    }
    expect(hazardOf("cyclones").grid.columnCount).toBe(3600);
    expect(hazardOf("riverine_floods").grid.columnCount).toBe(40_448);
  });

  test("refuses a group it does not have", () => {
    expect(() => readCells("wildfire", 99, [{ row: 0, column: 0 }])).toThrow("no group 99");
  });
});

describe("tiles and single cells", () => {
  test.each(HAZARD_NAMES)("are the same bits for %s, at the antimeridian and the poles too", async (name) => {
    const { grid, source } = hazardOf(name);
    const tileRows = Math.ceil(grid.rowCount / TILE_SIZE);
    const tileColumns = Math.ceil(grid.columnCount / TILE_SIZE);
    const random = randomFrom(3);
    const tiles = [
      ...[0, tileRows - 1, Math.floor(tileRows * 0.38)].flatMap((tileRow) =>
        [0, tileColumns - 1].map((tileColumn) => ({ tileRow, tileColumn })),
      ),
      ...Array.from({ length: 12 }, () => ({
        tileRow: Math.floor((0.15 + 0.6 * random.next()) * tileRows),
        tileColumn: Math.floor(random.next() * tileColumns),
      })),
    ];
    for (const tile of tiles) {
      const group = Math.floor(random.next() * source.groups.length);
      const loaded = await loadTile(name, group, tile);
      const places = Array.from({ length: TILE_CELLS }, (_, i) => ({
        row: tile.tileRow * TILE_SIZE + Math.floor(i / TILE_SIZE),
        column: tile.tileColumn * TILE_SIZE + (i % TILE_SIZE),
      }));
      const isWithin = ({ row, column }: Cell): boolean => row < grid.rowCount && column < grid.columnCount;
      const single = readCells(name, group, places.filter(isWithin));
      let next = 0;
      const expected = Uint16Array.from(
        places.flatMap((place) =>
          isWithin(place) ? [...single.subarray(next, (next += LAYERS))] : Array<number>(LAYERS).fill(STEPS_OUTSIDE),
        ),
      );
      expect({ group, tile, steps: loaded }).toEqual({ group, tile, steps: expected });
    }
  });

  test.each(HAZARD_NAMES)("a tile of %s said to be the same everywhere is", async (name) => {
    const { grid, source } = hazardOf(name);
    const random = randomFrom(4);
    const last = source.groups.length - 1;
    const tiles = Array.from({ length: 400 }, () => ({
      group: last,
      tileRow: Math.floor((random.next() * grid.rowCount) / TILE_SIZE),
      tileColumn: Math.floor((random.next() * grid.columnCount) / TILE_SIZE),
    }));
    const states = await source.resolve(tiles);
    const counts = { cells: 0, zero: 0, nodata: 0, outside: 0 };
    for (const [i, state] of states.entries()) {
      counts[state] += 1;
      if (state === "cells" || counts[state] > 40) continue;
      const steps = new Set(await loadTile(name, last, tiles[i] ?? { tileRow: 0, tileColumn: 0 }));
      expect({ ...tiles[i], steps: [...steps] }).toEqual({ ...tiles[i], steps: [state === "zero" ? 0 : STEPS_NODATA] });
    }
    // Where a flood runs furthest inland, and where cyclones begin: every tile of two boxes.
    for (const north of [27, 6]) {
      const { row, column } = cellAt(grid, { latDeg: north, lonDeg: 86 });
      const across = Math.ceil(8 / grid.cellSizeLatDeg / TILE_SIZE);
      const box = Array.from({ length: across * across }, (_, i) => ({
        group: last,
        tileRow: Math.floor(row / TILE_SIZE) + Math.floor(i / across),
        tileColumn: Math.floor(column / TILE_SIZE) + (i % across),
      }));
      for (const [i, state] of (await source.resolve(box)).entries()) {
        if (state === "cells") continue;
        const steps = new Set(await loadTile(name, last, box[i] ?? { tileRow: 0, tileColumn: 0 }));
        expect({ ...box[i], steps: [...steps] }).toEqual({ ...box[i], steps: [state === "zero" ? 0 : STEPS_NODATA] });
      }
    }
    expect(counts.cells).toBeGreaterThan(0);
    expect(counts.zero).toBeGreaterThan(0);
    expect(counts.nodata >= 100).toBe(name !== "cyclones");
  });

  test("a tile beyond the grid is refused", async () => {
    const { source } = hazardOf("wildfire");
    expect(() => source.resolve([{ group: 0, tileRow: 29, tileColumn: 0 }])).toThrow("no tile 29, 0");
    await expect(source.load([{ group: 0, tileRow: 0, tileColumn: 57 }])).rejects.toThrow("demoTile");
  });

  test("a world opened again gives the same numbers, and they are those of this release", async () => {
    const again = await openDemo(await Kernel.load());
    expect(again.release).toBe(demo.release);
    const hash = createHash("sha256");
    for (const name of HAZARD_NAMES) {
      const { grid, source } = hazardOf(name);
      const cells = randomCells(grid, 4000, 5);
      const other = again.hazards.find(({ hazard }) => hazard === name)?.sources[0];
      for (const group of [0, source.groups.length - 1]) {
        const steps = readCells(name, group, cells);
        expect(other?.readCells?.(group, cells)).toEqual(steps);
        hash.update(Uint8Array.from([...steps].flatMap((value) => [value & 255, value >> 8])));
      }
    }
    // A change of these numbers is a new release: raise DEMO_VERSION in assembly/demo.ts with them.
    expect([demo.release, hash.digest("hex").slice(0, 16)]).toEqual(["demo-synthetic-1-2a74048d", "83b139a677c6c427"]);
  });
});

describe("the numbers", () => {
  test.each(HAZARD_NAMES)("of %s keep to their ranges and to each other, in every layer", (name) => {
    const { grid, source } = hazardOf(name);
    const { metrics, rules } = HAZARDS[name];
    const [, own] = metrics;
    if (own === undefined) throw new Error("A hazard has a metric of its own.");
    const cells = randomCells(grid, 3000, 6);
    const faults: unknown[] = [];
    for (const group of source.groups.keys()) {
      const steps = readCells(name, group, cells);
      for (let at = 0; at < steps.length; at += LAYERS) {
        const [intensity = 0, value = 0, probability = 0, total = 0] = steps.subarray(at, at + LAYERS);
        const ownValue = value / own.stepsPerUnit;
        const isWhollyMissing = [intensity, value, probability, total].every((layer) => layer === STEPS_NODATA);
        const isWithin = intensity <= 10_000 && probability <= 60_000 && ownValue <= (own.max ?? 120);
        const isProduct = total === totalHazardSteps(intensity, probability);
        const isShare = intensity === Math.round(Math.min(1, ownValue / rules.intensity_reference) * 10_000);
        // What a hundred-year event reaches is reached once in a hundred years or more often, what it misses less often.
        const isCurve = ownValue >= rules.threshold === probability >= 600 || Math.abs(probability - 600) <= 2;
        const isRight = isWithin && isProduct && (name === "wildfire" || (isShare && isCurve));
        if (!isWhollyMissing && !isRight) {
          faults.push({ group, cell: cells[at / LAYERS], intensity, value, probability, total });
        }
      }
    }
    expect(faults).toEqual([]);
  });

  test.each(HAZARD_NAMES)("of %s never fall with the scenario's severity or the year", (name) => {
    const { grid, source } = hazardOf(name);
    const cells = randomCells(grid, 4000, 7);
    const layers = source.groups.map((group, index) => ({ ...group, steps: readCells(name, index, cells) }));
    const compared = layers.flatMap((lower) =>
      layers
        .filter(
          (higher) =>
            higher !== lower &&
            (SCENARIOS as readonly string[]).indexOf(lower.scenario) <=
              (SCENARIOS as readonly string[]).indexOf(higher.scenario) &&
            lower.year <= higher.year,
        )
        .map((higher) => ({ lower, higher })),
    );
    expect(compared.length).toBeGreaterThan(source.groups.length);
    for (const { lower, higher } of compared) {
      const fallen = lower.steps.findIndex((steps, i) => steps > (higher.steps[i] ?? 0));
      const pair = `${lower.scenario} ${lower.year} to ${higher.scenario} ${higher.year}`;
      expect({ pair, fallen, cell: cells[Math.floor(fallen / LAYERS)] }).toEqual({ pair, fallen: -1, cell: undefined });
      const rising = lower.steps.filter((steps, i) => steps < (higher.steps[i] ?? 0)).length;
      expect({ pair, isRising: rising > 20 }).toEqual({ pair, isRising: true });
    }
  });

  test("have plausible shares of nothing, something and much", () => {
    const shares = Object.fromEntries(
      HAZARD_NAMES.map((name) => {
        const cells = randomCells(hazardOf(name).grid, 40_000, 8);
        const own = readCells(name, 0, cells).filter((_, i) => i % LAYERS === 1);
        const valid = own.filter((steps) => steps !== STEPS_NODATA);
        return [name, { valid: valid.length / own.length, some: valid.filter((s) => s > 0).length / valid.length }];
      }),
    ) as Record<HazardName, { valid: number; some: number }>;
    expect(shares.cyclones.valid).toBe(1);
    expect(shares.cyclones.some).toBeGreaterThan(0.12);
    expect(shares.cyclones.some).toBeLessThan(0.35);
    // 29 % of the Earth is land; a coarse cell with a little land in it counts.
    for (const name of ["wildfire", "coastal_floods", "riverine_floods"] as const) {
      expect(shares[name].valid).toBeGreaterThan(0.28);
      expect(shares[name].valid).toBeLessThan(0.34);
    }
    expect(shares.wildfire.some).toBeGreaterThan(0.4);
    expect(shares.wildfire.some).toBeLessThan(0.8);
    expect(shares.coastal_floods.some).toBeGreaterThan(0.01);
    expect(shares.coastal_floods.some).toBeLessThan(0.1);
    expect(shares.riverine_floods.some).toBeGreaterThan(0.04);
    expect(shares.riverine_floods.some).toBeLessThan(0.15);
  });
});

describe("the shape of the world", () => {
  test("all land has numbers for all four hazards, and the open sea none but cyclones'", () => {
    const coast = readCoast();
    const random = randomFrom(9);
    const seen = { land: 0, sea: 0 };
    for (let i = 0; i < 300; i++) {
      // Half of the places anywhere, half near a shore, where a field of distances goes wrong if it does.
      const edge = 4 * random.below(coast.edges.length / 4);
      const latDeg = (coast.edges[edge + 1] ?? 0) + random.between({ least: -0.1, most: 0.1 });
      const lonDeg = (coast.edges[edge] ?? 0) + random.between({ least: -0.1, most: 0.1 });
      const place = i % 2 === 0 && Math.abs(latDeg) < 89 ? { latDeg, lonDeg } : randomPlace(random);
      const hasLand = isLand(coast, place);
      // The nodes around a place are at most 16 km away; and a coarse cell reaches 8 km further.
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
  ])("%s has numbers for all four hazards", (_, latDeg, lonDeg) => {
    for (const name of HAZARD_NAMES) {
      for (const steps of baselineAt(name, latDeg, lonDeg)) expect(steps).toBeLessThan(STEPS_OUTSIDE);
    }
  });

  test.each([
    ["the mid-Pacific", 5, -140],
    ["the North Pole", 90, 0],
    ["the Caspian Sea", 41.8, 50.6],
    ["the South Atlantic", -30, -20],
  ])("%s is sea: no fires and no floods, but numbers for cyclones", (_, latDeg, lonDeg) => {
    for (const name of ["wildfire", "coastal_floods", "riverine_floods"] as const) {
      expect(baselineAt(name, latDeg, lonDeg)).toEqual([STEPS_NODATA, STEPS_NODATA, STEPS_NODATA, STEPS_NODATA]);
    }
    expect(baselineAt("cyclones", latDeg, lonDeg)[1]).toBeLessThanOrEqual(12_000);
  });

  test("cyclones leave out the equator, the South Atlantic and the cold, and weaken inland", () => {
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
    // Two places across the middle of the basin from each other: 200 km inland in Australia, and out at sea.
    expect(windMps(-20.5, 122.5)).toBeGreaterThan(0);
    expect(windMps(-20.5, 122.5)).toBeLessThan(0.75 * windMps(-13.5, 111.5));
    expect(windMps(48.9, 2.4)).toBe(0);
    expect(windMps(39.7, -105)).toBe(0);
  });

  test("fire keeps to its belts", () => {
    const days = (latDeg: number, lonDeg: number): number => (baselineAt("wildfire", latDeg, lonDeg)[1] ?? 0) / 100;
    expect(days(39, -121.5)).toBeGreaterThan(60);
    expect(days(-16, 133)).toBeGreaterThan(40);
    expect(days(24, 8)).toBe(0);
    expect(days(-4, -63)).toBe(0);
    expect(days(75, -40)).toBe(0);
    expect(days(-80, 60)).toBe(0);
    expect(days(53, -1.5)).toBeLessThan(15);
  });

  test("surges flood the flat shores and nothing far inland", () => {
    const { grid } = hazardOf("coastal_floods");
    const around = (latDeg: number, lonDeg: number): number => {
      const { row, column } = cellAt(grid, { latDeg, lonDeg });
      const cells = Array.from({ length: 3600 }, (_, i) => ({
        row: row - 30 + Math.floor(i / 60),
        column: column - 30 + (i % 60),
      }));
      const depths = readCells("coastal_floods", 0, cells).filter((_, i) => i % LAYERS === 1);
      const valid = depths.filter((steps) => steps !== STEPS_NODATA);
      return valid.filter((steps) => steps > 0).length / valid.length;
    };
    expect(around(22.2, 89.8)).toBeGreaterThan(0.6);
    expect(around(48.9, 2.4)).toBe(0);
    expect(around(39.7, -105)).toBe(0);
  });

  test("rivers are thin, long and winding: a wet cell has wet neighbours on few sides", () => {
    const { grid } = hazardOf("riverine_floods");
    const { row, column } = cellAt(grid, { latDeg: 52, lonDeg: 16 });
    const side = 500;
    const cells = Array.from({ length: side * side }, (_, i) => ({
      row: row + Math.floor(i / side),
      column: column + (i % side),
    }));
    const isWet = readCells("riverine_floods", 0, cells)
      .filter((_, i) => i % LAYERS === 1)
      .map((steps) => (steps > 0 ? 1 : 0));
    const reached = new Uint8Array(isWet.length);
    const sizes: number[] = [];
    for (const start of isWet.keys()) {
      if (isWet[start] === 0 || reached[start] === 1) continue;
      const open = [start];
      reached[start] = 1;
      let size = 0;
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        size += 1;
        const x = at % side;
        const neighbours = [at - side, at + side, ...(x > 0 ? [at - 1] : []), ...(x < side - 1 ? [at + 1] : [])];
        for (const next of neighbours) {
          if (isWet[next] !== 1 || reached[next] === 1) continue;
          reached[next] = 1;
          open.push(next);
        }
      }
      sizes.push(size);
    }
    const wetCount = isWet.reduce((sum, wet) => sum + wet, 0);
    expect(wetCount / isWet.length).toBeGreaterThan(0.05);
    expect(wetCount / isWet.length).toBeLessThan(0.2);
    // Most of the water hangs together over more cells than the square is wide.
    const long = sizes.filter((size) => size > side).reduce((sum, size) => sum + size, 0);
    expect(long / wetCount).toBeGreaterThan(0.5);
  });

  test("cell centres are what the numbers belong to: neighbours across the antimeridian are alike", () => {
    const { grid } = hazardOf("cyclones");
    for (const latDeg of [-17, -11]) {
      const west = cellAt(grid, { latDeg, lonDeg: 179.99 });
      const east = cellAt(grid, { latDeg, lonDeg: -179.99 });
      expect(cellCentre(grid, west).lonDeg).toBeCloseTo(179.95, 9);
      const [, windWest = 0] = readCells("cyclones", 0, [west]);
      const [, windEast = 0] = readCells("cyclones", 0, [east]);
      expect(Math.abs(windWest - windEast)).toBeLessThan(100);
      expect(windWest).toBeGreaterThan(0);
    }
  });
});
