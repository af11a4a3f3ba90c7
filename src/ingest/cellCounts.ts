/** Counts the cells of a group while its rows are written. */
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import { FLAG_CLAMPED } from "./badValues.ts";
import { FLAG_AT_FIRST_RETURN_PERIOD, FLAG_MADE_NON_DECREASING, FLAG_PARTLY_MISSING } from "./curve.ts";
import type { LargestRounding } from "./metricSteps.ts";

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
 * Adds a run of cells to the counts, and returns them.
 *
 * @param steps u16[cells][layerCount]
 * @param flags u8[cells], the FLAG_ bits of curve.ts
 * @param at `own`: index of the layer to count; the run of cells
 */
export function countCells(
  counts: GroupTotals["counts"],
  steps: Uint16Array,
  flags: Uint8Array,
  at: { readonly own: number; readonly layerCount: number; readonly firstCell: number; readonly endCell: number },
): CellCounts {
  const { own, layerCount, firstCell, endCell } = at;
  let nodata = 0;
  let zero = 0;
  for (let cell = firstCell, index = firstCell * layerCount + own; cell < endCell; cell++, index += layerCount) {
    const step = steps[index] as number;
    if (step === STEPS_NODATA) nodata++;
    else if (step === 0) zero++;
    const bits = flags[cell] as number;
    if (bits === 0) continue;
    if ((bits & FLAG_CLAMPED) !== 0) counts.clampedNegative++;
    if ((bits & FLAG_PARTLY_MISSING) !== 0) counts.partlyMissing++;
    if ((bits & FLAG_AT_FIRST_RETURN_PERIOD) !== 0) counts.reachedAtFirst++;
    if ((bits & FLAG_MADE_NON_DECREASING) !== 0) counts.raised++;
  }
  counts.nodata += nodata;
  counts.zero += zero;
  counts.valid += endCell - firstCell - nodata;
  return counts;
}

/** Adds counts of other cells. */
export function addCounts(counts: GroupTotals["counts"], more: CellCounts): void {
  for (const name of Object.keys(counts) as (keyof CellCounts)[]) counts[name] += more[name];
}
