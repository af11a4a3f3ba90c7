import geodesic from "geographiclib-geodesic";
import { type Cell, cellCentre, type Grid, type Location, westernmost } from "./grid.ts";
import type { Kernel } from "./instance.ts";
import { RADIUS_M_MAX, STATUS_FULL } from "./kernel.generated.ts";
import { locateCell } from "./points.ts";

export { RADIUS_M_MAX };

/** A circle on the ellipsoid. */
export interface Circle extends Location {
  readonly radiusM: number;
}

/**
 * The cells of a circle, as runs of columns.
 *
 * `spans` holds three numbers for each run: row, first column, last column; rows ascend, and no cell
 * is in two runs.
 */
export interface CircleCells {
  readonly spans: Int32Array;
  readonly spanCount: number;
  /** How many cell centres lay too near the rim for the kernel, so that GeographicLib decided. */
  readonly doubtCount: number;
}

/**
 * Every cell whose centre lies within the geodesic radius, and always the containing cell.
 * Equals "GeographicLib's distance <= radius" for every cell: the kernel decides all but those within
 * 2e-6 m of the rim, and GeographicLib those. The formula is in assembly/geodesy.ts.
 *
 * @throws KernelError for a radius outside 0 to 140 km, a latitude beyond a pole, a longitude that is no
 *   number, or a grid that is none
 */
export function rowSpans(kernel: Kernel, grid: Grid, circle: Circle): CircleCells {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const { latDeg, radiusM } = circle;
  const lonDeg = westernmost(grid, circle.lonDeg);

  const { spans, doubts } = kernel.withScratch((scratch) => {
    const isAskable = radiusM <= RADIUS_M_MAX && cellSizeLatDeg > 0 && rowCount > 0; // else the kernel refuses
    const rowsWithin = isAskable ? Math.min(rowCount, Math.ceil((2 * radiusM) / 110_000 / cellSizeLatDeg) + 8) : 0;
    const spanRegion = scratch.reserve(rowsWithin * 3 * 12);
    const counts = scratch.reserve(8);
    for (let doubtCapacity = 256; ; doubtCapacity *= 16) {
      const again = kernel.withScratch((inner) => {
        const doubtRegion = inner.reserve(doubtCapacity * 8);
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
          doubtRegion.pointer,
          doubtCapacity,
          counts.pointer,
        );
        if (status === STATUS_FULL && doubtCapacity < 1 << 20) return undefined;
        kernel.check(status, "rowSpans");
        const [spanCount = 0, doubtCount = 0] = kernel.i32(counts);
        return {
          spans: kernel.i32(spanRegion).slice(0, spanCount * 3),
          doubts: kernel.i32(doubtRegion).slice(0, doubtCount * 2),
        };
      });
      if (again !== undefined) return again;
    }
  });

  const container = locateCell(kernel, grid, circle);
  const isMissing = container !== undefined && !holds(spans, container);
  if (doubts.length === 0 && !isMissing) return { spans, spanCount: spans.length / 3, doubtCount: 0 };

  // Rare: rebuild the rows where GeographicLib, or the containing cell, has the word.
  const decisions = new Map<number, Map<number, boolean>>(); // row, column, is inside
  const decide = ({ row, column }: Cell, isInside: boolean): void => {
    const inRow = decisions.get(row) ?? new Map<number, boolean>();
    decisions.set(row, inRow.set(column, isInside));
  };
  for (let i = 0; i < doubts.length; i += 2) {
    const cell = { row: doubts[i] ?? 0, column: doubts[i + 1] ?? 0 };
    decide(cell, isWithin(grid, circle, cell));
  }
  let doubtCount = 0;
  for (const inRow of decisions.values()) doubtCount += inRow.size;
  if (container !== undefined) decide(container, true);
  const mended = mendRows(spans, decisions);
  return { spans: mended, spanCount: mended.length / 3, doubtCount };
}

/** GeographicLib (Karney, J. Geodesy 87, 2013) is the judge of "inside". */
function isWithin(grid: Grid, circle: Circle, cell: Cell): boolean {
  return geodesicDistanceM(circle, cellCentre(grid, cell)) <= circle.radiusM;
}

/** Length of the shortest way between two places on the WGS84 ellipsoid, metres. */
export function geodesicDistanceM(from: Location, to: Location): number {
  const { s12 } = geodesic.Geodesic.WGS84.Inverse(
    from.latDeg,
    from.lonDeg,
    to.latDeg,
    to.lonDeg,
    geodesic.Geodesic.DISTANCE,
  );
  if (s12 === undefined) throw new Error("GeographicLib gave no distance.");
  return s12;
}

function holds(spans: Int32Array, { row, column }: Cell): boolean {
  for (let i = 0; i < spans.length; i += 3) {
    if (spans[i] === row && (spans[i + 1] ?? 0) <= column && column <= (spans[i + 2] ?? 0)) return true;
  }
  return false;
}

type Run = readonly [first: number, last: number];

function mendRows(spans: Int32Array, decisions: ReadonlyMap<number, ReadonlyMap<number, boolean>>): Int32Array {
  const runsByRow = new Map<number, readonly Run[]>();
  for (let i = 0; i < spans.length; i += 3) {
    const row = spans[i] ?? 0;
    runsByRow.set(row, [...(runsByRow.get(row) ?? []), [spans[i + 1] ?? 0, spans[i + 2] ?? 0]]);
  }
  for (const [row, decided] of decisions) runsByRow.set(row, mendRow(runsByRow.get(row) ?? [], decided));
  const rows = [...runsByRow].toSorted(([a], [b]) => a - b);
  return Int32Array.from(rows.flatMap(([row, runs]) => runs.flatMap(([first, last]) => [row, first, last])));
}

/** Cell by cell: at a pole, a rim along a parallel puts every cell of the row in doubt. */
function mendRow(runs: readonly Run[], decided: ReadonlyMap<number, boolean>): Run[] {
  let west = Infinity;
  let east = -Infinity;
  for (const [first, last] of runs) [west, east] = [Math.min(west, first), Math.max(east, last)];
  for (const column of decided.keys()) [west, east] = [Math.min(west, column), Math.max(east, column)];
  const isInside = new Uint8Array(east - west + 1);
  for (const [first, last] of runs) isInside.fill(1, first - west, last + 1 - west);
  for (const [column, inside] of decided) isInside[column - west] = inside ? 1 : 0;

  const mended: Run[] = [];
  for (let first = isInside.indexOf(1); first >= 0;) {
    const end = isInside.indexOf(0, first);
    const after = end < 0 ? isInside.length : end;
    mended.push([first + west, after - 1 + west]);
    first = isInside.indexOf(1, after);
  }
  return mended;
}

/**
 * The area of one cell of each row, but for a factor that all rows share.
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
