/** Compares circles on fine grids and near the poles with GeographicLib. */
import { beforeAll, describe, expect, test } from "vitest";
import { RADIUS_M_MAX, rowSpans } from "../../src/kernel/geodesy.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { centerByDefinition, circleByBisection, distanceByGeographicLib } from "../oracle/radius.ts";
import { randomFrom } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { randomRadiusM } from "./gridCases.ts";
import { differences } from "./rowSpanChecks.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

describe("rowSpans on fine grids", () => {
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
          latDeg: isFarFromPoles ? random.between({ min: -80, max: 80 }) : 90 - random.between({ min: 0, max: 0.02 }),
          lonDeg: random.pick([random.between({ min: -180, max: 180 }), 179.99, -179.99, grid.westDeg]),
          radiusM: isFarFromPoles ? randomRadiusM(random) / 2 : random.between({ min: 0, max: 4000 }),
        };
        expect(differences(kernel, { grid, circle }, circleByBisection)).toEqual([]);
      }
    }
  });

  test("matches GeographicLib for the largest radius on a fine grid", () => {
    const grid = { ...worldGrid(1 / 120, { westDeg: 8, northDeg: 62 }), rowCount: 480, columnCount: 960 };
    const random = randomFrom(3);
    for (let i = 0; i < 4; i++) {
      const place = {
        latDeg: random.between({ min: 59.5, max: 60.5 }),
        lonDeg: random.between({ min: 11, max: 13 }),
      };
      expect(differences(kernel, { grid, circle: { ...place, radiusM: RADIUS_M_MAX } }, circleByBisection)).toEqual([]);
    }
  });
});

describe("rowSpans with a rim along a parallel beside a pole", () => {
  // A tenth of a millimeter from a pole, a rim that touches a parallel stays within the guard distance for hundreds of
  // columns, here on both sides of the grid's west edge.
  const POLAR = { ...worldGrid(0.1), rowCount: 5 };
  for (const westDeg of [-180, 0, 20]) {
    for (const isBeyondPole of [false, true]) {
      test(`finds the cells across the west edge: grid from ${westDeg}, ${isBeyondPole ? "beyond" : "before"} the pole`, () => {
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
            expect(differences(kernel, { grid, circle: { ...place, radiusM: testRadiusM } })).toEqual([]);
          }
        }
      });
    }
  }
});
