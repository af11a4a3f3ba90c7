import { foldName, type Named } from "../reference/names.ts";

/** No name is so long, however it is written; to fold any text would take as long as the caller likes. */
const NAME_LENGTH_MAX = 400;

/** What a text of a request is looked up by, if it is a name: nothing of one that is too long. */
export function nameKey(text: string): string {
  const name = text.trim();
  return name.length > NAME_LENGTH_MAX ? "" : foldName(name);
}

/** So many names are offered for one that is not known. */
const SUGGESTION_COUNT = 5;
/** Of a longer text the beginning is compared. */
const COMPARED_LENGTH = 80;

/** The names nearest to a text: those that share the largest part of their pairs of letters with it (Dice 1945). */
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

/** Neighbouring letters; the ends of a name count as letters, so that how it begins weighs a little more. */
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
