/** The known names nearest to a text. */
import { type ComparedText, comparedText, distanceOf } from "../validation/editDistance.ts";

/** An item with several names. */
export interface Named {
  readonly name: string;
  /** All names, including `name`. */
  readonly names: readonly string[];
}

/** Resolves compatibility forms and removes accents (NFKD), and converts to lower case. */
export function foldLetters(text: string): string {
  // Most texts are ASCII, which has no compatibility forms or accents.
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** Folds a name for comparison: `foldLetters`, and one space for each run of characters other than letters and digits. */
export function foldName(text: string): string {
  return foldLetters(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Folds like `foldName`, but keeps only the letters a to z and the digits 0 to 9. */
export function foldAsciiName(text: string): string {
  return foldLetters(text)
    .replaceAll(/[^a-z0-9]+/g, " ")
    .trim();
}

/**
 * Returns the text with "and" for "&", or undefined if it has no "&" or nothing else. A lookup that finds nothing is
 * repeated with this text, so that "&" equals "and" without changing what the text itself matches.
 */
export function withAndForAmpersand(text: string): string | undefined {
  const spelledOut = text.replaceAll(/[&＆﹠]/g, " and ");
  return spelledOut === text || foldName(text) === "" ? undefined : spelledOut;
}

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

/** Words that are written in more than one way, and the form that the keys have. */
const WORD_FORMS: ReadonlyMap<string, string> = new Map<string, string>([
  // British spellings.
  ["aluminium", "aluminum"],
  ["catalogue", "catalog"],
  ["centre", "center"],
  ["centres", "centers"],
  ["defence", "defense"],
  ["fertiliser", "fertilizer"],
  ["fertilisers", "fertilizers"],
  ["fibre", "fiber"],
  ["fibres", "fibers"],
  ["homogenised", "homogenized"],
  ["jewellery", "jewelry"],
  ["labour", "labor"],
  ["orthopaedic", "orthopedic"],
  ["organisation", "organization"],
  ["organisations", "organizations"],
  ["programme", "program"],
  ["programmes", "programs"],
  ["specialised", "specialized"],
  ["tyre", "tire"],
  ["tyres", "tires"],
  // Compounds and abbreviations.
  ["ecommerce", "e commerce"],
  ["healthcare", "health care"],
  ["homebuilders", "home builders"],
  ["homebuilding", "home building"],
  ["multiline", "multi line"],
  ["multiutilities", "multi utilities"],
  ["nec", "n e c"],
  ["nonalcoholic", "non alcoholic"],
  ["nonlife", "non life"],
  ["semitrailers", "semi trailers"],
]);

/** Returns a folded name with one form for words that are written in several ways. */
export function withCommonWordForms(folded: string): string {
  return folded
    .split(" ")
    .map((word) => WORD_FORMS.get(word) ?? word)
    .join(" ");
}

/** Shorter words, such as "gas" and "bus", are left as they are. */
const PLURAL_LENGTH_MIN = 4;

/** Returns a folded name with the plurals of its words replaced by the singular. */
export function withSingularWords(folded: string): string {
  return folded.split(" ").map(singularOf).join(" ");
}

function singularOf(word: string): string {
  if (word.length < PLURAL_LENGTH_MIN || !word.endsWith("s") || /(ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.slice(0, /(s|x|z|ch|sh)es$/.test(word) ? -2 : -1);
}
