import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HazardCatalog, HazardName } from "../../src/contract/wireTypes.ts";
import type { MapRing } from "../../src/explorer/map/mapOverlay.ts";
import { geodesicCircle } from "../../src/explorer/place/geodesicCircle.ts";
import { describeHazards } from "../../src/hazard/hazardCatalog.ts";
import type { Atlas } from "../../src/hazard/answer.ts";
import { openAtlas } from "../../src/openAtlas.ts";
import { circleSpansByBisection } from "../oracle/circleSpans.ts";
import { containingCellByDefinition, type OracleGrid } from "../oracle/points.ts";
import { randomFrom } from "../seededRandom.ts";

interface Circle {
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusKm: number;
}

const CIRCLE_COUNT = 100;
const random = randomFrom(20_261_123);
const circles: readonly Circle[] = Array.from({ length: CIRCLE_COUNT }, (_, index) => {
  const radiusKm = random.between({ min: 0.5, max: 100 });
  const radiusDeg = radiusKm / 111;
  const longitude = random.between({ min: -180, max: 180 });
  const sign = random.chance(0.5) ? 1 : -1;
  switch (index % 5) {
    case 0: // contains a pole, or is close to it
      return { radiusKm, longitude, latitude: sign * random.between({ min: 90 - 1.5 * radiusDeg, max: 90 }) };
    case 1: // crosses the antimeridian
      return { radiusKm, longitude: sign * 180, latitude: random.between({ min: -75, max: 75 }) };
    default:
      return { radiusKm, longitude, latitude: random.between({ min: -85, max: 85 }) };
  }
});

/** Ranges of columns, by row. Columns east of the last one of a global grid are those after the first one. */
type ColumnRanges = Map<number, (readonly [first: number, last: number])[]>;

/** Returns the cells with centers inside a ring, by the even-odd rule along each row of the grid. */
function cellsInside(ring: MapRing, grid: OracleGrid): ColumnRanges {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount } = grid;
  const rowOf = (latDeg: number): number => (northDeg - latDeg) / cellSizeLatDeg - 0.5;
  const crossings = new Map<number, number[]>();
  for (const [index, from] of ring.entries()) {
    const to = ring[(index + 1) % ring.length] ?? from;
    const [start, end] = [rowOf(from.latitude), rowOf(to.latitude)];
    const last = Math.min(rowCount, Math.max(start, end));
    for (let row = Math.max(0, Math.ceil(Math.min(start, end))); row < last; row++) {
      const longitude = from.longitude + ((row - start) / (end - start)) * (to.longitude - from.longitude);
      const inRow = crossings.get(row) ?? [];
      inRow.push((longitude - westDeg) / cellSizeLonDeg - 0.5);
      crossings.set(row, inRow);
    }
  }
  const ranges: ColumnRanges = new Map();
  for (const [row, columns] of crossings) {
    const sorted = columns.toSorted((a, b) => a - b);
    expect(sorted.length % 2).toBe(0);
    for (let pair = 0; pair < sorted.length; pair += 2) {
      addRange(ranges, row, Math.ceil(sorted[pair] ?? 0), Math.floor(sorted[pair + 1] ?? -1));
    }
  }
  return ranges;
}

function cellsByOracle(grid: OracleGrid, { latitude, longitude, radiusKm }: Circle): ColumnRanges {
  const spans = circleSpansByBisection(grid, { latDeg: latitude, lonDeg: longitude, radiusM: radiusKm * 1000 });
  const ranges: ColumnRanges = new Map();
  for (let index = 0; index < spans.length; index += 3) {
    const [row = 0, first = 0, last = -1] = spans.subarray(index, index + 3);
    addRange(ranges, row, first, last);
  }
  return ranges;
}

function addRange(ranges: ColumnRanges, row: number, first: number, last: number): void {
  if (last >= first) ranges.set(row, [...(ranges.get(row) ?? []), [first, last]]);
}

/** Moves the columns into a global grid, and merges ranges that overlap or touch, so that equal cells have equal ranges. */
function normalized(
  ranges: ColumnRanges,
  columnCount: number,
): [row: number, columns: (readonly [number, number])[]][] {
  return [...ranges]
    .toSorted(([a], [b]) => a - b)
    .map(([row, inRow]) => {
      const parts = inRow.flatMap(([first, last]): (readonly [number, number])[] => {
        if (last - first + 1 >= columnCount) return [[0, columnCount - 1]];
        const start = ((first % columnCount) + columnCount) % columnCount;
        const end = start + last - first;
        if (end < columnCount) return [[start, end]];
        return [
          [start, columnCount - 1],
          [0, end - columnCount],
        ];
      });
      const merged: [number, number][] = [];
      for (const [first, last] of parts.toSorted(([a], [b]) => a - b)) {
        const before = merged.at(-1);
        if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
        else merged.push([first, last]);
      }
      return [row, merged];
    });
}

describe.each<HazardName>(["riverine_floods", "cyclones"])("circles on the grid of %s", (hazard) => {
  let atlas: Atlas;
  let catalog: HazardCatalog;
  let grid: OracleGrid;

  beforeAll(async () => {
    atlas = await openAtlas("demo");
    catalog = describeHazards(atlas);
    const found = catalog.hazards.find((entry) => entry.hazard === hazard)?.grid;
    if (found === null || found === undefined) throw new Error("the demo has all hazards");
    grid = {
      northDeg: found.north_deg,
      westDeg: found.west_deg,
      cellSizeLatDeg: found.cell_size_lat_deg,
      cellSizeLonDeg: found.cell_size_lon_deg,
      rowCount: found.row_count,
      columnCount: found.column_count,
    };
  });
  afterAll(() => atlas.close());

  test.each(circles)(
    "$radiusKm km around $latitude, $longitude contains the cells that the engine counts",
    async (circle) => {
      const { latitude, longitude, radiusKm } = circle;
      const ranges = cellsInside(geodesicCircle(circle, radiusKm), grid);
      // The cell that contains the location always counts, also if its center is outside.
      const containing = containingCellByDefinition(grid, { latDeg: latitude, lonDeg: longitude });
      if (containing !== undefined) addRange(ranges, containing.row, containing.column, containing.column);
      const inside = normalized(ranges, grid.columnCount);
      expect(inside).toEqual(normalized(cellsByOracle(grid, circle), grid.columnCount));
      const cellCount = inside
        .flatMap(([, columns]) => columns)
        .reduce((sum, [first, last]) => sum + last - first + 1, 0);
      const { results } = await atlas.hazardRisk({
        latitude,
        longitude,
        hazards: [hazard],
        analysis_years: [1980],
        scenarios: ["baseline"],
        radius: radiusKm,
        detail: true,
      });
      expect(results[0]?.scenarios[0]?.analysis_years[0]?.detail?.cells).toBe(cellCount);
    },
  );
});
