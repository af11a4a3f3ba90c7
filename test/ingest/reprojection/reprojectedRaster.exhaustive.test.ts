import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Raster } from "../../../src/ingest/raster.ts";
import { reprojectMap, reprojectOnto } from "../../../src/ingest/reprojection/reprojectedRaster.ts";
import { latticeOf, wholeDegreeLattice } from "../../../src/ingest/reprojection/targetGrid.ts";
import { closesAt360 } from "../../../src/kernel/grid.ts";
import { PROJECTED_MAPS, projectedMap } from "./projectedMap.ts";

const UTM = { westX: 300_000, northY: 5_800_000, cellWidth: 1000, cellHeight: 1000, rowCount: 100, columnCount: 120 };

const whole = ({ grid }: Raster) => ({
  band: 1,
  firstRow: 0,
  rowCount: grid.rowCount,
  firstColumn: 0,
  columnCount: grid.columnCount,
});

describe.each(PROJECTED_MAPS)("a reprojected map: %s", (_, definition, plane) => {
  test("has the same values however it is cut into windows", async () => {
    const raster = await reprojectMap(projectedMap(definition, plane));
    const all = await raster.readWindow(whole(raster));
    const { rowCount, columnCount } = raster.grid;
    const cuts = fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { maxLength: 3 });
    const runs = (count: number, shares: readonly number[]): readonly (readonly [number, number])[] => {
      const edges = [...new Set([0, ...shares.map((share) => Math.floor(share * count)), count])].toSorted(
        (a, b) => a - b,
      );
      return edges.slice(1).map((end, i) => [edges[i] ?? 0, end] as const);
    };
    await fc.assert(
      fc.asyncProperty(cuts, cuts, async (rowCuts, columnCuts) => {
        const joined = new Float64Array(all.length);
        for (const [top, bottom] of runs(rowCount, rowCuts)) {
          for (const [left, right] of runs(columnCount, columnCuts)) {
            const window = {
              band: 1,
              firstRow: top,
              rowCount: bottom - top,
              firstColumn: left,
              columnCount: right - left,
            };
            const part = await raster.readWindow(window);
            for (let row = top; row < bottom; row++) {
              const from = (row - top) * window.columnCount;
              joined.set(part.subarray(from, from + window.columnCount), row * columnCount + left);
            }
          }
        }
        expect(Buffer.from(joined.buffer).equals(Buffer.from(Float64Array.from(all).buffer))).toBe(true);
      }),
      { numRuns: 4 },
    );
  });

  test("contains the whole source", async () => {
    const raster = await reprojectMap(projectedMap(definition, plane));
    const values = await raster.readWindow(whole(raster));
    const { rowCount, columnCount } = raster.grid;
    const seen = new Set(values);
    // The target has about the resolution of the source, so that most of its cells appear.
    expect(seen.size).toBeGreaterThan(
      0.5 * plane.rowCount * plane.columnCount * (definition.includes("moll") ? 0.7 : 1),
    );
    if (definition.includes("sinu") || definition.includes("moll")) return;
    // Cells of the edge of the grid are missing, or the grid ends at a pole or closes around the Earth.
    const edges = { north: false, west: false };
    for (let column = 0; column < columnCount; column++) edges.north ||= !Number.isNaN(values[column]);
    for (let row = 0; row < rowCount; row++) edges.west ||= !Number.isNaN(values[row * columnCount]);
    const isOpen = !closesAt360(raster.grid);
    expect([
      raster.grid.northDeg < 90 && edges.north && seen.size === 1,
      isOpen && edges.west && seen.size === 1,
    ]).toEqual([false, false]);
  });
});

