import type { PlaceBlock } from "../scores/placeBlock.ts";

/** Remembers how much of the input had been read before each block, because blocks are read ahead of those that are written. */
export class BlockProgress {
  #readBytes = 0;
  /** By index of the blocks that are not written yet. */
  readonly #bytesBefore = new Map<number, number>();

  addBytes(sizeBytes: number): void {
    this.#readBytes += sizeBytes;
  }

  async *of(blocks: AsyncIterable<PlaceBlock>): AsyncGenerator<PlaceBlock, void, undefined> {
    for await (const block of blocks) {
      this.#bytesBefore.set(block.index, this.#readBytes);
      yield block;
    }
  }

  /** Returns the size of the part that had been read before a block, once. */
  bytesBefore(index: number): number {
    const sizeBytes = this.#bytesBefore.get(index) ?? this.#readBytes;
    this.#bytesBefore.delete(index);
    return sizeBytes;
  }
}
