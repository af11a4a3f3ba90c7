/** What maps of every format have in common: their position, a repeated meridian, and packed nodata values. */
import type { Grid } from "../../kernel/grid.ts";
import {
  type BandWindow,
  type KeptMeridian,
  type PlaneGrid,
  type ProjectedRaster,
  type Raster,
  type RasterOptions,
  type RasterValues,
  sourceFault,
} from "../raster.ts";
import { gridOfPlane, planeInMeters } from "../reprojection/projection.ts";
import type { ParsedCrs } from "../crsDefinition.ts";

/** Where the cells of a map are, without the repeated column of a world map. */
export interface Placement {
  /** In the unit of the coordinates of the file. */
  readonly plane: PlaneGrid;
  /** Members of the raster. */
  readonly position: Pick<Raster, "grid"> | Pick<ProjectedRaster, "plane" | "projectedCrs">;
  /** World maps with one column more than 360 degrees require: the last column repeats the meridian of the first. */
  readonly hasRepeatedColumn: boolean;
  /** The entries of the provenance about a repeated column. */
  readonly notes: Readonly<Record<string, unknown>>;
}

/** @param projected the coordinate system, if it is not WGS84 degrees */
export function placementOf(
  stored: PlaneGrid,
  projected: ParsedCrs | undefined,
  { keepMeridian }: RasterOptions,
): Placement {
  const hasRepeatedColumn = projected === undefined && hasRepeatedMeridian(gridOfPlane(stored));
  const plane = { ...stored, columnCount: stored.columnCount - (hasRepeatedColumn ? 1 : 0) };
  return {
    plane,
    position:
      projected === undefined
        ? { grid: gridOfPlane(plane) }
        : { plane: planeInMeters(plane, projected.unitM), projectedCrs: projected.crs },
    hasRepeatedColumn,
    notes: hasRepeatedColumn
      ? {
          repeated_meridian: "the last column repeats the meridian of the first and was merged into it",
          ...(keepMeridian === undefined ? {} : { kept_meridian: `the ${keepMeridian} column if the two differ` }),
        }
      : {},
  };
}

/** Returns whether a grid has one column more than 360 degrees require. */
function hasRepeatedMeridian({ columnCount, cellSizeLonDeg }: Grid): boolean {
  return Math.abs((columnCount - 1) * cellSizeLonDeg - 360) < 1e-3 * cellSizeLonDeg;
}

/**
 * Reads a window of a map. If it starts at the seam, the last column is merged into the first: if only one of the two cells of a row
 * has a value, that value is used: maps assembled from basins that end at the seam, such as STORM's, have half of the
 * meridian in each column. If both cells have values and differ, `kept` names the column to use.
 *
 * @param window a window of the grid without its last column
 * @throws Fault `source_invalid` if the columns differ and `kept` is undefined
 */
export async function readPlaced(
  file: string,
  { plane, hasRepeatedColumn }: Placement,
  {
    window,
    read,
    kept,
  }: {
    readonly window: BandWindow;
    /** Reads a window in columns of the file. */
    readonly read: (window: BandWindow) => Promise<RasterValues>;
    readonly kept: KeptMeridian | undefined;
  },
): Promise<RasterValues> {
  if (!hasRepeatedColumn || window.firstColumn > 0) return read(window);
  const { rowCount, columnCount } = window;
  const extraColumn = plane.columnCount;
  const isWhole = columnCount === extraColumn;
  // Whole rows are read with the extra column, because a file with strips would otherwise be decoded twice.
  const wideCount = isWhole ? columnCount + 1 : columnCount;
  const wide = await read({ ...window, columnCount: wideCount });
  const extra = isWhole ? undefined : await read({ ...window, firstColumn: extraColumn, columnCount: 1 });
  const values = isWhole ? wide.slice(0, rowCount * columnCount) : wide;
  for (let row = 0; row < rowCount; row++) {
    const first = wide[row * wideCount] ?? NaN;
    const last = (extra === undefined ? wide[row * wideCount + columnCount] : extra[row]) ?? NaN;
    const isConflict = first !== last && !Number.isNaN(first) && !Number.isNaN(last);
    if (isConflict && kept === undefined) {
      throw sourceFault(
        file,
        `its last column repeats the meridian of the first, but in row ${window.firstRow + row} the last column (${last}) ` +
          `contradicts the first (${first}). Choose a column: --keep-meridian west (the first) or east (the last).`,
        { details: { row: window.firstRow + row, band: window.band } },
      );
    }
    if (isWhole) values.set(wide.subarray(row * wideCount, row * wideCount + columnCount), row * columnCount);
    if (Number.isNaN(first) || (isConflict && kept === "east")) values[row * columnCount] = last;
  }
  return values;
}

/** Largest distance of a value from the user's number, relative to the larger of the two terms of the value. */
const RELATIVE_TOLERANCE = 1e-6;

/**
 * Returns the stored integers whose values are the given ones. Values are not compared exactly, because stored x scale is not
 * the nearest number to its decimals: 9999 x 0.1 is 999.9000000000001.
 *
 * @param values after scale and offset, at most one integer for each
 */
export function storedIntegersOf(
  values: readonly number[],
  { scale, offset }: { readonly scale: number; readonly offset: number },
): readonly number[] {
  return values.flatMap((value) => {
    const stored = Math.round((value - offset) / scale);
    const distanceMax = RELATIVE_TOLERANCE * Math.max(Math.abs(scale), Math.abs(value), Math.abs(offset));
    return Math.abs(stored * scale + offset - value) <= distanceMax ? [stored] : [];
  });
}
