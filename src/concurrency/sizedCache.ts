/** A cache of values by name, limited by their total size. Evicts the values that were used least recently. */
export class SizedCache<Value> {
  readonly #sizeBytesMax: number;
  /** In order of use, the most recent last. */
  readonly #entries = new Map<string, { readonly value: Value; readonly sizeBytes: number }>();
  #sizeBytes = 0;

  constructor(sizeBytesMax: number) {
    this.#sizeBytesMax = sizeBytesMax;
  }

  /** Size of the values. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(name: string): Value | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.value;
  }

  /** Adds or replaces a value, which the caller must not change later. A value larger than the cache is not kept. */
  set(name: string, value: Value, sizeBytes: number): void {
    this.#sizeBytes += sizeBytes - (this.#entries.get(name)?.sizeBytes ?? 0);
    this.#entries.delete(name);
    this.#entries.set(name, { value, sizeBytes });
    for (const [oldest, entry] of this.#entries) {
      if (this.#sizeBytes <= this.#sizeBytesMax) return;
      this.#entries.delete(oldest);
      this.#sizeBytes -= entry.sizeBytes;
    }
  }
}
