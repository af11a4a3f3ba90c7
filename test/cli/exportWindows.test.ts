import { describe, expect, test } from "vitest";
import { windowsOf } from "../../src/cli/atlasExport.ts";
import { worldGrid } from "../../src/kernel/grid.ts";

const WORLD = worldGrid(36);
/** From longitude 160 to 200: it does not go around the Earth. */
const PACIFIC = { ...WORLD, westDeg: 160, columnCount: 4 };
/** From longitude -180 to 150. */
const GAP = { ...WORLD, columnCount: 33 };

const box = (westDeg: number, eastDeg: number) => ({ westDeg, eastDeg, southDeg: -15, northDeg: 25 });
/** Returns first column and number of columns of each window. */
const columnsOf = (...args: Parameters<typeof windowsOf>) =>
  windowsOf(...args).map(({ firstColumn, columnCount }) => [firstColumn, columnCount]);

describe("windowsOf", () => {
  test.each([
    ["within the grid", WORLD, box(10, 35), [[19, 3]]],
    ["up to the antimeridian", WORLD, box(165, 180), [[34, 2]]],
    ["from the antimeridian on", WORLD, box(180, 195), [[0, 2]]],
    [
      "across the antimeridian, with W > E",
      WORLD,
      box(165, -165),
      [
        [34, 2],
        [0, 2],
      ],
    ],
    [
      "across the antimeridian, with E above 180",
      WORLD,
      box(165, 195),
      [
        [34, 2],
        [0, 2],
      ],
    ],
    ["across the meridian of Greenwich, with W > E", WORLD, box(350, 10), [[17, 2]]],
    [
      "across the seam of a grid from 0 to 360",
      { ...WORLD, westDeg: 0 },
      box(-15, 15),
      [
        [34, 2],
        [0, 2],
      ],
    ],
    ["of the whole Earth", WORLD, box(-180, 180), [[0, 36]]],
    ["of the whole Earth from another meridian", WORLD, box(0, 360), [[0, 36]]],
    [
      "that begins and ends in one column",
      WORLD,
      box(5, 2),
      [
        [18, 18],
        [0, 18],
      ],
    ],
    ["in a part across the antimeridian", PACIFIC, box(175, -165), [[1, 3]]],
    ["that is wider than a part across the antimeridian", PACIFIC, box(150, -150), [[0, 4]]],
    ["beyond the seam of a grid with a gap", GAP, box(155, -165), [[0, 2]]],
  ])("returns the columns of a box %s", (_, grid, bbox, expected) => {
    expect(columnsOf(grid, bbox)).toEqual(expected);
  });

  test("gives all windows the rows of the box", () => {
    expect(windowsOf(WORLD, box(165, -165)).map(({ firstRow, rowCount }) => [firstRow, rowCount])).toEqual([
      [6, 5],
      [6, 5],
    ]);
  });

  test.each([
    [
      "on both sides of a gap",
      GAP,
      box(140, -165),
      /both ends of a grid that has no cells between longitude 150 and 180/,
    ],
    ["without cells", PACIFIC, box(10, 20), /touches no cell/],
    ["without width", WORLD, box(10, 10), /must be W,S,E,N/],
    ["with S > N", WORLD, { ...box(10, 20), southDeg: 30 }, /S < N/],
    ["beyond a pole", WORLD, { ...box(10, 20), northDeg: 91 }, /latitudes from -90 to 90/],
    ["that is not a number", WORLD, box(NaN, 20), /must be W,S,E,N/],
  ])("rejects a box %s", (_, grid, bbox, message) => {
    expect(() => windowsOf(grid, bbox)).toThrow(message);
  });
});
