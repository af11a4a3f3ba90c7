/** Positions of cells in the grid of a projected map. */
import type { PlaneGrid } from "../raster.ts";
import type { PlanePoint, Projection } from "./projection.ts";

/** A position counted in cells from the northwest corner of a grid; the first cell spans from 0 to 1. */
export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/**
 * Returns the position of a point in a grid. In a projection in which x repeats, the equivalent position in or east of the
 * first column is returned.
 */
function positionOf(plane: PlaneGrid, { x, y }: PlanePoint, periodX: number | undefined): CellPosition {
  const distance = x - plane.westX;
  // A position at the west edge may be west of it by rounding.
  const margin = 1e-6 * plane.cellWidth;
  const east = periodX === undefined ? distance : distance - periodX * Math.floor((distance + margin) / periodX);
  return { row: (plane.northY - y) / plane.cellHeight, column: east / plane.cellWidth };
}

/** Returns the position in a grid of a location on Earth, or undefined outside of the domain of the projection. */
export function locate(
  { forward, periodX }: Projection,
  plane: PlaneGrid,
  lonDeg: number,
  latDeg: number,
): CellPosition | undefined {
  const point = forward(lonDeg, latDeg);
  return point === undefined ? undefined : positionOf(plane, point, periodX);
}

/** Returns whether a position is in a grid. */
export function isInside({ rowCount, columnCount }: PlaneGrid, { row, column }: CellPosition): boolean {
  return row >= 0 && row < rowCount && column >= 0 && column < columnCount;
}
