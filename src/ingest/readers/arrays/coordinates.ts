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
}

const LAT_UNIT = /^degrees?_?(north|n)$/i;
const LON_UNIT = /^degrees?_?(east|e)$/i;
const PLAIN_DEGREE = /^deg(ree)?s?$/i;
const LAT_NAME = /^(lat|latitude)$/i;
const LON_NAME = /^(lon|longitude|long)$/i;

/** The meaning of a coordinate variable; `projected` and `rotated` are horizontal but not geographic. */
type CoordinateKind = "lat" | "lon" | "projected" | "rotated" | "other";

function kindOf(coordinate: ArrayVariable): CoordinateKind {
  const { attributes } = coordinate;
  const unit = textOf(attributes, "units")?.trim() ?? "";
  const standardName = textOf(attributes, "standard_name") ?? "";
  const name = coordinate.name.split("/").at(-1) ?? "";
  if (/^projection_(x|y)_(coordinate|angular_coordinate)$/.test(standardName)) return "projected";
  if (/^grid_(latitude|longitude)$/.test(standardName)) return "rotated";
  if (LAT_UNIT.test(unit)) return "lat";
  if (LON_UNIT.test(unit)) return "lon";
  const hasPlainUnit = unit === "" || PLAIN_DEGREE.test(unit);
  if (hasPlainUnit && (standardName === "latitude" || LAT_NAME.test(name))) return "lat";
  if (hasPlainUnit && (standardName === "longitude" || LON_NAME.test(name))) return "lon";
  const axis = textOf(attributes, "axis")?.toUpperCase();
  return axis === "X" || axis === "Y" ? "projected" : "other";
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
    return { lat, lon };
  }
  if (kinds.includes("rotated")) throw new Error("is on a rotated-pole grid, which is not supported");
  if (kinds.includes("projected")) {
    throw new Error(
      "is on a grid in a projected coordinate system, which is not supported; convert it with gdalwarp -t_srs EPSG:4326 -of GTiff",
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
