/**
 * Maps with the centers of the first and last row on the poles, as in climate reanalyses. The outer edges of the grid are
 * half a cell beyond the poles, and rounding moves the centers slightly.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gridFault } from "../../src/atlas/catalog.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import { verifyAtlas } from "../../src/atlas/verify.ts";
import { hazards } from "../../src/host/routes/hazards.ts";
import type { RouteContext, Services } from "../../src/host/route.ts";
import { type Atlas, openAtlas } from "../../src/index.ts";
import { ingestLayers } from "../../src/ingest/ingest.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { circleSpansByBisection } from "../oracle/circleSpans.ts";
import { centerByDefinition, summarizeByDefinition } from "../oracle/radius.ts";
import { containingCellByDefinition, type OracleCell, type OracleGrid } from "../oracle/points.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { makeGeoTiff } from "./makeGeoTiff.ts";

interface Catalog {
  readonly hazards: readonly { readonly hazard: string; readonly coverage: object | null }[];
}

const LOCATION_COUNT = 60;
const CIRCLE_COUNT = 60;
/** Some cells are missing, including cells of the last rows and columns. */
const isMissing = ({ row, column }: OracleCell): boolean => (row * 7 + column * 13) % 11 === 0;
const depthAt = ({ row, column }: OracleCell): number => Math.fround(((row * 31 + column * 17) % 4000) / 100);
const NODATA = 65_535;
const stepsOf = (cell: OracleCell): number => (isMissing(cell) ? NODATA : Math.round(depthAt(cell) * 1000));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns a location on or near a pole, in either hemisphere, on the seam or on a cell center. */
function randomLocation(random: SeededRandom, grid: OracleGrid): { latDeg: number; lonDeg: number } {
  const sign = random.chance(0.6) ? -1 : 1;
  const lonDeg = random.pick([180, -180, 0, random.between({ min: -180, max: 180 })]);
  switch (random.below(5)) {
    case 0:
      return { latDeg: sign * 90, lonDeg };
    case 1:
      return { latDeg: sign * (90 - 2 * random.next() ** 2), lonDeg };
    case 2: {
      const cell = { row: random.below(grid.rowCount), column: random.below(grid.columnCount) };
      const center = centerByDefinition(grid, cell);
      return { latDeg: center.latDeg, lonDeg: center.lonDeg - 360 * Math.floor((center.lonDeg + 180) / 360) };
    }
    default:
      return { latDeg: sign * random.between({ min: 0, max: 90 }), lonDeg };
  }
}

