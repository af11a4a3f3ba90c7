/** The interface between readers of file formats and the rest of the ingest. */
import { Fault } from "../errors.ts";
import { type Cell, cellCenter, type Grid, normalizeLonDeg } from "../kernel/grid.ts";
import type { ComputedMethod } from "./computedMethod.ts";
import type { CrsDefinition } from "./crsDefinition.ts";
import type { Calendar } from "./calendar.ts";

/** A rectangle of cells. Rows count from the north, columns from the west edge of the grid. */
export interface CellWindow {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly firstColumn: number;
  readonly columnCount: number;
}

/** A window of one band; bands count from 1, as in GDAL. */
export interface BandWindow extends CellWindow {
  readonly band: number;
}

/** A window of consecutive bands. */
export interface BandsWindow extends CellWindow {
  readonly firstBand: number;
  readonly bandCount: number;
}

/** Values of a window, row by row. NaN always means missing. */
export type RasterValues = Float32Array | Float64Array;

/** The type of the numbers that a file stores. */
export type NumberType =
  "int8" | "uint8" | "int16" | "uint16" | "int32" | "uint32" | "int64" | "uint64" | "float32" | "float64";

/** What a file declares about one band, or about the map that was selected from one variable. */
interface Band {
  /** The name of the variable; undefined in formats with numbered bands. */
  readonly name: string | undefined;
  /** The type of the stored numbers. */
  readonly type: NumberType;
  /** The stored values that the file declares as missing. */
  readonly nodata: readonly number[];
  /** Value = stored number x scale + offset. */
  readonly scale: number;
  readonly offset: number;
  /** As spelled in the file. */
  readonly unit: string | undefined;
  /** Coordinates of the map in the other dimensions of the variable, such as time and return period. */
  readonly coordinates: Readonly<Record<string, number | string>>;
  /** What the values are, in the words of the file. */
  readonly description?: string;
}

/**
 * Describes a raster, so that another thread can open it with `MapFiles.openSpec`. It can be cloned between
 * threads.
 */
export type RasterSpec = FileSpec | ReprojectedSpec | MosaicSpec | DryFilledSpec | InterpolatedSpec | ComputedSpec;

/** A map in a file. */
export interface FileSpec {
  readonly kind: "file";
  /** The path or address as given. */
  readonly file: string;
  /** Where the map is stored, if it was extracted or converted into a temporary file. */
  readonly path?: string;
  readonly options: Omit<RasterOptions, "signal">;
}

/** A map in another coordinate system, brought onto a grid in WGS84 degrees. */
export interface ReprojectedSpec {
  readonly kind: "reprojected";
  readonly source: FileSpec;
  /** The coordinate system of the source. */
  readonly crs: CrsDefinition;
  readonly grid: Grid;
}

/** Several maps on parts of one grid. */
interface MosaicSpec {
  readonly kind: "mosaic";
  readonly parts: readonly (FileSpec | ReprojectedSpec)[];
  readonly grid: Grid;
  readonly order: MosaicOrder;
}

/** Metrics that are computed from a series of maps on one grid (computed/computedRaster.ts). */
interface ComputedSpec {
  readonly kind: "computed";
  readonly parts: readonly (FileSpec | ReprojectedSpec)[];
  readonly method: ComputedMethod;
}

/** A map in which cells are 0 that are missing in it and have a value in the witness (derivedRasters.ts). */
export interface DryFilledSpec {
  readonly kind: "derived";
  readonly rule: { readonly kind: "dry-filled" };
  readonly map: DerivedSource;
  readonly witness: DerivedSource;
}

/** The map of one return period of a curve between two epochs (derivedRasters.ts). */
interface InterpolatedSpec {
  readonly kind: "derived";
  /** `period` is the index of the return period, `weight` that of the curve. */
  readonly rule: { readonly kind: "interpolated"; readonly period: number; readonly weight: number };
  readonly curve: InterpolatedCurveSpec;
}

/** The maps of two epochs by ascending return period, all on one grid, and the weight of the later epoch, 0 to 1. */
export interface InterpolatedCurveSpec {
  readonly earlier: readonly DerivedSource[];
  readonly later: readonly DerivedSource[];
  readonly weight: number;
}

/** One band of one map, and the factor to the metric's unit. */
export interface DerivedSource {
  readonly spec: RasterSpec;
  readonly band: number;
  readonly unitFactor: number;
}

