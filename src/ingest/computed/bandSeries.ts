/** Reads a series of maps, a few bands at a time, so that memory does not depend on their number. */
import { MISSING_MARKER_MIN } from "../../kernel/kernel.generated.ts";
import { type CellWindow, describeCell, type Raster, type RasterValues, sourceFault } from "../raster.ts";
import type { BandRun } from "../computedMethod.ts";

/** Values that are decoded at a time: 32 MiB of doubles. */
const VALUES_MAX = 4 << 20;

/** One map of a series in a window. */
interface SeriesMap {
  /** A subarray, valid until the next map. */
  readonly values: RasterValues;
  readonly part: Raster;
  /** From 1. */
  readonly band: number;
}

/** Returns the maps of runs of bands in their order, each in the same window. */
export async function* mapsOfRuns(
  parts: readonly Raster[],
  runs: readonly BandRun[],
  window: CellWindow,
): AsyncGenerator<SeriesMap> {
  const cellCount = window.rowCount * window.columnCount;
  const affordableCount = Math.max(1, Math.floor(VALUES_MAX / cellCount));
  for (const { part: index, firstBand, bandCount } of runs) {
    const part = parts[index];
    if (part === undefined) throw new Error(`The series has no map ${index}.`);
    const end = firstBand + bandCount;
    for (let band = firstBand; band < end;) {
      const count = Math.min(end - band, part.readBands === undefined ? 1 : countAt(part, band, affordableCount));
      const values =
        part.readBands === undefined || count === 1
          ? await part.readWindow({ ...window, band })
          : await part.readBands({ ...window, firstBand: band, bandCount: count });
      for (let i = 0; i < count; i++) {
        yield { values: values.subarray(i * cellCount, (i + 1) * cellCount), part, band: band + i };
      }
      band += count;
    }
  }
}

/** Returns how many bands to read from a band on, so that bands that are decoded together are decoded once. */
function countAt({ blockBandCount = 1 }: Raster, band: number, affordableCount: number): number {
  const blocks = Math.max(1, Math.floor(affordableCount / blockBandCount));
  const untilEnd = blocks * blockBandCount - ((band - 1) % blockBandCount);
  return Math.min(affordableCount, untilEnd);
}

/**
 * Divides a window into rows of cells. Strips end at the ends of blocks if possible.
 * @param cellCountMax of a strip, which has at least one row
 */
export function* stripsOf(
  window: CellWindow,
  { cellCountMax, blockRowCount }: { readonly cellCountMax: number; readonly blockRowCount: number },
): Generator<CellWindow> {
  const rowCountMax = Math.max(1, Math.floor(cellCountMax / window.columnCount));
  const end = window.firstRow + window.rowCount;
  for (let row = window.firstRow; row < end;) {
    const blockEnd = Math.floor((row + rowCountMax) / blockRowCount) * blockRowCount;
    const stripEnd = Math.min(end, blockEnd > row ? blockEnd : row + rowCountMax);
    yield { ...window, firstRow: row, rowCount: stripEnd - row };
    row = stripEnd;
  }
}

/**
 * Returns the error for a value that is below zero, or infinite or otherwise too large for any quantity.
 * @param quantity what the value should be, for the message
 */
export function seriesValueFault(
  { part, band, values }: SeriesMap,
  { cell, window, quantity }: { readonly cell: number; readonly window: CellWindow; readonly quantity: string },
): Error {
  const at = {
    row: window.firstRow + Math.floor(cell / window.columnCount),
    column: window.firstColumn + (cell % window.columnCount),
  };
  const value = values[cell] as number;
  const coordinates = Object.entries(part.bands[band - 1]?.coordinates ?? {}).map(
    ([name, coordinate]) => `${name} ${coordinate}`,
  );
  const where = [...(part.bands.length > 1 ? [`band ${band}`] : []), ...coordinates].join(", ");
  return sourceFault(
    part.file,
    `${where === "" ? "" : `${where}: `}${describeCell(part.grid, at)} has the value ${value}, but ${quantity} is at least 0 and less than ${MISSING_MARKER_MIN.toExponential()}. ` +
      "If the value marks missing cells, give nodata in the manifest, or --nodata.",
    { details: { ...at, band, value } },
  );
}
