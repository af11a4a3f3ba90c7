/** Makes the grid of a map from its coordinate variables, or from an affine transform in its attributes. */
import { gridFault } from "../../../atlas/catalog.ts";
import type { Grid } from "../../../kernel/grid.ts";
import { messageOf, type PlaneGrid, type RasterOptions, sourceFault } from "../../raster.ts";
import { gridOfPlane } from "../../reprojection/projection.ts";
import { isFault } from "../../../errors.ts";
import { type ArrayFile, type ArrayVariable, findVariable, numbersOf, textOf } from "./arrayFile.ts";
import {
  type Axis,
  type CellBounds,
  evenAxis,
  unwrapLongitudes,
  coordinateOf,
  horizontalDimensions,
  type HorizontalDimensions,
  metersOfUnit,
  readNumbers,
} from "./coordinates.ts";
import { type AcceptedCrs, acceptedCrs, type CrsStatement, statementOfGridMapping, statementOfText } from "./crs.ts";
import type { ParsedCrs } from "../../crsDefinition.ts";

/** Position of a map on the globe, and the order of its cells in the file. */
export interface MapGeometry {
  readonly dimensions: HorizontalDimensions;
  /** North-up, including a repeated column, in the unit of the coordinates of the file. */
  readonly plane: PlaneGrid;
  /** The coordinate system if it is not WGS84 degrees, and the size of its unit in meters (1 for degrees on another datum). */
  readonly projected: ParsedCrs | undefined;
  readonly isSouthUp: boolean;
  readonly crs: string;
  readonly notes: Readonly<Record<string, unknown>>;
}

/**
 * Reads the geometry of a map.
 * @throws Fault `source_invalid` naming what is not a regular grid in WGS84 degrees
 */
export async function readGeometry(
  file: ArrayFile,
  variable: ArrayVariable,
  options: RasterOptions,
): Promise<MapGeometry> {
  const reject = (why: string): Error => sourceFault(file.file, `variable ${variable.name} ${why}.`);
  const attempt = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw isFault(error) ? error : reject(messageOf(error).replace(/\.$/, ""));
    }
  };
  const affine = numbersOf(variable.attributes, "transform_mat3x3");
  const dimensions = attempt(() => horizontalDimensions(file, variable));
  if (dimensions === undefined && affine === undefined) {
    throw reject(
      `has no dimensions of latitude and longitude (its dimensions are ${dimensionNames(variable)}). Coordinate variables ` +
        "with the units degrees_north and degrees_east are expected",
    );
  }
  const statement = attempt(() => crsStatement(file, variable));
  const crs = attempt(() => acceptedCrs(statement, options, dimensions?.isPlane));
  const geometry =
    dimensions === undefined
      ? attempt(() => geometryOfAffine(variable, affine ?? []))
      : await geometryOfCoordinates(file, variable, dimensions);
  const projected = attempt(() => projectedOf(file, variable, { crs, dimensions }));
  const problem = projected === undefined ? gridFault(withoutRepeatedColumn(gridOfPlane(geometry.plane))) : undefined;
  if (problem !== undefined) throw reject(`has an invalid grid: ${problem.replace(/\.$/, "")}`);
  attempt(() => checkGeoTransform(file, variable, geometry));
  const { text, datum } = crs;
  const notes = { crs: text, ...(datum === undefined ? {} : { datum }), ...geometry.notes };
  return { ...geometry, projected, crs: text, notes };
}

/** Returns the coordinate system of a map that must be reprojected, and the unit of its coordinates. */
function projectedOf(
  file: ArrayFile,
  variable: ArrayVariable,
  { crs, dimensions }: { readonly crs: AcceptedCrs; readonly dimensions: HorizontalDimensions | undefined },
): ParsedCrs | undefined {
  if (crs.projected === undefined) return undefined;
  if (dimensions?.isPlane !== true) return crs.projected;
  const units = [dimensions.lon, dimensions.lat].map((dimension) =>
    metersOfUnit(textOf(coordinateOf(file, variable, dimension)?.attributes ?? new Map(), "units")?.trim() ?? ""),
  );
  const [unitM] = units;
  if (unitM === undefined || units[1] !== unitM)
    throw new Error("has coordinates x and y without a common unit; meters or kilometers are expected");
  return { ...crs.projected, unitM };
}

function dimensionNames({ dimensions }: ArrayVariable): string {
  return dimensions.map(({ name }) => name).join(", ") || "none";
}

