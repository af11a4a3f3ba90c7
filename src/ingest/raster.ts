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

/** Values of a window, row by row. NaN means missing and nothing else. */
export type RasterValues = Float32Array | Float64Array;

/** A map that is read window by window, independent of its file format. */
export interface Raster {
  /** The path or address as given; used in messages and provenance. */
  readonly file: string;
  /** North up, in terms of cell edges, whatever the row order and registration of the file. */
  readonly grid: Grid;
  readonly bandCount: number;
  /** The nodata value that the file declares for each band. */
  readonly declaredNodata: readonly (number | undefined)[];
  /** The unit that the file declares for each band, in its own spelling. */
  readonly declaredUnits: readonly (string | undefined)[];
  /** Rows that are decoded together; reading them separately decodes them again. */
  readonly blockRowCount: number;
  readonly blockColumnCount: number;
  /** Findings and conversions on opening; part of the provenance. */
  readonly notes: Readonly<Record<string, unknown>>;
  /**
   * Reads a window.
   * @returns rowCount x columnCount values in the source's unit; cells with a nodata value are NaN
   * @throws Fault `source_invalid` naming file and window if the bytes cannot be read; the reason of the signal that the
   *   raster was opened with, once that is aborted
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
  /** The column to keep where the two columns of a repeated meridian differ; without it such a map is refused. */
  readonly keepMeridian?: KeptMeridian;
  /** Stops opening and reading with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Returns the error for a source that is refused; its message and details name the file. */
export function sourceFault(
  file: string,
  why: string,
  more: { readonly details?: Readonly<Record<string, unknown>>; readonly cause?: unknown } = {},
): Fault {
  return new Fault("source_invalid", `${file}: ${why}`, {
    details: { file, ...more.details },
    ...(more.cause === undefined ? {} : { cause: more.cause }),
  });
}

/** Describes a cell in a message: row and column counted from the north-west, and the coordinates of its center. */
export function describeCell(grid: Grid, cell: Cell): string {
  const { latDeg, lonDeg } = cellCenter(grid, cell);
  return `row ${cell.row}, column ${cell.column} (latitude ${latDeg.toFixed(5)}, longitude ${lonDeg.toFixed(5)})`;
}