/**
 * Which value a cell gets that several maps of a mosaic cover: `equal` rejects maps whose values differ, `first` takes the
 * first map with a value, `largest` takes the largest value.
 */
export type MosaicOrder = "equal" | "first" | "largest";

/** Returns the description of a map in a file. */
export function fileSpec(file: string, { signal: _signal, ...options }: RasterOptions): FileSpec {
  return { kind: "file", file, options };
}

/** A map that is read window by window, independent of its file format. */
export interface Raster {
  readonly spec: RasterSpec;
  /** The path or address as given; used in messages and provenance. */
  readonly file: string;
  /** North-up, with cell edges as bounds, regardless of the row order and registration of the file. */
  readonly grid: Grid;
  /** The coordinate system, which is WGS84 degrees, as the file describes it. */
  readonly crs: string;
  /** In the order of their numbers, which start at 1. */
  readonly bands: readonly Band[];
  /** Rows that are decoded together; reading them separately decodes them again. */
  readonly blockRowCount: number;
  readonly blockColumnCount: number;
  /** Findings and conversions made when the file was opened; part of the provenance. */
  readonly notes: Readonly<Record<string, unknown>>;
  /** Paths or addresses of files beside the map that change its values, such as a mask; undefined if there are none. */
  readonly sidecarFiles?: readonly string[];
  /** The maps in files that a mosaic, a derived or a computed map is made of, in their order; undefined for a map in one file. */
  readonly parts?: readonly Raster[];
  /** The band of each of `parts` that a derived map is made of; undefined if the parts have the bands of the raster. */
  readonly partBands?: readonly number[];
  /** The dimension whose positions are the bands; undefined for numbered bands. */
  readonly bandDimension?: string;
  /** The calendar of the coordinates along `bandDimension`, if they are dates. */
  readonly bandCalendar?: Calendar;
  /** Number of bands that are decoded together; undefined if each can be read by itself. */
  readonly blockBandCount?: number;
  /**
   * Reads a window of consecutive bands: bandCount x rowCount x columnCount values. Undefined if each band must be read by
   * itself.
   */
  readonly readBands?: (window: BandsWindow) => Promise<RasterValues>;
  /**
   * Reads a window.
   * @returns rowCount x columnCount values in the source's unit; cells with a nodata value are NaN
   * @throws Fault `source_invalid` naming file and window if the bytes cannot be read; the abort reason of the signal
   *   with which the raster was opened
   */
  readWindow(window: BandWindow): Promise<RasterValues>;
  close(): Promise<void>;
}

/**
 * A grid in the plane of a coordinate system, in meters, or in degrees if the system is geographic. Readers also use it for
 * coordinates in the unit of a file, before they are converted to meters.
 */
export interface PlaneGrid {
  readonly westX: number;
  readonly northY: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly rowCount: number;
  readonly columnCount: number;
}

/** A map in a coordinate system other than WGS84 degrees. Its windows are in cells of `plane`, from the northwest. */
export interface ProjectedRaster extends Omit<Raster, "grid" | "spec"> {
  readonly spec: FileSpec;
  readonly plane: PlaneGrid;
  readonly projectedCrs: CrsDefinition;
}

/** A map as it is stored in a file. */
export type StoredRaster = Raster | ProjectedRaster;

/** Returns whether a map must be reprojected. */
export function isProjected(raster: StoredRaster): raster is ProjectedRaster {
  return "plane" in raster;
}

/** Which column of a repeated meridian to keep: the first (west) or the last (east). */
export type KeptMeridian = "west" | "east";

/** A position in a dimension: the value of its coordinate, or an index that counts from 0. */
export type DimensionChoice = number | string | { readonly index: number };

/** Facts about a file that the user supplies, and how to read it. */
export interface RasterOptions {
  /** The variable to read; required if the file has several maps. Only for formats with named variables. */
  readonly variable?: string;
  /** The position in each dimension of the variable other than latitude and longitude, by name of the dimension. */
  readonly select?: Readonly<Record<string, DimensionChoice>>;
  /**
   * Makes one band of each position along the dimension that is not selected, such as the days of a year. Files with numbered
   * bands are read as they are.
   */
  readonly dimensionAsBands?: boolean;
  /** Nodata values in addition to the declared one. */
  readonly nodata?: readonly number[];
  /** Reads a file without a coordinate system as WGS84 degrees. */
  readonly assumeWgs84?: boolean;
  /** The coordinate system of a file that states none: an EPSG code, a PROJ string or well-known text. */
  readonly crs?: string;
  /** The column to use if the two columns of a repeated meridian differ; if not given, such a map is rejected. */
  readonly keepMeridian?: KeptMeridian;
  /** Stops opening and reading with its abort reason. */
  readonly signal?: AbortSignal;
}

