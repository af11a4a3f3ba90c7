import { beforeAll, describe, expect, test } from "vitest";
import { geodesicDistanceM, rowWeights } from "../../src/kernel/geodesy.ts";
import { cellCenter, closesAt360 } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import type { OracleGrid } from "../oracle/points.ts";
import { cellAreaByTextbook, centerByDefinition } from "../oracle/radius.ts";
import { worldGrid } from "./circleCells.ts";
import { GRIDS } from "./gridCases.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

describe("geodesicDistanceM", () => {
  // On WGS84: a quarter of a meridian, and one degree of the equator, 6,378,137 x pi / 180.
  for (const [from, to, lengthM] of [
    [{ latDeg: 0, lonDeg: 12 }, { latDeg: 90, lonDeg: 0 }, 10_001_965.7293],
    [{ latDeg: 0, lonDeg: 179.5 }, { latDeg: 0, lonDeg: -179.5 }, 111_319.4908],
  ] as const) {
    test(`returns ${lengthM} m from ${JSON.stringify(from)} to ${JSON.stringify(to)}`, () => {
      expect(geodesicDistanceM(from, to)).toBeCloseTo(lengthM, 3);
      expect(geodesicDistanceM(to, from)).toBeCloseTo(lengthM, 3);
    });
  }
});

describe("rowWeights", () => {
  const allRows = (grid: OracleGrid): Float64Array =>
    rowWeights(kernel, grid, { firstRow: 0, rowCount: grid.rowCount });

  test("returns weights that sum to the surface area of the Earth", () => {
    for (const grid of [worldGrid(1), worldGrid(0.1), worldGrid(2, { heightDeg: 0.3 })]) {
      const flattening = 1 / 298.257223563;
      const e2 = flattening * (2 - flattening);
      const factorM2 = (6378137 ** 2 * (1 - e2) * ((grid.cellSizeLonDeg * Math.PI) / 180)) / 2;
      const areaKm2 = (allRows(grid).reduce((sum, weight) => sum + weight, 0) * factorM2 * grid.columnCount) / 1e6;
      expect(Math.abs(areaKm2 - 510_065_621.724)).toBeLessThan(0.001); // published for WGS84
    }
  });

  test("matches the textbook formula within its cancellation error", () => {
    for (const grid of Object.values(GRIDS)) {
      for (const [row, weight] of allRows(grid).entries()) {
        const expected = cellAreaByTextbook(grid, row);
        expect(Math.abs(weight - expected), `at ${JSON.stringify({ grid, row })}`).toBeLessThan(
          1e-15 + expected * 1e-12,
        );
        expect(weight).toBeGreaterThan(0);
      }
    }
  });

  test("matches the derivative of the textbook formula for thin rows", () => {
    // dq/dlat = 2 cos(lat) / (1 - e2 sin2(lat))^2; evaluated at the middle of the thin row.
    const flattening = 1 / 298.257223563;
    const e2 = flattening * (2 - flattening);
    const grid = { ...worldGrid(1), northDeg: 89.99, cellSizeLatDeg: 1e-4 };
    for (const firstRow of [0, 1, 450_000, 899_900, 1_799_700]) {
      const latRad = ((grid.northDeg - (firstRow + 0.5) * 1e-4) * Math.PI) / 180;
      const slope = (2 * Math.cos(latRad)) / (1 - e2 * Math.sin(latRad) ** 2) ** 2;
      const [weight = NaN] = rowWeights(kernel, grid, { firstRow, rowCount: 1 });
      expect(Math.abs(weight / (slope * ((1e-4 * Math.PI) / 180)) - 1)).toBeLessThan(2e-8);
    }
  });

  test("returns the weights from firstRow on", () => {
    const grid = worldGrid(0.5);
    expect(rowWeights(kernel, grid, { firstRow: 100, rowCount: 3 })).toEqual(allRows(grid).slice(100, 103));
    expect(rowWeights(kernel, grid, { firstRow: 5, rowCount: 0 })).toEqual(new Float64Array(0));
  });

  test("rejects an invalid grid", () => {
    for (const change of [{ cellSizeLatDeg: 0 }, { cellSizeLatDeg: NaN }, { northDeg: NaN }, { northDeg: Infinity }]) {
      expect(() => rowWeights(kernel, { ...worldGrid(1), ...change }, { firstRow: 0, rowCount: 1 })).toThrow(
        "rowWeights failed with status STATUS_BAD_GRID",
      );
    }
  });
});

describe("cellCenter and closesAt360", () => {
  test("cellCenter matches the reference implementation and clamps rows beyond a pole to the pole", () => {
    for (const grid of Object.values(GRIDS)) {
      for (const row of [0, grid.rowCount - 1]) {
        const cell = { row, column: grid.columnCount - 1 };
        expect(cellCenter(grid, cell)).toEqual(centerByDefinition(grid, cell));
        expect(Math.abs(cellCenter(grid, cell).latDeg)).toBeLessThanOrEqual(90);
      }
    }
    expect(cellCenter(worldGrid(0.5, { westDeg: 20 }), { row: 1, column: 719 })).toEqual({
      latDeg: 89.25,
      lonDeg: 379.75,
    });
  });

  test("closesAt360 returns true only for grids of 360 degrees", () => {
    expect(closesAt360(worldGrid(0.1))).toBe(true);
    expect(closesAt360(worldGrid(360 / 40448, { westDeg: 20 }))).toBe(true);
    expect(closesAt360({ ...worldGrid(0.0089), columnCount: 40449 })).toBe(false); // 359.996 degrees
    expect(closesAt360({ ...worldGrid(1), columnCount: 359 })).toBe(false);
    expect(closesAt360({ ...worldGrid(1), columnCount: 361 })).toBe(false);
  });
});
