/** World maps with one column more than 360 degrees require: the last column repeats the meridian of the first. */
import type { Grid } from "../../kernel/grid.ts";
import { type BandWindow, type KeptMeridian, type RasterValues, sourceFault } from "../raster.ts";

/** Returns whether a grid has one column more than 360 degrees require. */
export function hasRepeatedMeridian({ columnCount, cellSizeLonDeg }: Grid): boolean {
  return Math.abs((columnCount - 1) * cellSizeLonDeg - 360) < 1e-3 * cellSizeLonDeg;
}

/** Returns the provenance entries for a repeated meridian. */
export function meridianNotes(kept: KeptMeridian | undefined): Readonly<Record<string, unknown>> {
  return {
    repeated_meridian: "the last column repeats the meridian of the first and was merged into it",
    ...(kept === undefined ? {} : { kept_meridian: `the ${kept} column if the two differ` }),
  };
}

/**
 * Reads a window that starts at the seam and merges the last column into the first. If only one of the two cells of a row
 * has a value, that value is used: maps assembled from basins that end at the seam, such as STORM's, have half of the
 * meridian in each column. If both cells have values and differ, `kept` names the column to use.
 *
 * @param window a window of the grid without its last column
 * @throws Fault `source_invalid` if the columns differ and `kept` is undefined
 */
export async function readWithRepeatedMeridian(
  {
    file,
    read,
    extraColumn,
    kept,
  }: {
    readonly file: string;
    readonly read: (window: BandWindow) => Promise<RasterValues>;
    readonly extraColumn: number;
    readonly kept: KeptMeridian | undefined;
  },
  window: BandWindow,
): Promise<RasterValues> {
  const { rowCount, columnCount } = window;
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
