import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mosaicOf } from "../../src/ingest/mosaic.ts";
import type { MosaicOrder, Raster } from "../../src/ingest/raster.ts";
import type { Grid } from "../../src/kernel/grid.ts";

/** A map in memory with one value per cell; NaN is missing. */
function part(
  file: string,
  place: Partial<Grid> & { westDeg: number },
  at: (row: number, column: number) => number,
  unit?: string,
): Raster {
  const grid = { northDeg: 0, cellSizeLatDeg: 1, cellSizeLonDeg: 1, rowCount: 2, columnCount: 3, ...place };
  return {
    spec: { kind: "file", file, options: {} },
    file,
    grid,
    crs: "EPSG:4326",
    bands: [{ name: undefined, type: "float64", nodata: [], scale: 1, offset: 0, unit, coordinates: {} }],
    blockRowCount: 1,
    blockColumnCount: grid.columnCount,
    notes: {},
    readWindow({ firstRow, rowCount, firstColumn, columnCount }) {
      const values = new Float64Array(rowCount * columnCount);
      for (let i = 0; i < values.length; i++) {
        values[i] = at(firstRow + Math.floor(i / columnCount), firstColumn + (i % columnCount));
      }
      return Promise.resolve(values);
    },
    close: () => Promise.resolve(),
  };
}

async function rowsOf(mosaic: Raster): Promise<readonly (readonly number[])[]> {
  const { rowCount, columnCount } = mosaic.grid;
  const values = await mosaic.readWindow({ band: 1, firstRow: 0, rowCount, firstColumn: 0, columnCount });
  return Array.from({ length: rowCount }, (_, row) =>
    Array.from(values.subarray(row * columnCount, (row + 1) * columnCount)),
  );
}

const constant = (value: number) => () => value;
const EQUAL = { order: "equal" } as const;

describe("the grid of a mosaic", () => {
  test("contains all maps, and cells that no map covers are missing", async () => {
    const mosaic = mosaicOf(
      [part("a", { westDeg: 10 }, constant(1)), part("b", { westDeg: 14, northDeg: 1 }, constant(0))],
      EQUAL,
    );
    expect(mosaic.grid).toMatchObject({ northDeg: 1, westDeg: 10, rowCount: 3, columnCount: 7 });
    expect(await rowsOf(mosaic)).toEqual([
      [NaN, NaN, NaN, NaN, 0, 0, 0],
      [1, 1, 1, NaN, 0, 0, 0],
      [1, 1, 1, NaN, NaN, NaN, NaN],
    ]);
  });

  test("moves longitudes beyond 180 to the west, and begins east of the widest gap if a map crosses the antimeridian", async () => {
    const east = mosaicOf([part("a", { westDeg: 200 }, constant(1)), part("b", { westDeg: -156 }, constant(2))], EQUAL);
    expect(east.grid).toMatchObject({ westDeg: -160, columnCount: 7 });
    expect((await rowsOf(east))[0]).toEqual([1, 1, 1, NaN, 2, 2, 2]);
    const across = mosaicOf(
      [part("a", { westDeg: 179 }, constant(1)), part("b", { westDeg: -177 }, constant(2))],
      EQUAL,
    );
    expect(across.grid).toMatchObject({ westDeg: 179, columnCount: 7 });
    expect((await rowsOf(across))[0]).toEqual([1, 1, 1, NaN, 2, 2, 2]);
  });

  test("joins six basins with longitudes from 0 to 360 around the Earth", async () => {
    const basins = [
      [180, 285],
      [255, 360],
      [30, 100],
      [10, 135],
      [135, 240],
      [100, 180],
    ].map(([west = 0, east = 0], index) =>
      part(`basin${index}`, { westDeg: west, columnCount: east - west }, (_, column) => west + column),
    );
    const mosaic = mosaicOf(basins, EQUAL);
    expect(mosaic.grid).toMatchObject({ westDeg: 10, columnCount: 350 });
    expect((await rowsOf(mosaic))[0]).toEqual(Array.from({ length: 350 }, (_, column) => column + 10));
  });

  test("is that of the atlas if that contains all maps, also across its seam", async () => {
    const whole = {
      northDeg: 90,
      westDeg: -180,
      cellSizeLatDeg: 1,
      cellSizeLonDeg: 1,
      rowCount: 180,
      columnCount: 360,
    };
    const mosaic = mosaicOf([part("a", { westDeg: 179 }, (_, column) => column + 1)], { ...EQUAL, whole });
    expect(mosaic.grid).toBe(whole);
    const row = (await rowsOf(mosaic))[90] ?? [];
    expect([row[359], row[0], row[1], row[2]]).toEqual([1, 2, 3, NaN]);
    const smaller = { ...whole, columnCount: 100 };
    expect(mosaicOf([part("a", { westDeg: 179 }, constant(1))], { ...EQUAL, whole: smaller }).grid).toMatchObject({
      westDeg: 179,
    });
  });

  test("allows cells that do not divide 360 degrees", () => {
    const cell = { cellSizeLatDeg: 0.7, cellSizeLonDeg: 0.7 };
    const mosaic = mosaicOf(
      [part("a", { westDeg: 0, ...cell }, constant(1)), part("b", { westDeg: 7, ...cell }, constant(1))],
      EQUAL,
    );
    expect(mosaic.grid).toMatchObject({ westDeg: 0, columnCount: 13 });
  });

  test.each([
    [
      "shifted by a part of a cell",
      part("b", { westDeg: 14.25 }, constant(1)),
      /^b: .*shifted against that of a by a part of a cell.*0\.2500 in longitude/,
    ],
    ["of other cells", part("b", { westDeg: 14, cellSizeLonDeg: 0.5 }, constant(1)), /^b: .*must have the same cells/],
    [
      "in another unit",
      part("b", { westDeg: 14 }, constant(1), "cm"),
      /^b: band 1 has the unit "cm", but that of a has no unit/,
    ],
  ])("rejects a map %s", (_, other, expected) => {
    expect(() => mosaicOf([part("a", { westDeg: 10 }, constant(1)), other], EQUAL)).toThrow(expected);
  });
});

