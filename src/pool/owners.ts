/** Which neighbourhood of tiles a place lies in: places of one number go to one worker. */
export interface Neighbourhoods {
  /** @param hazard the hazard whose tiles will be read; places outside its grid have one number together */
  numberOf(hazard: string, place: { readonly latitude: number; readonly longitude: number }): number;
}

/** What a query says of where it is; nothing of it has been checked. */
export function neighbourhoodOf(neighbourhoods: Neighbourhoods, query: unknown): number {
  const { latitude, longitude, hazards } = (query ?? {}) as Readonly<Record<string, unknown>>;
  const hazard = String(Array.isArray(hazards) ? hazards[0] : "");
  return neighbourhoods.numberOf(hazard, { latitude: numberFrom(latitude), longitude: numberFrom(longitude) });
}

function numberFrom(value: unknown): number {
  return typeof value === "number" ? value : NaN;
}

/**
 * Which worker does which elements: for each the indices, neighbours together.
 *
 * @param numbers of each element its neighbourhood
 * @returns Uint32Array for each worker
 */
export function shareOut(numbers: Float64Array, workerCount: number): readonly Uint32Array[] {
  const shares: number[][] = Array.from({ length: workerCount }, () => []);
  for (const [i, number] of numbers.entries()) shares[ownerOf(number, workerCount)]?.push(i);
  return shares.map((share) =>
    Uint32Array.from(share.toSorted((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0) || a - b)),
  );
}

/** Which worker owns a neighbourhood. */
export function ownerOf(number: number, workerCount: number): number {
  return mixed(number) % workerCount;
}

/** Spreads neighbouring numbers over the workers (the finaliser of MurmurHash3). */
function mixed(number: number): number {
  let hash = number | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
