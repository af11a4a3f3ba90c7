/** Chooses the grid in WGS84 degrees onto which a projected map is brought, and measures its distortion. */
import type { Grid } from "../../kernel/grid.ts";
import type { PlaneGrid } from "../raster.ts";
import { type CellPosition, isInside, locate, type LonLat, type Projection, wrappedDeg } from "./projection.ts";

/** Cells of a target grid: their size, and a position at which edges of cells meet. */
export interface CellLattice {
  readonly cellSizeLatDeg: number;
  readonly cellSizeLonDeg: number;
  readonly edgeLatDeg: number;
  readonly edgeLonDeg: number;
}

/** Part of the Earth that a map covers, in degrees. */
export interface Extent {
  readonly southDeg: number;
  readonly northDeg: number;
  readonly westDeg: number;
  /** East of `westDeg`; beyond 180 if the map crosses the antimeridian. */
  readonly eastDeg: number;
}

const EDGE_SAMPLES = 512;
const INTERIOR_SAMPLES = 48;
/** Used if parts of the map are outside of the domain of the projection, such as the corners of a world map. */
const INTERIOR_SAMPLES_FINE = 400;
/** A gap between sampled longitudes below this is not a gap in the map. */
const GAP_MIN_DEG = 3;
/** Distance by which the extent is enlarged, in target cells, because the extent is sampled. */
const MARGIN_CELLS = 0.25;
/** Largest difference after projecting a position there and back, in source cells. */
const ROUND_TRIP_CELLS = 0.01;

/** Returns the lattice of cells of 1/n degree whose edges are at whole degrees. */
export function wholeDegreeLattice(cellSizeDeg: number): CellLattice {
  return { cellSizeLatDeg: cellSizeDeg, cellSizeLonDeg: cellSizeDeg, edgeLatDeg: 90, edgeLonDeg: -180 };
}

/** Returns the lattice of an existing grid. */
export function latticeOf(grid: Grid): CellLattice {
  const { cellSizeLatDeg, cellSizeLonDeg, northDeg, westDeg } = grid;
  return { cellSizeLatDeg, cellSizeLonDeg, edgeLatDeg: northDeg, edgeLonDeg: westDeg };
}

/**
 * Returns the cell size that keeps the resolution of a source at its center: 1/n degree, where n is the smallest whole number
 * with which neighboring cells of the target are at most one source cell apart.
 */
export function defaultCellSizeDeg(projection: Projection, plane: PlaneGrid): number | undefined {
  const stepDeg = 1e-4;
  for (const location of centralLocations(projection, plane)) {
    const spacing = spacingAt(projection, plane, location, { latDeg: stepDeg, lonDeg: stepDeg });
    if (spacing !== undefined) return 1 / Math.max(1, Math.ceil(spacing / stepDeg - 1e-6));
  }
  return undefined;
}

/** Returns locations from the center of a map outward, because the center of some maps is not on Earth. */
function* centralLocations(projection: Projection, plane: PlaneGrid): Generator<LonLat> {
  const count = 16;
  const offsets = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? i : -i - 1) / (2 * count));
  for (const rowOffset of offsets) {
    for (const columnOffset of offsets) {
      const position = { row: plane.rowCount * (0.5 + rowOffset), column: plane.columnCount * (0.5 + columnOffset) };
      const location = locationOf(projection, plane, position);
      // Steps along a parallel have no length at a pole.
      if (location !== undefined) yield { ...location, latDeg: Math.max(-89.9, Math.min(89.9, location.latDeg)) };
    }
  }
}

/** Returns the location of a position in a source, or undefined if the position does not represent a location. */
function locationOf(projection: Projection, plane: PlaneGrid, { row, column }: CellPosition): LonLat | undefined {
  const [x, y] = [plane.westX + column * plane.cellWidth, plane.northY - row * plane.cellHeight];
  const location = projection.inverse(x, y);
  if (location === undefined) return undefined;
  const point = projection.forward(location.lonDeg, location.latDeg);
  if (point === undefined) return undefined;
  const { periodX } = projection;
  const turns = periodX === undefined ? 0 : Math.round((x - point.x) / periodX);
  const columns = Math.abs(point.x + turns * (periodX ?? 0) - x) / plane.cellWidth;
  const rows = Math.abs(point.y - y) / plane.cellHeight;
  return columns <= ROUND_TRIP_CELLS && rows <= ROUND_TRIP_CELLS ? location : undefined;
}

/**
 * Returns the part of the Earth that a source covers, or undefined if it covers nothing.
 *
 * Latitudes and longitudes are extreme on the edges of the source, at the poles, or on the edge of the projection's domain;
 * in the last case the extent is enlarged by the distance of samples.
 */
