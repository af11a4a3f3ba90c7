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

/** A map that is read window by window, independent of its file format. */
export interface Raster {
  /** The path or address as given; used in messages and provenance. */
  readonly file: string;
  /** North-up, with cell edges as bounds, regardless of the row order and registration of the file. */
  readonly grid: Grid;
  readonly bandCount: number;
  /** The nodata value that the file declares for each band. */
  readonly declaredNodata: readonly (number | undefined)[];
  /** The unit that the file declares for each band, as spelled in the file. */
  readonly declaredUnits: readonly (string | undefined)[];
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

/** Facts about a file that the user supplies, and how to read it. */
export interface RasterOptions {
  /** Nodata values in addition to the declared one. */
  readonly nodata?: readonly number[];
  /** Reads a file without a coordinate system as WGS84 degrees. */
  readonly assumeWgs84?: boolean;
  /** The column to use if the two columns of a repeated meridian differ; if not given, such a map is rejected. */
  readonly keepMeridian?: KeptMeridian;
  /** Stops opening and reading with its abort reason. */
  readonly signal?: AbortSignal;
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
