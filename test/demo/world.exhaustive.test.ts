import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { openDemo } from "../../src/demo/world.ts";
import { HAZARD_NAMES, type HazardName, HAZARDS, SCENARIOS, totalHazardSteps } from "../../src/hazard/hazards.ts";
import type { Cell } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_NODATA, STEPS_OUTSIDE, TILE_SIZE } from "../../src/kernel/kernel.generated.ts";
import { randomFrom } from "../seededRandom.ts";
import { cellAt, demo, hazardOf, LAYER_COUNT, loadTile, randomCells, readCells } from "./openedDemo.ts";

const TILE_CELLS = TILE_SIZE * TILE_SIZE;

describe("the demo's metadata", () => {
  test("marks the release and every layer as synthetic", () => {
    expect(demo.synthetic).toBe(true);
    expect(demo.release).toMatch(/^demo-synthetic-\d+-[0-9a-f]{8}$/);
    for (const { sources } of demo.hazards) {
      for (const { provenance } of sources.flatMap(({ groups }) => groups)) {
        expect(provenance["synthetic"]).toBe(true);
        expect(provenance["description"]).toContain("Invented");
      }
    }
  });

  test.each(HAZARD_NAMES)("has every layer for %s, with its metrics in the defined order", (name) => {
    const { years, scenarios, metrics, rules } = HAZARDS[name];
    const { source, rules: atlasRules } = hazardOf(name);
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
    expect(atlasRules).toEqual(rules);
  });

  test("states the return periods of every hazard that has a curve", () => {
    const periods = [2, 5, 10, 25, 50, 100, 250, 1000];
    for (const { hazard, sources } of demo.hazards) {
      for (const { provenance } of sources.flatMap(({ groups }) => groups)) {
        expect(provenance["return_periods_years"]).toEqual(hazard === "wildfire" ? undefined : periods);
      }
    }
  });

  test("covers 360 by 180 degrees on both grids", () => {
    for (const { grid } of demo.hazards) {
      expect(grid.columnCount * grid.cellSizeLonDeg).toBeCloseTo(360, 9);
      expect(grid.rowCount * grid.cellSizeLatDeg).toBeCloseTo(180, 9);
      expect([grid.northDeg, grid.westDeg]).toEqual([90, -180]);
    }
    expect(hazardOf("cyclones").grid.columnCount).toBe(3600);
    expect(hazardOf("riverine_floods").grid.columnCount).toBe(40_448);
  });

  test("rejects a group that does not exist", () => {
    expect(() => readCells("wildfire", 99, [{ row: 0, column: 0 }])).toThrow("no group 99");
  });
});

describe("tiles and single cells", () => {
  test.each(HAZARD_NAMES)("are bit-identical for %s, including at the antimeridian and the poles", async (name) => {
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
          isWithin(place)
            ? [...single.subarray(next, (next += LAYER_COUNT))]
            : Array<number>(LAYER_COUNT).fill(STEPS_OUTSIDE),
        ),
      );
      expect({ group, tile, steps: loaded }).toEqual({ group, tile, steps: expected });
    }
  });

  test.each(HAZARD_NAMES)("of %s contain only zeros, or only nodata, if reported as constant", async (name) => {
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
    // Every tile in two boxes: where floods reach furthest inland, and where cyclones form.
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

  test("reject a tile outside the grid", async () => {
    const { source } = hazardOf("wildfire");
    expect(() => source.resolve([{ group: 0, tileRow: 29, tileColumn: 0 }])).toThrow(
      "tile row 29, column 0 is outside the grid",
    );
    await expect(source.load([{ group: 0, tileRow: 0, tileColumn: 57 }])).rejects.toThrow("demoTile");
  });

  test("a world opened again has the same values, which are those of this release", async () => {
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
    // If these values change, increment DEMO_VERSION in assembly/demo.ts.
    expect([demo.release, hash.digest("hex").slice(0, 16)]).toEqual(["demo-synthetic-1-efeb16af", "83b139a677c6c427"]);
  });
});

describe("the values", () => {
  test.each(HAZARD_NAMES)("of %s are in range and mutually consistent in every layer", (name) => {
    const { grid, source } = hazardOf(name);
    const { metrics, rules } = HAZARDS[name];
    const [, own] = metrics;
    if (own === undefined) throw new Error("the hazard has no own metric");
    const cells = randomCells(grid, 3000, 6);
    const inconsistencies: unknown[] = [];
    for (const group of source.groups.keys()) {
      const steps = readCells(name, group, cells);
      for (let index = 0; index < steps.length; index += LAYER_COUNT) {
        const [intensity = 0, value = 0, probability = 0, total = 0] = steps.subarray(index, index + LAYER_COUNT);
        const ownValue = value / own.stepsPerUnit;
        const isWhollyMissing = [intensity, value, probability, total].every((layer) => layer === STEPS_NODATA);
        const isWithin = intensity <= 10_000 && probability <= 60_000 && ownValue <= (own.max ?? 120);
        const isProduct = total === totalHazardSteps(intensity, probability);
        const isShare = intensity === Math.round(Math.min(1, ownValue / rules.intensity_reference) * 10_000);
        // A threshold reached by the 100-year event has an annual probability of at least 0.01, any other threshold a
        // lower one.
        const isCurve = ownValue >= rules.threshold === probability >= 600 || Math.abs(probability - 600) <= 2;
        const isValid = isWithin && isProduct && (name === "wildfire" || (isShare && isCurve));
        if (!isWhollyMissing && !isValid) {
          inconsistencies.push({ group, cell: cells[index / LAYER_COUNT], intensity, value, probability, total });
        }
      }
    }
    expect(inconsistencies).toEqual([]);
  });

  test.each(HAZARD_NAMES)("of %s never decrease with the severity of the scenario or the year", (name) => {
    const { grid, source } = hazardOf(name);
    const cells = randomCells(grid, 4000, 7);
    const layers = source.groups.map((group, index) => ({ ...group, steps: readCells(name, index, cells) }));
    const pairs = layers.flatMap((lower) =>
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
    expect(pairs.length).toBeGreaterThan(source.groups.length);
    for (const { lower, higher } of pairs) {
      const decreaseAt = lower.steps.findIndex((steps, i) => steps > (higher.steps[i] ?? 0));
      const pair = `${lower.scenario} ${lower.year} to ${higher.scenario} ${higher.year}`;
      expect({ pair, decreaseAt, cell: cells[Math.floor(decreaseAt / LAYER_COUNT)] }).toEqual({
        pair,
        decreaseAt: -1,
        cell: undefined,
      });
      const rising = lower.steps.filter((steps, i) => steps < (higher.steps[i] ?? 0)).length;
      expect({ pair, isRising: rising > 20 }).toEqual({ pair, isRising: true });
    }
  });

  test("have plausible shares of missing, zero and positive values", () => {
    const shares = Object.fromEntries(
      HAZARD_NAMES.map((name) => {
        const cells = randomCells(hazardOf(name).grid, 40_000, 8);
        const own = readCells(name, 0, cells).filter((_, i) => i % LAYER_COUNT === 1);
        const valid = own.filter((steps) => steps !== STEPS_NODATA);
        return [name, { valid: valid.length / own.length, some: valid.filter((s) => s > 0).length / valid.length }];
      }),
    ) as Record<HazardName, { valid: number; some: number }>;
    expect(shares.cyclones.valid).toBe(1);
    expect(shares.cyclones.some).toBeGreaterThan(0.12);
    expect(shares.cyclones.some).toBeLessThan(0.35);
    // 29 % of the Earth is land, and a coarse cell counts if it contains any land.
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