export function extentOf(projection: Projection, plane: PlaneGrid): Extent | undefined {
  const { rowCount, columnCount } = plane;
  const locations: LonLat[] = [];
  let isComplete = true;
  const sample = (row: number, column: number): void => {
    const location = locationOf(projection, plane, { row, column });
    if (location === undefined) isComplete = false;
    else locations.push(location);
  };
  for (let i = 0; i <= EDGE_SAMPLES; i++) {
    const share = i / EDGE_SAMPLES;
    sample(0, share * columnCount);
    sample(rowCount, share * columnCount);
    sample(share * rowCount, 0);
    sample(share * rowCount, columnCount);
  }
  const sampleInterior = (count: number): void => {
    for (let i = 1; i < count; i++) {
      for (let j = 1; j < count; j++) sample((i / count) * rowCount, (j / count) * columnCount);
    }
  };
  sampleInterior(INTERIOR_SAMPLES);
  if (!isComplete) sampleInterior(INTERIOR_SAMPLES_FINE);
  if (locations.length === 0) return undefined;
  const marginDeg = isComplete ? 0 : sampleDistanceDeg(locations);
  let southDeg = Infinity;
  let northDeg = -Infinity;
  for (const { latDeg } of locations) {
    southDeg = Math.min(southDeg, latDeg - marginDeg);
    northDeg = Math.max(northDeg, latDeg + marginDeg);
  }
  const poles = [-90, 90].filter((latDeg) => {
    const position = locate(projection, plane, projection.crs.parameters.lon_0 ?? 0, latDeg);
    return position !== undefined && isInside(plane, position);
  });
  const arc = poles.length > 0 ? undefined : longitudeArc(locations.map(({ lonDeg }) => lonDeg));
  return {
    southDeg: poles.includes(-90) ? -90 : Math.max(-90, southDeg),
    northDeg: poles.includes(90) ? 90 : Math.min(90, northDeg),
    westDeg: arc === undefined ? -180 : arc.westDeg - marginDeg,
    eastDeg: arc === undefined ? 180 : arc.eastDeg + marginDeg,
  };
}

/** Returns a generous distance between neighboring samples: a grid of that many samples over their extent. */
function sampleDistanceDeg(locations: readonly LonLat[]): number {
  let [south, north] = [90, -90];
  for (const { latDeg } of locations) {
    south = Math.min(south, latDeg);
    north = Math.max(north, latDeg);
  }
  return Math.max(0.01, (4 * Math.max(1, north - south)) / INTERIOR_SAMPLES_FINE);
}

/** Returns the smallest range that contains all longitudes, or undefined if they are all around the Earth. */
function longitudeArc(lonsDeg: readonly number[]): { readonly westDeg: number; readonly eastDeg: number } | undefined {
  const sorted = lonsDeg.map(wrappedDeg).toSorted((a, b) => a - b);
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)];
  let gapDeg = first + 360 - last;
  let [westDeg, eastDeg] = [first, last];
  for (let i = 1; i < sorted.length; i++) {
    const [before = 0, after = 0] = [sorted[i - 1], sorted[i]];
    if (after - before <= gapDeg) continue;
    gapDeg = after - before;
    [westDeg, eastDeg] = [after, before + 360];
  }
  return gapDeg < GAP_MIN_DEG ? undefined : { westDeg, eastDeg };
}

/** Returns the smallest grid of a lattice that contains an extent. */
export function gridOfExtent({ southDeg, northDeg, westDeg, eastDeg }: Extent, lattice: CellLattice): Grid {
  const { cellSizeLatDeg, cellSizeLonDeg, edgeLatDeg, edgeLonDeg } = lattice;
  const isWorld = eastDeg - westDeg >= 360;
  const rowOf = (latDeg: number): number => (edgeLatDeg - latDeg) / cellSizeLatDeg;
  const columnOf = (lonDeg: number): number => (lonDeg - edgeLonDeg) / cellSizeLonDeg;
  // Rows may not extend beyond a pole by more than rounding.
  const firstRow = Math.max(Math.ceil(rowOf(90) - 1e-3), Math.floor(rowOf(northDeg) - MARGIN_CELLS));
  const endRow = Math.min(Math.floor(rowOf(-90) + 1e-3), Math.ceil(rowOf(southDeg) + MARGIN_CELLS));
  const columnCountMax = Math.floor(360 / cellSizeLonDeg + 1e-3);
  const marginColumns = isWorld ? 0 : MARGIN_CELLS;
  const firstColumn = isWorld
    ? Math.round(columnOf(-180 + ((((edgeLonDeg + 180) % cellSizeLonDeg) + cellSizeLonDeg) % cellSizeLonDeg)))
    : Math.floor(columnOf(westDeg) - marginColumns);
  const endColumn = isWorld
    ? firstColumn + columnCountMax
    : Math.min(Math.ceil(columnOf(eastDeg) + marginColumns), firstColumn + columnCountMax);
  return {
    northDeg: edgeOf(edgeLatDeg, -firstRow, cellSizeLatDeg),
    westDeg: edgeOf(edgeLonDeg, firstColumn, cellSizeLonDeg),
    cellSizeLatDeg,
    cellSizeLonDeg,
    rowCount: Math.max(1, endRow - firstRow),
    columnCount: Math.max(1, endColumn - firstColumn),
  };
}

