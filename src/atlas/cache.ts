import type { Kernel, Region } from "../kernel/instance.ts";

/** A slot that waits for its bytes. */
export interface EmptySlot {
  /** Position in the list of keys that was asked for. */
  readonly index: number;
  readonly slot: Region;
}

/** Aligns slots to cache lines, and is room for SIMD tails that read past the end of a tile. */
const SLOT_PADDING_BYTES = 64;

interface Entry {
  readonly slot: Region;
  /** How many calls rely on the slot now; only an unpinned slot is given to another key. */
  pins: number;
  /** Set while the bytes are on their way; settles either way. */
  loading: Promise<void> | undefined;
}

/**
 * Decoded tiles in the kernel's memory: slots of one size, laid out once and never moved, so that a kernel
 * reads a tile where it lies. Bounded; the slot that was used longest ago goes first; a key is fetched once,
 * however many ask for it at the same time.
 */
export class TileCache {
  readonly #entries = new Map<number, Entry>(); // in order of use, oldest first
  readonly #free: Region[] = [];
  readonly #queue: { readonly need: number; readonly go: () => void }[] = [];
  #permits: number;
  readonly slotCount: number;

  constructor(kernel: Kernel, size: { readonly slotCount: number; readonly slotBytes: number }) {
    const strideBytes = Math.ceil((size.slotBytes + SLOT_PADDING_BYTES) / SLOT_PADDING_BYTES) * SLOT_PADDING_BYTES;
    const { pointer } = kernel.reserve(size.slotCount * strideBytes); // at once: growth detaches every view
    for (let i = size.slotCount - 1; i >= 0; i--) {
      this.#free.push({ pointer: pointer + i * strideBytes, sizeBytes: size.slotBytes });
    }
    this.slotCount = size.slotCount;
    this.#permits = size.slotCount;
  }

  /** The most keys of one `use`: half of the slots, so that two calls can go on side by side. */
  get keysPerUseMax(): number {
    return Math.max(1, this.slotCount >>> 1);
  }

  /**
   * Has all keys in memory while `read` runs, which must be synchronous.
   *
   * @param keys distinct, at most `keysPerUseMax`
   * @param fill fetches what is missing, all at once; when it throws, its keys are forgotten
   */
  async use<T>(
    keys: readonly number[],
    fill: (missing: readonly EmptySlot[]) => Promise<void>,
    read: (slots: readonly Region[]) => T,
  ): Promise<T> {
    if (keys.length > this.keysPerUseMax) {
      throw new RangeError(`${keys.length} tiles at once; the cache allows ${this.keysPerUseMax}.`);
    }
    await this.#acquire(keys.length);
    const pinned: Entry[] = [];
    try {
      const entries: Entry[] = Array.from({ length: keys.length });
      let wanted = keys.map((_, index) => index);
      while (wanted.length > 0) {
        const missing: EmptySlot[] = [];
        const waiting: number[] = [];
        for (const index of wanted) {
          const key = keys[index] ?? 0;
          let entry = this.#entries.get(key);
          if (entry === undefined) {
            entry = { slot: this.#takeSlot(), pins: 0, loading: undefined };
            missing.push({ index, slot: entry.slot });
          } else {
            this.#entries.delete(key); // to its place as the newest
            if (entry.loading !== undefined) waiting.push(index);
          }
          this.#entries.set(key, entry);
          entry.pins += 1;
          pinned.push(entry);
          entries[index] = entry;
        }
        if (missing.length > 0) await this.#fill(keys, missing, fill);
        for (const index of waiting) await entries[index]?.loading;
        // What another call failed to fetch is gone again: now it is ours to fetch, and to fail.
        wanted = waiting.filter((index) => this.#entries.get(keys[index] ?? 0) !== entries[index]);
        for (const index of wanted) this.#unpin(pinned, entries[index]);
      }
      return read(entries.map(({ slot }) => slot));
    } finally {
      for (const entry of pinned) entry.pins -= 1;
      this.#release(keys.length);
    }
  }

  async #fill(
    keys: readonly number[],
    missing: readonly EmptySlot[],
    fill: (missing: readonly EmptySlot[]) => Promise<void>,
  ): Promise<void> {
    const entries = missing.map(({ index }) => [keys[index] ?? 0, this.#entries.get(keys[index] ?? 0)] as const);
    let settle = (): void => undefined;
    const loading = new Promise<void>((resolve) => (settle = resolve));
    for (const [, entry] of entries) if (entry !== undefined) entry.loading = loading;
    try {
      await fill(missing);
      for (const [, entry] of entries) if (entry !== undefined) entry.loading = undefined;
    } catch (error) {
      for (const [key, entry] of entries) {
        if (entry === undefined) continue;
        this.#entries.delete(key);
        this.#free.push(entry.slot);
      }
      throw error;
    } finally {
      settle();
    }
  }

  #unpin(pinned: Entry[], entry: Entry | undefined): void {
    const at = entry === undefined ? -1 : pinned.indexOf(entry);
    if (entry === undefined || at < 0) return;
    entry.pins -= 1;
    pinned.splice(at, 1);
  }

  #takeSlot(): Region {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    for (const [key, entry] of this.#entries) {
      if (entry.pins > 0) continue;
      this.#entries.delete(key);
      return entry.slot;
    }
    throw new Error("Every slot of the cache is in use, though no more were let in than there are.");
  }

  /** Lets calls in, in order, while there are slots for all their keys. */
  async #acquire(need: number): Promise<void> {
    if (this.#queue.length === 0 && need <= this.#permits) {
      this.#permits -= need;
      return;
    }
    await new Promise<void>((go) => this.#queue.push({ need, go }));
  }

  #release(count: number): void {
    this.#permits += count;
    for (let next = this.#queue[0]; next !== undefined && next.need <= this.#permits; next = this.#queue[0]) {
      this.#permits -= next.need;
      this.#queue.shift();
      next.go();
    }
  }
}
