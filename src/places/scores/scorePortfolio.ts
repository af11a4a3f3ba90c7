/** Blocks of places that the caller of the library passes as objects. */
import { Fault } from "../../errors.ts";
import type { Atlas } from "../../hazard/answer.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { type PlaceBlock, type RowError, ROWS_PER_BLOCK } from "./placeBlock.ts";
import { parsePlaceOptions, type ScorePortfolioOptions } from "./placeOptions.ts";
import { type PlaceResult, placeResults } from "./placeResult.ts";
import { scoreBlocks, scoringAtlasOf } from "./scoreBlocks.ts";
import { planScores, type ScorePlan } from "./scorePlan.ts";
import { RADIUS_KM_MAX } from "../../contract/ranges.ts";

/** Bounds the number of rows that are held, since the memory of a caller's object is not known: 2 x 8 x 8,192 rows. */
const WINDOW_BLOCKS_MAX = 8;

/** A row with its results, or with the reason why it has none. */
export interface ScoredPlace<Row> {
  /** Index of the row, from 0. */
  readonly index: number;
  readonly row: Row;
  /** What is wrong with the row; undefined if it was scored. */
  readonly error: RowError | undefined;
  /** One per hazard, scenario and year; empty if the row has an error. */
  readonly results: readonly PlaceResult[];
}

/**
 * Scores the rows of a portfolio, in their order. An invalid row does not stop the others. Reads rows in blocks of 8,192,
 * ahead of the caller by a bounded number of blocks; all workers of the atlas take part. Closes `rows` if the caller stops.
 *
 * @param rows places, with any other members
 * @throws Fault `invalid_request` or `combination_unavailable` with all errors in the options, `configuration_invalid` if
 *   the atlas is not one that `openAtlas` returned. The iterator throws Fault `atlas_unavailable`, the signal's reason and, after
 *   the places before it, an Error with the index of the row at which `rows` threw, and with what it threw as its cause.
 */
export function scorePortfolio<Row extends PlaceRow>(
  atlas: Atlas,
  rows: AsyncIterable<Row> | Iterable<Row>,
  options: ScorePortfolioOptions = {},
): AsyncGenerator<ScoredPlace<Row>, void, undefined> {
  scoringAtlasOf(atlas);
  if (!isIterable(rows)) {
    const detail = `rows must be an array or another iterable of objects (got ${quote(rows)}).`;
    throw new Fault("invalid_request", detail, { items: [{ pointer: "", code: "wrong_type", detail }] });
  }
  const parsed = parsePlaceOptions(options);
  return scoredPlaces(atlas, rows, planScores(atlas, parsed), parsed.signal);
}

async function* scoredPlaces<Row extends PlaceRow>(
  atlas: Atlas,
  rows: AsyncIterable<Row> | Iterable<Row>,
  plan: ScorePlan,
  signal: AbortSignal | undefined,
): AsyncGenerator<ScoredPlace<Row>, void, undefined> {
  const resultsOf = placeResults(plan.groups);
  const reader = new RowReader(rows, { radiusKm: plan.radiusKm ?? 0 });
  const blocks = signal === undefined ? reader.blocks() : untilAborted(reader.blocks(), signal);
  const options = { plan: { ...plan, radiusKm: undefined }, signal, windowBlockCountMax: WINDOW_BLOCKS_MAX };
  for await (const { places, scores, release } of scoreBlocks(atlas, blocks, options)) {
    for (const [i, row] of places.rows.entries()) {
      signal?.throwIfAborted();
      const error = places.errors.get(i);
      yield { index: places.firstRow + i, row, error, results: error === undefined ? resultsOf(scores, i) : [] };
    }
    release();
  }
  signal?.throwIfAborted(); // which may be why the rows ended
  if (reader.failure !== undefined) throw reader.failure;
}

function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** A place of a portfolio. Other members are ignored, and are kept because results refer to their row. */
export interface PlaceRow {
  /** Degrees north, -90 to 90. A row without it has an error. */
  readonly latitude: number | null | undefined;
  /** Degrees east, -180 to 180. A row without it has an error. */
  readonly longitude: number | null | undefined;
  /** Kilometers, 0 to 100. Default: the option `radius`. */
  readonly radius?: number | null | undefined;
}

interface RowBlock<Row> extends PlaceBlock {
  readonly rows: readonly Row[];
}

/** Divides rows, which have not been validated, into blocks. */
class RowReader<Row> {
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

/**
 * Passes on the items of a generator. Throws the signal's reason when it is aborted, even while the generator waits for its
 * source; the generator is then closed when the source answers.
 */
async function* untilAborted<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  try {
    for (;;) {
      const { value, done } = await orAborted(items.next(), signal);
      if (done === true) return;
      yield value;
    }
  } finally {
    const closed = items.return();
    if (signal.aborted) closed.catch(() => undefined);
    else await closed;
  }
}

/** Returns what a promise does, or rejects with the signal's reason. Nothing remains on the signal afterwards. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
