/** Positions of cells in the grid of a projected map. */
import { type Cell, type Grid } from "../../kernel/grid.ts";
import { describeCell, type PlaneGrid } from "../raster.ts";
import type { PlanePoint, Projection } from "./projection.ts";

/** Returns a grid in degrees of latitude and longitude. */
export function gridOfPlane({ westX, northY, cellWidth, cellHeight, rowCount, columnCount }: PlaneGrid): Grid {
  return {
    northDeg: northY,
    westDeg: westX,
    cellSizeLatDeg: cellHeight,
    cellSizeLonDeg: cellWidth,
    rowCount,
    columnCount,
  };
}

/** Returns a grid whose coordinates are in a unit of length, in meters. @param unitM the unit in meters */
export function planeInMeters(plane: PlaneGrid, unitM: number): PlaneGrid {
  return {
    ...plane,
    westX: plane.westX * unitM,
    northY: plane.northY * unitM,
    cellWidth: plane.cellWidth * unitM,
    cellHeight: plane.cellHeight * unitM,
  };
}

/** Describes a cell in a message: row and column from the northwest, and the coordinates of its center in the file. */
export function describePlaneCell(plane: PlaneGrid, isProjected: boolean, cell: Cell): string {
  if (!isProjected) return describeCell(gridOfPlane(plane), cell);
  const x = plane.westX + (cell.column + 0.5) * plane.cellWidth;
  const y = plane.northY - (cell.row + 0.5) * plane.cellHeight;
  return `row ${cell.row}, column ${cell.column} (x ${x}, y ${y})`;
}

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
