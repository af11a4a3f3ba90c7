/** An item with several names. */
export interface Named {
  readonly name: string;
  /** All names, including `name`. */
  readonly names: readonly string[];
}

/** Resolves compatibility forms and removes accents (NFKD), and converts to lower case. */
export function foldLetters(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** Folds a name for comparison: `foldLetters`, and one space for each run of characters other than letters and digits. */
export function foldName(text: string): string {
  return foldLetters(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
