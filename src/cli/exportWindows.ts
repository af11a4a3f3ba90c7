/** The cells of a grid that a box touches, also if the box crosses the antimeridian or the seam of the grid. */
import { Fault } from "../errors.ts";
import type { BoundingBox } from "../ingest/ingest.ts";
import { checkBox } from "../ingest/options.ts";
import type { CellWindow } from "../ingest/raster.ts";
import { windowOf } from "../ingest/target.ts";
import { closesAt360, type Grid } from "../kernel/grid.ts";

/** Longitudes that differ by less than this fraction of a cell are equal. */
const TOLERANCE_CELLS = 1e-3;

/**
 * Returns the cells that a box touches as one window, or as two with the same rows: the last columns of the grid, and the first
 * ones, which continue them in the east.
 *
 * @param bbox with W > E if it crosses the antimeridian, as in GeoJSON; or with E above 180
 * @throws Fault `invalid_request` if the box is not in range, touches no cell, or touches both ends of a grid that does not go around
 *   the Earth
 */
export function windowsOf(grid: Grid, bbox: BoundingBox): readonly CellWindow[] {
  const box = eastOfWest(bbox);
  checkBox(box);
  const seamDeg = seamEastOf(grid, box.westDeg);
  const toleranceDeg = TOLERANCE_CELLS * grid.cellSizeLonDeg;
  const isAroundEarth = box.eastDeg - box.westDeg >= 360 - toleranceDeg;
  if (isAroundEarth || box.eastDeg <= seamDeg + toleranceDeg) return [windowOf(grid, box)];
  const [westBox, eastBox] = [
    { ...box, eastDeg: seamDeg },
    { ...box, westDeg: seamDeg },
  ];
  if (closesAt360(grid)) {
    const [west, east] = [windowOf(grid, westBox), windowOf(grid, eastBox)];
    // A box of almost 360 degrees may begin and end in the same column.
    const columnCount = Math.min(east.columnCount, grid.columnCount - west.columnCount);
    return columnCount === 0 ? [west] : [west, { ...east, columnCount }];
  }
  // The grid begins at the seam and ends before the next one, so that the box contains at least one of its ends.
  const endDeg = seamDeg - 360 + grid.columnCount * grid.cellSizeLonDeg;
  if (box.westDeg >= endDeg - toleranceDeg) return [windowOf(grid, eastBox)];
  throw new Fault(
    "invalid_request",
    `The box ${bbox.westDeg},${bbox.southDeg},${bbox.eastDeg},${bbox.northDeg} touches both ends of a grid that has no cells between longitude ` +
      `${endDeg} and ${seamDeg}. Export the two sides separately.`,
  );
}

/** Returns a box whose east edge is east of its west edge, both from -360 to 360 degrees. */
function eastOfWest(box: BoundingBox): BoundingBox {
  const { westDeg, eastDeg } = box;
  if (!(westDeg > eastDeg)) return box;
  return eastDeg > 0 ? { ...box, westDeg: westDeg - 360 } : { ...box, eastDeg: eastDeg + 360 };
}

/** Returns the first longitude east of another at which the grid begins. */
function seamEastOf({ westDeg, cellSizeLonDeg }: Grid, lonDeg: number): number {
  const turns = Math.floor((lonDeg - westDeg) / 360 + (TOLERANCE_CELLS * cellSizeLonDeg) / 360) + 1;
  return westDeg + 360 * turns;
}
