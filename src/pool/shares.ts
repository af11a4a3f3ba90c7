/** How the places of one call are shared out among workers, in arrays of numbers that a million of them can afford. */
import type { SampleResult } from "../hazard/sampleRequest.ts";
import { shareOut } from "./owners.ts";

/**
 * What `shareOut` says of each element's number, for millions: it is asked once for each number there is, and the
 * elements are laid out in arrays of numbers. Elements of one number keep their order.
 *
 * @returns Uint32Array for each worker, views of one array
 */
export function shareOutByNumber(
  count: number,
  workerCount: number,
  numberOf: (index: number) => number,
): readonly Uint32Array[] {
  /** Numbers in the order in which they first come. */
  const ranks = new Map<number, number>();
  const rankOf = new Uint32Array(count);
  const sizes: number[] = [];
  for (let i = 0; i < count; i++) {
    const number = numberOf(i);
    let rank = ranks.get(number);
    if (rank === undefined) {
      rank = sizes.push(0) - 1;
      ranks.set(number, rank);
    }
    rankOf[i] = rank;
    sizes[rank] = (sizes[rank] ?? 0) + 1;
  }
  const indices = new Uint32Array(count);
  const next = new Uint32Array(sizes.length);
  let end = 0;
  const shares = shareOut(Float64Array.from(ranks.keys()), workerCount).map((ranksOfWorker) => {
    const start = end;
    for (const rank of ranksOfWorker) {
      next[rank] = end;
      end += sizes[rank] ?? 0;
    }
    return indices.subarray(start, end);
  });
  for (let i = 0; i < count; i++) {
    const rank = rankOf[i] ?? 0;
    const at = next[rank] ?? 0;
    indices[at] = i;
    next[rank] = at + 1;
  }
  return shares;
}

/** Copies the numbers of some places. */
export function gather(from: Float64Array, places: Uint32Array, to: Float64Array): void {
  for (let i = 0; i < places.length; i++) to[i] = from[places[i] ?? 0] ?? NaN;
}

/** Puts rows of numbers where their places stand. */
export function scatter(
  from: Float64Array | Uint8Array,
  places: Uint32Array,
  width: number,
  to: Float64Array | Uint8Array,
): void {
  for (let i = 0; i < places.length; i++) {
    const at = (places[i] ?? 0) * width;
    for (let layer = 0; layer < width; layer++) to[at + layer] = from[i * width + layer] ?? NaN;
  }
}

/** Places and room for their answer, all in one buffer. */
export interface Sheet {
  readonly latitudes: Float64Array<ArrayBuffer>;
  readonly longitudes: Float64Array<ArrayBuffer>;
  readonly into: SampleResult;
}

/**
 * The sheets of one call. They go to the workers and come back: fresh ones for every order would lie about on both sides
 * until a collector came by, together as large as the whole call.
 */
export class Sheets {
  readonly #width: number;
  readonly #sizeBytes: number;
  readonly #free: ArrayBuffer[] = [];

  /** @param placesMax of one sheet */
  constructor(placesMax: number, width: number) {
    this.#width = width;
    this.#sizeBytes = placesMax * (2 * 8 + width * (8 + 1));
  }

  take(placeCount: number): Sheet {
    const buffer = this.#free.pop() ?? new ArrayBuffer(this.#sizeBytes);
    const length = placeCount * this.#width;
    return {
      latitudes: new Float64Array(buffer, 0, placeCount),
      longitudes: new Float64Array(buffer, placeCount * 8, placeCount),
      into: {
        values: new Float64Array(buffer, placeCount * 16, length),
        reasons: new Uint8Array(buffer, placeCount * 16 + length * 8, length),
      },
    };
  }

  /** @param values of a sheet that has come back and been read */
  giveBack({ buffer }: Float64Array): void {
    this.#free.push(buffer as ArrayBuffer);
  }
}
