/** The rules by which values of source maps are rejected. */
import { MISSING_MARKER_MIN } from "../kernel/kernel.generated.ts";

/** The range of values that a map may have. */
export interface ValueRange {
  /** Multiplies source values to give the metric's unit. */
  readonly unitFactor: number;
  /**
   * Values from -`clampTolerance` to 0, in the metric's unit, are set to zero; undefined rejects every negative value.
   */
  readonly clampTolerance: number | undefined;
  /** In source units. */
  readonly max: number;
}

/** Why a source value is rejected. */
export type RejectionReason = "negative" | "missing-marker" | "below-tolerance" | "infinite" | "above-range";

/** A rejected source value, with the indices of its map and cell. */
export interface BadValue {
  readonly map: number;
  readonly cell: number;
  readonly value: number;
  readonly why: RejectionReason;
}

/** Thrown for a rejected value, and caught within src/ingest by callers that know the file and the cell. */
export class BadValueError extends Error {
  override readonly name = "BadValueError";
  readonly bad: BadValue;
  constructor(bad: BadValue) {
    super(`A value of ${bad.value} is ${bad.why}.`);
    this.bad = bad;
  }
}

/**
 * Markers other than runs of nines: the lowest 8-bit integer and the lowest 16-bit integers; the lowest numbers of
 * wider formats are below MARKER_MAX.
 */
const MARKERS: ReadonlySet<number> = new Set([-128, -32_767, -32_768]);
/** Every value at or below this is a marker, such as the lowest 32-bit integer and the lowest float. */
const MARKER_MAX = -1e8;

/** Returns whether a source value commonly marks missing cells: -9, -99, -9999, -999.9, -32768, -3.4e38 and others. */
function isMissingMarker(value: number): boolean {
  if (value <= MARKER_MAX || MARKERS.has(value)) return true;
  // Decimals such as -999.9 are rounded in 32-bit floats; seven digits undo that.
  const text = String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));
  return /^-(9+|99+\.9+)$/.test(text);
}

/** Returns whether a value is used as it is. NaN, which means missing, is not. */
export function isInRange(value: number, { unitFactor, max }: ValueRange): boolean {
  return value >= 0 && value <= max && !isLargeMarker(value, unitFactor);
}

/**
 * Returns a number such that all values from 0 to it are in range. Loops compare with it first, because `isInRange` takes twice
 * as long.
 */
export function certainMax({ unitFactor, max }: ValueRange): number {
  const belowMarkers = MISSING_MARKER_MIN / 2;
  return Math.min(max, belowMarkers, belowMarkers / unitFactor);
}

/** Returns whether a finite value is too large for any quantity. The kernel computes this in the same way. */
function isLargeMarker(value: number, unitFactor: number): boolean {
  return value >= MISSING_MARKER_MIN || value * unitFactor >= MISSING_MARKER_MIN;
}

/** Returns why a value is rejected, or undefined for a value that is in the range, missing, or set to zero. */
export function rejectionOf(value: number, range: ValueRange): RejectionReason | undefined {
  if (isInRange(value, range) || Number.isNaN(value)) return undefined;
  const { unitFactor, clampTolerance, max } = range;
  if (!Number.isFinite(value)) return "infinite";
  if (isLargeMarker(value, unitFactor)) return "missing-marker";
  if (value > max) return "above-range";
  if (clampTolerance === undefined) return "negative";
  // After multiplication by the unit factor, a marker may be within the tolerance.
  if (isMissingMarker(value)) return "missing-marker";
  // A value far below zero is probably an undeclared nodata value rather than noise.
  return value * unitFactor >= -clampTolerance ? undefined : "below-tolerance";
}
