import {
  scoreArrays,
  scoreBytesPerPlace,
  type ScoreResult,
  type ScoreShape,
} from "../../hazard/scoring/scoreRequest.ts";

/** Arrays for the scores of a window of blocks. */
export interface ScoreWindow {
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
