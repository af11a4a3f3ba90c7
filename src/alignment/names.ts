/**
 * A name as it is compared: compatibility forms resolved and accents dropped (NFKD), lower case, and one space for every
 * run of what is neither letter nor digit.
 */
export function foldName(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
