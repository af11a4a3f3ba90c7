import { beforeAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/instance.ts";
import { STATUS_BAD_GRID } from "../../src/kernel/kernel.generated.ts";
import { locateCell, locateCells } from "../../src/kernel/grid.ts";
import { containingCellByDefinition, type OracleGrid, type OracleLocation } from "../oracle/points.ts";
import { randomFrom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

const GRIDS: Readonly<Record<string, OracleGrid>> = {
  "1 degree": worldGrid(1),
  "0.1 degree": worldGrid(0.1),
  "0.1 degree, center-registered": { ...worldGrid(0.1, { westDeg: -180.05, northDeg: 90.05 }), rowCount: 1801 },
  "0.1 degree from Greenwich": worldGrid(0.1, { westDeg: 0 }),
  "0.1 degree from 20 east": worldGrid(0.1, { westDeg: 20 }),
  "360 / 7001 degree: no edge but the first is a round number": worldGrid(360 / 7001, { heightDeg: 180 / 3001 }),
  "0.0333333 degree: short of 360 degrees by a hundredth of a column": {
    ...worldGrid(0.0333333, { heightDeg: 0.1 }),
    columnCount: 10800,
  },
  "0.033333333 degree: 360 degrees except for rounding": {
    ...worldGrid(0.033333333, { heightDeg: 0.1 }),
    columnCount: 10800,
  },
  "359.8 degrees wide": { ...worldGrid(0.1), columnCount: 3598 },
  "the first meridian repeated": { ...worldGrid(0.1, { westDeg: -180.05 }), columnCount: 3601 },
  "a crop over the antimeridian": {
    ...worldGrid(0.1, { westDeg: 170, northDeg: 20 }),
    rowCount: 400,
    columnCount: 200,
  },
  "a crop, its cells not square": {
    northDeg: 17.3,
    westDeg: 40.7,
    cellSizeLatDeg: 0.013,
    cellSizeLonDeg: 0.017,
    rowCount: 300,
    columnCount: 200,
  },
  "a single cell": { northDeg: 1, westDeg: 179, cellSizeLatDeg: 2, cellSizeLonDeg: 2, rowCount: 1, columnCount: 1 },
};

/** Returns a number and the doubles on either side of it. */
function withAdjacentDoubles(value: number): number[] {
  const step = Math.max(Math.abs(value) * 2 ** -52, 2 ** -1074);
  return [value - step, value, value + step];
}

function locateAll(grid: OracleGrid, locations: readonly OracleLocation[]): unknown[] {
  const { rows, columns } = locateCells(kernel, grid, {
    latitudes: Float64Array.from(locations, ({ latDeg }) => latDeg),
    longitudes: Float64Array.from(locations, ({ lonDeg }) => lonDeg),
  });
  return locations.map((location, i) => ({ ...location, row: rows[i], column: columns[i] }));
}

function byDefinition(grid: OracleGrid, locations: readonly OracleLocation[]): unknown[] {
  return locations.map((location) => ({
    ...location,
    row: -1,
    column: -1,
    ...containingCellByDefinition(grid, location),
  }));
}

describe("locateCells", () => {
  for (const [index, [name, grid]] of Object.entries(GRIDS).entries()) {
    test(`matches the reference implementation, including on edges and one bit away from them: ${name}`, () => {
      const random = randomFrom(200 + index);
      const locations: OracleLocation[] = [];
      for (let i = 0; i < 400; i++) {
        locations.push({
          latDeg: random.between({ min: -90, max: 90 }),
          lonDeg: random.between({ min: -180, max: 180 }),
        });
        // The last edges are tested more often than others, because a global grid wraps around there.
        const row = random.chance(0.1) ? grid.rowCount : random.below(grid.rowCount);
        const column = random.chance(0.1) ? grid.columnCount : random.below(grid.columnCount);
        const edgeLatDeg = grid.northDeg - row * grid.cellSizeLatDeg;
        const edgeLonDeg = grid.westDeg + column * grid.cellSizeLonDeg;
        for (const latDeg of withAdjacentDoubles(edgeLatDeg)) {
          for (const lonDeg of [...withAdjacentDoubles(edgeLonDeg), edgeLonDeg - 360, edgeLonDeg + 360])
            locations.push({ latDeg, lonDeg });
        }
      }
      for (const latDeg of [90, -90, 0, ...withAdjacentDoubles(grid.northDeg)]) {
        for (const lonDeg of [
          180,
          -180,
          0,
          360,
          -360,
          ...withAdjacentDoubles(grid.westDeg),
          ...withAdjacentDoubles(grid.westDeg + 360),
        ]) {
          locations.push({ latDeg, lonDeg });
        }
      }
      expect(locateAll(grid, locations)).toEqual(byDefinition(grid, locations));
    });
  }

  test("returns the same cell whether a location is queried alone or among others", () => {
    const random = randomFrom(231);
    const grid = worldGrid(0.1);
    const unusual = [NaN, 90, -90, 91, Infinity, 540, -540, 1e300];
    const locations = Array.from({ length: 3000 }, () => ({
      latDeg: random.chance(0.1) ? random.pick(unusual) : random.between({ min: -90, max: 90 }),
      lonDeg: random.chance(0.1) ? random.pick(unusual) : random.between({ min: -720, max: 720 }),
    }));
    const alone = locations.map((location) => locateAll(grid, [location])[0]);
    expect(locateAll(grid, locations)).toEqual(alone);
  });

  const cellAt = (grid: OracleGrid, latDeg: number, lonDeg: number): unknown => {
    const cell = locateCell(kernel, grid, { latDeg, lonDeg });
    return cell === undefined ? undefined : [cell.row, cell.column];
  };

  test("assigns the north and west edges to a cell", () => {
    const grid = worldGrid(1);
    expect(cellAt(grid, 50, 10)).toEqual([40, 190]);
    expect(cellAt(grid, 49.999, 10.999)).toEqual([40, 190]);
    expect(cellAt(grid, 49, 10)).toEqual([41, 190]);
    expect(cellAt(grid, 50, 11)).toEqual([40, 191]);
  });

  test("treats a decimal coordinate on an edge as on the edge despite rounding in f64", () => {
    expect(-180 + 1803 * 0.1).toBeGreaterThan(0.3);
    expect(cellAt(worldGrid(0.1), 0.05, 0.3)).toEqual([899, 1803]);
    expect(90 - 754 * 0.1).toBeLessThan(14.6);
    expect(cellAt(worldGrid(0.1), 14.6, 0.05)).toEqual([754, 1800]);
    // But not a coordinate 1e-6 degrees away.
    expect(cellAt(worldGrid(0.1), 14.600001, 0.299999)).toEqual([753, 1802]);
  });

  test("assigns a pole to the row that touches it, or to no row if the grid ends before the pole", () => {
    const grid = worldGrid(0.1);
    expect(cellAt(grid, 90, 0)).toEqual([0, 1800]);
    expect(cellAt(grid, -90, 0)).toEqual([1799, 1800]);
    const shorter = { ...worldGrid(0.1, { northDeg: 89.9 }), rowCount: 1798 };
    expect(cellAt(shorter, 90, 0)).toBeUndefined();
    expect(cellAt(shorter, -90, 0)).toBeUndefined();
    expect(cellAt(shorter, 89.9, 0)).toEqual([0, 1800]);
    expect(cellAt(shorter, -89.9, 0)).toBeUndefined(); // the last row does not include its south edge
    // Grids that reach the pole only except for a rounding error.
    const rounded = { ...worldGrid(1), northDeg: 89.99999999999999 };
    expect(cellAt(rounded, 90, 0)).toEqual([0, 180]);
    expect(cellAt({ ...worldGrid(1), northDeg: 90.00000000000001 }, -90, 0)).toEqual([179, 180]);
  });

  test("wraps around on a grid of 360 degrees, and leaves a gap on a narrower one", () => {
    expect(cellAt(worldGrid(1), 0.5, 180)).toEqual([89, 0]);
    expect(cellAt(worldGrid(1), 0.5, 179.5)).toEqual([89, 359]);
    expect(cellAt(worldGrid(1, { westDeg: 20 }), 0.5, 19.5)).toEqual([89, 359]);
    expect(cellAt(worldGrid(0.1, { westDeg: -180.05 }), 0.5, 179.97)).toEqual([895, 0]);
    const gap = { ...worldGrid(0.0089), columnCount: 40449, rowCount: 20224 };
    expect(cellAt(gap, 0.5, 179.999)).toBeUndefined();
    expect(cellAt(gap, 0.5, 179.996)).toEqual([10056, 40448]);
    // Rounding of the cell size leaves these columns 4e-7 of a column short of 360 degrees.
    const short = { ...worldGrid(1), cellSizeLonDeg: 1 - 1e-9, columnCount: 360 };
    expect(cellAt(short, 0.5, 180 - 1e-8)).toEqual([89, 359]);
  });

  test("finds cells on both sides of the antimeridian in a crop across it", () => {
    const crop = { ...worldGrid(1, { westDeg: 170, northDeg: 10 }), rowCount: 20, columnCount: 20 };
    expect(cellAt(crop, 0.5, 179.5)).toEqual([9, 9]);
    expect(cellAt(crop, 0.5, 180)).toEqual([9, 10]);
    expect(cellAt(crop, 0.5, -180)).toEqual([9, 10]);
    expect(cellAt(crop, 0.5, -170.5)).toEqual([9, 19]);
    expect(cellAt(crop, 0.5, -170)).toBeUndefined();
    expect(cellAt(crop, 0.5, 169.99)).toBeUndefined();
    expect(cellAt(crop, 0.5, 175 + 360 * 1000)).toEqual([9, 5]);
  });

  test("returns no cell for invalid coordinates", () => {
    for (const [latDeg, lonDeg] of [
      [NaN, 0],
      [0, NaN],
      [90.001, 0],
      [-90.001, 0],
      [Infinity, 0],
      [0, Infinity],
      [0, -Infinity],
    ] as const) {
      expect(cellAt(worldGrid(1), latDeg, lonDeg), `${latDeg}, ${lonDeg}`).toBeUndefined();
    }
  });

  test("accepts empty arrays", () => {
    const none = { latitudes: new Float64Array(0), longitudes: new Float64Array(0) };
    expect(locateCells(kernel, worldGrid(1), none)).toEqual({ rows: new Int32Array(0), columns: new Int32Array(0) });
  });

  test("rejects arrays of different lengths", () => {
    const uneven = { latitudes: new Float64Array(2), longitudes: new Float64Array(3) };
    expect(() => locateCells(kernel, worldGrid(1), uneven)).toThrow(
      new RangeError("latitudes and longitudes must have equal lengths (got 2 and 3)"),
    );
  });

  for (const change of [
    { rowCount: 0 },
    { columnCount: 0 },
    { cellSizeLatDeg: 0 },
    { cellSizeLonDeg: NaN },
    { northDeg: NaN },
    { westDeg: NaN },
    { westDeg: 1e300 },
    { northDeg: 91 },
    { rowCount: 181 },
    { columnCount: 362 },
  ]) {
    test(`rejects a grid with ${JSON.stringify(change)}`, () => {
      expect(() => locateCell(kernel, { ...worldGrid(1), ...change }, { latDeg: 0, lonDeg: 0 })).toThrow(
        expect.objectContaining({ name: "KernelError", status: STATUS_BAD_GRID }) as Error,
      );
    });
  }
});
