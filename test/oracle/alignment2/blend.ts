/** Several years and several projections of one entity: overall and blended values. */
import type { Interval } from "./row.ts";
import type { ProjectionRecord } from "./request.ts";

/** A scored projection record. */
export interface LabeledScore {
  readonly year: number;
  readonly label: string | null;
  /** p of the label, divided by the sum over the labels; 1 without labels. */
  readonly share: number;
  readonly temperature: number | null;
  readonly range: Interval | null;
  /** (X_4 - X_1)². */
  readonly weight: number;
}

export interface Overall {
  readonly temperature: number;
  readonly range: Interval;
  readonly years: number;
}

export interface BlendedYear {
  readonly year: number;
  readonly temperature: number;
  readonly range: Interval;
}

/** p_l of each label, divided by their sum; equal where no probability is given. Empty without labels. */
export function labelShares(records: readonly ProjectionRecord[]): ReadonlyMap<string, number> {
  const probabilities = new Map<string, number>();
  for (const { label, probability } of records) if (label !== undefined) probabilities.set(label, probability ?? 1);
  const sum = [...probabilities.values()].reduce((total, probability) => total + probability, 0);
  return new Map([...probabilities].map(([label, probability]) => [label, probability / sum]));
}

/** Overall value: one figure over all scored rows; null where the weights add up to 0. */
export function overallOf(rows: readonly LabeledScore[]): Overall | null {
  const scored = rows.filter(isScored);
  const items = scored.map((row) => ({ ...row, share: row.share * row.weight }));
  const mean = weightedMean(items);
  return mean === null ? null : { ...mean, years: scored.length };
}

/** Blended values: for each year with a value under at least two labels, ascending; the last record of a year and label. */
export function blendedOf(rows: readonly LabeledScore[]): readonly BlendedYear[] {
  const years = [...new Set(rows.map(({ year }) => year))].toSorted((a, b) => a - b);
  return years.flatMap((year) => {
    const lastOfLabel = new Map<string, LabeledScore>();
    for (const row of rows) if (row.year === year && row.label !== null) lastOfLabel.set(row.label, row);
    const scored = [...lastOfLabel.values()].filter(isScored);
    const mean = scored.length < 2 ? null : weightedMean(scored);
    return mean === null ? [] : [{ year, ...mean }];
  });
}

function weightedMean(
  items: readonly { readonly share: number; readonly temperature: number; readonly range: Interval }[],
): { readonly temperature: number; readonly range: Interval } | null {
  const total = items.reduce((sum, { share }) => sum + share, 0);
  if (total === 0) return null;
  const mean = (figure: (item: (typeof items)[number]) => number): number =>
    items.reduce((sum, item) => sum + item.share * figure(item), 0) / total;
  return {
    temperature: mean(({ temperature }) => temperature),
    range: { low: mean(({ range }) => range.low), high: mean(({ range }) => range.high) },
  };
}

function isScored(row: LabeledScore): row is LabeledScore & { readonly temperature: number; readonly range: Interval } {
  return row.temperature !== null && row.range !== null;
}
