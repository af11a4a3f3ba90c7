/** Blocks of places that the caller of the library passes as objects. */
import { RADIUS_KM_MAX } from "../../contract/ranges.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { type PlaceBlock, type RowError, ROWS_PER_BLOCK } from "./placeBlock.ts";

/** A place of a portfolio. Other members are ignored, and are kept because results refer to their row. */
export interface PlaceRow {
  /** Degrees north, -90 to 90. A row without it has an error. */
  readonly latitude: number | null | undefined;
  /** Degrees east, -180 to 180. A row without it has an error. */
  readonly longitude: number | null | undefined;
  /** Kilometers, 0 to 100. Default: the option `radius`. */
  readonly radius?: number | null | undefined;
}

export interface RowBlock<Row> extends PlaceBlock {
  readonly rows: readonly Row[];
}

/** Divides rows, which have not been validated, into blocks. */
export class RowReader<Row> {
  readonly #rows: AsyncIterable<Row> | Iterable<Row>;
  readonly #radiusKm: number;
  #failure: Error | undefined;

  /** @param options.radiusKm radius of rows without one */
  constructor(rows: AsyncIterable<Row> | Iterable<Row>, { radiusKm }: { readonly radiusKm: number }) {
    this.#rows = rows;
    this.#radiusKm = radiusKm;
  }

  /** Exception of the source, after which there were no more blocks; it names the index of the row. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Reads all rows, or those before an exception of the source. */
  async *blocks(): AsyncGenerator<RowBlock<Row>, void, undefined> {
    let ofBlock: Row[] = [];
    let index = 0;
    let isReading = true;
    try {
      for await (const row of this.#rows) {
        ofBlock.push(row);
        if (ofBlock.length < ROWS_PER_BLOCK) continue;
        const block = toBlock(index++, ofBlock, this.#radiusKm);
        ofBlock = [];
        isReading = false;
        yield block;
        isReading = true;
      }
    } catch (cause) {
      if (!isReading) throw cause; // the source could not be closed
      const reason = cause instanceof Error ? cause.message : String(cause);
      const rowIndex = index * ROWS_PER_BLOCK + ofBlock.length;
      this.#failure = new Error(`Reading the row with index ${rowIndex} failed: ${reason}`, { cause });
    }
    if (ofBlock.length > 0) yield toBlock(index, ofBlock, this.#radiusKm);
  }
}

function toBlock<Row>(index: number, rows: readonly Row[], radiusKm: number): RowBlock<Row> {
  const rowCount = rows.length;
  const newColumn = (): Float64Array => new Float64Array(rowCount).fill(NaN);
  const [latitudes, longitudes, radiiKm] = [newColumn(), newColumn(), newColumn()];
  const errors = new Map<number, RowError>();
  for (const [i, row] of rows.entries()) {
    const error = rowErrorOf(row);
    if (error !== undefined) {
      errors.set(i, error);
      continue;
    }
    const { latitude, longitude, radius } = row as PlaceRow;
    latitudes[i] = latitude ?? NaN;
    longitudes[i] = longitude ?? NaN;
    radiiKm[i] = radius ?? radiusKm;
  }
  return { index, firstRow: index * ROWS_PER_BLOCK, rowCount, latitudes, longitudes, radiiKm, errors, kept: [], rows };
}

/** Returns the first error of a row. */
function rowErrorOf(row: unknown): RowError | undefined {
  if (typeof row !== "object" || row === null) {
    const message = `A row must be an object with latitude and longitude (got ${quote(row)}).`;
    return { reason: "row_invalid", message };
  }
  const { latitude, longitude, radius } = row as Readonly<Record<string, unknown>>;
  if (isMissing(latitude)) return { reason: "latitude_missing", message: "latitude is missing." };
  if (!isWithin(latitude, { min: -90, max: 90 })) {
    const message = `latitude must be a number between -90 and 90 (got ${quote(latitude)}).`;
    return { reason: "latitude_invalid", message };
  }
  if (isMissing(longitude)) return { reason: "longitude_missing", message: "longitude is missing." };
  if (!isWithin(longitude, { min: -180, max: 180 })) {
    const message = `longitude must be a number between -180 and 180 (got ${quote(longitude)}).`;
    return { reason: "longitude_invalid", message };
  }
  if (isMissing(radius) || isWithin(radius, { min: 0, max: RADIUS_KM_MAX })) return undefined;
  const message = `radius must be a number of kilometers between 0 and ${RADIUS_KM_MAX} (got ${quote(radius)}).`;
  return { reason: "radius_invalid", message };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isWithin(value: unknown, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return typeof value === "number" && value >= min && value <= max;
}
