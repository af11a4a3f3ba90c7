/** Something that goes by several names. */
export interface Named {
  readonly name: string;
  /** All that it is called by, its name among them. */
  readonly names: readonly string[];
}

/** Text without what does not count in a name: compatibility forms resolved and accents dropped (NFKD), lower case. */
export function foldLetters(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
}

/** A name as it is compared: its letters folded, and one space for every run of what is neither letter nor digit. */
export function foldName(text: string): string {
  return foldLetters(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