/** A grid may be one column wider than 360 degrees, because the last column repeats the first. */
function withoutRepeatedColumn(grid: Grid): Grid {
  return grid.columnCount * grid.cellSizeLonDeg > 360 + 0.5 * grid.cellSizeLonDeg
    ? { ...grid, columnCount: grid.columnCount - 1 }
    : grid;
}

type Geometry = Omit<MapGeometry, "crs" | "projected">;

async function geometryOfCoordinates(
  file: ArrayFile,
  variable: ArrayVariable,
  dimensions: HorizontalDimensions,
): Promise<Geometry> {
  const { isPlane } = dimensions;
  const lat = await readAxis(file, variable, dimensions.lat, {
    isLongitude: false,
    limit: isPlane ? undefined : 90,
  });
  const lon = await readAxis(file, variable, dimensions.lon, { isLongitude: !isPlane, limit: undefined });
  if (!(lon.axis.step > 0)) {
    const name = isPlane ? "x" : "longitudes";
    throw sourceFault(file.file, `variable ${variable.name} has ${name} from east to west, which is not supported.`);
  }
  const isSouthUp = lat.axis.step > 0;
  return {
    dimensions,
    plane: {
      westX: lon.axis.start,
      northY: isSouthUp ? lat.axis.start + lat.axis.count * lat.axis.step : lat.axis.start,
      cellWidth: lon.axis.step,
      cellHeight: Math.abs(lat.axis.step),
      rowCount: lat.axis.count,
      columnCount: lon.axis.count,
    },
    isSouthUp,
    notes: {
      ...(isSouthUp ? { row_order: "south to north, flipped" } : {}),
      ...(lon.isUnwrapped ? { longitudes: "continued beyond 180 degrees" } : {}),
    },
  };
}

async function readAxis(
  file: ArrayFile,
  variable: ArrayVariable,
  dimension: number,
  { isLongitude, limit }: { readonly isLongitude: boolean; readonly limit: number | undefined },
): Promise<{ readonly axis: Axis; readonly isUnwrapped: boolean }> {
  const coordinate = coordinateOf(file, variable, dimension);
  if (coordinate === undefined) throw new Error(`Dimension ${dimension} of ${variable.name} has no coordinates.`);
  try {
    const values = await readNumbers(file, coordinate);
    const bounds = await readBounds(file, coordinate);
    const isUnwrapped = isLongitude && unwrapLongitudes(values);
    const axis = evenAxis(values, {
      isFloat32: coordinate.type === "float32",
      bounds: isLongitude && bounds !== undefined ? unwrapBounds(values, bounds) : bounds,
      limit,
    });
    return { axis, isUnwrapped };
  } catch (error) {
    if (isFault(error)) throw error;
    throw sourceFault(file.file, `coordinate variable ${coordinate.name} ${messageOf(error)}.`, { cause: error });
  }
}

async function readBounds(file: ArrayFile, coordinate: ArrayVariable): Promise<CellBounds | undefined> {
  const name = textOf(coordinate.attributes, "bounds");
  if (name === undefined) return undefined;
  const bounds = findVariable(file, coordinate, name);
  // Subsets of files often lack the variable that the attribute names.
  if (bounds === undefined) return undefined;
  const count = coordinate.shape[0] ?? 0;
  if (bounds.shape.length !== 2 || bounds.shape[0] !== count || bounds.shape[1] !== 2)
    throw new Error(`has bounds (${name}) of shape ${bounds.shape.join(" x ")}; ${count} x 2 is expected`);
  const values = await readNumbers(file, bounds);
  const edge = (choose: (a: number, b: number) => number): readonly number[] =>
    Array.from({ length: count }, (_, i) => choose(values[2 * i] ?? NaN, values[2 * i + 1] ?? NaN));
  return { lowerEdges: edge(Math.min), upperEdges: edge(Math.max) };
}

/** Adds multiples of 360 degrees to longitude bounds, so that they are next to their cell centers. */
function unwrapBounds(centersDeg: Float64Array, { lowerEdges, upperEdges }: CellBounds): CellBounds {
  const near = (value: number, centerDeg: number): number => value + 360 * Math.round((centerDeg - value) / 360);
  const lower = lowerEdges.map((value, i) => near(value, centersDeg[i] ?? NaN));
  const upper = upperEdges.map((value, i) => near(value, centersDeg[i] ?? NaN));
  return {
    lowerEdges: lower.map((value, i) => Math.min(value, upper[i] ?? NaN)),
    upperEdges: upper.map((value, i) => Math.max(value, lower[i] ?? NaN)),
  };
}

