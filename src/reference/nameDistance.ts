/** A name in a list of suggestions. */
export interface NameCandidate {
  /** The name as suggested. */
  readonly name: string;
  readonly spelling: ComparedText;
}

/** A folded text, prepared for comparison. */
interface ComparedText {
  readonly codePoints: Int32Array;
  /** Bit `codePoint % 32` is set for each code point of the text. */
  readonly mask: number;
}

/** Shorter texts and candidates are never compared by `nearestName`. */
const LENGTH_MIN = 4;

export function nameCandidate(name: string, foldedSpelling: string): NameCandidate {
  return { name, spelling: comparedText(foldedSpelling) };
}

function comparedText(folded: string, lengthMax = Infinity): ComparedText {
  const codePoints = Int32Array.from(
    Array.from(folded).slice(0, lengthMax),
    (character) => character.codePointAt(0) ?? 0,
  );
  return { codePoints, mask: codePoints.reduce((mask, codePoint) => mask | (1 << (codePoint % 32)), 0) };
}

/**
 * Returns the nearest candidate within max(1, floor(length / 5)) edits, the first of several at the same distance.
 * Texts and candidates of fewer than 4 characters are never matched (docs/industry-names.md, "Suggestions").
 *
 * @param folded the text, folded like the candidates
 */
export function nearestName(folded: string, candidates: readonly NameCandidate[]): string | undefined {
  const text = comparedText(folded);
  if (text.codePoints.length < LENGTH_MIN) return undefined;
  let nearest: string | undefined;
  let distanceMax = Math.max(1, Math.floor(text.codePoints.length / 5));
  for (const { name, spelling } of candidates) {
    if (spelling.codePoints.length < LENGTH_MIN) continue;
    const distance = distanceOf(text, spelling, distanceMax);
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
 * once. Names at the same distance are in the order of the candidates. Names farther than `distanceMax` are left out.
 *
 * @param folded the text, folded like the candidates
 */
export function nearestNames(
  folded: string,
  candidates: readonly NameCandidate[],
  count: number,
  distanceMax = Infinity,
): readonly string[] {
  const text = comparedText(folded, COMPARED_LENGTH_MAX);
  const positions = new Map<string, number>();
  let nearest: readonly { readonly name: string; readonly distance: number; readonly position: number }[] = [];
  for (const { name, spelling } of candidates) {
    const position = positions.get(name) ?? positions.size;
    positions.set(name, position);
    const farthest = nearest.length < count ? distanceMax : (nearest.at(-1)?.distance ?? distanceMax);
    const distance = distanceOf(text, spelling, farthest);
    if (distance === Infinity || nearest.some((other) => other.name === name && other.distance <= distance)) continue;
    nearest = [...nearest.filter((other) => other.name !== name), { name, distance, position }]
      .toSorted((one, other) => one.distance - other.distance || one.position - other.position)
      .slice(0, count);
  }
  return nearest.map(({ name }) => name);
}

/**
 * Optimal string alignment distance of two texts: the number of insertions, deletions, substitutions and
 * transpositions of adjacent characters, where no character is edited twice.
 *
 * @param distanceMax a larger distance is returned as Infinity, which saves time
 */
export function editDistance(one: string, other: string, distanceMax: number): number {
  return distanceOf(comparedText(one), comparedText(other), distanceMax);
}

function distanceOf(one: ComparedText, other: ComparedText, distanceMax: number): number {
  if (Math.abs(one.codePoints.length - other.codePoints.length) > distanceMax) return Infinity;
  // An edit removes at most one code point that only one of the texts has, and adds at most one that only the other has.
  const onlyInOne = bitCount(one.mask & ~other.mask);
  const onlyInOther = bitCount(other.mask & ~one.mask);
  if (Math.max(onlyInOne, onlyInOther) > distanceMax) return Infinity;
  return alignmentDistance(one.codePoints, other.codePoints, distanceMax);
}

function bitCount(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function alignmentDistance(a: Int32Array, b: Int32Array, distanceMax: number): number {
  const width = b.length + 1;
  // The last three rows of the table of distances between prefixes of both texts; row i is stored at i % 3. Cells
  // farther than `distanceMax` from the diagonal keep a distance above `distanceMax`.
  const rows = new Int32Array(3 * width).fill(TOO_FAR);
  for (let j = 0; j < width; j++) rows[j] = j;
  let smallestBefore = 0;
  for (let i = 1; i <= a.length; i++) {
    const current = (i % 3) * width;
    const previous = ((i + 2) % 3) * width;
    const beforePrevious = ((i + 1) % 3) * width;
    const first = Math.max(1, i - distanceMax);
    const last = Math.min(b.length, i + distanceMax);
    rows[current + first - 1] = first === 1 ? i : TOO_FAR;
    if (last < b.length) rows[current + last + 1] = TOO_FAR;
    let smallest = first === 1 ? i : TOO_FAR;
    for (let j = first; j <= last; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let distance = at(rows, previous + j - 1) + (isSame ? 0 : 1);
      distance = Math.min(distance, at(rows, previous + j) + 1, at(rows, current + j - 1) + 1);
      if (!isSame && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, at(rows, beforePrevious + j - 2) + 1);
      }
      rows[current + j] = distance;
      smallest = Math.min(smallest, distance);
    }
    // A transposition continues from the row before the previous one, so both rows must exceed the limit.
    if (smallest > distanceMax && smallestBefore > distanceMax) return Infinity;
    smallestBefore = smallest;
  }
  const distance = at(rows, (a.length % 3) * width + b.length);
  return distance > distanceMax ? Infinity : distance;
}

/** Above every distance, and small enough that adding to it does not overflow. */
const TOO_FAR = 1 << 30;

function at(rows: Int32Array, index: number): number {
  return rows[index] ?? TOO_FAR;
}
