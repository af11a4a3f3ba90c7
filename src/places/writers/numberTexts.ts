/** Entries of the cache, a power of two. Each takes 41 bytes. */
const ENTRY_COUNT = 1 << 16;
/** The longest text of a number, such as -0.0000024523447598986393, has 25 characters. */
export const NUMBER_SIZE_MAX = 25;
const ENTRY_SIZE = 32;

/**
 * Writes numbers as JSON and JavaScript write them, in the fewest digits that give the same number again. Values of
 * layers are steps and repeat, so that most texts are copied from a direct-mapped cache.
 */
export class NumberTexts {
  readonly #numbers = new Float64Array(ENTRY_COUNT).fill(NaN);
  readonly #lengths = new Uint8Array(ENTRY_COUNT);
  readonly #texts = new Uint8Array(ENTRY_COUNT * ENTRY_SIZE);
  readonly #float = new Float64Array(1);
  readonly #words = new Uint32Array(this.#float.buffer);

  /**
   * Writes a finite number.
   * @param target at least NUMBER_SIZE_MAX bytes from `start`
   * @returns the end of the text
   */
  write(number: number, target: Uint8Array, start: number): number {
    this.#float[0] = number;
    const low = this.#words[0] as number;
    const high = this.#words[1] as number;
    const entry = (Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> 16) & (ENTRY_COUNT - 1);
    // An entry of 0 also serves for -0, and the reverse: both are written as 0.
    if (this.#numbers[entry] !== number) this.#store(entry, number);
    const texts = this.#texts;
    const textStart = entry * ENTRY_SIZE;
    const length = this.#lengths[entry] as number;
    for (let i = 0; i < length; i++) target[start + i] = texts[textStart + i] as number;
    return start + length;
  }

  #store(entry: number, number: number): void {
    const text = String(number);
    this.#numbers[entry] = number;
    this.#lengths[entry] = text.length;
    for (let i = 0; i < text.length; i++) this.#texts[entry * ENTRY_SIZE + i] = text.charCodeAt(i);
  }
}