describe("the grid of a reprojected map", () => {
  test("has cells of 1/n degree that keep the resolution at the center of the map", async () => {
    const { grid, notes } = await reprojectMap(projectedMap("EPSG:32633", UTM));
    expect(1 / grid.cellSizeLatDeg).toBeCloseTo(112, 9);
    expect(grid.cellSizeLonDeg).toBe(grid.cellSizeLatDeg);
    const perDegree = 112;
    expect(Number.isInteger(grid.northDeg * perDegree) && Number.isInteger(grid.westDeg * perDegree)).toBe(true);
    expect(notes["reprojected"]).toMatchObject({
      from: expect.stringContaining("EPSG:32633") as string,
      datum: "WGS 84",
      source_cell_size: [1000, 1000],
    });
  });

  test("is the given one", async () => {
    const whole120 = await reprojectMap(projectedMap("EPSG:32633", UTM), { lattice: wholeDegreeLattice(1 / 120) });
    expect(whole120.grid.cellSizeLatDeg).toBe(1 / 120);
    const atlas = {
      northDeg: 60.003,
      westDeg: -10.004,
      cellSizeLatDeg: 0.01,
      cellSizeLonDeg: 0.01,
      rowCount: 9,
      columnCount: 9,
    };
    const { grid } = await reprojectMap(projectedMap("EPSG:32633", UTM), { lattice: latticeOf(atlas) });
    const rows = (atlas.northDeg - grid.northDeg) / 0.01;
    const columns = (grid.westDeg - atlas.westDeg) / 0.01;
    expect([Math.abs(rows - Math.round(rows)) < 1e-9, Math.abs(columns - Math.round(columns)) < 1e-9]).toEqual([
      true,
      true,
    ]);
  });

  test("crosses the antimeridian, and closes around a pole", async () => {
    const [, , fiji] = PROJECTED_MAPS.find(([name]) => name.includes("antimeridian")) ?? [];
    if (fiji === undefined) throw new Error("There is no such map.");
    const across = (await reprojectMap(projectedMap("EPSG:32760", fiji))).grid;
    expect(across.westDeg).toBeLessThan(180);
    expect(across.westDeg + across.columnCount * across.cellSizeLonDeg).toBeGreaterThan(180);
    const polar = { westX: -1e6, northY: 1e6, cellWidth: 2e4, cellHeight: 2e4, rowCount: 100, columnCount: 100 };
    const arctic = (await reprojectMap(projectedMap("EPSG:3413", polar))).grid;
    expect(arctic.northDeg).toBe(90);
    expect(closesAt360(arctic)).toBe(true);
  });

  test("is the same when the map is opened again from its description", async () => {
    const source = projectedMap("EPSG:32633", UTM);
    const raster = await reprojectMap(source);
    const again = await reprojectOnto(source, raster.grid);
    expect(again.spec).toEqual(raster.spec);
    expect(await again.readWindow(whole(again))).toEqual(await raster.readWindow(whole(raster)));
  });
});

describe("rejected reprojections", () => {
  const world = {
    westX: -20_037_508,
    northY: 18_000_000,
    cellWidth: 100_000,
    cellHeight: 100_000,
    rowCount: 360,
    columnCount: 400,
  };
  test("rejects a map that would be distorted too much, and names a cell size that fits", async () => {
    const map = projectedMap("EPSG:3857", world);
    const message = await reprojectMap(map).then(
      () => "accepted",
      (error: Error) => error.message,
    );
    expect(message).toMatch(/neighboring cells are up to \d+\.\d+ cells of the map apart .*the limit is 2/);
    const cellSizeDeg = Number(/at most ([\d.]+) degrees/.exec(message)?.[1]);
    await expect(reprojectMap(map, { lattice: wholeDegreeLattice(cellSizeDeg) })).rejects.toThrow(/do not divide 360/);
    const perDegree = Math.ceil(1 / cellSizeDeg);
    const finer = await reprojectMap(map, { lattice: wholeDegreeLattice(1 / perDegree) });
    expect(finer.grid.cellSizeLatDeg).toBe(1 / perDegree);
    await expect(reprojectMap(map, { maxDistortion: 100 })).resolves.toBeDefined();
  });

  test("rejects coordinates that are not on Earth", async () => {
    const plane = { ...UTM, westX: 5e10 };
    await expect(reprojectMap(projectedMap("EPSG:32633", plane))).rejects.toThrow(/map\.tif: .*not on Earth/);
  });

  test("rejects cells that contain no center of the target", async () => {
    const tiny = { ...UTM, rowCount: 1, columnCount: 1 };
    const options = { lattice: wholeDegreeLattice(5), maxDistortion: 1e9 };
    await expect(reprojectMap(projectedMap("EPSG:32633", tiny), options)).rejects.toThrow(
      /center of none of the cells/,
    );
  });

  test("rejects more cells than the limit", async () => {
    const options = { lattice: wholeDegreeLattice(1e-7) };
    await expect(reprojectMap(projectedMap("EPSG:32633", UTM), options)).rejects.toThrow(/the limit is 4000000/);
  });
});

test("reads each block of the source once for a window", async () => {
  let cellCount = 0;
  const source = projectedMap(
    "EPSG:32633",
    { ...UTM, rowCount: 900, columnCount: 900 },
    {
      onRead: ({ rowCount, columnCount }) => (cellCount += rowCount * columnCount),
    },
  );
  const raster = await reprojectMap(source);
  await raster.readWindow(whole(raster));
  await raster.readWindow({ ...whole(raster), rowCount: 10 });
  expect(cellCount).toBe(900 * 900);
  await raster.close();
  await raster.readWindow({ ...whole(raster), rowCount: 200 });
  expect(cellCount).toBeGreaterThan(900 * 900);
});
