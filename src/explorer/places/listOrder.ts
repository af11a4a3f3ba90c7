/** The order and the pages of the table of places. */
import type { ListRow } from "./placeList.ts";
import type { ListScores, RowScore } from "./scoreList.ts";

export interface ListOrder {
  /** What the rows are sorted by: `line` in the list, `id`, or the name of a column of values. */
  readonly by: string;
  readonly isDescending: boolean;
}

/** Rows on one page. Longer lists have several pages. */
export const PAGE_SIZE = 100;

const collator = new Intl.Collator("en", { numeric: true });

/** Returns the rows in an order. Rows without a value come last, whatever the direction; equal ones keep their order. */
export function sortRows(
  rows: readonly ListRow[],
  { by, isDescending }: ListOrder,
  scores: ListScores,
): readonly ListRow[] {
  const sign = isDescending ? -1 : 1;
  if (by === "line") return isDescending ? rows.toReversed() : rows;
  if (by === "id") return rows.toSorted((a, b) => sign * collator.compare(a.id, b.id));
  return rows.toSorted((a, b) => {
    const [first, second] = [valueOf(scores.get(a.line), by), valueOf(scores.get(b.line), by)];
    if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
    return sign * (first - second);
  });
}

function valueOf(score: RowScore | undefined, column: string): number | undefined {
  return score?.kind === "scored" ? (score.values[column]?.value ?? undefined) : undefined;
}

export function pageCount(rowCount: number): number {
  return Math.max(1, Math.ceil(rowCount / PAGE_SIZE));
}
