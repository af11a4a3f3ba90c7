/** The interface between readers of file formats and the rest of the ingest. */
import { Fault } from "../errors.ts";
import { type Cell, cellCenter, type Grid } from "../kernel/grid.ts";

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
}

/**
 * Describes a raster, so that another thread can open it with `openRaster` (rasterSpec.ts). It can be cloned between
 * threads.
 */
export type RasterSpec = FileSpec;

/** A map in a file. */
interface FileSpec {
  readonly kind: "file";
  /** The path or address as given. */
  readonly file: string;
  /** Where the map is stored, if it was extracted or converted into a temporary file. */
  readonly path?: string;
  readonly options: Omit<RasterOptions, "signal">;
}

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
  /**
   * Reads a window.
   * @returns rowCount x columnCount values in the source's unit; cells with a nodata value are NaN
   * @throws Fault `source_invalid` naming file and window if the bytes cannot be read; the abort reason of the signal
   *   with which the raster was opened
   */
  readWindow(window: BandWindow): Promise<RasterValues>;
  close(): Promise<void>;
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
  /** Nodata values in addition to the declared one. */
  readonly nodata?: readonly number[];
  /** Reads a file without a coordinate system as WGS84 degrees. */
  readonly assumeWgs84?: boolean;
  /** The column to use if the two columns of a repeated meridian differ; if not given, such a map is rejected. */
  readonly keepMeridian?: KeptMeridian;
  /** Stops opening and reading with its abort reason. */
  readonly signal?: AbortSignal;
}

/**
 * Checks that a window and a band are within a raster.
 * @throws Error for a caller's mistake
 */
export function checkWindow(window: BandWindow, grid: Grid, bandCount: number): void {
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
