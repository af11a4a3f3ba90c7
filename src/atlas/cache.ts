import type { Kernel, Region } from "../kernel/instance.ts";

/** Memory is handed out in pages: small enough to waste little, large enough to be counted quickly. */
const PAGE_BYTES = 16_384;
/** SIMD tails may read past the end of a tile. */
const PADDING_BYTES = 64;
/** Bit 0 of a directory's word: kernels set it when they use a tile. */
const USED = 1;

/** A tile's place in a directory of the kernel's memory, and how much room the tile takes. */
export interface TileSlot {
  /** Index of the directory's word for it, in 32-bit words of the kernel's memory. 0 there: not in memory. */
  readonly word: number;
  readonly sizeBytes: number;
}

/** A tile that waits for its bytes. */
export interface TileToFill {
  /** Position in the list that was asked for. */
  readonly index: number;
  readonly region: Region;
}

interface Entry {
  readonly word: number;
  readonly firstPage: number;
  readonly pageCount: number;
  /** How many calls rely on the tile now; only what nobody relies on makes way. */
  pins: number;
  /** Set while the bytes are on their way; settles either way. */
  loading: Promise<void> | undefined;
  isGone: boolean;
}

/** Free pages there are, but no stretch of them is long enough, and what lies between is relied on. */
class Scattered extends Error {}

/**
 * Decoded tiles in the kernel's memory, which a directory there points to, so that kernels find them without asking
 * JavaScript. One bound for tiles of all sizes; a tile that was not used since the hand last passed makes way
 * (the clock's second chance); a tile is fetched once, however many ask for it at the same time.
 */
export class TileCache {
  readonly #kernel: Kernel;
  readonly #base: number;
  readonly #pageCount: number;
  readonly #entries = new Map<number, Entry>(); // by word
  /** Whose each page is. */
  readonly #owners: (Entry | undefined)[];
  /** The page where the clock's hand stands: never within a tile. */
  #hand = 0;
  #usedPages = 0;
  readonly #queue: { readonly need: number; readonly go: () => void }[] = [];
  #permits: number;

  constructor(kernel: Kernel, { sizeBytes }: { readonly sizeBytes: number }) {
    this.#kernel = kernel;
    this.#pageCount = Math.max(2, Math.floor(sizeBytes / PAGE_BYTES));
    this.#base = kernel.reserve(this.#pageCount * PAGE_BYTES).pointer; // at once: growth detaches every view
    this.#owners = Array.from({ length: this.#pageCount });
    this.#permits = this.#pageCount;
  }

