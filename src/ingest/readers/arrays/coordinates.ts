/** Finds the latitude and longitude dimensions of a variable, reads coordinate variables, and makes evenly spaced axes of them. */
import {
  type ArrayFile,
  type ArrayVariable,
  COORDINATE_COUNT_MAX,
  findVariable,
  textOf,
  wholeOf,
} from "./arrayFile.ts";
import { readPacking, unpack } from "./values.ts";

/** Positions of the horizontal dimensions among those of a variable. */
export interface HorizontalDimensions {
  readonly lat: number;
  readonly lon: number;
  /** True if the dimensions are y and x of a projection. */
  readonly isPlane: boolean;
}

const LAT_UNIT = /^degrees?_?(north|n)$/i;
const LON_UNIT = /^degrees?_?(east|e)$/i;
const PLAIN_DEGREE = /^deg(ree)?s?$/i;
const LAT_NAME = /^(lat|latitude)$/i;
const LON_NAME = /^(lon|longitude|long)$/i;

/**
 * The meaning of a coordinate variable; `projected` and `rotated` are horizontal, but neither geographic nor on a plane in
 * meters.
 */
type CoordinateKind = "lat" | "lon" | "x" | "y" | "projected" | "rotated" | "other";

function kindOf(coordinate: ArrayVariable): CoordinateKind {
  const { attributes } = coordinate;
  const unit = textOf(attributes, "units")?.trim() ?? "";
  const standardName = textOf(attributes, "standard_name") ?? "";
  const name = coordinate.name.split("/").at(-1) ?? "";
  const plane = /^projection_([xy])_coordinate$/.exec(standardName);
  if (plane !== null) return plane[1] === "x" ? "x" : "y";
  if (/^projection_[xy]_angular_coordinate$/.test(standardName)) return "projected";
  if (/^grid_(latitude|longitude)$/.test(standardName)) return "rotated";
  if (LAT_UNIT.test(unit)) return "lat";
  if (LON_UNIT.test(unit)) return "lon";
  const hasPlainUnit = unit === "" || PLAIN_DEGREE.test(unit);
  if (hasPlainUnit && (standardName === "latitude" || LAT_NAME.test(name))) return "lat";
  if (hasPlainUnit && (standardName === "longitude" || LON_NAME.test(name))) return "lon";
  const axis = textOf(attributes, "axis")?.toUpperCase();
  if (metersOfUnit(unit) !== undefined && /^[xy]$/i.test(axis ?? name))
    return (axis ?? name).toLowerCase() === "x" ? "x" : "y";
  return axis === "X" || axis === "Y" ? "projected" : "other";
}

/** Returns the size in meters of a unit of x and y, or undefined for another unit. */
export function metersOfUnit(unit: string): number | undefined {
  if (/^(m|met(er|re)s?)$/i.test(unit)) return 1;
  return /^(km|kilomet(er|re)s?)$/i.test(unit) ? 1000 : undefined;
}

/** Returns the variable with the coordinates of a dimension. */
export function coordinateOf(file: ArrayFile, variable: ArrayVariable, dimension: number): ArrayVariable | undefined {
  const name = variable.dimensions[dimension]?.coordinate;
  return name === undefined ? undefined : file.variables.get(name);
}

/**
 * Returns the dimensions of latitude and longitude, or undefined if the variable is not a map.
 * @throws Error if it is a map on another kind of grid
 */
