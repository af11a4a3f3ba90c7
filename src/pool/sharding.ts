/** Distributes locations over the workers: neighboring locations go to the same worker, which caches their tiles. */

/** Returns the index of the neighborhood of tiles that a location belongs to, for a hazard; -1 outside its grid. */
export type NeighborhoodOf = (hazard: string, location: { readonly latDeg: number; readonly lonDeg: number }) => number;

/** Returns the neighborhood of a query. The query need not be valid. */
export function neighborhoodOfQuery(neighborhoodOf: NeighborhoodOf, query: unknown): number {
  const { latitude, longitude, hazards } = (query ?? {}) as Readonly<Record<string, unknown>>;
  const hazard = String(Array.isArray(hazards) ? hazards[0] : "");
  return neighborhoodOf(hazard, { latDeg: numberOrNaN(latitude), lonDeg: numberOrNaN(longitude) });
}

function numberOrNaN(value: unknown): number {
  return typeof value === "number" ? value : NaN;
}

/** Returns the index of the worker that owns a neighborhood. */
export function ownerOf(neighborhood: number, workerCount: number): number {
  return mixBits(neighborhood) % workerCount;
}

/** Maps an integer to a 32-bit hash (the finalizer of MurmurHash3). */
function mixBits(number: number): number {
  let hash = number | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Divides elements among the workers that own their neighborhoods. The elements of a worker are sorted by neighborhood;
 * elements of one neighborhood keep their order. Uses typed arrays, because a call may have millions of elements.
 *
 * @param neighborhoodAt called once per element
 * @returns the indices of the elements of each worker, views of one array
 */
export function shardByOwner(
  count: number,
  workerCount: number,
  neighborhoodAt: (index: number) => number,
): readonly Uint32Array[] {
  /** Neighborhoods in the order of their first element. */
  const ranks = new Map<number, number>();
  const rankOf = new Uint32Array(count);
  const sizes: number[] = [];
  for (let i = 0; i < count; i++) {
    const neighborhood = neighborhoodAt(i);
    let rank = ranks.get(neighborhood);
    if (rank === undefined) {
      rank = sizes.push(0) - 1;
      ranks.set(neighborhood, rank);
    }
    rankOf[i] = rank;
    sizes[rank] = (sizes[rank] ?? 0) + 1;
  }
  const owned: (readonly [number, number])[][] = Array.from({ length: workerCount }, () => []);
  for (const entry of ranks) owned[ownerOf(entry[0], workerCount)]?.push(entry);

  const indices = new Uint32Array(count);
  /** Index in `indices` of the next element of each rank. */
  const next = new Uint32Array(sizes.length);
  let end = 0;
  const shards = owned.map((entries) => {
    const start = end;
    for (const [, rank] of entries.toSorted(([a], [b]) => a - b)) {
      next[rank] = end;
      end += sizes[rank] ?? 0;
    }
    return indices.subarray(start, end);
  });
  for (let i = 0; i < count; i++) {
    const rank = rankOf[i] ?? 0;
    const target = next[rank] ?? 0;
    indices[target] = i;
    next[rank] = target + 1;
  }
  return shards;
}

/** Share by which a shard may exceed the average. */
const IMBALANCE_MAX = 0.1;

/**
 * Moves elements from the ends of long shards to short ones until none is much longer than the average. Locations that are
 * close together, as in the portfolio of a city, would otherwise keep only their owner busy.
 */
export function balanceShards(shards: readonly Uint32Array[]): readonly Uint32Array[] {
  const count = shards.reduce((sum, { length }) => sum + length, 0);
  const lengthMax = Math.ceil((count / shards.length) * (1 + IMBALANCE_MAX));
  const surplus = shards.flatMap((shard) => (shard.length > lengthMax ? [shard.subarray(lengthMax)] : []));
  return shards.map((shard) => {
    const parts = [shard.subarray(0, lengthMax)];
    let room = lengthMax - shard.length;
    while (room > 0) {
      const next = surplus.pop();
      if (next === undefined) break;
      const part = next.subarray(0, room);
      if (part.length < next.length) surplus.push(next.subarray(room));
      parts.push(part);
      room -= part.length;
    }
    return parts.length === 1 ? (parts[0] as Uint32Array) : concatenate(parts);
  });
}

function concatenate(parts: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}

/** Number of chunks of one call that a worker has at a time: one running and one waiting. */
const CHUNKS_PER_WORKER = 2;

/**
 * Processes the shards of a call chunk by chunk, a few chunks per worker at a time, which bounds memory. Stops after the
 * first failure.
 *
 * @throws the first error of `process`; the abort reason of the signal
 */
export async function forEachChunk(
  shards: readonly Uint32Array[],
  { chunkSize, signal }: { readonly chunkSize: number; readonly signal: AbortSignal | undefined },
  process: (worker: number, indices: Uint32Array) => Promise<void>,
): Promise<void> {
  signal?.throwIfAborted();
  let failure: { readonly error: unknown } | undefined;
  const isStopped = (): boolean => failure !== undefined || signal?.aborted === true;
  const processShard = async (worker: number, shard: Uint32Array, position: { next: number }): Promise<void> => {
    while (position.next < shard.length && !isStopped()) {
      const start = position.next;
      position.next += chunkSize;
      try {
        await process(worker, shard.subarray(start, start + chunkSize));
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(
    shards.flatMap((shard, worker) => {
      const position = { next: 0 };
      return Array.from({ length: CHUNKS_PER_WORKER }, () => processShard(worker, shard, position));
    }),
  );
  signal?.throwIfAborted();
  if (failure !== undefined) throw failure.error;
}
