import { beforeAll, describe, expect, test } from "vitest";
import { geodesicDistanceM, RADIUS_M_MAX, rowSpans, rowWeights } from "../../src/kernel/geodesy.ts";
import { cellCenter, closesAt360 } from "../../src/kernel/grid.ts";
import { Kernel, KernelError } from "../../src/kernel/instance.ts";
import {
  STATUS_BAD_GRID,
  STATUS_BAD_LOCATION,
  STATUS_BAD_RADIUS,
  STATUS_FULL,
} from "../../src/kernel/kernel.generated.ts";
import { containingCellByDefinition, type OracleGrid } from "../oracle/points.ts";
import {
  cellAreaByTextbook,
  centerByDefinition,
  circleByBisection,
  circleByDefinition,
  distanceByGeographicLib,
  type OracleCircle,
} from "../oracle/radius.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { cellsOf, rowsAsText, worldGrid } from "./circleCells.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

const GRIDS: Readonly<Record<string, OracleGrid>> = {
  "1 degree": worldGrid(1),
  "half a degree, west edge at Greenwich": worldGrid(0.5, { westDeg: 0 }),
  "half a degree, west edge at 20": worldGrid(0.5, { westDeg: 20 }),
  "0.4 degree, center-registered in longitude": worldGrid(0.4, { westDeg: -180.2 }),
  "0.5 degree, center-registered both ways: a row of centers on each pole": {
    ...worldGrid(0.5, { westDeg: -180.25, northDeg: 90.25 }),
    rowCount: 361,
  },
  "0.7 degree, last row hanging over the south pole": { ...worldGrid(0.72, { heightDeg: 0.7 }), rowCount: 258 },
  "wide cells: 0.9 high, 3 wide": worldGrid(3, { heightDeg: 0.9 }),
  "high cells: 0.9 high, 0.25 wide": worldGrid(0.25, { heightDeg: 0.9 }),
  "first meridian repeated at the end": { ...worldGrid(0.5, { westDeg: -180.25 }), columnCount: 721 },
  "from 89.8 north to 60 south": { ...worldGrid(0.4, { northDeg: 89.8 }), rowCount: 375 },
  "crop 170 east to 170 west": { ...worldGrid(0.2, { westDeg: 170 }), columnCount: 100 },
  "crop 160 to 180 east": { ...worldGrid(0.2, { westDeg: 160 }), columnCount: 100 },
  "crop 180 to 160 west": { ...worldGrid(0.2, { westDeg: -180 }), columnCount: 100 },
  "two cells short of 360 degrees": { ...worldGrid(0.5), columnCount: 718 },
  "a single cell over Java": {
    northDeg: -6,
    westDeg: 106,
    cellSizeLatDeg: 1.5,
    cellSizeLonDeg: 2,
    rowCount: 1,
    columnCount: 1,
  },
  "a single cell, the whole Earth": {
    northDeg: 90,
    westDeg: -180,
    cellSizeLatDeg: 180,
    cellSizeLonDeg: 360,
    rowCount: 1,
    columnCount: 1,
  },
};

/** Returns a random location, often a difficult one: at a pole, an edge, a corner or a center of the grid. */
function edgeCaseLocation(grid: OracleGrid, random: SeededRandom): { latDeg: number; lonDeg: number } {
  const row = random.below(grid.rowCount);
  const column = random.below(grid.columnCount);
  const center = centerByDefinition(grid, { row, column });
  const edgeLatDeg = Math.max(-90, Math.min(90, grid.northDeg - row * grid.cellSizeLatDeg));
  const edgeLonDeg = grid.westDeg + column * grid.cellSizeLonDeg;
  const latDeg = random.pick([
    90,
    -90,
    90 - 1e-8,
    -90 + 1e-8,
    90 - random.between({ least: 0, most: 1.5 }),
    -90 + random.between({ least: 0, most: 1.5 }),
    0,
    center.latDeg,
    center.latDeg,
    edgeLatDeg,
    edgeLatDeg,
    random.between({ least: -90, most: 90 }),
    random.between({ least: -90, most: 90 }),
  ]);
  const lonDeg = random.pick([
    180,
    -180,
    180 - 1e-9,
    -180 + random.between({ least: 0, most: 1 }),
    180 - random.between({ least: 0, most: 1 }),
    center.lonDeg,
    center.lonDeg,
    edgeLonDeg,
    edgeLonDeg,
    grid.westDeg + random.between({ least: -0.5, most: 0.5 }),
    grid.westDeg + grid.columnCount * grid.cellSizeLonDeg + random.between({ least: -0.5, most: 0.5 }),
    random.between({ least: -180, most: 180 }),
    random.between({ least: -180, most: 180 }),
  ]);
  return { latDeg, lonDeg };
}

