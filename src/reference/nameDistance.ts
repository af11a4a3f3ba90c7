/** A name in a list of suggestions. */
export interface NameCandidate {
  /** The name as suggested. */
  readonly name: string;
  /** Characters (code points) of the folded spelling that is compared. */
  readonly characters: readonly string[];
}

/** Shorter texts and candidates are never compared by `nearestName`. */
const LENGTH_MIN = 4;

export function nameCandidate(name: string, foldedSpelling: string): NameCandidate {
  return { name, characters: Array.from(foldedSpelling) };
}

/**
 * Returns the nearest candidate within max(1, floor(length / 5)) edits, the first of several at the same distance.
 * Texts and candidates of fewer than 4 characters are never matched (methods/alignment.md, section 2).
 *
 * @param folded the text, folded like the candidates
 */
export function nearestName(folded: string, candidates: readonly NameCandidate[]): string | undefined {
  const text = Array.from(folded);
  if (text.length < LENGTH_MIN) return undefined;
  let nearest: string | undefined;
  let distanceMax = Math.max(1, Math.floor(text.length / 5));
  for (const { name, characters } of candidates) {
    if (characters.length < LENGTH_MIN) continue;
    const distance = editDistance(text, characters, distanceMax);
    if (distance > distanceMax) continue;
    if (distance === 0) return name;
    nearest = name;
    distanceMax = distance - 1;
  }
  return nearest;
}

/** Only the first characters of a longer text are compared by `nearestNames`. */
const COMPARED_LENGTH_MAX = 80;

/**
 * Returns the names with the smallest distance between the text and any of their spellings, nearest first and each name
 * once; of equal distances the first candidate comes first.
 *
 * @param folded the text, folded like the candidates
 */
export function nearestNames(folded: string, candidates: readonly NameCandidate[], count: number): readonly string[] {
  const text = Array.from(folded).slice(0, COMPARED_LENGTH_MAX);
  const distances = new Map<string, number>();
  for (const { name, characters } of candidates) {
    const known = distances.get(name) ?? Infinity;
    const distance = editDistance(text, characters, Math.min(known, text.length + characters.length));
    if (distance < known) distances.set(name, distance);
  }
  return [...distances]
    .toSorted(([, one], [, other]) => one - other)
    .slice(0, count)
    .map(([name]) => name);
}

/**
 * Optimal string alignment distance: the number of insertions, deletions, substitutions and swaps of neighbors, where no
 * character is edited twice.
 *
 * @param distanceMax a larger distance is returned as Infinity, which saves time
 */
export function editDistance(a: readonly string[], b: readonly string[], distanceMax: number): number {
  if (Math.abs(a.length - b.length) > distanceMax) return Infinity;
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const substituted = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let distance = Math.min(substituted, at(previous, j) + 1, at(current, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, at(beforePrevious, j - 2) + 1);
      }
      current.push(distance);
      smallest = Math.min(smallest, distance);
    }
    // A swap continues from the row before the previous one, so both rows must exceed the limit.
    if (smallest > distanceMax && Math.min(...previous) > distanceMax) return Infinity;
    beforePrevious = previous;
    previous = current;
  }
  const distance = at(previous, b.length);
  return distance > distanceMax ? Infinity : distance;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
