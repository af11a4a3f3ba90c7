/**
 * Converts the stored numbers of a window to values: masks and alpha bands, scale and offset, and integers that cannot be
 * represented exactly.
 */
import type { Cell } from "../../../kernel/grid.ts";
import { type BandWindow, type RasterValues, sourceFault } from "../../raster.ts";
import { storedIntegersOf } from "../storedMap.ts";
import type { Packing } from "./gdalMetadata.ts";
import type { Mask } from "./masks.ts";

/** How stored numbers of a band become values. */
export interface BandMeaning {
  readonly packing: Packing;
  readonly mask: Mask | undefined;
  /** Whether the file has 64-bit integers. */
  readonly hasLargeIntegers: boolean;
  /** Returns whether a stored number is the nodata value that the file declares. */
  readonly isNodata: ((stored: number) => boolean) | undefined;
  /** Values, after scale and offset, that the user declares as missing. */
  readonly extraNodata: readonly number[];
}

/** Returns whether stored numbers are the values, except that nodata values are missing. */
export function isPlain({ packing, mask, hasLargeIntegers }: BandMeaning): boolean {
  return mask === undefined && !hasLargeIntegers && packing.scale === 1 && packing.offset === 0;
}

/**
 * Returns the values of a window, with NaN for missing cells.
 *
 * @param stored the stored numbers, which may be overwritten
 * @throws Fault `source_invalid` naming a cell with a 64-bit integer that cannot be represented exactly, a cell that is
 *   partly transparent, or a cell that the mask and the nodata value contradict
 */
export async function valuesOf(
  stored: RasterValues,
  meaning: BandMeaning,
  {
    file,
    window,
    describe,
  }: { readonly file: string; readonly window: BandWindow; readonly describe: (cell: Cell) => string },
): Promise<RasterValues> {
  const { mask, isNodata, packing, extraNodata } = meaning;
  const cells = await mask?.read(window);
  const cellFault = (index: number, why: string): Error => {
    const row = window.firstRow + Math.floor(index / window.columnCount);
    const column = window.firstColumn + (index % window.columnCount);
    return sourceFault(file, `band ${window.band} ${why} at ${describe({ row, column })}.`, {
      details: { row, column, band: window.band },
    });
  };
  for (let index = 0; index < stored.length; index++) {
    const number = stored[index] as number;
    const isMarked = isNodata?.(number) === true;
    if (mask !== undefined && cells !== undefined) {
      const cell = cells[index] as number;
      const why = maskContradiction(mask, cell, {
        isMarked,
        hasNodata: isNodata !== undefined,
        isNaN: number !== number,
      });
      if (why !== undefined) throw cellFault(index, why);
      if (cell === 0) {
        stored[index] = NaN;
        continue;
      }
    }
    if (isMarked) stored[index] = NaN;
    else if (meaning.hasLargeIntegers && Math.abs(number) > Number.MAX_SAFE_INTEGER) {
      throw cellFault(index, "has a 64-bit integer beyond 2^53, which cannot be represented exactly,");
    }
  }
  const values = unpacked(stored, packing);
  if (extraNodata.length > 0) {
    const asStored = values instanceof Float32Array ? Math.fround : (value: number): number => value;
    const extra = new Set(extraNodata.map(asStored));
    const extraStored = new Set(values === stored ? [] : storedIntegersOf(extraNodata, packing));
    for (let index = 0; index < values.length; index++) {
      if (extra.has(values[index] as number) || extraStored.has(stored[index] as number)) values[index] = NaN;
    }
  }
  return values;
}

function maskContradiction(
  mask: Mask,
  cell: number,
  { isMarked, hasNodata, isNaN }: { readonly isMarked: boolean; readonly hasNodata: boolean; readonly isNaN: boolean },
): string | undefined {
  if (cell !== 0 && cell !== mask.opaque) {
    return `has the value ${cell} in ${mask.name}; 0 (missing) and ${mask.opaque} (valid) are accepted,`;
  }
  if (cell !== 0 && isMarked) return `has its nodata value although ${mask.name} marks the cell as valid,`;
  if (cell === 0 && mask.mustAgree && hasNodata && !isMarked && !isNaN) {
    return `has a value other than its nodata value although ${mask.name} marks the cell as missing,`;
  }
  return undefined;
}

function unpacked(stored: RasterValues, { scale, offset }: Packing): RasterValues {
  if (scale === 1 && offset === 0) return stored;
  const values = new Float64Array(stored.length);
  for (let index = 0; index < values.length; index++) values[index] = (stored[index] as number) * scale + offset;
  return values;
}