  /** The most that one `hold` may ask for: half of the whole, so that two calls can go on side by side. */
  get pinnedBytesMax(): number {
    return (this.#pageCount >>> 1) * PAGE_BYTES;
  }

  /** Bytes of the tiles that are in memory. */
  get usedBytes(): number {
    return this.#usedPages * PAGE_BYTES;
  }

  /** What `hold` counts a tile as. */
  static costBytes(sizeBytes: number): number {
    return Math.ceil((sizeBytes + PADDING_BYTES) / PAGE_BYTES) * PAGE_BYTES;
  }

  /**
   * Has all these tiles in memory, their directories' words set, while `read` runs, which must be synchronous.
   *
   * @param slots distinct
   * @param fill fetches what is missing, all at once; when it throws, those tiles are forgotten
   */
  async withTiles<T>(
    slots: readonly TileSlot[],
    fill: (missing: readonly TileToFill[]) => Promise<void>,
    read: () => T,
  ): Promise<T> {
    const need = slots.reduce((sum, { sizeBytes }) => sum + pagesOf(sizeBytes), 0);
    if (need * PAGE_BYTES > this.pinnedBytesMax) {
      throw new RangeError(`${need * PAGE_BYTES} bytes of tiles at once; the cache allows ${this.pinnedBytesMax}.`);
    }
    try {
      return await this.#holdWithin(need, slots, { fill, read });
    } catch (error) {
      if (!(error instanceof Scattered)) throw error;
      // Alone in the cache it finds room: its tiles take half of the pages, and the large ones are placed first.
      return this.#holdWithin(this.#pageCount, slots, { fill, read });
    }
  }

  async #holdWithin<T>(
    permits: number,
    slots: readonly TileSlot[],
    { fill, read }: { readonly fill: (missing: readonly TileToFill[]) => Promise<void>; readonly read: () => T },
  ): Promise<T> {
    await this.#acquire(permits);
    const pinned = new Set<Entry>();
    const release = (entry: Entry): void => {
      if (pinned.delete(entry)) entry.pins -= 1;
    };
    try {
      let wanted = slots.map((_, index) => index);
      // Large ones first: small ones find room between them, but not the other way round.
      wanted.sort((a, b) => (slots[b]?.sizeBytes ?? 0) - (slots[a]?.sizeBytes ?? 0));
      while (wanted.length > 0) {
        const missing: (TileToFill & { readonly entry: Entry })[] = [];
        const waiting: { readonly index: number; readonly entry: Entry }[] = [];
        for (const index of wanted) {
          const home = slots[index];
          if (home === undefined) continue;
          let entry = this.#entries.get(home.word);
          if (entry === undefined) {
            if (this.#kernel.words[home.word] !== 0) continue; // points to a constant tile
            entry = this.#takeRoom(home, missing);
            const region = { pointer: this.#base + entry.firstPage * PAGE_BYTES, sizeBytes: home.sizeBytes };
            missing.push({ index, region, entry });
          } else if (entry.loading !== undefined) {
            waiting.push({ index, entry });
          }
          entry.pins += 1;
          pinned.add(entry);
        }
        if (missing.length > 0) await this.#fill(missing, fill);
        for (const { entry } of waiting) await entry.loading;
        // What another call failed to fetch is gone again: now it is ours to fetch, and to fail.
        const failed = waiting.filter(({ entry }) => entry.isGone);
        for (const { entry } of failed) release(entry);
        wanted = failed.map(({ index }) => index);
      }
      return read();
    } finally {
      for (const entry of pinned) release(entry);
      this.#release(permits);
    }
  }

  async #fill(
    missing: readonly (TileToFill & { readonly entry: Entry })[],
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
      for (const { entry } of missing) this.#forget(entry);
      this.#hand = missing[0]?.entry.firstPage ?? this.#hand; // the next tiles take their place, and no other's
      throw error;
    } finally {
      settle();
    }
  }

  /** @param taken before it, in the same call: forgotten where there is no room for this one */
  #takeRoom({ word, sizeBytes }: TileSlot, taken: readonly { readonly entry: Entry }[]): Entry {
    const pageCount = pagesOf(sizeBytes);
    const firstPage = this.#takePages(pageCount);
    if (firstPage === undefined) {
      for (const { entry } of taken) this.#forget(entry);
      throw new Scattered("The cache has no stretch of pages that is long enough.");
    }
    const entry = { word, firstPage, pageCount, pins: 0, loading: undefined, isGone: false };
    this.#entries.set(word, entry);
    for (let page = firstPage; page < firstPage + pageCount; page++) this.#owners[page] = entry;
    this.#usedPages += pageCount;
    return entry;
  }

  /** The hand goes on until enough pages lie behind it that are free or give way. @returns the first of them */
  #takePages(count: number): number | undefined {
    let first = this.#hand;
    // To the end of the pages and twice round: the first time may only take back marks of use.
    for (let passed = 0; passed < 3 * this.#pageCount;) {
      if (this.#hand >= this.#pageCount) this.#hand = first = 0;
      const entry = this.#owners[this.#hand];
      const end = entry === undefined ? this.#hand + 1 : entry.firstPage + entry.pageCount;
      passed += end - this.#hand;
      this.#hand = end;
      if (entry !== undefined && !this.#givesWay(entry)) {
        first = end;
      } else if (end - first >= count) {
        for (const owner of new Set(this.#owners.slice(first, end))) if (owner !== undefined) this.#forget(owner);
        this.#hand = first + count;
        return first;
      }
    }
    return undefined;
  }

  #givesWay({ pins, loading, word }: Entry): boolean {
    if (pins > 0 || loading !== undefined) return false;
    const { words } = this.#kernel;
    const state = words[word] ?? 0;
    words[word] = state & ~USED;
    return (state & USED) === 0;
  }

  #forget(entry: Entry): void {
    if (entry.isGone) return;
    entry.isGone = true;
    entry.loading = undefined;
    this.#entries.delete(entry.word);
    this.#kernel.words[entry.word] = 0;
    this.#owners.fill(undefined, entry.firstPage, entry.firstPage + entry.pageCount);
    this.#usedPages -= entry.pageCount;
  }

  /** Lets calls in, in order, while there is room for all that they ask for. */
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

function pagesOf(sizeBytes: number): number {
  return TileCache.costBytes(sizeBytes) / PAGE_BYTES;
}
