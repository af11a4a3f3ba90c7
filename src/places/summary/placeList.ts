/** A place in a list or on a map. */
export interface ListedPlace {
  /** Number of its row among the valid rows, from 0. */
  readonly ordinal: number;
  /** Number of its row among all rows of the input, from 1, if the output has its order. */
  readonly rowNumber: number;
  /** Null if the file has no identifier. */
  readonly id: string | null;
  /** Degrees; NaN if the file has no location. */
  readonly latitude: number;
  readonly longitude: number;
  /** Cells of the columns that are shown; null if a cell is empty. */
  readonly shown: readonly (string | null)[];
  /** NaN if the place has no value. */
  readonly value: number;
}

/** Reads the identifier, the location and the columns that are shown of the rows of a batch. */
export interface PlaceReader {
  idOf(row: number): string | null;
  latitudeOf(row: number): number;
  longitudeOf(row: number): number;
  shownOf(row: number): readonly (string | null)[];
}

/** A place that may be listed. Reused from row to row, so that only listed places are read. */
export interface PlaceCandidate {
  ordinal: number;
  rowNumber: number;
  reader: PlaceReader;
  /** Row of the batch that the reader reads. */
  row: number;
}

function readPlace({ ordinal, rowNumber, reader, row }: PlaceCandidate, value: number): ListedPlace {
  const [id, latitude, longitude] = [reader.idOf(row), reader.latitudeOf(row), reader.longitudeOf(row)];
  return { ordinal, rowNumber, id, latitude, longitude, shown: reader.shownOf(row), value };
}

/** Keeps the places with the largest positive values; of equal values, the first. */
export class TopPlaces {
  readonly #countMax: number;
  readonly #places: ListedPlace[] = [];

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** In descending order of their values. */
  get places(): readonly ListedPlace[] {
    return this.#places;
  }

  add(value: number, candidate: PlaceCandidate): void {
    const last = this.#places.at(-1);
    const isFull = this.#places.length >= this.#countMax;
    if (!(value > 0) || this.#countMax === 0 || (isFull && value <= (last?.value ?? 0))) return;
    const index = this.#places.findLastIndex((place) => place.value >= value) + 1;
    this.#places.splice(index, 0, readPlace(candidate, value));
    if (isFull) this.#places.pop();
  }
}

/**
 * Keeps a sample of the places: those whose ordinals have the smallest hashes. It is the same for every run, layout and
 * metric, and spreads evenly over the file.
 */
export class PlaceSample {
  readonly #countMax: number;
  #candidates: { readonly hash: number; readonly place: ListedPlace }[] = [];
  #hashMax = Infinity;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** In the order of the file. */
  get places(): readonly ListedPlace[] {
    this.#shrink();
    return this.#candidates.map(({ place }) => place).toSorted((a, b) => a.ordinal - b.ordinal);
  }

  add(value: number, candidate: PlaceCandidate): void {
    const hash = hashOf(candidate.ordinal);
    if (hash > this.#hashMax || this.#countMax === 0) return;
    this.#candidates.push({ hash, place: readPlace(candidate, value) });
    if (this.#candidates.length >= 2 * this.#countMax) this.#shrink();
  }

  #shrink(): void {
    if (this.#candidates.length <= this.#countMax) return;
    this.#candidates = this.#candidates.toSorted((a, b) => a.hash - b.hash).slice(0, this.#countMax);
    this.#hashMax = this.#candidates.at(-1)?.hash ?? -1;
  }
}

/** Mixes the bits of a 32-bit integer; different integers have different results (finalizer of MurmurHash3). */
function hashOf(ordinal: number): number {
  let hash = ordinal | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
