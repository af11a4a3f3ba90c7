/** Scores blocks of places in a stream, several blocks at a time. */
import { Fault } from "../../errors.ts";
import type { Atlas } from "../../hazard/answer.ts";
import {
  scoreArrays,
  scoreBytesPerPlace,
  type ScoreResult,
  type ScoreShape,
  scoreShapeOf,
  scoresOfRows,
  type ScoringAtlas,
} from "../../hazard/scoring/scoreRequest.ts";
import { keptSizeCharacters, type PlaceBlock, type ScoredBlock } from "./placeBlock.ts";
import type { ScorePlan } from "./scorePlan.ts";

interface ScoreBlocksOptions {
  readonly plan: ScorePlan;
  /** Stops the scores: the iterator throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the milliseconds for which a thread computed scores, several times per block. */
  readonly onBusy?: ((busyMs: number) => void) | undefined;
  /**
   * Size of consecutive blocks that are computed together, with their scores: no further block is added if one as large as
   * the last would exceed it. By default large enough that places which share tiles are sampled together even if the file
   * is in no order.
   */
  readonly windowBytesMax?: number;
  /** Number of blocks that are computed together at most (default 32). */
  readonly windowBlockCountMax?: number;
}

/** A block of some kind with its scores. */
interface Scored<Block extends PlaceBlock> extends ScoredBlock {
  readonly places: Block;
  /** Reports that the scores are no longer read; their memory is then used for those of other blocks. */
  release(): void;
}

const WINDOW_BYTES_MAX = 64 << 20;
const WINDOW_BLOCKS_MAX = 32;
/** Memory of a kept value apart from its characters: its place in a list and the header of a text. */
const KEPT_VALUE_BYTES = 32;
const CHARACTER_BYTES = 2;
/** Number of windows that are computed at a time: one more than the caller reads from. */
const WINDOWS_IN_PROGRESS = 2;

/**
 * Scores blocks, in their order. Reads ahead of the caller by a bounded number of blocks, so that all workers are busy while
 * the caller writes.
 *
 * @param atlas an atlas that `openAtlas` returned
 * @throws Fault `atlas_unavailable`, `configuration_invalid` if another program implements the atlas; errors of `blocks`; the
 *   signal's reason
 */
export async function* scoreBlocks<Block extends PlaceBlock>(
  atlas: Atlas,
  blocks: AsyncIterable<Block> | Iterable<Block>,
  {
    plan,
    signal,
    onBusy,
    windowBytesMax = WINDOW_BYTES_MAX,
    windowBlockCountMax = WINDOW_BLOCKS_MAX,
  }: ScoreBlocksOptions,
): AsyncGenerator<Scored<Block>, void, undefined> {
  const scoring = scoringAtlasOf(atlas);
  const shape = scoreShapeOf(plan.groups);
  const buffers = new ScoreBuffers(shape);
  const stop = new AbortController();
  const stopSignal = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const source = windowsOf(blocks, { scoreBytes: scoreBytesPerPlace(shape), windowBytesMax, windowBlockCountMax });
  const inProgress: Promise<readonly Scored<Block>[]>[] = [];
  const start = async (): Promise<boolean> => {
    signal?.throwIfAborted();
    const { value: window, done } = await source.next();
    if (done === true) return false;
    const scores = scoreWindow(scoring, window, { plan, shape, buffers, signal: stopSignal, onBusy });
    scores.catch(() => undefined); // awaited later
    inProgress.push(scores);
    return true;
  };
  try {
    let hasMore = true;
    for (;;) {
      while (hasMore && inProgress.length < WINDOWS_IN_PROGRESS) hasMore = await start();
      const next = inProgress.shift();
      if (next === undefined) return;
      yield* await next;
    }
  } finally {
    stop.abort();
    await Promise.allSettled(inProgress);
    await source.return();
  }
}

/** Returns the scoring function of an atlas. @throws Fault `configuration_invalid` if it has none */
export function scoringAtlasOf(atlas: Atlas & Partial<ScoringAtlas>): ScoringAtlas {
  const { score } = atlas;
  if (score === undefined) {
    throw new Fault("configuration_invalid", "A portfolio can only be scored on an atlas that openAtlas returned.");
  }
  return { score: (request) => score.call(atlas, request) };
}