/**
 * Reads the affine transform of the OS-Climate hazard store: x = a column + b row + c, y = d column + e row + f, where (0, 0)
 * is the outer corner of the first cell. The last two dimensions are rows and columns.
 */
function geometryOfAffine({ shape }: ArrayVariable, affine: readonly number[]): Geometry {
  if (affine.length !== 9 && affine.length !== 6)
    throw new Error(`has a transform_mat3x3 of ${affine.length} numbers; 9 are expected`);
  const [a = NaN, b = NaN, west = NaN, d = NaN, e = NaN, y = NaN, g = 0, h = 0, i = 1] = affine;
  if (b !== 0 || d !== 0 || g !== 0 || h !== 0 || i !== 1)
    throw new Error("has a transform_mat3x3 with rotation, shear or perspective, which is not supported");
  if (!(a > 0 && e !== 0 && [a, west, e, y].every(Number.isFinite)))
    throw new Error(`has a transform_mat3x3 with cells of ${a} x ${e}; the width must be above 0`);
  if (shape.length < 2) throw new Error(`has ${shape.length} dimensions; rows and columns are expected`);
  const dimensions = { lat: shape.length - 2, lon: shape.length - 1, isPlane: false };
  const [rowCount = 0, columnCount = 0] = [shape[dimensions.lat], shape[dimensions.lon]];
  const isSouthUp = e > 0;
  return {
    dimensions,
    plane: {
      westX: west,
      northY: isSouthUp ? y + rowCount * e : y,
      cellWidth: a,
      cellHeight: Math.abs(e),
      rowCount,
      columnCount,
    },
    isSouthUp,
    notes: { georeference: "transform_mat3x3", ...(isSouthUp ? { row_order: "south to north, flipped" } : {}) },
  };
}

/** Returns the grid mapping variable that a variable names, or the one that GDAL and rioxarray write by convention. */
function gridMappingOf(file: ArrayFile, variable: ArrayVariable): ArrayVariable | undefined {
  const name = textOf(variable.attributes, "grid_mapping");
  if (name === undefined) {
    return ["spatial_ref", "crs"]
      .map((conventional) => findVariable(file, variable, conventional))
      .find((found) => found !== undefined && textOf(found.attributes, "grid_mapping_name") !== undefined);
  }
  // The long form is "crs: lat lon".
  const [first = ""] = name.trim().split(/[\s:]+/);
  const found = findVariable(file, variable, first);
  if (found === undefined)
    throw new Error(`names the grid mapping ${JSON.stringify(name)}, which the file does not have`);
  return found;
}

function crsStatement(file: ArrayFile, variable: ArrayVariable): CrsStatement {
  const text = textOf(variable.attributes, "crs");
  if (text !== undefined) return statementOfText(text);
  const mapping = gridMappingOf(file, variable);
  return mapping === undefined ? { kind: "none" } : statementOfGridMapping(mapping.attributes);
}

/** Largest difference between the corner that GDAL wrote and that of the coordinates, in cells. */
const CORNER_TOLERANCE_CELLS = 0.01;

/** Rejects a file whose `GeoTransform`, which GDAL writes beside the coordinate variables, contradicts them. */
function checkGeoTransform(file: ArrayFile, variable: ArrayVariable, { plane, isSouthUp }: Geometry): void {
  const text = textOf(gridMappingOf(file, variable)?.attributes ?? new Map(), "GeoTransform");
  if (text === undefined) return;
  const [west = NaN, width = NaN, b = NaN, y = NaN, d = NaN, height = NaN] = text.trim().split(/\s+/).map(Number);
  if (b !== 0 || d !== 0) throw new Error(`has a rotated GeoTransform (${text.trim()}), which is not supported`);
  const { westX, northY, cellWidth, cellHeight, rowCount, columnCount } = plane;
  const north = height > 0 ? y + rowCount * height : y;
  const differences = [
    (west - westX) / cellWidth,
    (north - northY) / cellHeight,
    ((width - cellWidth) * columnCount) / cellWidth,
    ((Math.abs(height) - cellHeight) * rowCount) / cellHeight,
  ];
  if (differences.every((cells) => Math.abs(cells) <= CORNER_TOLERANCE_CELLS)) return;
  const order = isSouthUp ? "south" : "north";
  throw new Error(
    `has a GeoTransform (${text.trim()}) that contradicts its coordinate variables (from ${order}, northwest corner ` +
      `${northY}, ${westX}). Remove or correct it`,
  );
}
