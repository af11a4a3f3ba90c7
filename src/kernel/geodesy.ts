import geodesic from "geographiclib-geodesic";
import { type Cell, cellCenter, type Grid, locateCell, type Location, normalizeLonDeg } from "./grid.ts";
import type { Kernel } from "./instance.ts";
import { RADIUS_M_MAX, STATUS_FULL } from "./kernel.generated.ts";

export { RADIUS_M_MAX };

/** A circle on the ellipsoid. */
export interface Circle extends Location {
  readonly radiusM: number;
}

/** The cells of a circle, as row spans. */
export interface CircleCells {
  /** i32[spanCount][3]: row, first column, last column; rows ascending, spans disjoint. */
  readonly spans: Int32Array;
  readonly spanCount: number;
  /** Number of cells that GeographicLib had to classify because their centers are close to the rim. */
  readonly ambiguousCount: number;
}

/**
 * Returns the cells with centers within the geodesic radius, and always the cell that contains the location.
 * Equivalent to testing GeographicLib's distance <= radius for every cell: GeographicLib classifies the cells within
 * 2e-6 m of the rim, and the kernel all others. The formula is in assembly/geodesy.ts.
 *
 * @throws KernelError for a radius outside 0 to 140 km, a latitude beyond a pole, a longitude that is not finite, or an
 *   invalid grid
 */
export function rowSpans(kernel: Kernel, grid: Grid, circle: Circle): CircleCells {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const { latDeg, radiusM } = circle;
  const lonDeg = normalizeLonDeg(grid, circle.lonDeg);

  const { spans, ambiguous } = kernel.withScratch((scratch) => {
    const isValid = radiusM <= RADIUS_M_MAX && cellSizeLatDeg > 0 && rowCount > 0; // otherwise the kernel returns an error status
    const rowsWithin = isValid ? Math.min(rowCount, Math.ceil((2 * radiusM) / 110_000 / cellSizeLatDeg) + 8) : 0;
    const spanRegion = scratch.reserve(rowsWithin * 3 * 12);
    const counts = scratch.reserve(8);
    for (let ambiguousCapacity = 256; ; ambiguousCapacity *= 16) {
      const result = kernel.withScratch((inner) => {
        const ambiguousRegion = inner.reserve(ambiguousCapacity * 8);
        const status = kernel.exports.rowSpans(
          northDeg,
          westDeg,
          cellSizeLatDeg,
          cellSizeLonDeg,
          rowCount,
          columnCount,
          latDeg,
          lonDeg,
          radiusM,
          spanRegion.pointer,
          rowsWithin * 3,
          ambiguousRegion.pointer,
          ambiguousCapacity,
          counts.pointer,
        );
        if (status === STATUS_FULL && ambiguousCapacity < 1 << 20) return undefined;
        kernel.check(status, "rowSpans");
        const [spanCount = 0, ambiguousCount = 0] = kernel.i32(counts);
        return {
          spans: kernel.i32(spanRegion).slice(0, spanCount * 3),
          ambiguous: kernel.i32(ambiguousRegion).slice(0, ambiguousCount * 2),
        };
      });
      if (result !== undefined) return result;
    }
  });

  const containingCell = locateCell(kernel, grid, circle);
  const isContainingCellMissing = containingCell !== undefined && !containsCell(spans, containingCell);
  if (ambiguous.length === 0 && !isContainingCellMissing)
    return { spans, spanCount: spans.length / 3, ambiguousCount: 0 };

  // This is rare: only the rows that have ambiguous cells or the containing cell are rebuilt.
  const decisions = new Map<number, Map<number, boolean>>(); // row, column, is inside
  const decide = ({ row, column }: Cell, isInside: boolean): void => {
    const inRow = decisions.get(row) ?? new Map<number, boolean>();
    decisions.set(row, inRow.set(column, isInside));
  };
  for (let i = 0; i < ambiguous.length; i += 2) {
    const cell = { row: ambiguous[i] ?? 0, column: ambiguous[i + 1] ?? 0 };
    decide(cell, isWithin(grid, circle, cell));
  }
  let ambiguousCount = 0;
  for (const inRow of decisions.values()) ambiguousCount += inRow.size;
  if (containingCell !== undefined) decide(containingCell, true);
  const merged = applyDecisions(spans, decisions);
  return { spans: merged, spanCount: merged.length / 3, ambiguousCount };
}

