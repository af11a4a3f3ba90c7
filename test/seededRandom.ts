/** Reproducible random numbers: a failing case can be repeated from its seed. */
export interface SeededRandom {
  /** In [0, 1), with 53 random bits. */
  next(): number;
  /** In [min, max). */
  between(range: { readonly min: number; readonly max: number }): number;
  /** An integer in [0, count). */
  below(count: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Returns a splitmix32 generator (Steele, Lea and Flood 2014, 32-bit variant), which accepts any seed. */
export function randomFrom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const bits32 = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const next = (): number => ((bits32() >>> 5) * 2 ** 26 + (bits32() >>> 6)) / 2 ** 53;
  return {
    next,
    between: ({ min, max }) => min + (max - min) * next(),
    below: (count) => Math.floor(next() * count),
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError("cannot pick from an empty list");
      return items[Math.floor(next() * items.length)] as T;
    },
  };
}

/** Returns the items in random order. */
export function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: random.next() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
