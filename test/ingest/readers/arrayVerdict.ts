import { readFileSync } from "node:fs";
import { isFault } from "../../../src/errors.ts";
import type { Raster, RasterOptions } from "../../../src/ingest/raster.ts";
import { MapFiles } from "../../../src/ingest/readers/mapFiles.ts";
import type { Grid } from "../../../src/kernel/grid.ts";

/** A file written by one of the Python scripts in this folder. */
export interface ArrayVariant {
  readonly name: string;
  readonly file: string;
  readonly options: RasterOptions;
  /** File with the expected values as float64; absent if the file must be rejected. */
  readonly values?: string;
  readonly grid?: Grid & { readonly toleranceDeg?: number };
}

/** Result of comparing the reader with the expected values. */
export type ArrayVerdict =
  | { readonly kind: "right" }
  | { readonly kind: "rejected"; readonly message: string }
  | { readonly kind: "wrong"; readonly why: string };

/** Reads a variant and compares its grid and all of its values with the expected ones. */
export async function verdictOf(variant: ArrayVariant): Promise<ArrayVerdict> {
  const maps = new MapFiles();
  try {
    const raster = await maps.open(variant.file, variant.options);
    const why = await firstDifference(raster, variant);
    return why === undefined ? { kind: "right" } : { kind: "wrong", why };
  } catch (error) {
    if (!isFault(error, "source_invalid")) {
      return { kind: "wrong", why: `failed: ${error instanceof Error ? String(error.stack) : String(error)}` };
    }
    if (!error.message.includes(variant.file))
      return { kind: "wrong", why: `does not name the file: ${error.message}` };
    return { kind: "rejected", message: error.message.replaceAll(variant.file, "FILE") };
  } finally {
    await maps.close();
  }
}

async function firstDifference(
  raster: Raster,
  { grid, values: valuesFile }: ArrayVariant,
): Promise<string | undefined> {
  const { rowCount, columnCount } = raster.grid;
  const whole = { band: 1, firstRow: 0, rowCount, firstColumn: 0, columnCount };
  const read = await raster.readWindow(whole);
  if (grid === undefined || valuesFile === undefined) return "was read, but must be rejected";
  const { toleranceDeg = 1e-9, ...expectedGrid } = grid;
  for (const [name, expected] of Object.entries(expectedGrid) as [keyof Grid, number][]) {
    if (Math.abs(raster.grid[name] - expected) > toleranceDeg)
      return `${name} is ${raster.grid[name]}, not ${expected}`;
  }
  const expected = new Float64Array(Uint8Array.from(readFileSync(valuesFile)).buffer);
  const isEqual = (value = Infinity, wanted = NaN): boolean =>
    Object.is(value, wanted) || value === wanted || Math.abs(value - wanted) <= 1e-9 * Math.abs(wanted);
  for (let cell = 0; cell < rowCount * columnCount; cell++) {
    if (!isEqual(read[cell], expected[cell])) return `cell ${cell}: ${read[cell]}, expected ${expected[cell]}`;
  }
  const part = {
    band: 1,
    firstRow: Math.min(3, rowCount - 1),
    rowCount: Math.min(5, rowCount - 3),
    firstColumn: 7,
    columnCount: 11,
  };
  if (part.rowCount < 1) return undefined;
  const window = await raster.readWindow(part);
  for (let i = 0; i < window.length; i++) {
    const cell =
      (part.firstRow + Math.floor(i / part.columnCount)) * columnCount + part.firstColumn + (i % part.columnCount);
    if (!isEqual(window[i], expected[cell])) return `window cell ${i}: ${window[i]}, expected ${expected[cell]}`;
  }
  return undefined;
}
