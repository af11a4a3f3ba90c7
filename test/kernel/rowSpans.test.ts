import { beforeAll, describe, expect, test } from "vitest";
import { RADIUS_M_MAX, rowSpans } from "../../src/kernel/geodesy.ts";
import { Kernel, KernelError } from "../../src/kernel/instance.ts";
import {
  STATUS_BAD_GRID,
  STATUS_BAD_LOCATION,
  STATUS_BAD_RADIUS,
  STATUS_FULL,
} from "../../src/kernel/kernel.generated.ts";
import {
  centerByDefinition,
  circleByBisection,
  circleByDefinition,
  distanceByGeographicLib,
  type OracleCircle,
} from "../oracle/radius.ts";
import { randomFrom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { edgeCaseLocation, GRIDS, randomRadiusM } from "./gridCases.ts";
import { adjacentDoubles, checkEveryCell, checkRims, differences } from "./rowSpanChecks.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

describe("rowSpans", () => {
  for (const [index, [name, grid]] of Object.entries(GRIDS).entries()) {
    test(`matches GeographicLib on every cell: ${name}`, () => {
      checkEveryCell(kernel, grid, { random: randomFrom(100 + index), count: 15 });
    });
  }

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
    expect(differences(kernel, { grid, circle: { latDeg: 89.8, lonDeg: 30, radiusM: 140_000 } })).toEqual([]);
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

describe("rowSpans with a rim exactly through a cell's center", () => {
  test("includes the cell, and excludes it if the radius is one bit smaller", () => {
    const random = randomFrom(5);
    let checkedCount = 0;
    for (const [name, grid] of Object.entries(GRIDS)) {
      if (!name.startsWith("a single cell")) checkedCount += checkRims(kernel, grid, { random, count: 20 });
    }
    expect(checkedCount).toBeGreaterThan(50);
  });

  test("uses GeographicLib for every cell of a parallel around a pole", () => {
    for (const poleDeg of [90, -90]) {
      for (const grid of [worldGrid(0.5), GRIDS["crop 170 east to 170 west"], GRIDS["crop 180 to 160 west"]]) {
        if (grid === undefined) throw new Error("unknown grid");
        const row = poleDeg > 0 ? 1 : grid.rowCount - 2;
        for (const lonDeg of [0, 50, 179.9, -179.9]) {
          const pole = { latDeg: poleDeg, lonDeg };
          const radiusM = distanceByGeographicLib(pole, centerByDefinition(grid, { row, column: 7 }));
          for (const testRadiusM of [radiusM, adjacentDoubles(radiusM).below, adjacentDoubles(radiusM).above]) {
            expect(rowSpans(kernel, grid, { ...pole, radiusM: testRadiusM }).ambiguousCount).toBe(grid.columnCount);
            expect(differences(kernel, { grid, circle: { ...pole, radiusM: testRadiusM } })).toEqual([]);
          }
        }
      }
    }
  });

  test("classifies all 43,200 ambiguous cells of a parallel on a fine grid", () => {
    const grid = worldGrid(1 / 120);
    const radiusM = distanceByGeographicLib({ latDeg: 90, lonDeg: 0 }, centerByDefinition(grid, { row: 2, column: 0 }));
    const { spans, ambiguousCount } = rowSpans(kernel, grid, { latDeg: 90, lonDeg: 0, radiusM });
    expect(ambiguousCount).toBe(43_200);
    expect([...spans.subarray(0, 6)]).toEqual([0, 0, 43_199, 1, 0, 43_199]);
  });
});

describe("rowSpans rejects", () => {
  const grid = worldGrid(1);
  const circle = { latDeg: 10, lonDeg: 20, radiusM: 1000 };
  const rejection = (status: number): Error => expect.objectContaining({ name: "KernelError", status }) as Error;

  for (const radiusM of [-1, -1e-300, NaN, Infinity, -Infinity, adjacentDoubles(RADIUS_M_MAX).above]) {
    test(`a radius of ${radiusM} m`, () => {
      expect(() => rowSpans(kernel, grid, { ...circle, radiusM })).toThrow(rejection(STATUS_BAD_RADIUS));
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
      expect(() => rowSpans(kernel, grid, { ...circle, ...place })).toThrow(rejection(STATUS_BAD_LOCATION));
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
      expect(() => rowSpans(kernel, { ...grid, ...change }, circle)).toThrow(rejection(STATUS_BAD_GRID));
    });
  }

  test("buffers that are too small, and writes nothing past their end", () => {
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
