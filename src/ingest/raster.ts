import { Fault } from "../errors.ts";
import { type Cell, cellCenter, type Grid } from "../kernel/grid.ts";

/** Some whole cells of a raster. Rows count from the north, columns from the west edge of its grid. */
export interface CellWindow {
  readonly firstRow: number;
  readonly rowCount: number;
  readonly firstColumn: number;
  readonly columnCount: number;
}

/** A window of one band; bands count from 1, as every tool of the field counts them. */
export interface BandWindow extends CellWindow {
  readonly band: number;
}

/** Values of a window, row by row. NaN = missing; that is the only NaN there is. */
export type RasterValues = Float32Array | Float64Array;

/** A map that can be read window by window, whatever its file format. */
export interface Raster {
  /** The path or address as it was given; goes into messages and provenance. */
  readonly file: string;
  /** North up, edges not centres, whatever the file's own order and registration. */
  readonly grid: Grid;
  readonly bandCount: number;
  /** The markers of missing values that the file declares, one for each band. */
  readonly declaredNodata: readonly (number | undefined)[];
  /** The units that the file states for its values, as it spells them, one for each band. */
  readonly declaredUnits: readonly (string | undefined)[];
  /** The rows that are decoded together; reading them apart decodes them again. */
  readonly blockRowCount: number;
  readonly blockColumnCount: number;
  /** What was found and done on opening, for the provenance of layers. */
  readonly notes: Readonly<Record<string, unknown>>;
  /**
   * @returns rowCount x columnCount values in the source's unit; declared and given nodata are NaN
   * @throws Fault `source_invalid` naming file and window, when the bytes cannot be read; the reason of the signal
   *   that the raster was opened with, once that is aborted
   */
  readWindow(window: BandWindow): Promise<RasterValues>;
  close(): Promise<void>;
}

/** Which column of a world map counts where its last stands for the same meridian as its first: the first or the last. */
export type KeptMeridian = "west" | "east";

/** What the user knows about a file and the file does not say. */
export interface RasterOptions {
  /** Markers of missing values beside the declared one. */
  readonly nodata?: readonly number[];
  /** Read a file without a coordinate system as WGS84 longitudes and latitudes. */
  readonly assumeWgs84?: boolean;
  /** The column that counts where the two of a repeated meridian differ; without it such a map is refused. */
  readonly keepMeridian?: KeptMeridian;
  /** Stops opening and reading with its reason. */
  readonly signal?: AbortSignal;
}

/** A refusal of a source, which always names the file. */
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

/** A place in a map, for a message: its row and column, counted from the north-west, and its centre. */
export function describeCell(grid: Grid, cell: Cell): string {
  const { latDeg, lonDeg } = cellCenter(grid, cell);
  return `row ${cell.row}, column ${cell.column} (latitude ${latDeg.toFixed(5)}, longitude ${lonDeg.toFixed(5)})`;
}
