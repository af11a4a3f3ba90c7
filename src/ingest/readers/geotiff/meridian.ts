/** World maps whose columns make one turn and one column more: the last stands for the same meridian as the first. */
import type { Grid } from "../../../kernel/grid.ts";
import { type BandWindow, type KeptMeridian, type RasterValues, sourceFault } from "../../raster.ts";

export function hasRepeatedMeridian({ columnCount, cellSizeLonDeg }: Grid): boolean {
  return Math.abs((columnCount - 1) * cellSizeLonDeg - 360) < 1e-3 * cellSizeLonDeg;
}

/** What was done with the two columns, for the provenance. */
export function meridianNotes(kept: KeptMeridian | undefined): Readonly<Record<string, unknown>> {
  return {
    repeated_meridian: "the last column is the first once more and was joined with it",
    ...(kept === undefined ? {} : { kept_meridian: `the ${kept} column, where the two differ` }),
  };
}

/**
 * Reads a window that begins at the seam. Where only one of the two columns has a value, it is the meridian's: maps put
 * together from basins that end there, as STORM's are, have one half of the meridian in each column. Where both have
 * values and differ, `kept` decides.
 *
 * @param window of the grid without its last column
 * @throws Fault `source_invalid` where the columns differ and it is not decided which is right
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
  // A striped file would be decoded twice for one column: whole rows are read once, with it.
  const wideCount = isWhole ? columnCount + 1 : columnCount;
  const wide = await read({ ...window, columnCount: wideCount });
  const extra = isWhole ? undefined : await read({ ...window, firstColumn: extraColumn, columnCount: 1 });
  const values = isWhole ? wide.slice(0, rowCount * columnCount) : wide;
  for (let row = 0; row < rowCount; row++) {
    const first = wide[row * wideCount] ?? NaN;
    const last = (extra === undefined ? wide[row * wideCount + columnCount] : extra[row]) ?? NaN;
    const isContradiction = first !== last && !Number.isNaN(first) && !Number.isNaN(last);
    if (isContradiction && kept === undefined) {
      throw sourceFault(
        file,
        `its columns make one turn and one column more, but in row ${window.firstRow + row} the last column (${last}) ` +
          `contradicts the first (${first}), which is the same meridian. Say which counts: --keep-meridian west (the ` +
          "first) or east (the last).",
        { details: { row: window.firstRow + row, band: window.band } },
      );
    }
    if (isWhole) values.set(wide.subarray(row * wideCount, row * wideCount + columnCount), row * columnCount);
    if (Number.isNaN(first) || (isContradiction && kept === "east")) values[row * columnCount] = last;
  }
  return values;
}
