import { Fault } from "../../errors.ts";
import type { Atlas } from "../../hazard/answer.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { RowError } from "./placeBlock.ts";
import { parsePlaceOptions, type ScorePortfolioOptions } from "./placeOptions.ts";
import { type PlaceResult, placeResults } from "./placeResult.ts";
import { type PlaceRow, RowReader } from "./rowBlocks.ts";
import { scoreBlocks, scoringAtlasOf } from "./scoreBlocks.ts";
import { planScores, type ScorePlan } from "./scorePlan.ts";
import { untilAborted } from "./untilAborted.ts";

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
    const detail = `rows must be a list or another iterable of objects (got ${quote(rows)}).`;
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
