/** Counts the cells of a group while its rows are written. */
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import {
  FLAG_AT_FIRST_RETURN_PERIOD,
  FLAG_CLAMPED,
  FLAG_MADE_NON_DECREASING,
  FLAG_PARTLY_MISSING,
  type LargestRounding,
} from "./curve.ts";

export interface CellCounts {
  readonly valid: number;
  readonly nodata: number;
  /** Valid cells with the value zero. */
  readonly zero: number;
  /** Cells in which a negative value was set to zero. */
  readonly clampedNegative: number;
  /** Cells that are missing on some maps of a curve but not on all. */
  readonly partlyMissing: number;
  /** Cells that reach the threshold at the shortest return period. */
  readonly reachedAtFirst: number;
  /** Cells whose curve was made non-decreasing. */
  readonly raised: number;
}

/** Counts and rounding errors of one group. Checkpoints store them as JSON, so the member names are part of a file format. */
export interface GroupTotals {
  counts: { -readonly [K in keyof CellCounts]: number };
  worst: LargestRounding;
}

export function zeroCounts(): GroupTotals["counts"] {
  return { valid: 0, nodata: 0, zero: 0, clampedNegative: 0, partlyMissing: 0, reachedAtFirst: 0, raised: 0 };
}

/**
 * Adds the cells of one row to the counts.
 *
 * @param steps u16[cells][layerCount]
 * @param flags u8[cells], the FLAG_ bits of curve.ts
 * @param layout `own`: index of the layer to count
 */
export function countRow(
  counts: GroupTotals["counts"],
  steps: Uint16Array,
  flags: Uint8Array,
  { own, layerCount }: { readonly own: number; readonly layerCount: number },
): void {
  for (let column = 0; column < flags.length; column++) {
    const step = steps[column * layerCount + own] ?? STEPS_NODATA;
    if (step === STEPS_NODATA) counts.nodata++;
    else counts.valid++;
    if (step === 0) counts.zero++;
    const bits = flags[column] ?? 0;
    if (bits === 0) continue;
    if ((bits & FLAG_CLAMPED) !== 0) counts.clampedNegative++;
    if ((bits & FLAG_PARTLY_MISSING) !== 0) counts.partlyMissing++;
    if ((bits & FLAG_AT_FIRST_RETURN_PERIOD) !== 0) counts.reachedAtFirst++;
    if ((bits & FLAG_MADE_NON_DECREASING) !== 0) counts.raised++;
  }
}
