/** The rules by which values of source maps are rejected, and the errors that name them by file, cell and coordinates. */
import { Fault } from "../errors.ts";
import type { MetricSpec } from "../hazard/hazards.ts";
import { type Cell, cellCenter } from "../kernel/grid.ts";
import { MISSING_MARKER_MIN } from "../kernel/kernel.generated.ts";
import { depthStepsHint, type GroupPlan, largestAllowed, mapsOf, type MapSource } from "./plan.ts";
import { type CellWindow, describeCell, fileAt, type RasterValues, sourceFault } from "./raster.ts";

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
type RejectionReason = "negative" | "missing-marker" | "below-tolerance" | "infinite" | "above-range";

/** Thrown for a rejected value, and caught by `checkingValues`, which knows the maps and the window. */
export class BadValueError extends Error {
  override readonly name = "BadValueError";
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
function isInRange(value: number, { unitFactor, max }: ValueRange): boolean {
  return value >= 0 && value <= max && !isLargeMarker(value, unitFactor);
}

/** Returns whether a finite value is too large for any quantity. The kernel computes this in the same way. */
function isLargeMarker(value: number, unitFactor: number): boolean {
  return value >= MISSING_MARKER_MIN || value * unitFactor >= MISSING_MARKER_MIN;
}

/** Returns why a value is rejected, or undefined for a value that is in the range, missing, or set to zero. */
function rejectionOf(value: number, range: ValueRange): RejectionReason | undefined {
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

/** Flag bit of a cell in which a negative value was set to zero. */
export const FLAG_CLAMPED = 1;

/**
 * Returns the values of one map with small negative values set to zero; all others are missing or within the range.
 * @throws BadValueError for a value that is infinite, too large, a marker of missing cells or too far below zero
 */
export function checkedValues(values: RasterValues, flags: Uint8Array, range: ValueRange): RasterValues {
  let clamped: RasterValues | undefined;
  const { unitFactor, max } = range;
  // All values from 0 to this are in the range; comparing with it first takes half the time of `isInRange`.
  const plainMax = Math.min(max, MISSING_MARKER_MIN / 2, MISSING_MARKER_MIN / 2 / unitFactor);
  for (let cell = 0; cell < values.length; cell++) {
    const value = values[cell] as number;
    if ((value >= 0 && value <= plainMax) || Number.isNaN(value) || isInRange(value, range)) continue;
    if (rejectionOf(value, range) !== undefined) throw new BadValueError();
    clamped ??= values.slice();
    clamped[cell] = 0;
    flags[cell] = (flags[cell] ?? 0) | FLAG_CLAMPED;
  }
  return clamped ?? values;
}

/** A map and its values in the window of a chunk. */
export interface ReadMap {
  readonly source: MapSource;
  readonly values: RasterValues;
}

/** Where the values of maps are, and what they are checked for. */
export interface ValueCheck {
  readonly window: CellWindow;
  readonly layer: MetricSpec;
  readonly clampTolerance: ValueRange["clampTolerance"];
  /** The largest value in source units; default: the largest number. */
  readonly max?: number;
}

/**
 * Runs a computation on the values of maps.
 * @throws Fault `source_invalid` that lists every rejected value of the maps in the window, if the computation rejects one
 */
export function checkingValues<T>(maps: readonly ReadMap[], check: ValueCheck, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    throw error instanceof BadValueError ? rejectionFault(maps, check) : error;
  }
}

/** Places that are listed for each map; further ones are only counted. */
const PLACES_PER_MAP_MAX = 20;

/** A rejected value. Rows and columns count from 0 at the northwest corner. */
interface RejectedPlace extends Cell {
  /** The name of the file; for a mosaic, of the files that have the cell. */
  readonly file: string;
  readonly latitude: number;
  readonly longitude: number;
  /** As text if it is infinite, because JSON has no infinite numbers. */
  readonly value: number | string;
  readonly reason: RejectionReason;
}

/** The rejected values of one map in the window of a chunk. */
export interface RejectedMap {
  readonly file: string;
  readonly band: number;
  /** Number of values by the reason why they are rejected. */
  readonly counts: Partial<Record<RejectionReason, number>>;
  /** The first values from north to south and west to east, at most PLACES_PER_MAP_MAX. */
  readonly places: readonly RejectedPlace[];
}

const REASONS: Readonly<Record<RejectionReason, string>> = {
  negative: "below zero",
  "missing-marker": "a number that commonly marks missing cells",
  "below-tolerance": "too far below zero to be noise",
  infinite: "infinite",
  "above-range": "above the largest value that a layer stores",
};

/** Returns the error that lists the rejected values of maps; if there is only one, the error about it. */
function rejectionFault(maps: readonly ReadMap[], check: ValueCheck): Fault {
  let first: Fault | undefined;
  const rejected: RejectedMap[] = [];
  for (const { source, values } of maps) {
    const { raster, band, unitFactor } = source;
    const range = { unitFactor, clampTolerance: check.clampTolerance, max: check.max ?? Number.MAX_VALUE };
    const counts: RejectedMap["counts"] = {};
    const places: RejectedPlace[] = [];
    for (const [index, value] of values.entries()) {
      const reason = rejectionOf(value, range);
      if (reason === undefined) continue;
      const cell = cellAt(check.window, index);
      first ??= badValueFault(source, check, { cell, value, reason });
      counts[reason] = (counts[reason] ?? 0) + 1;
      if (places.length >= PLACES_PER_MAP_MAX) continue;
      const { latDeg, lonDeg } = cellCenter(raster.grid, cell);
      places.push({
        file: fileAt(raster, cell),
        ...cell,
        latitude: latDeg,
        longitude: lonDeg,
        value: Number.isFinite(value) ? value : String(value),
        reason,
      });
    }
    if (places.length > 0) rejected.push({ file: raster.file, band, counts, places });
  }
  if (first === undefined) throw new Error("A value was rejected that is in the range.");
  const count = rejected.reduce((sum, map) => sum + countOf(map), 0);
  if (count === 1) return first;
  const { firstRow, rowCount, firstColumn, columnCount } = check.window;
  const where = `rows ${firstRow} to ${firstRow + rowCount - 1} and columns ${firstColumn} to ${firstColumn + columnCount - 1}`;
  const lines = [
    `${first.message} In ${where}, ${count} values of ${rejected.length} ${rejected.length === 1 ? "map" : "maps"} are rejected; ` +
      "nothing was published:",
    ...rejected.flatMap(mapLines),
  ];
  return new Fault(first.code, lines.join("\n"), { details: { ...first.details, rejected_maps: rejected } });
}

function countOf({ counts }: RejectedMap): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function mapLines(map: RejectedMap): readonly string[] {
  const { file, band, counts, places } = map;
  const kinds = (Object.entries(counts) as [RejectionReason, number][])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, count]) => `${count} ${REASONS[reason]}`);
  const more = countOf(map) - places.length;
  return [
    `${file}, band ${band}: ${kinds.join(", ")}`,
    ...places.map((place) => {
      const { row, column, latitude, longitude, value, reason } = place;
      const where = `row ${row}, column ${column} (latitude ${latitude.toFixed(5)}, longitude ${longitude.toFixed(5)})`;
      return `  ${place.file === file ? "" : `${place.file}: `}${where}: ${value}, ${REASONS[reason]}`;
    }),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function cellAt({ firstRow, firstColumn, columnCount }: CellWindow, index: number): Cell {
  return { row: firstRow + Math.floor(index / columnCount), column: firstColumn + (index % columnCount) };
}

/** Returns the error for a rejected source value, with what the user can do about it. */
function badValueFault(
  { raster, band, unitFactor }: MapSource,
  { layer, clampTolerance }: ValueCheck,
  { cell, value, reason }: { readonly cell: Cell; readonly value: number; readonly reason: RejectionReason },
): Fault {
  const marker = `If it marks missing cells, pass --nodata ${value}`;
  const unit = layer.unit === "1" ? "" : ` ${layer.unit}`;
  const inUnit = unitFactor === 1 ? "" : `, which is ${Number((value * unitFactor).toPrecision(6))}${unit}`;
  const why = {
    negative: `the value is ${value}, below zero. ${marker}; if it is noise around zero, pass --clamp-negative.`,
    "missing-marker": `the value is ${value}, which commonly marks missing cells${value < 0 ? " and is never set to 0" : ""}. ${marker}; if not, correct it in the map.`,
    "below-tolerance":
      `the value is ${value}${inUnit}: more than ${clampTolerance}${unit} below zero, which is too much to be noise. ` +
      `${marker}; if it is a measurement that should be set to zero, pass --clamp-tolerance with a number above ${clampTolerance}.`,
    infinite: `the value is ${value}; values must be finite. ${marker}.`,
    "above-range": `the value ${value} becomes ${value * unitFactor} as ${layer.metric}, whose maximum is ${largestAllowed(layer)}. Check the unit factor. ${marker}.${depthStepsHint(layer, value * unitFactor)}`,
  }[reason];
  const ofBand = raster.bands.length === 1 ? "" : `band ${band}, `;
  return sourceFault(fileAt(raster, cell), `${ofBand}${describeCell(raster.grid, cell)}: ${why}`, {
    details: { ...cell, band, value },
  });
}

/** A computed value that no step can store: the index of its cell in the window that was computed. */
export interface UnstorableValue {
  readonly layer: MetricSpec | undefined;
  readonly cell: number;
  readonly value: number;
}

/** Returns the error for a metric that no step can store, traced back to the source map that caused it. */
export async function outOfRangeFault(
  group: GroupPlan,
  window: CellWindow,
  { layer, cell: index, value: computed }: UnstorableValue,
): Promise<Error> {
  if (layer === undefined) throw new Error("There is no such layer.");
  const cell = cellAt(window, index);
  const largest = largestAllowed(layer);
  const unit = layer.unit === "1" ? "" : ` ${layer.unit}`;
  // An interpolated value or a mean over models is too large only if one of the maps is.
  for (const { raster, band, unitFactor } of mapsOf(group)) {
    const ofCell = { band, firstRow: cell.row, rowCount: 1, firstColumn: cell.column, columnCount: 1 };
    const [value = NaN] = await raster.readWindow(ofCell);
    if (!(value * unitFactor > largest)) continue;
    return sourceFault(
      fileAt(raster, cell),
      `${raster.bands.length === 1 ? "" : `band ${band}, `}${describeCell(raster.grid, cell)}: the value ${value} gives ${layer.metric} ${computed}${unit}; a layer stores 0 to ${largest}${unit}. ` +
        `Check the unit factor and the nodata value.${depthStepsHint(layer, value * unitFactor)}`,
      { details: { ...cell, band, value, metric: layer.metric } },
    );
  }
  return new Error(
    `${layer.metric} of ${group.scenario} ${group.year} cannot be stored: ${computed} in row ${cell.row}, column ${cell.column}.`,
  );
}