/** Returns whether a cell is in the circle, as GeographicLib (Karney, J. Geodesy 87, 2013) defines it. */
function isWithin(grid: Grid, circle: Circle, cell: Cell): boolean {
  return geodesicDistanceM(circle, cellCenter(grid, cell)) <= circle.radiusM;
}

/** Returns the length of the shortest path between two locations on the WGS84 ellipsoid, meters. */
export function geodesicDistanceM(from: Location, to: Location): number {
  const { s12 } = geodesic.Geodesic.WGS84.Inverse(
    from.latDeg,
    from.lonDeg,
    to.latDeg,
    to.lonDeg,
    geodesic.Geodesic.DISTANCE,
  );
  if (s12 === undefined) throw new Error("GeographicLib returned no distance");
  return s12;
}

function containsCell(spans: Int32Array, { row, column }: Cell): boolean {
  for (let i = 0; i < spans.length; i += 3) {
    if (spans[i] === row && (spans[i + 1] ?? 0) <= column && column <= (spans[i + 2] ?? 0)) return true;
  }
  return false;
}

type ColumnRange = readonly [first: number, last: number];

/** Applies decisions on single cells to spans. */
function applyDecisions(spans: Int32Array, decisions: ReadonlyMap<number, ReadonlyMap<number, boolean>>): Int32Array {
  const rangesByRow = new Map<number, readonly ColumnRange[]>();
  for (let i = 0; i < spans.length; i += 3) {
    const row = spans[i] ?? 0;
    rangesByRow.set(row, [...(rangesByRow.get(row) ?? []), [spans[i + 1] ?? 0, spans[i + 2] ?? 0]]);
  }
  for (const [row, decided] of decisions) rangesByRow.set(row, applyRowDecisions(rangesByRow.get(row) ?? [], decided));
  const rows = [...rangesByRow].toSorted(([a], [b]) => a - b);
  return Int32Array.from(rows.flatMap(([row, ranges]) => ranges.flatMap(([first, last]) => [row, first, last])));
}

/**
 * Rebuilds one row cell by cell, because around a pole the rim may follow a parallel, which makes every cell of the row
 * ambiguous.
 */
function applyRowDecisions(ranges: readonly ColumnRange[], decided: ReadonlyMap<number, boolean>): ColumnRange[] {
  let west = Infinity;
  let east = -Infinity;
  for (const [first, last] of ranges) [west, east] = [Math.min(west, first), Math.max(east, last)];
  for (const column of decided.keys()) [west, east] = [Math.min(west, column), Math.max(east, column)];
  const isInside = new Uint8Array(east - west + 1);
  for (const [first, last] of ranges) isInside.fill(1, first - west, last + 1 - west);
  for (const [column, inside] of decided) isInside[column - west] = inside ? 1 : 0;

  const merged: ColumnRange[] = [];
  for (let first = isInside.indexOf(1); first >= 0;) {
    const end = isInside.indexOf(0, first);
    const after = end < 0 ? isInside.length : end;
    merged.push([first + west, after - 1 + west]);
    first = isInside.indexOf(1, after);
  }
  return merged;
}

/**
 * Computes the relative area of one cell of each row.
 *
 * @returns f64[rowCount]
 */
export function rowWeights(
  kernel: Kernel,
  grid: Grid,
  rows: { readonly firstRow: number; readonly rowCount: number },
): Float64Array {
  return kernel.withScratch((scratch) => {
    const out = scratch.reserve(rows.rowCount * 8);
    kernel.check(
      kernel.exports.rowWeights(grid.northDeg, grid.cellSizeLatDeg, rows.firstRow, rows.rowCount, out.pointer),
      "rowWeights",
    );
    return kernel.f64(out).slice();
  });
}
