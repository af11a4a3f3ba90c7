/** Decoded tiles of single layers, by name. Evicts the tiles that were used least recently. */
export class DecodedTiles {
  readonly #sizeBytesMax: number;
  /** In order of use, the most recent last. */
  readonly #tiles = new Map<string, Uint16Array>();
  #sizeBytes = 0;

  constructor(sizeBytesMax: number) {
    this.#sizeBytesMax = sizeBytesMax;
  }

  /** Size of the tiles. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(name: string): Uint16Array | undefined {
    const tile = this.#tiles.get(name);
    if (tile === undefined) return undefined;
    this.#tiles.delete(name);
    this.#tiles.set(name, tile);
    return tile;
  }

  /** Adds a tile, which the caller must not change later. */
  set(name: string, tile: Uint16Array): void {
    this.#sizeBytes += tile.byteLength - (this.#tiles.get(name)?.byteLength ?? 0);
    this.#tiles.delete(name);
    this.#tiles.set(name, tile);
    for (const [oldest, { byteLength }] of this.#tiles) {
      if (this.#sizeBytes <= this.#sizeBytesMax) return;
      this.#tiles.delete(oldest);
      this.#sizeBytes -= byteLength;
    }
  }
}