describe("cells that several maps cover", () => {
  const overlapping = (order: MosaicOrder): Raster =>
    mosaicOf(
      [part("a", { westDeg: 10 }, (_, column) => (column === 2 ? NaN : 1)), part("b", { westDeg: 11 }, constant(2))],
      { order },
    );

  test("have the value of the first map with a value", async () => {
    expect((await rowsOf(overlapping("first")))[0]).toEqual([1, 1, 2, 2]);
  });

  test("are rejected if their values differ, naming both maps and the cell", async () => {
    await expect(rowsOf(overlapping("equal"))).rejects.toThrow(
      /^b: row 0, column 1 \(latitude -0\.50000, longitude 11\.50000\) of the mosaic has the value 2, but 1 in a\. .*"overlap": "first"/,
    );
  });

  test("are accepted if their values are equal", async () => {
    const mosaic = mosaicOf([part("a", { westDeg: 10 }, constant(1)), part("b", { westDeg: 11 }, constant(1))], EQUAL);
    expect((await rowsOf(mosaic))[0]).toEqual([1, 1, 1, 1]);
  });
});

test("a window of a mosaic has the cells of the whole, whichever window is read", async () => {
  const place = fc.record({
    westDeg: fc.integer({ min: -180, max: 300 }),
    northDeg: fc.integer({ min: -5, max: 5 }),
    rowCount: fc.integer({ min: 1, max: 5 }),
    columnCount: fc.integer({ min: 1, max: 360 }),
  });
  const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
  await fc.assert(
    fc.asyncProperty(
      fc.array(place, { minLength: 1, maxLength: 5 }),
      fc.tuple(share, share, share, share),
      async (places, shares) => {
        // The value of a cell is its position on Earth, so that overlapping maps are equal.
        const parts = places.map((at, index) =>
          part(
            `map${index}`,
            at,
            (row, column) => (at.northDeg - row) * 1000 + ((((at.westDeg + column) % 360) + 360) % 360),
          ),
        );
        const mosaic = mosaicOf(parts, EQUAL);
        const { rowCount, columnCount, northDeg, westDeg } = mosaic.grid;
        const [a, b, c, d] = shares;
        const [firstRow, firstColumn] = [Math.floor(a * rowCount), Math.floor(b * columnCount)];
        const window = {
          band: 1,
          firstRow,
          firstColumn,
          rowCount: 1 + Math.floor(c * (rowCount - firstRow)),
          columnCount: 1 + Math.floor(d * (columnCount - firstColumn)),
        };
        const values = await mosaic.readWindow(window);
        const covered = (row: number, lonDeg: number): boolean =>
          places.some(
            (at) =>
              at.northDeg - at.rowCount < row &&
              row <= at.northDeg &&
              (((lonDeg - at.westDeg) % 360) + 360) % 360 < at.columnCount,
          );
        for (let i = 0; i < values.length; i++) {
          const row = northDeg - firstRow - Math.floor(i / window.columnCount);
          const lonDeg = westDeg + firstColumn + (i % window.columnCount);
          const expected = covered(row, lonDeg) ? row * 1000 + (((lonDeg % 360) + 360) % 360) : NaN;
          if (!Object.is(values[i], expected)) expect([i, values[i]]).toEqual([i, expected]);
        }
        expect(westDeg >= -180 && westDeg < 180 && columnCount <= 360).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
});
