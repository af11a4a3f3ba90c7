/** The known names nearest to a text. */
import { type ComparedText, comparedText, distanceOf } from "../validation/editDistance.ts";

/** A name in a list of suggestions. */
export interface NameCandidate {
  /** The name as suggested. */
  readonly name: string;
  readonly spelling: ComparedText;
}

/** Shorter texts and candidates are never compared by `nearestName`. */
const LENGTH_MIN = 4;

export function nameCandidate(name: string, foldedSpelling: string): NameCandidate {
  return { name, spelling: comparedText(foldedSpelling) };
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
