import { type Kernel, PADDING_BYTES, type Region } from "../kernel/instance.ts";

/** Unit of allocation: smaller pages need a longer page table, larger pages waste more memory. */
const CACHE_PAGE_BYTES = 16_384;
/** Bit 0 of a directory word, which kernels set when they use the tile. */
const USED = 1;

/** The directory entry and the size of a tile. */
export interface TileSlot {
  /**
   * Index of the tile's directory word, in 32-bit words of the kernel's memory. The word is 0 if the tile is not
   * cached.
   */
  readonly word: number;
  readonly sizeBytes: number;
}

/** A tile whose memory is allocated but not written yet. */
export interface TileToFill {
  /** Position in the list of requested tiles. */
  readonly index: number;
  readonly region: Region;
}

interface TileEntry {
  readonly word: number;
  readonly firstPage: number;
  readonly pageCount: number;
  /** Number of calls that use the tile now; only tiles with 0 pins are evicted. */
  pins: number;
  /** Set while the tile is being fetched; resolves on success and on failure. */
  loading: Promise<void> | undefined;
  isRemoved: boolean;
}

/** Thrown if enough pages are free, but pinned tiles leave no sufficiently long run of free pages. */
class FragmentedError extends Error {}

/**
 * Cache of decoded tiles in the kernel's memory. Directories in that memory point to the tiles, so that kernels find
 * them without calling JavaScript. Tiles of all sizes share one limit. Eviction uses the clock algorithm (second
 * chance). Concurrent requests for a tile share one fetch.
 */
export class TileCache {
  readonly #kernel: Kernel;
  readonly #base: number;
  readonly #pageCount: number;
  readonly #entries = new Map<number, TileEntry>(); // by directory word
  /** The tile that occupies each page. */
  readonly #owners: (TileEntry | undefined)[];
  /** Page index of the clock hand, never inside a tile. */
  #hand = 0;
  #usedPages = 0;
  readonly #queue: { readonly need: number; readonly resume: () => void }[] = [];
  #permits: number;

  constructor(kernel: Kernel, { sizeBytes }: { readonly sizeBytes: number }) {
    this.#kernel = kernel;
    this.#pageCount = Math.max(2, Math.floor(sizeBytes / CACHE_PAGE_BYTES));
    // The whole cache is reserved at the start, because growing memory detaches every view.
    this.#base = kernel.reserve(this.#pageCount * CACHE_PAGE_BYTES).pointer;
    this.#owners = Array.from({ length: this.#pageCount });
    this.#permits = this.#pageCount;
  }

