/** Finds the latitude and longitude dimensions of a variable, and reads coordinate variables. */
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