describe.each([
  { sizeDeg: 0.1, rowCount: 1801, columnCount: 3600, firstLonDeg: 0 },
  { sizeDeg: 0.25, rowCount: 721, columnCount: 1440, firstLonDeg: -180 },
  { sizeDeg: 0.5, rowCount: 361, columnCount: 720, firstLonDeg: 0 },
])("a world of $rowCount x $columnCount cells with centers on the poles", (world) => {
  const { sizeDeg, rowCount, columnCount, firstLonDeg } = world;
  const grid: OracleGrid = {
    northDeg: 90 + sizeDeg / 2,
    westDeg: firstLonDeg - sizeDeg / 2,
    cellSizeLatDeg: sizeDeg,
    cellSizeLonDeg: sizeDeg,
    rowCount,
    columnCount,
  };
  let atlas: Atlas;
  let out: string;
  let manifest: string;

  beforeAll(async () => {
    out = join(folder, `atlas-${rowCount}`);
    manifest = join(folder, `${rowCount}.json`);
    const values = new Float32Array(rowCount * columnCount);
    for (let row = 0; row < rowCount; row++) {
      for (let column = 0; column < columnCount; column++) {
        const cell = { row, column };
        values[row * columnCount + column] = isMissing(cell) ? -9999 : depthAt(cell);
      }
    }
    const tiePoint = [firstLonDeg, 90] as const;
    const pixelScale = [sizeDeg, sizeDeg] as const;
    const more = { pixelIsPoint: true, rowsPerStrip: 64, nodata: "-9999" };
    await writeFile(
      join(folder, `${rowCount}.tif`),
      makeGeoTiff({ rowCount, columnCount, values, tiePoint, pixelScale, ...more }),
    );
    const layers = [{ scenario: "baseline", year: 1980, metric: "depth_meters", file: `${rowCount}.tif` }];
    const source = { name: "Test", licence: "none" };
    await writeFile(manifest, JSON.stringify({ hazard: "riverine_floods", source, layers }));
    await ingestLayers({ manifest, out });
    atlas = await openAtlas(out);
  }, 120_000);
  afterAll(async () => {
    await atlas.close();
  });

  const query = async (location: { latDeg: number; lonDeg: number }, more: object = {}) => {
    const result = await atlas.hazardRisk({
      latitude: location.latDeg,
      longitude: location.lonDeg,
      hazards: ["riverine_floods"],
      analysis_years: [1980],
      scenarios: ["baseline"],
      detail: true,
      ...more,
    });
    return result.results[0]?.scenarios[0]?.analysis_years[0];
  };

  test("reads the cell that contains each location and reports a center on Earth", async () => {
    const random = randomFrom(rowCount);
    const poles = [90, -90].flatMap((latDeg) => [0, 179.9, -0.04].map((lonDeg) => ({ latDeg, lonDeg })));
    const locations = [...poles, ...Array.from({ length: LOCATION_COUNT }, () => randomLocation(random, grid))];
    for (const location of locations) {
      const cell = containingCellByDefinition(grid, location);
      expect(cell, JSON.stringify(location)).toBeDefined();
      const year = await query(location);
      const steps = stepsOf(cell as OracleCell);
      expect(year?.metrics["depth_meters"], JSON.stringify(location)).toBe(steps === NODATA ? null : steps / 1000);
      const latitude = year?.detail?.cell_center?.latitude ?? NaN;
      expect(Math.abs(latitude)).toBeLessThanOrEqual(90);
      expect(latitude).toBeCloseTo(90 - sizeDeg * (cell?.row ?? NaN), 9);
    }
  });

  test("selects the cells of a circle that GeographicLib finds, with half-cell areas at the poles", async () => {
    const random = randomFrom(rowCount + 1);
    let polarCount = 0;
    for (let i = 0; i < CIRCLE_COUNT; i++) {
      const location = randomLocation(random, grid);
      const radiusM = 1000 * random.between({ min: 1, max: 100 });
      if (Math.abs(location.latDeg) > 89.1) polarCount++;
      const runs = circleSpansByBisection(grid, { ...location, radiusM });
      const cells: OracleCell[] = [];
      for (let run = 0; run < runs.length; run += 3) {
        for (let column = runs[run + 1] ?? 0; column <= (runs[run + 2] ?? -1); column++) {
          cells.push({ row: runs[run] ?? 0, column });
        }
      }
      const expected = summarizeByDefinition(grid, cells, stepsOf);
      for (const aggregation_method of ["max", "mean"] as const) {
        const year = await query(location, { radius: radiusM / 1000, aggregation_method });
        const context = JSON.stringify({ location, radiusM, aggregation_method });
        expect(year?.detail?.cells, context).toBe(cells.length);
        const value = year?.metrics["depth_meters"] ?? undefined;
        const { maxSteps, meanSteps = NaN } = expected;
        if (maxSteps === undefined) expect(value, context).toBeUndefined();
        else if (aggregation_method === "max") expect(value, context).toBe(maxSteps / 1000);
        else expect(Math.abs((value ?? NaN) * 1000 - meanSteps), context).toBeLessThanOrEqual(1e-10 * meanSteps);
      }
    }
    expect(polarCount).toBeGreaterThan(CIRCLE_COUNT / 5);
  });

  test("reports coverage from pole to pole in the list of hazards", () => {
    const services = { atlas } as unknown as Services;
    const catalog = hazards.handle(undefined, { services } as unknown as RouteContext) as Catalog;
    const { coverage } = catalog.hazards.find(({ hazard }) => hazard === "riverine_floods") ?? {};
    expect(coverage).toMatchObject({ north: 90, south: -90 });
  });

  test("has a valid pyramid", async () => {
    const blobs = diskBlobs(out);
    const opened = await openPackedAtlas(await Kernel.load(), blobs, { headerCacheBytes: 1 << 20 });
    const { problems } = await verifyAtlas(opened, { blobs });
    await opened.close();
    expect(problems).toEqual([]);
  });

  test("is selected completely by a bbox around the world, regardless of the longitude of its seam", async () => {
    const bbox = { westDeg: -180, southDeg: -90, eastDeg: 180, northDeg: 90 };
    const { groups } = await ingestLayers({ manifest, out: join(folder, `boxed-${rowCount}`), bbox });
    const { valid = 0, nodata = 0 } = groups[0]?.cells ?? {};
    expect(valid + nodata).toBe(rowCount * columnCount);
  });
});

describe("gridFault", () => {
  const grid = {
    northDeg: 90.05,
    westDeg: 0,
    cellSizeLatDeg: 0.1,
    cellSizeLonDeg: 0.1,
    rowCount: 1801,
    columnCount: 1,
  };

  test("accepts row centers that rounding moves beyond a pole", () => {
    expect(gridFault(grid)).toBeUndefined();
    expect(gridFault({ ...grid, northDeg: 90.0500001 })).toBeUndefined();
    expect(gridFault({ ...grid, cellSizeLatDeg: Math.fround(0.1) })).toBeUndefined();
  });

  test.each([
    ["north", { northDeg: 90.06 }],
    ["south", { northDeg: 90, rowCount: 1801 }],
    ["NaN", { northDeg: NaN }],
  ])("rejects row centers clearly beyond a pole (%s)", (_, more) => {
    expect(gridFault({ ...grid, ...more })).toMatch(/the centers of all rows must be between the poles/);
  });
});