  /** Maximum that one call of `withTiles` may pin: half of the cache, so that two calls can run concurrently. */
  get pinnedBytesMax(): number {
    return (this.#pageCount >>> 1) * CACHE_PAGE_BYTES;
  }

  /** Memory that the cached tiles occupy, in bytes. */
  get usedBytes(): number {
    return this.#usedPages * CACHE_PAGE_BYTES;
  }

  /** Returns the memory that a tile occupies: its size with padding, in whole pages. */
  static costBytes(sizeBytes: number): number {
    return Math.ceil((sizeBytes + PADDING_BYTES) / CACHE_PAGE_BYTES) * CACHE_PAGE_BYTES;
  }

  /**
   * Runs `read`, which must be synchronous, while all these tiles are in memory and in their directories.
   *
   * @param slots without duplicates
   * @param fill fetches all missing tiles together; if it throws, they are removed
   * @throws RangeError if the tiles need more than `pinnedBytesMax`
   */
  async withTiles<T>(
    slots: readonly TileSlot[],
    fill: (missing: readonly TileToFill[]) => Promise<void>,
    read: () => T,
  ): Promise<T> {
    const need = slots.reduce((sum, { sizeBytes }) => sum + pagesOf(sizeBytes), 0);
    if (need * CACHE_PAGE_BYTES > this.pinnedBytesMax) {
      throw new RangeError(
        `A call must pin at most ${this.pinnedBytesMax} bytes of tiles (got ${need * CACHE_PAGE_BYTES}).`,
      );
    }
    try {
      return await this.#withPermits(need, slots, { fill, read });
    } catch (error) {
      if (!(error instanceof FragmentedError)) throw error;
      // A call that runs alone always succeeds: it needs at most half of the pages and allocates large tiles first.
      return this.#withPermits(this.#pageCount, slots, { fill, read });
    }
  }

  async #withPermits<T>(
    permits: number,
    slots: readonly TileSlot[],
    { fill, read }: { readonly fill: (missing: readonly TileToFill[]) => Promise<void>; readonly read: () => T },
  ): Promise<T> {
    await this.#acquire(permits);
    const pinned = new Set<TileEntry>();
    const release = (entry: TileEntry): void => {
      if (pinned.delete(entry)) entry.pins -= 1;
    };
    try {
      let pending = slots.map((_, index) => index);
      // Large tiles first: small ones fit into the gaps between them, but not vice versa.
      pending.sort((a, b) => (slots[b]?.sizeBytes ?? 0) - (slots[a]?.sizeBytes ?? 0));
      while (pending.length > 0) {
        const missing: (TileToFill & { readonly entry: TileEntry })[] = [];
        const waiting: { readonly index: number; readonly entry: TileEntry }[] = [];
        for (const index of pending) {
          const slot = slots[index];
          if (slot === undefined) continue;
          let entry = this.#entries.get(slot.word);
          if (entry === undefined) {
            if (this.#kernel.words[slot.word] !== 0) continue; // points to a constant tile
            entry = this.#allocate(slot, missing);
            const region = { pointer: this.#base + entry.firstPage * CACHE_PAGE_BYTES, sizeBytes: slot.sizeBytes };
            missing.push({ index, region, entry });
          } else if (entry.loading !== undefined) {
            waiting.push({ index, entry });
          }
          entry.pins += 1;
          pinned.add(entry);
        }
        if (missing.length > 0) await this.#fill(missing, fill);
        for (const { entry } of waiting) await entry.loading;
        // A tile that another call failed to fetch was removed: this call fetches it and reports its own failure.
        const failed = waiting.filter(({ entry }) => entry.isRemoved);
        for (const { entry } of failed) release(entry);
        pending = failed.map(({ index }) => index);
      }
      return read();
    } finally {
      for (const entry of pinned) release(entry);
      this.#release(permits);
    }
  }

  async #fill(
    missing: readonly (TileToFill & { readonly entry: TileEntry })[],
    fill: (missing: readonly TileToFill[]) => Promise<void>,
  ): Promise<void> {
    let settle = (): void => undefined;
    const loading = new Promise<void>((resolve) => (settle = resolve));
    for (const { entry } of missing) entry.loading = loading;
    try {
      await fill(missing);
      for (const { entry, region } of missing) {
        entry.loading = undefined;
        this.#kernel.words[entry.word] = region.pointer | USED;
      }
    } catch (error) {
      for (const { entry } of missing) this.#remove(entry);
      this.#hand = missing[0]?.entry.firstPage ?? this.#hand; // the next tiles reuse these pages without evicting others
      throw error;
    } finally {
      settle();
    }
  }

  /**
   * Allocates memory for a tile.
   * @param taken tiles allocated earlier in the same call; removed if this one cannot be allocated
   * @throws FragmentedError if no run of pages is long enough
   */
  #allocate({ word, sizeBytes }: TileSlot, taken: readonly { readonly entry: TileEntry }[]): TileEntry {
    const pageCount = pagesOf(sizeBytes);
    const firstPage = this.#allocatePages(pageCount);
    if (firstPage === undefined) {
      for (const { entry } of taken) this.#remove(entry);
      throw new FragmentedError("The cache has no sufficiently long run of free pages.");
    }
    const entry = { word, firstPage, pageCount, pins: 0, loading: undefined, isRemoved: false };
    this.#entries.set(word, entry);
    for (let page = firstPage; page < firstPage + pageCount; page++) this.#owners[page] = entry;
    this.#usedPages += pageCount;
    return entry;
  }

  /**
   * Advances the hand until it has passed enough consecutive pages that are free or evictable, and evicts those.
   * @returns the index of the first of these pages, or undefined if there is no such run
   */
  #allocatePages(count: number): number | undefined {
    let first = this.#hand;
    // To the last page and twice around: the first round may only clear the used bits.
    for (let passed = 0; passed < 3 * this.#pageCount;) {
      if (this.#hand >= this.#pageCount) this.#hand = first = 0;
      const entry = this.#owners[this.#hand];
      const end = entry === undefined ? this.#hand + 1 : entry.firstPage + entry.pageCount;
      passed += end - this.#hand;
      this.#hand = end;
      if (entry !== undefined && !this.#checkEvictable(entry)) {
        first = end;
      } else if (end - first >= count) {
        for (const owner of new Set(this.#owners.slice(first, end))) if (owner !== undefined) this.#remove(owner);
        this.#hand = first + count;
        return first;
      }
    }
    return undefined;
  }

  /**
   * Returns whether the tile can be evicted: not pinned, not loading and not used since the last check. Clears its used
   * bit.
   */
  #checkEvictable({ pins, loading, word }: TileEntry): boolean {
    if (pins > 0 || loading !== undefined) return false;
    const { words } = this.#kernel;
    const state = words[word] ?? 0;
    words[word] = state & ~USED;
    return (state & USED) === 0;
  }

  #remove(entry: TileEntry): void {
    if (entry.isRemoved) return;
    entry.isRemoved = true;
    entry.loading = undefined;
    this.#entries.delete(entry.word);
    this.#kernel.words[entry.word] = 0;
    this.#owners.fill(undefined, entry.firstPage, entry.firstPage + entry.pageCount);
    this.#usedPages -= entry.pageCount;
  }

  /** Waits until enough permits are free. Calls acquire permits in order of arrival. */
  async #acquire(need: number): Promise<void> {
    if (this.#queue.length === 0 && need <= this.#permits) {
      this.#permits -= need;
      return;
    }
    await new Promise<void>((resume) => this.#queue.push({ need, resume }));
  }

  #release(count: number): void {
    this.#permits += count;
    for (let next = this.#queue[0]; next !== undefined && next.need <= this.#permits; next = this.#queue[0]) {
      this.#permits -= next.need;
      this.#queue.shift();
      next.resume();
    }
  }
}

function pagesOf(sizeBytes: number): number {
  return TileCache.costBytes(sizeBytes) / CACHE_PAGE_BYTES;
}
