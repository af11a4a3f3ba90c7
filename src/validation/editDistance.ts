/**
 * Optimal string alignment distance: the number of insertions, deletions, substitutions and transpositions of adjacent
 * characters, where no character is edited twice.
 */

/** A text, prepared for comparison. */
export interface ComparedText {
  readonly codePoints: Int32Array;
  /** Bit `codePoint % 32` is set for each code point of the text. */
  readonly mask: number;
}

/** Prepares a text for comparison. @param lengthMax number of characters that are compared */
export function comparedText(folded: string, lengthMax = Infinity): ComparedText {
  const codePoints = Int32Array.from(
    Array.from(folded).slice(0, lengthMax),
    (character) => character.codePointAt(0) ?? 0,
  );
  return { codePoints, mask: codePoints.reduce((mask, codePoint) => mask | (1 << (codePoint % 32)), 0) };
}

/**
 * Returns the distance of two texts.
 * @param distanceMax a larger distance is returned as Infinity, which saves time
 */
export function editDistance(one: string, other: string, distanceMax: number): number {
  return distanceOf(comparedText(one), comparedText(other), distanceMax);
}

/** Returns `editDistance` of texts that are compared several times. */
export function distanceOf(one: ComparedText, other: ComparedText, distanceMax: number): number {
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