/** Returns the position of an edge; dividing by n is more accurate than multiplying by a rounded 1/n. */
function edgeOf(originDeg: number, count: number, cellSizeDeg: number): number {
  const perDegree = Math.round(1 / cellSizeDeg);
  const isWhole = perDegree >= 1 && 1 / perDegree === cellSizeDeg && Number.isInteger(originDeg);
  return isWhole ? (originDeg * perDegree + count) / perDegree : originDeg + count * cellSizeDeg;
}

/** The largest spacing of a target grid, and where it is. */
export interface Distortion {
  /** Distance between neighboring cell centers of the target, in source cells. Above 1, source cells are skipped. */
  readonly spacingCells: number;
  readonly latDeg: number;
  readonly lonDeg: number;
}

const DISTORTION_SAMPLES = 64;

/** Returns the largest spacing among samples of the target grid, or undefined if none is in the source. */
export function distortionOf(projection: Projection, plane: PlaneGrid, grid: Grid): Distortion | undefined {
  let largest: Distortion | undefined;
  const step = { latDeg: grid.cellSizeLatDeg, lonDeg: grid.cellSizeLonDeg };
  const [rowSamples, columnSamples] = [grid.rowCount, grid.columnCount].map((count) =>
    Math.min(DISTORTION_SAMPLES, Math.max(1, count - 1)),
  ) as [number, number];
  for (let i = 0; i <= rowSamples; i++) {
    const latDeg = grid.northDeg - (0.5 + (i / rowSamples) * (grid.rowCount - 1)) * grid.cellSizeLatDeg;
    for (let j = 0; j <= columnSamples; j++) {
      const lonDeg = grid.westDeg + (0.5 + (j / columnSamples) * (grid.columnCount - 1)) * grid.cellSizeLonDeg;
      const spacingCells = spacingAt(projection, plane, { latDeg, lonDeg }, step);
      if (spacingCells === undefined || spacingCells <= (largest?.spacingCells ?? 0)) continue;
      const position = locate(projection, plane, lonDeg, latDeg);
      if (position === undefined || !isInside(plane, position)) continue;
      largest = { spacingCells, latDeg, lonDeg: wrappedDeg(lonDeg) };
    }
  }
  return largest;
}

/**
 * Returns the spacing of target cells at a location in source cells: the longer of the two shortest independent steps between
 * cell centers. It is undefined outside of the domain, and where the projection is cut.
 */
function spacingAt(
  { forward, periodX }: Projection,
  plane: PlaneGrid,
  { latDeg, lonDeg }: LonLat,
  step: { readonly latDeg: number; readonly lonDeg: number },
): number | undefined {
  const center = forward(lonDeg, latDeg);
  const stepFrom = (deltaLatDeg: number, deltaLonDeg: number): Step | undefined => {
    const point = forward(lonDeg + deltaLonDeg, latDeg + deltaLatDeg);
    if (center === undefined || point === undefined) return undefined;
    const distanceX = point.x - center.x;
    const wrappedX = periodX === undefined ? distanceX : distanceX - periodX * Math.round(distanceX / periodX);
    return { columns: wrappedX / plane.cellWidth, rows: (center.y - point.y) / plane.cellHeight };
  };
  const south = centralStep(stepFrom(-step.latDeg / 2, 0), stepFrom(step.latDeg / 2, 0));
  const east = centralStep(stepFrom(0, step.lonDeg / 2), stepFrom(0, -step.lonDeg / 2));
  return south === undefined || east === undefined ? undefined : longerOfReduced(south, east);
}

interface Step {
  readonly columns: number;
  readonly rows: number;
}

const lengthOf = ({ columns, rows }: Step): number => Math.hypot(columns, rows);

/** Returns the step between two half steps in opposite directions, unless the projection is cut between them. */
function centralStep(forward: Step | undefined, backward: Step | undefined): Step | undefined {
  if (forward === undefined || backward === undefined) return undefined;
  const sum = { columns: forward.columns + backward.columns, rows: forward.rows + backward.rows };
  if (lengthOf(sum) > 0.5 * (lengthOf(forward) + lengthOf(backward)) + 1e-9) return undefined;
  return { columns: forward.columns - backward.columns, rows: forward.rows - backward.rows };
}

/** Reduces a basis of the lattice of cell centers (Lagrange), and returns the length of its longer vector. */
function longerOfReduced(first: Step, second: Step): number {
  let [short, long] = lengthOf(first) <= lengthOf(second) ? [first, second] : [second, first];
  for (let i = 0; i < 100; i++) {
    const square = short.columns ** 2 + short.rows ** 2;
    if (square === 0) break;
    const times = Math.round((short.columns * long.columns + short.rows * long.rows) / square);
    long = { columns: long.columns - times * short.columns, rows: long.rows - times * short.rows };
    if (lengthOf(long) >= lengthOf(short)) break;
    [short, long] = [long, short];
  }
  return lengthOf(long);
}
