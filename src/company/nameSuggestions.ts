import { foldName, type Named } from "../reference/names.ts";

/** Longer than any name; bounds the time needed to fold text from a caller. */
const NAME_LENGTH_MAX = 400;

/** Returns the lookup key of a text from a request; empty if the text is too long to be a name. */
export function nameKey(text: string): string {
  const name = text.trim();
  return name.length > NAME_LENGTH_MAX ? "" : foldName(name);
}

/** Number of names suggested for an unknown one. */
const SUGGESTION_COUNT = 5;
/** Only the first characters of a longer text are compared. */
const COMPARED_LENGTH = 80;

/** Suggests the names with the highest Dice coefficient (Dice 1945) over pairs of adjacent letters. */
export class NameSuggestions<Item extends Named> {
  readonly #items: readonly Item[];
  #pairs: readonly { readonly name: string; readonly pairLists: readonly (readonly string[])[] }[] | undefined;

  constructor(items: readonly Item[]) {
    this.#items = items;
  }

  nearest(text: string): readonly string[] {
    this.#pairs ??= this.#items.map(({ name, names }) => ({ name, pairLists: names.map(pairsOf) }));
    const given = pairsOf(text.slice(0, COMPARED_LENGTH));
    const counts = new Map<string, number>();
    for (const pair of given) counts.set(pair, (counts.get(pair) ?? 0) + 1);
    return this.#pairs
      .map(({ name, pairLists }) => ({
        name,
        similarity: Math.max(...pairLists.map(similarityTo(given.length, counts))),
      }))
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, SUGGESTION_COUNT)
      .map(({ name }) => name);
  }
}

/** Returns the pairs of adjacent letters; a space is added at both ends, which gives the first letter more weight. */
function pairsOf(text: string): readonly string[] {
  const padded = ` ${foldName(text)} `;
  return Array.from({ length: padded.length - 1 }, (_, i) => padded.slice(i, i + 2));
}

function similarityTo(
  givenCount: number,
  givenCounts: ReadonlyMap<string, number>,
): (pairs: readonly string[]) => number {
  return (pairs) => {
    const used = new Map<string, number>();
    let shared = 0;
    for (const pair of pairs) {
      const times = (used.get(pair) ?? 0) + 1;
      used.set(pair, times);
      if (times <= (givenCounts.get(pair) ?? 0)) shared++;
    }
    return (2 * shared) / (pairs.length + givenCount);
  };
}