export function horizontalDimensions(file: ArrayFile, variable: ArrayVariable): HorizontalDimensions | undefined {
  const kinds = variable.dimensions.map((_, index) => {
    const coordinate = coordinateOf(file, variable, index);
    return coordinate === undefined ? "other" : kindOf(coordinate);
  });
  const [lat, lon] = [kinds.indexOf("lat"), kinds.indexOf("lon")];
  if (lat !== -1 && lon !== -1) {
    if (kinds.lastIndexOf("lat") !== lat || kinds.lastIndexOf("lon") !== lon)
      throw new Error("has several dimensions of latitude or longitude");
    return { lat, lon, isPlane: false };
  }
  const [y, x] = [kinds.indexOf("y"), kinds.indexOf("x")];
  if (y !== -1 && x !== -1) {
    if (kinds.lastIndexOf("y") !== y || kinds.lastIndexOf("x") !== x)
      throw new Error("has several dimensions of x or y");
    return { lat: y, lon: x, isPlane: true };
  }
  if (kinds.includes("rotated")) throw new Error("is on a rotated-pole grid, which is not supported");
  if (kinds.some((kind) => kind === "projected" || kind === "x" || kind === "y")) {
    throw new Error(
      "is on a projected grid without the coordinates x and y in meters or kilometers (standard_name " +
        "projection_x_coordinate); convert it with gdalwarp -t_srs EPSG:4326 -of GTiff",
    );
  }
  const auxiliary = (textOf(variable.attributes, "coordinates") ?? "").split(/\s+/).filter((name) => name !== "");
  for (const name of auxiliary) {
    const coordinate = findVariable(file, variable, name);
    if (coordinate === undefined || coordinate.shape.length !== 2) continue;
    const kind = kindOf(coordinate);
    if (kind === "lat" || kind === "lon")
      throw new Error(`is on a curvilinear grid (${name} has two dimensions), which is not supported`);
  }
  return undefined;
}

/**
 * Reads the numbers of a coordinate variable or of its bounds.
 * @throws Error if it is too long; Fault if its values cannot be read
 */
export async function readNumbers(file: ArrayFile, variable: ArrayVariable): Promise<Float64Array> {
  const count = variable.shape.reduce((product, size) => product * size, 1);
  if (!(count <= 2 * COORDINATE_COUNT_MAX))
    throw new Error(`has ${count} values in ${variable.name}; the limit is ${2 * COORDINATE_COUNT_MAX}`);
  const packing = readPacking(file.file, variable);
  return Float64Array.from(unpack(await variable.read(wholeOf(variable)), packing));
}

/** An evenly spaced axis in the order of the file and in the unit of its coordinates. */
export interface Axis {
  /** Outer edge of the first cell. */
  readonly start: number;
  /** Signed size of a cell. */
  readonly step: number;
  readonly count: number;
}

/** Largest deviation of a coordinate from even spacing, as a fraction of a cell. */
const SPACING_TOLERANCE_CELLS = 2e-3;

/** Lower and upper edge of each cell as a file states them. */
export interface CellBounds {
  readonly lowerEdges: readonly number[];
  readonly upperEdges: readonly number[];
}

/**
 * Returns the axis of cell centers, or of the cells that bounds describe.
 *
 * @param centers coordinates in the order of the file
 * @param options `isFloat32`: the coordinates were rounded to 32 bits; `bounds`: edges of each cell; `limit`: bounds beyond
 *   this absolute value may be cut off (90 for latitudes)
 * @throws Error naming what is not accepted
 */
export function evenAxis(
  centers: Float64Array,
  {
    isFloat32,
    bounds,
    limit,
  }: { readonly isFloat32: boolean; readonly bounds: CellBounds | undefined; readonly limit: number | undefined },
): Axis {
  const count = centers.length;
  if (!centers.every((value) => Number.isFinite(value))) throw new Error("has missing or infinite values");
  if (count === 1) {
    if (bounds === undefined) throw new Error("has one value and no bounds, so the size of its cell is unknown");
    return singleCell(centers[0] ?? NaN, bounds);
  }
  const exact = (value: number): number => (isFloat32 ? shortestDecimal(value) : value);
  const first = exact(centers[0] ?? NaN);
  const step = (exact(centers[count - 1] ?? NaN) - first) / (count - 1);
  if (!(step !== 0 && Number.isFinite(step))) throw new Error("has equal first and last values");
  const largest = Math.max(Math.abs(centers[0] ?? NaN), Math.abs(centers[count - 1] ?? NaN));
  const rounding = isFloat32 ? 1.5 * largest * 2 ** -23 : 0;
  const tolerance = SPACING_TOLERANCE_CELLS * Math.abs(step) + rounding;
  for (let i = 0; i < count; i++) {
    const expected = first + i * step;
    const value = centers[i] ?? NaN;
    if (Math.abs(value - expected) <= tolerance) continue;
    throw new Error(
      `is not evenly spaced: value ${i} is ${value}, even spacing gives ${Number(expected.toPrecision(9))}. ` +
        "Gaussian and stretched grids are not supported; regrid the map, for example with cdo remapnn",
    );
  }
  const axis = { start: first - 0.5 * step, step, count };
  return bounds === undefined ? axis : axisOfBounds(axis, bounds, { limit, tolerance });
}

