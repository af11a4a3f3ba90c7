/** Converts between WGS84 degrees and the plane of a coordinate system, with proj4. */
import type proj4Module from "proj4";
import { type CrsDefinition, projStringOf } from "../crsDefinition.ts";
import { requirePackages } from "../../validation/optionalPackages.ts";
import type { Cell, Grid } from "../../kernel/grid.ts";
import { describeCell, type PlaneGrid } from "../raster.ts";

/** A position in the plane of a coordinate system: meters, or degrees in a geographic system. */
export interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

/** A position in WGS84 degrees. */
export interface LonLat {
  readonly lonDeg: number;
  readonly latDeg: number;
}

/** The conversion of one coordinate system. Both directions return undefined outside of the domain of the projection. */
export interface Projection {
  readonly crs: CrsDefinition;
  forward(lonDeg: number, latDeg: number): PlanePoint | undefined;
  inverse(x: number, y: number): LonLat | undefined;
  /** Distance in x of positions with the same longitude, if x repeats: the circumference of a cylindrical map. */
  readonly periodX: number | undefined;
}

type Proj4 = typeof proj4Module;

/** Coordinates with larger absolute values are outside of any map of the Earth, in meters. */
const COORDINATE_MAX_M = 1e9;
/** Longitudes farther from the central meridian are outside of the domain of a transverse Mercator projection. */
const TRANSVERSE_MERCATOR_MAX_DEG = 80;
/** Latitudes closer to a pole that the projection cannot represent are outside of its domain. */
const POLE_MARGIN_DEG = 1e-6;
const DEGREE_RAD = Math.PI / 180;

/**
 * Loads proj4 and prepares a coordinate system.
 * @throws Fault `configuration_invalid` if the optional package proj4 is not installed
 */
export async function openProjection(crs: CrsDefinition): Promise<Projection> {
  requirePackages("Reprojecting maps", ["proj4"]);
  const { default: proj4 } = await import("proj4");
  return crs.datum.kind === "helmert" ? shiftedProjection(proj4, crs) : plainProjection(proj4, crs);
}

/** A coordinate system whose latitudes and longitudes are those of WGS84. */
function plainProjection(proj4: Proj4, crs: CrsDefinition): Projection {
  if (crs.method === "longlat") {
    return {
      crs,
      forward: (lonDeg, latDeg) => ({ x: lonDeg, y: latDeg }),
      inverse: (x, y) => (Math.abs(y) <= 90 ? { lonDeg: x, latDeg: y } : undefined),
      periodX: 360,
    };
  }
  const plane = proj4.Proj(projStringOf(crs));
  const isInDomain = domainOf(crs);
  const forward = (lonDeg: number, latDeg: number): PlanePoint | undefined => {
    if (!isInDomain(lonDeg, latDeg)) return undefined;
    const radians = { x: wrappedDeg(lonDeg) * DEGREE_RAD, y: latDeg * DEGREE_RAD };
    const point = attempt(() => plane.forward(radians) as PlanePoint | null);
    return point !== undefined && isOnMap(point) ? point : undefined;
  };
  return {
    crs,
    forward,
    inverse: (x, y) => {
      // proj4 returns null, or throws, outside of the domain of some projections.
      const point = attempt(() => plane.inverse({ x, y }) as { x: number; y: number } | null);
      return point === undefined ? undefined : isDegrees(point.x / DEGREE_RAD, point.y / DEGREE_RAD);
    },
    periodX: periodOf(crs, forward),
  };
}

/** A coordinate system with a Helmert transformation to WGS84. */
function shiftedProjection(proj4: Proj4, crs: CrsDefinition): Projection {
  const converter = proj4("+proj=longlat +datum=WGS84 +no_defs", projStringOf(crs));
  const isInDomain = domainOf(crs);
  const forward = (lonDeg: number, latDeg: number): PlanePoint | undefined => {
    if (!isInDomain(lonDeg, latDeg)) return undefined;
    const [x = NaN, y = NaN] = attempt(() => converter.forward([wrappedDeg(lonDeg), latDeg])) ?? [];
    return isOnMap({ x, y }) ? { x, y } : undefined;
  };
  return {
    crs,
    forward,
    inverse: (x, y) => {
      const [lonDeg = NaN, latDeg = NaN] = attempt(() => converter.inverse([x, y])) ?? [];
      return isDegrees(lonDeg, latDeg);
    },
    periodX: crs.method === "longlat" ? 360 : periodOf(crs, forward),
  };
}

function attempt<T>(act: () => T | null): T | undefined {
  try {
    return act() ?? undefined;
  } catch {
    return undefined;
  }
}

function isOnMap({ x, y }: PlanePoint): boolean {
  return Math.abs(x) < COORDINATE_MAX_M && Math.abs(y) < COORDINATE_MAX_M;
}

function isDegrees(lonDeg: number, latDeg: number): LonLat | undefined {
  return Number.isFinite(lonDeg) && Math.abs(latDeg) <= 90 ? { lonDeg: wrappedDeg(lonDeg), latDeg } : undefined;
}

/** Returns an equivalent longitude from -180 up to, but not including, 180. */
export function wrappedDeg(lonDeg: number): number {
  return lonDeg >= -180 && lonDeg < 180 ? lonDeg : lonDeg - 360 * Math.floor((lonDeg + 180) / 360);
}

/** Returns the test of whether a projection is defined, and one-to-one, at a position. */
function domainOf({ method, parameters }: CrsDefinition): (lonDeg: number, latDeg: number) => boolean {
  const { lat_0 = 0, lon_0 = 0, lat_1 = 0, lat_2 = 0 } = parameters;
  const isWithin = (latDeg: number): boolean => Math.abs(latDeg) <= 90;
  switch (method) {
    case "tmerc":
      return (lonDeg, latDeg) =>
        isWithin(latDeg) && Math.abs(wrappedDeg(lonDeg - lon_0)) <= TRANSVERSE_MERCATOR_MAX_DEG;
    case "merc":
      return (_, latDeg) => Math.abs(latDeg) < 90 - POLE_MARGIN_DEG;
    case "lcc": {
      const farPole = lat_1 + lat_2 > 0 ? -90 : 90;
      return (_, latDeg) => isWithin(latDeg) && Math.abs(latDeg - farPole) > POLE_MARGIN_DEG;
    }
    case "stere":
      return (_, latDeg) => isWithin(latDeg) && Math.abs(latDeg + lat_0) > POLE_MARGIN_DEG;
    default:
      return (_, latDeg) => isWithin(latDeg);
  }
}

/** Returns the circumference of the map of a cylindrical projection, in which x is proportional to longitude. */
function periodOf({ method, parameters }: CrsDefinition, forward: Projection["forward"]): number | undefined {
  if (method !== "merc" && method !== "cea") return undefined;
  const { lon_0 = 0 } = parameters;
  const [center, quarter] = [forward(lon_0, 0), forward(lon_0 + 90, 0)];
  return center === undefined || quarter === undefined ? undefined : 4 * (quarter.x - center.x);
}

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