/** Returns a radius from 50 m to the largest, uniform in its logarithm. */
function randomRadiusM(random: SeededRandom): number {
  return random.chance(0.1) ? RADIUS_M_MAX : 50 * (RADIUS_M_MAX / 50) ** random.next();
}

/** Returns the circle and its rows, actual and expected, if they differ from the reference implementation. */
function differences(grid: OracleGrid, circle: OracleCircle, definition = circleByDefinition): unknown[] {
  const got = rowsAsText(cellsOf(grid, rowSpans(kernel, grid, circle)));
  const expected = rowsAsText(definition(grid, circle));
  return got.join("\n") === expected.join("\n") ? [] : [{ circle, grid, got, expected }];
}

describe("rowSpans", () => {
  for (const [index, [name, grid]] of Object.entries(GRIDS).entries()) {
    test(`matches GeographicLib on every cell: ${name}`, () => {
      const random = randomFrom(100 + index);
      for (let i = 0; i < 60; i++) {
        expect(differences(grid, { ...edgeCaseLocation(grid, random), radiusM: randomRadiusM(random) })).toEqual([]);
      }
    });
  }

  test("matches GeographicLib on the fine grids of real maps", () => {
    const random = randomFrom(2);
    const grids = [
      worldGrid(0.1),
      worldGrid(0.1, { westDeg: -180.05 }),
      worldGrid(1 / 120),
      worldGrid(360 / 40448),
      { ...worldGrid(0.0089, { northDeg: 90 }), rowCount: 20224, columnCount: 40449 },
      { ...worldGrid(1 / 120, { westDeg: 170, northDeg: 20 }), rowCount: 4800, columnCount: 2400 },
    ];
    for (const grid of grids) {
      for (let i = 0; i < 6; i++) {
        const isFarFromPoles = i > 1; // few circles at the poles, because a fine row has 43,200 columns
        const circle = {
          latDeg: isFarFromPoles
            ? random.between({ least: -80, most: 80 })
            : 90 - random.between({ least: 0, most: 0.02 }),
          lonDeg: random.pick([random.between({ least: -180, most: 180 }), 179.99, -179.99, grid.westDeg]),
          radiusM: isFarFromPoles ? randomRadiusM(random) / 2 : random.between({ least: 0, most: 4000 }),
        };
        expect(differences(grid, circle, circleByBisection)).toEqual([]);
      }
    }
  });

  test("matches GeographicLib for the largest radius on a fine grid", () => {
    const grid = { ...worldGrid(1 / 120, { westDeg: 8, northDeg: 62 }), rowCount: 480, columnCount: 960 };
    const random = randomFrom(3);
    for (let i = 0; i < 4; i++) {
      const place = {
        latDeg: random.between({ least: 59.5, most: 60.5 }),
        lonDeg: random.between({ least: 11, most: 13 }),
      };
      expect(differences(grid, { ...place, radiusM: RADIUS_M_MAX }, circleByBisection)).toEqual([]);
    }
  });

  test("the two reference implementations agree", () => {
    const random = randomFrom(4);
    for (const grid of Object.values(GRIDS)) {
      for (let i = 0; i < 10; i++) {
        const circle = { ...edgeCaseLocation(grid, random), radiusM: randomRadiusM(random) };
        expect(circleByBisection(grid, circle), JSON.stringify({ circle, grid })).toEqual(
          circleByDefinition(grid, circle),
        );
      }
    }
  });

  test("returns two spans in a row across the antimeridian, and one if the grid begins elsewhere", () => {
    const circle = { latDeg: -0.5, lonDeg: 180, radiusM: 120_000 };
    expect([...rowSpans(kernel, worldGrid(1), circle).spans]).toEqual([90, 0, 0, 90, 359, 359]);
    expect([...rowSpans(kernel, worldGrid(1, { westDeg: 0 }), circle).spans]).toEqual([90, 179, 180]);
  });

  test("returns entire rows at a pole, each once", () => {
    const circle = { latDeg: 90, lonDeg: 77, radiusM: 100_000 };
    expect([...rowSpans(kernel, worldGrid(0.5), circle).spans]).toEqual([0, 0, 719, 1, 0, 719]);
  });

  test("clips a polar circle to a grid that reaches neither the pole nor around the Earth", () => {
    const grid = { ...worldGrid(1, { northDeg: 89.2, westDeg: 0 }), rowCount: 2, columnCount: 90 };
    expect([...rowSpans(kernel, grid, { latDeg: 90, lonDeg: -135, radiusM: 140_000 }).spans]).toEqual([]);
    expect([...rowSpans(kernel, grid, { latDeg: 89.8, lonDeg: 30, radiusM: 140_000 }).spans]).not.toEqual([]);
    expect(differences(grid, { latDeg: 89.8, lonDeg: 30, radiusM: 140_000 })).toEqual([]);
  });

  test("returns only the containing cell if the circle is smaller than a cell", () => {
    const grid = worldGrid(1);
    const corner = { latDeg: 11, lonDeg: 22 }; // the centers of the four cells around it are about 78 km away
    for (const radiusM of [0, 1e-9, 0.1, 1, 1000, 70_000]) {
      expect([...rowSpans(kernel, grid, { ...corner, radiusM }).spans]).toEqual([79, 202, 202]);
    }
    expect(rowSpans(kernel, grid, { ...corner, radiusM: 79_000 }).spans.length).toBeGreaterThan(3);
  });

  test("returns no spans if the circle and its center are outside the grid", () => {
    const grid = { ...worldGrid(0.2, { westDeg: 170 }), rowCount: 100, columnCount: 100 };
    for (const circle of [
      { latDeg: 75, lonDeg: 100, radiusM: 5000 },
      { latDeg: -45, lonDeg: 175, radiusM: 140_000 },
    ]) {
      expect(rowSpans(kernel, grid, circle)).toEqual({ spans: new Int32Array(0), spanCount: 0, ambiguousCount: 0 });
    }
  });

  test("accepts longitudes shifted by any multiple of 360 degrees", () => {
    const grid = worldGrid(0.5);
    const circle = { latDeg: 64, lonDeg: -179.75, radiusM: 90_000 };
    const once = rowSpans(kernel, grid, circle);
    expect(once.spanCount).toBeGreaterThan(1);
    for (const turns of [-1, 1, 2, 5]) {
      expect(rowSpans(kernel, grid, { ...circle, lonDeg: circle.lonDeg + 360 * turns })).toEqual(once);
    }
  });
});