function singleCell(center: number, { lowerEdges, upperEdges }: CellBounds): Axis {
  const [lower = NaN, upper = NaN] = [lowerEdges[0], upperEdges[0]];
  if (!(lower < upper && lower <= center && center <= upper))
    throw new Error(`has the bounds ${lower} to ${upper}, which do not contain its value ${center}`);
  return { start: lower, step: upper - lower, count: 1 };
}

/**
 * Returns the axis whose edges the bounds state. Bounds differ from the midpoints between coordinates if the coordinates are
 * not the centers of their cells.
 */
function axisOfBounds(
  axis: Axis,
  { lowerEdges, upperEdges }: CellBounds,
  { limit, tolerance }: { readonly limit: number | undefined; readonly tolerance: number },
): Axis {
  const { step, count } = axis;
  const lowerOf = ({ start }: Axis, index: number): number =>
    Math.min(start + index * step, start + (index + 1) * step);
  const cut = (value: number): number => (limit === undefined ? value : Math.max(-limit, Math.min(limit, value)));
  const matches = (candidate: Axis): boolean => {
    for (let i = 0; i < count; i++) {
      const lower = lowerOf(candidate, i);
      const [lowerDifference, upperDifference] = [
        Math.abs((lowerEdges[i] ?? NaN) - cut(lower)),
        Math.abs((upperEdges[i] ?? NaN) - cut(lower + Math.abs(step))),
      ];
      if (!(lowerDifference <= 2 * tolerance && upperDifference <= 2 * tolerance)) return false;
    }
    return true;
  };
  if (matches(axis)) return axis;
  // Edges from a cell in the middle, whose bounds are not cut off at a pole.
  const middle = Math.floor(count / 2);
  const shifted = { ...axis, start: axis.start + (lowerEdges[middle] ?? NaN) - lowerOf(axis, middle) };
  const shift = Math.abs(shifted.start - axis.start);
  if (shift <= 0.5 * Math.abs(step) + tolerance && matches(shifted)) return shifted;
  throw new Error("has bounds that are not contiguous cells of the same size as the spacing of its values");
}

/**
 * Returns the decimal number with the fewest digits that rounds to a 32-bit float: writers round -179.95 to
 * -179.9499969482421875.
 */
function shortestDecimal(float32: number): number {
  for (let digitCount = 6; digitCount <= 9; digitCount++) {
    const decimal = Number(float32.toPrecision(digitCount));
    if (Math.fround(decimal) === float32) return decimal;
  }
  return float32;
}

/**
 * Adds 360 degrees after a jump over the antimeridian, so that longitudes such as 179, 180, -179 ascend.
 * @returns whether there was a jump
 */
export function unwrapLongitudes(valuesDeg: Float64Array): boolean {
  const jump = valuesDeg.findIndex((value, i) => i > 0 && value - (valuesDeg[i - 1] ?? NaN) < -180);
  if (jump === -1) return false;
  for (let i = jump; i < valuesDeg.length; i++) valuesDeg[i] = (valuesDeg[i] ?? NaN) + 360;
  return true;
}
