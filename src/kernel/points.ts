import type { Cell, Grid, Location } from "./grid.ts";
import type { Kernel } from "./instance.ts";

/** Rows and columns of many locations; both are -1 outside the grid. */
export interface LocatedCells {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

/**
 * Finds the cells that contain the locations. Longitudes are taken modulo 360. The rule for cell edges is in
 * assembly/points.ts.
 *
 * @throws RangeError if the arrays differ in length, KernelError if the grid is invalid
 */
export function locateCells(
  kernel: Kernel,
  grid: Grid,
  locations: { readonly latitudes: Float64Array; readonly longitudes: Float64Array },
): LocatedCells {
  const { latitudes, longitudes } = locations;
  const count = latitudes.length;
  if (longitudes.length !== count) {
    throw new RangeError(`latitudes and longitudes must have equal lengths (got ${count} and ${longitudes.length})`);
  }
  return kernel.withScratch((scratch) => {
    const lats = scratch.copyIn(latitudes);
    const lons = scratch.copyIn(longitudes);
    const rows = scratch.reserve(count * 4);
    const columns = scratch.reserve(count * 4);
    const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
    kernel.check(
      kernel.exports.locateCells(
        northDeg,
        westDeg,
        cellSizeLatDeg,
        cellSizeLonDeg,
        rowCount,
        columnCount,
        lats.pointer,
        lons.pointer,
        count,
        rows.pointer,
        columns.pointer,
      ),
      "locateCells",
    );
    return { rows: kernel.i32(rows).slice(), columns: kernel.i32(columns).slice() };
  });
}

/** Returns the cell that contains the location, or undefined outside the grid. */
export function locateCell(kernel: Kernel, grid: Grid, { latDeg, lonDeg }: Location): Cell | undefined {
  const { rows, columns } = locateCells(kernel, grid, {
    latitudes: Float64Array.of(latDeg),
    longitudes: Float64Array.of(lonDeg),
  });
  const [row = -1] = rows;
  const [column = -1] = columns;
  return row < 0 ? undefined : { row, column };
}
