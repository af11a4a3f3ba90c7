/** Distinct numbers that a dictionary may have, so that an index takes at most 16 bits. */
const NUMBER_COUNT_MAX = 1 << 16;
/** Slots of the hash table, a power of two at least twice as large. */
const SLOT_COUNT = 1 << 18;

/** Finds the distinct numbers of a column. An instance is used for one column after the other. */
export class NumberDictionary {
  /** The distinct numbers in the order of their first occurrence; the first `count` elements are used. */
  readonly numbers = new Float64Array(NUMBER_COUNT_MAX);
  count = 0;
  readonly #slots = new Int32Array(SLOT_COUNT).fill(-1);
  readonly #usedSlots = new Int32Array(NUMBER_COUNT_MAX);
  readonly #float = new Float64Array(1);
  readonly #words = new Uint32Array(this.#float.buffer);

  clear(): void {
    for (let i = 0; i < this.count; i++) this.#slots[this.#usedSlots[i] as number] = -1;
    this.count = 0;
  }

  /** Returns the index of a number, which is added if it is new; -1 if the dictionary is full. */
  indexOf(number: number): number {
    this.#float[0] = number;
    const hash = Math.imul((this.#words[0] as number) ^ Math.imul(this.#words[1] as number, 0x85ebca6b), 0x9e3779b1);
    let slot = (hash >>> 14) & (SLOT_COUNT - 1);
    for (;;) {
      const index = this.#slots[slot] as number;
      if (index < 0) return this.#add(number, slot);
      // Distinguishes 0 from -0.
      if (Object.is(this.numbers[index], number)) return index;
      slot = (slot + 1) & (SLOT_COUNT - 1);
    }
  }

  #add(number: number, slot: number): number {
    if (this.count === NUMBER_COUNT_MAX) return -1;
    const index = this.count++;
    this.numbers[index] = number;
    this.#slots[slot] = index;
    this.#usedSlots[index] = slot;
    return index;
  }
}