/** Groups consecutive blocks. The first groups are small, so that a caller soon gets the first scores. */
async function* windowsOf<Block extends PlaceBlock>(
  blocks: AsyncIterable<Block> | Iterable<Block>,
  {
    scoreBytes,
    windowBytesMax,
    windowBlockCountMax,
  }: { readonly scoreBytes: number; readonly windowBytesMax: number; readonly windowBlockCountMax: number },
): AsyncGenerator<readonly Block[], void, undefined> {
  let window: Block[] = [];
  let windowBytes = 0;
  let blockCountMax = 1;
  for await (const block of blocks) {
    window.push(block);
    const blockBytes = sizeBytesOf(block, scoreBytes);
    windowBytes += blockBytes;
    if (window.length < blockCountMax && windowBytes + blockBytes <= windowBytesMax) continue;
    yield window;
    window = [];
    windowBytes = 0;
    blockCountMax = Math.min(2 * blockCountMax, windowBlockCountMax);
  }
  if (window.length > 0) yield window;
}

/** Returns the approximate memory of a block with its scores. */
function sizeBytesOf({ rowCount, kept }: PlaceBlock, scoreBytes: number): number {
  const keptBytes = KEPT_VALUE_BYTES * rowCount * kept.length + CHARACTER_BYTES * keptSizeCharacters(kept);
  return scoreBytes * rowCount + keptBytes;
}

async function scoreWindow<Block extends PlaceBlock>(
  atlas: ScoringAtlas,
  blocks: readonly Block[],
  {
    plan: { groups, method, anthropogenic, radiusKm },
    shape,
    buffers,
    signal,
    onBusy,
  }: ScoreBlocksOptions & { readonly shape: ScoreShape; readonly buffers: ScoreBuffers },
): Promise<readonly Scored<Block>[]> {
  const rowCount = blocks.reduce((count, block) => count + block.rowCount, 0);
  const [latitudes, longitudes] = [new Float64Array(rowCount), new Float64Array(rowCount)];
  const radiiKm = new Float64Array(rowCount).fill(radiusKm ?? NaN);
  let first = 0;
  for (const block of blocks) {
    latitudes.set(block.latitudes.subarray(0, block.rowCount), first);
    longitudes.set(block.longitudes.subarray(0, block.rowCount), first);
    if (radiusKm === undefined) radiiKm.set(block.radiiKm.subarray(0, block.rowCount), first);
    first += block.rowCount;
  }
  const { scores: into, release } = buffers.take(rowCount, blocks.length);
  const request = { groups, latitudes, longitudes, radiiKm, method, anthropogenic, into };
  const scores = await atlas.score({ ...request, signal, onBusy });
  let from = 0;
  return blocks.map((places) => {
    const to = from + places.rowCount;
    const ofBlock = { places, scores: scoresOfRows(scores, shape, { from, to }), release };
    from = to;
    return ofBlock;
  });
}

/** Arrays for the scores of a window of blocks. */
interface ScoreWindow {
  readonly scores: ScoreResult;
  /** Reports that one of the blocks is no longer read. After the last one, the memory is used for other scores. */
  release(): void;
}

/**
 * Memory for scores, which is used again and again: shared memory is not counted when garbage collections are planned, so
 * that a new buffer for every window would accumulate.
 */
export class ScoreBuffers {
  readonly #shape: ScoreShape;
  readonly #free: ArrayBufferLike[] = [];

  constructor(shape: ScoreShape) {
    this.#shape = shape;
  }

  /** @param blockCount number of calls of `release` after which the memory is free */
  take(placeCount: number, blockCount: number): ScoreWindow {
    const sizeBytes = placeCount * scoreBytesPerPlace(this.#shape);
    const free = this.#free.pop();
    // A buffer that is too small is not kept; windows soon have similar sizes.
    const buffer = free !== undefined && free.byteLength >= sizeBytes ? free : newBuffer(sizeBytes);
    let usedBlockCount = blockCount;
    return {
      scores: scoreArrays(this.#shape, placeCount, { buffer, offset: 0 }),
      release: () => {
        if (--usedBlockCount === 0) this.#free.push(buffer);
      },
    };
  }
}

/** Shared memory, into which workers write directly, if the platform has it. */
function newBuffer(sizeBytes: number): ArrayBufferLike {
  return typeof SharedArrayBuffer === "undefined" ? new ArrayBuffer(sizeBytes) : new SharedArrayBuffer(sizeBytes);
}
