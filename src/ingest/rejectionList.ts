/** Collects the rejected values of the maps of an ingest, and lists them in one error. */
import { Fault } from "../errors.ts";
import { cellCenter } from "../kernel/grid.ts";
import type { RejectionReason } from "./badValue.ts";
import type { MapSource } from "./plan.ts";
import { fileAt } from "./raster.ts";

/** Places that are listed for each map; further ones are only counted. */
const PLACES_PER_MAP_MAX = 20;
/** Maps that the message lists; the details have all of them. */
const LISTED_MAPS_MAX = 20;

/** A rejected value. Rows and columns count from 0 at the northwest corner. */
interface RejectedPlace {
  /** The name of the file; for a mosaic, of the files that have the cell. */
  readonly file: string;
  readonly row: number;
  readonly column: number;
  readonly latitude: number;
  readonly longitude: number;
  /** As text if it is infinite, because JSON has no infinite numbers. */
  readonly value: number | string;
  readonly reason: RejectionReason;
}

/** The rejected values of one map. */
export interface RejectedMap {
  readonly file: string;
  readonly band: number;
  /** Number of values by the reason why they are rejected. */
  readonly counts: Partial<Record<RejectionReason, number>>;
  /** The first values from north to south and west to east, at most PLACES_PER_MAP_MAX. */
  readonly places: readonly RejectedPlace[];
  /** Why the map could not be read at some places, at most PLACES_PER_MAP_MAX. The counts do not include these places. */
  readonly errors: readonly string[];
}

const REASONS: Readonly<Record<RejectionReason, string>> = {
  negative: "below zero",
  "missing-marker": "a number that commonly marks missing cells",
  "below-tolerance": "too far below zero to be noise",
  infinite: "infinite",
  "above-range": "above the largest value that a layer stores",
};

interface Position {
  readonly row: number;
  readonly column: number;
}

/** The rejected values of one map, while they are collected. Its memory does not depend on their number. */
export class MapRejections {
  readonly #source: MapSource;
  readonly #counts = new Map<RejectionReason, number>();
  /** In the order of rows and columns. */
  readonly #places: (Position & { readonly value: number; readonly reason: RejectionReason })[] = [];
  readonly #errors: string[] = [];

  constructor(source: MapSource) {
    this.#source = source;
  }

  get isEmpty(): boolean {
    return this.#counts.size === 0 && this.#errors.length === 0;
  }

  /** True if no further errors are listed. */
  get hasAllErrors(): boolean {
    return this.#errors.length >= PLACES_PER_MAP_MAX;
  }

  add(position: Position, value: number, reason: RejectionReason): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    const places = this.#places;
    const last = places.at(-1);
    if (places.length >= PLACES_PER_MAP_MAX && last !== undefined && isBefore(last, position)) return;
    const index = places.findIndex((place) => isBefore(position, place));
    places.splice(index < 0 ? places.length : index, 0, { ...position, value, reason });
    if (places.length > PLACES_PER_MAP_MAX) places.pop();
  }

  addError(message: string): void {
    if (!this.hasAllErrors && !this.#errors.includes(message)) this.#errors.push(message);
  }

  result(): RejectedMap {
    const { raster, band } = this.#source;
    return {
      file: raster.file,
      band,
      counts: Object.fromEntries(this.#counts),
      places: this.#places.map(({ row, column, value, reason }): RejectedPlace => {
        const { latDeg, lonDeg } = cellCenter(raster.grid, { row, column });
        return {
          file: fileAt(raster, { row, column }),
          row,
          column,
          latitude: latDeg,
          longitude: lonDeg,
          value: Number.isFinite(value) ? value : String(value),
          reason,
        };
      }),
      errors: [...this.#errors],
    };
  }
}

function isBefore(a: Position, b: Position): boolean {
  return a.row < b.row || (a.row === b.row && a.column < b.column);
}

/**
 * Returns the error that lists all rejected values. If there is only one, it is the first error.
 * @param first the error that ended the ingest
 */
export function rejectionListFault(first: Fault, maps: readonly RejectedMap[]): Fault {
  const valueCount = maps.reduce((sum, map) => sum + countOf(map), 0);
  const errorCount = maps.reduce((sum, { errors }) => sum + errors.length, 0);
  if (valueCount + errorCount < 2) return first;
  const isComplete = errorCount === 0 || valueCount === 0;
  const total = `${isComplete ? "" : "at least "}${valueCount} ${valueCount === 1 ? "value" : "values"} of ${maps.length} ${maps.length === 1 ? "map" : "maps"}`;
  const unread = errorCount === 0 ? "" : `, and ${errorCount} ${errorCount === 1 ? "error" : "errors"} of reading`;
  const rest = maps.length - LISTED_MAPS_MAX;
  const lines = [
    `${first.message} In total, ${total} are rejected${unread}; nothing was published:`,
    ...maps.slice(0, LISTED_MAPS_MAX).flatMap(mapLines),
    ...(rest > 0 ? [`and ${rest} more maps`] : []),
  ];
  return new Fault(first.code, lines.join("\n"), {
    details: { ...first.details, rejected_maps: maps },
    cause: first,
  });
}

function countOf({ counts }: RejectedMap): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function mapLines(map: RejectedMap): readonly string[] {
  const { file, band, counts, places, errors } = map;
  const kinds = (Object.entries(counts) as [RejectionReason, number][])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, count]) => `${count} ${REASONS[reason]}`);
  const more = countOf(map) - places.length;
  return [
    `${file}, band ${band}: ${kinds.length === 0 ? "errors of reading" : `${errors.length === 0 ? "" : "at least "}${kinds.join(", ")}`}`,
    ...places.map((place) => `  ${placeText(place, file)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...errors.map((message) => `  ${message}`),
  ];
}

function placeText({ file, row, column, latitude, longitude, value, reason }: RejectedPlace, mapFile: string): string {
  const where = `row ${row}, column ${column} (latitude ${latitude.toFixed(5)}, longitude ${longitude.toFixed(5)})`;
  return `${file === mapFile ? "" : `${file}: `}${where}: ${value}, ${REASONS[reason]}`;
}