/**
 * Checks that a window and a band are within a raster.
 * @throws Error for a caller's mistake
 */
export function checkWindow(window: BandWindow, grid: Pick<Grid, "rowCount" | "columnCount">, bandCount: number): void {
  const { band, firstRow, rowCount, firstColumn, columnCount } = window;
  const isInside =
    firstRow >= 0 &&
    rowCount > 0 &&
    firstRow + rowCount <= grid.rowCount &&
    firstColumn >= 0 &&
    columnCount > 0 &&
    firstColumn + columnCount <= grid.columnCount;
  if (!isInside || !(band >= 1 && band <= bandCount)) {
    throw new Error(
      `The window ${JSON.stringify(window)} is outside ${grid.rowCount} x ${grid.columnCount} cells and ${bandCount} bands.`,
    );
  }
}

/** Returns the maps that a raster is made of, each in one file. */
export function partsOf(raster: Raster): readonly Raster[] {
  return raster.parts ?? [raster];
}

/** Returns all files that determine the values of a raster. */
export function sourceFilesOf(raster: Raster): readonly string[] {
  return partsOf(raster).flatMap(({ file, sidecarFiles = [] }) => [file, ...sidecarFiles]);
}

/** Returns the name of the file that has a cell, or the names of all files of a mosaic that cover it. */
export function fileAt(raster: Raster, cell: Cell): string {
  if (raster.parts === undefined) return raster.file;
  const { latDeg, lonDeg } = cellCenter(raster.grid, cell);
  const files = raster.parts.filter(({ grid }) => {
    const row = (grid.northDeg - latDeg) / grid.cellSizeLatDeg;
    const column = (normalizeLonDeg(grid, lonDeg) - grid.westDeg) / grid.cellSizeLonDeg;
    return row >= 0 && row < grid.rowCount && column < grid.columnCount;
  });
  return files.length === 0 ? raster.file : files.map(({ file }) => file).join(" or ");
}

/**
 * Returns an array for the values of a window, filled with NaN: of 32-bit floats if they represent all values of the maps
 * exactly.
 */
export function valuesOf(
  maps: readonly Pick<Raster, "bands">[],
  { band, rowCount, columnCount }: BandWindow,
): RasterValues {
  const fits = maps.every(({ bands }) => {
    const { type, scale, offset } = bands[band - 1] ?? { type: "float64", scale: 1, offset: 0 };
    return scale === 1 && offset === 0 && FLOAT32_TYPES.has(type);
  });
  const values = fits ? new Float32Array(rowCount * columnCount) : new Float64Array(rowCount * columnCount);
  return values.fill(NaN);
}

const FLOAT32_TYPES: ReadonlySet<NumberType> = new Set(["int8", "uint8", "int16", "uint16", "float32"]);

/** Returns the provenance entry for nodata values that the user gave. */
export function extraNodataNotes(nodata: readonly number[] | undefined): Readonly<Record<string, unknown>> {
  if (nodata === undefined || nodata.length === 0) return {};
  // JSON has no infinite numbers.
  return { extra_nodata: nodata.map((value) => (Number.isFinite(value) ? value : String(value))) };
}

/** Returns the message of whatever a library threw. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the error for a rejected source; its message and details name the file. */
export function sourceFault(
  file: string,
  why: string,
  options: { readonly details?: Readonly<Record<string, unknown>>; readonly cause?: unknown } = {},
): Fault {
  return new Fault("source_invalid", `${file}: ${why}`, {
    details: { file, ...options.details },
    ...(options.cause === undefined ? {} : { cause: options.cause }),
  });
}

/** Describes a cell in a message: row and column counted from the northwest, and the coordinates of its center. */
export function describeCell(grid: Grid, cell: Cell): string {
  const { latDeg, lonDeg } = cellCenter(grid, cell);
  return `row ${cell.row}, column ${cell.column} (latitude ${latDeg.toFixed(5)}, longitude ${lonDeg.toFixed(5)})`;
}
