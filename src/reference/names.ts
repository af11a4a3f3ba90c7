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