/** Returns the doubles next to a positive one. */
function adjacentDoubles(value: number): { readonly below: number; readonly above: number } {
  const bits = new BigInt64Array(Float64Array.of(value).buffer)[0] ?? 0n;
  const from = (pattern: bigint): number => new Float64Array(BigInt64Array.of(pattern).buffer)[0] ?? NaN;
  return { below: from(bits - 1n), above: from(bits + 1n) };
}

describe("rowSpans with a rim exactly through a cell's center", () => {
  test("includes the cell, and excludes it if the radius is one bit smaller", () => {
    const random = randomFrom(5);
    const grids = Object.entries(GRIDS).filter(([name]) => !name.startsWith("a single cell"));
    let tried = 0;
    for (const [name, grid] of grids) {
      for (let i = 0; i < 60; i++) {
        const place = edgeCaseLocation(grid, random);
        const near = circleByDefinition(grid, { ...place, radiusM: randomRadiusM(random) - 1 });
        if (near.length === 0) continue;
        const cell = random.pick(near);
        const container = containingCellByDefinition(grid, place);
        if (cell.row === container?.row && cell.column === container.column) continue;
        const radiusM = distanceByGeographicLib(place, centerByDefinition(grid, cell));
        if (radiusM === 0) continue;
        for (const [testRadiusM, expected] of [
          [radiusM, true],
          [adjacentDoubles(radiusM).above, true],
          [adjacentDoubles(radiusM).below, false],
        ] as const) {
          const circle = rowSpans(kernel, grid, { ...place, radiusM: testRadiusM });
          const isInside = cellsOf(grid, circle).some(({ row, column }) => row === cell.row && column === cell.column);
          expect(isInside, `in ${JSON.stringify({ name, place, cell, testRadiusM })}`).toBe(expected);
          expect(circle.ambiguousCount).toBeGreaterThan(0);
        }
        expect(differences(grid, { ...place, radiusM })).toEqual([]);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(200);
  });

  test("lets GeographicLib decide every cell of a parallel around a pole", () => {
    for (const poleDeg of [90, -90]) {
      for (const grid of [worldGrid(0.5), GRIDS["crop 170 east to 170 west"], GRIDS["crop 180 to 160 west"]]) {
        if (grid === undefined) throw new Error("unknown grid");
        const row = poleDeg > 0 ? 1 : grid.rowCount - 2;
        for (const lonDeg of [0, 50, 179.9, -179.9]) {
          const pole = { latDeg: poleDeg, lonDeg };
          const radiusM = distanceByGeographicLib(pole, centerByDefinition(grid, { row, column: 7 }));
          for (const testRadiusM of [radiusM, adjacentDoubles(radiusM).below, adjacentDoubles(radiusM).above]) {
            expect(rowSpans(kernel, grid, { ...pole, radiusM: testRadiusM }).ambiguousCount).toBe(grid.columnCount);
            expect(differences(grid, { ...pole, radiusM: testRadiusM })).toEqual([]);
          }
        }
      }
    }
  });

  test("decides all 43,200 ambiguous cells of a parallel on a fine grid", () => {
    const grid = worldGrid(1 / 120);
    const radiusM = distanceByGeographicLib({ latDeg: 90, lonDeg: 0 }, centerByDefinition(grid, { row: 2, column: 0 }));
    const { spans, ambiguousCount } = rowSpans(kernel, grid, { latDeg: 90, lonDeg: 0, radiusM });
    expect(ambiguousCount).toBe(43_200);
    expect([...spans.subarray(0, 6)]).toEqual([0, 0, 43_199, 1, 0, 43_199]);
  });

  // A tenth of a millimeter from a pole, a rim that touches a parallel stays within the guard distance for hundreds of
  // columns, here on both sides of the grid's west edge.
  const POLAR = { ...worldGrid(0.1), rowCount: 5 };
  for (const westDeg of [-180, 0, 20]) {
    for (const isBeyondPole of [false, true]) {
      test(`across the west edge: grid from ${westDeg}, ${isBeyondPole ? "beyond" : "before"} the pole`, () => {
        const grid = { ...POLAR, westDeg };
        for (const offsetDeg of [-10.6, -0.5, 0, 0.05, 10.6]) {
          const touched = {
            latDeg: centerByDefinition(grid, { row: 3, column: 0 }).latDeg,
            lonDeg: westDeg + offsetDeg,
          };
          const place = { latDeg: 90 - 1e-9, lonDeg: touched.lonDeg + (isBeyondPole ? 180 : 0) };
          const radiusM = distanceByGeographicLib(place, touched);
          for (const testRadiusM of [radiusM, radiusM - 1e-8, radiusM + 1e-8]) {
            const { ambiguousCount } = rowSpans(kernel, grid, { ...place, radiusM: testRadiusM });
            expect(ambiguousCount).toBeGreaterThan(100);
            expect(differences(grid, { ...place, radiusM: testRadiusM })).toEqual([]);
          }
        }
      });
    }
  }
});

describe("rowSpans rejects", () => {
  const grid = worldGrid(1);
  const circle = { latDeg: 10, lonDeg: 20, radiusM: 1000 };
  const refusal = (status: number): Error => expect.objectContaining({ name: "KernelError", status }) as Error;

  for (const radiusM of [-1, -1e-300, NaN, Infinity, -Infinity, adjacentDoubles(RADIUS_M_MAX).above]) {
    test(`a radius of ${radiusM} m`, () => {
      expect(() => rowSpans(kernel, grid, { ...circle, radiusM })).toThrow(refusal(STATUS_BAD_RADIUS));
    });
  }
  for (const [name, place] of Object.entries<Partial<OracleCircle>>({
    "a latitude beyond the north pole": { latDeg: adjacentDoubles(90).above },
    "a latitude beyond the south pole": { latDeg: -adjacentDoubles(90).above },
    "a latitude of NaN": { latDeg: NaN },
    "a longitude of NaN": { lonDeg: NaN },
    "an infinite longitude": { lonDeg: Infinity },
  })) {
    test(`a location with ${name}`, () => {
      expect(() => rowSpans(kernel, grid, { ...circle, ...place })).toThrow(refusal(STATUS_BAD_LOCATION));
    });
  }
  for (const [name, change] of Object.entries({
    "no rows": { rowCount: 0 },
    "no columns": { columnCount: 0 },
    "cells without height": { cellSizeLatDeg: 0 },
    "cells of negative width": { cellSizeLonDeg: -1 },
    "a cell height of NaN": { cellSizeLatDeg: NaN },
    "a cell width of NaN": { cellSizeLonDeg: NaN },
    "cells wider than the Earth": { cellSizeLonDeg: 361, columnCount: 1 },
    "cells higher than the Earth": { cellSizeLatDeg: 181, rowCount: 1 },
    "a north edge of NaN": { northDeg: NaN },
    "an infinite north edge": { northDeg: Infinity },
    "a row entirely beyond the north pole": { northDeg: 91 },
    "a row entirely beyond the south pole": { rowCount: 181 },
    "a west edge of NaN": { westDeg: NaN },
    "a west edge beyond 360 degrees": { westDeg: 361 },
    "more than 360 degrees and one column": { columnCount: 362 },
  })) {
    test(`a grid with ${name}`, () => {
      expect(() => rowSpans(kernel, { ...grid, ...change }, circle)).toThrow(refusal(STATUS_BAD_GRID));
    });
  }

  test("buffers that are too small, without writing past their end", () => {
    kernel.withScratch((scratch) => {
      const out = scratch.reserve(64).pointer;
      const call = (capacity: { readonly spans: number; readonly ambiguous: number }, radiusM: number): number =>
        kernel.exports.rowSpans(
          90,
          -180,
          1,
          1,
          180,
          360,
          9.5,
          20.5,
          radiusM,
          out,
          capacity.spans,
          out,
          capacity.ambiguous,
          out,
        );
      expect(call({ spans: 0, ambiguous: 1 }, 1000)).toBe(STATUS_FULL);
      expect(call({ spans: 1, ambiguous: 0 }, 0)).toBe(STATUS_FULL); // with radius 0 the center itself is on the rim
      const pole = kernel.exports.rowSpans(90, -180, 1, 1, 180, 360, 90, 0, 60_000, out, 0, out, 1, out);
      expect(pole).toBe(STATUS_FULL);
    });
  });

  test("invalid arguments with an error that names the function and the status", () => {
    expect(() => rowSpans(kernel, grid, { ...circle, radiusM: -1 })).toThrow(KernelError);
    expect(() => rowSpans(kernel, grid, { ...circle, radiusM: -1 })).toThrow(
      "rowSpans failed with status STATUS_BAD_RADIUS",
    );
  });
});

describe("geodesicDistanceM", () => {
  // Of WGS84: a quarter of a meridian, and one degree of the equator, 6,378,137 x pi / 180.
  for (const [from, to, lengthM] of [
    [{ latDeg: 0, lonDeg: 12 }, { latDeg: 90, lonDeg: 0 }, 10_001_965.7293],
    [{ latDeg: 0, lonDeg: 179.5 }, { latDeg: 0, lonDeg: -179.5 }, 111_319.4908],
  ] as const) {
    test(`from ${JSON.stringify(from)} to ${JSON.stringify(to)} is ${lengthM} m`, () => {
      expect(geodesicDistanceM(from, to)).toBeCloseTo(lengthM, 3);
      expect(geodesicDistanceM(to, from)).toBeCloseTo(lengthM, 3);
    });
  }
});

describe("rowWeights", () => {
  const allRows = (grid: OracleGrid): Float64Array =>
    rowWeights(kernel, grid, { firstRow: 0, rowCount: grid.rowCount });

  test("sum to the surface area of the Earth", () => {
    for (const grid of [worldGrid(1), worldGrid(0.1), worldGrid(2, { heightDeg: 0.3 })]) {
      const flattening = 1 / 298.257223563;
      const e2 = flattening * (2 - flattening);
      const factorM2 = (6378137 ** 2 * (1 - e2) * ((grid.cellSizeLonDeg * Math.PI) / 180)) / 2;
      const areaKm2 = (allRows(grid).reduce((sum, weight) => sum + weight, 0) * factorM2 * grid.columnCount) / 1e6;
      expect(Math.abs(areaKm2 - 510_065_621.724)).toBeLessThan(0.001); // published for WGS84
    }
  });

  test("match the textbook formula within its cancellation error", () => {
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

  test("match the derivative of the textbook formula for thin rows", () => {
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

  test("start at firstRow", () => {
    const grid = worldGrid(0.5);
    expect(rowWeights(kernel, grid, { firstRow: 100, rowCount: 3 })).toEqual(allRows(grid).slice(100, 103));
    expect(rowWeights(kernel, grid, { firstRow: 5, rowCount: 0 })).toEqual(new Float64Array(0));
  });

  test("are rejected for an invalid grid", () => {
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

  test("closesAt360 is true only for grids of 360 degrees", () => {
    expect(closesAt360(worldGrid(0.1))).toBe(true);
    expect(closesAt360(worldGrid(360 / 40448, { westDeg: 20 }))).toBe(true);
    expect(closesAt360({ ...worldGrid(0.0089), columnCount: 40449 })).toBe(false); // 359.996 degrees
    expect(closesAt360({ ...worldGrid(1), columnCount: 359 })).toBe(false);
    expect(closesAt360({ ...worldGrid(1), columnCount: 361 })).toBe(false);
  });
});
