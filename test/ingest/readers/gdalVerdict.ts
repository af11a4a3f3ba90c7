import { isFault } from "../../../src/errors.ts";
import type { BandWindow, Raster } from "../../../src/ingest/raster.ts";
import { openGeoTiff } from "../../../src/ingest/readers/geotiff/geotiff.ts";
import { checkUnit } from "../../../src/ingest/units.ts";
import type { Grid } from "../../../src/kernel/grid.ts";

/** A file written by gdalVariants.py. */
export interface GdalVariant {
  readonly name: string;
  readonly file: string;
  /** Values of each band, with NaN for missing cells: a file name or, in fixtures, the encoded values. */
  readonly bands: readonly string[];
  readonly grid: Grid | null;
  readonly isWgs84: boolean;
}

/** Result of comparing the reader with GDAL. */
export type Verdict =
  | { readonly kind: "right" }
  | { readonly kind: "rejected"; readonly message: string }
  | { readonly kind: "wrong"; readonly why: string };

/**
 * Reads a file and compares it with what GDAL reads. @param readBand returns the expected values of an item of `bands`
 */
export async function verdictOf(variant: GdalVariant, readBand: (band: string) => Float64Array): Promise<Verdict> {
  let raster: Raster | undefined;
  try {
    raster = await openGeoTiff(variant.file);
    if (variant.grid === null || !variant.isWgs84) return { kind: "wrong", why: "read without a WGS84 grid" };
    for (const [name, expected] of Object.entries(variant.grid) as [keyof Grid, number][]) {
      if (Math.abs(raster.grid[name] - expected) > 1e-9)
        return { kind: "wrong", why: `${name} ${raster.grid[name]} is not ${expected}` };
    }
    if (raster.bands.length !== variant.bands.length) return { kind: "wrong", why: `${raster.bands.length} bands` };
    for (const [index, values] of variant.bands.entries()) {
      checkUnit(raster, { band: index + 1, unit: "m", metric: "depth_meters", unitFactor: undefined });
      const why = await firstDifference(raster, index + 1, readBand(values));
      if (why !== undefined) return { kind: "wrong", why: `band ${index + 1}: ${why}` };
    }
    return { kind: "right" };
  } catch (error) {
    if (!isFault(error, "source_invalid")) return { kind: "wrong", why: `failed: ${String(error)}` };
    if (!error.message.includes(variant.file))
      return { kind: "wrong", why: `does not name the file: ${error.message}` };
    return { kind: "rejected", message: error.message.replaceAll(variant.file, "FILE") };
  } finally {
    await raster?.close();
  }
}

/** Decodes little-endian 64-bit floating-point numbers. */
export function toFloat64(bytes: Uint8Array): Float64Array {
  return new Float64Array(Uint8Array.from(bytes).buffer); // not slice(), because a slice of a Buffer shares Node's buffer pool
}

/** Returns a window in the middle of a map. */
function partOf(rowCount: number, columnCount: number): Omit<BandWindow, "band"> {
  const firstRow = Math.min(6, rowCount - 1);
  const firstColumn = Math.min(11, columnCount - 1);
  return {
    firstRow,
    rowCount: Math.min(13, rowCount - firstRow),
    firstColumn,
    columnCount: Math.min(30, columnCount - firstColumn),
  };
}

/** Reads a band and a window of it. Returns a description of the first difference from GDAL, or undefined. */
async function firstDifference(raster: Raster, band: number, expected: Float64Array): Promise<string | undefined> {
  const { rowCount, columnCount } = raster.grid;
  const windows = [{ firstRow: 0, rowCount, firstColumn: 0, columnCount }, partOf(rowCount, columnCount)];
  for (const window of windows) {
    const values = await raster.readWindow({ band, ...window });
    for (let row = 0; row < window.rowCount; row++) {
      for (let column = 0; column < window.columnCount; column++) {
        const expectedValue = expected[(window.firstRow + row) * columnCount + window.firstColumn + column];
        const value = values[row * window.columnCount + column];
        if (!Object.is(value, expectedValue) && value !== expectedValue)
          return `row ${window.firstRow + row}, column ${window.firstColumn + column}: ${value}, GDAL reads ${expectedValue}`;
      }
    }
  }
  return undefined;
}
