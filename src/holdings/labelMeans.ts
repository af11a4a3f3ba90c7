/** The score and the budget of an entity in a year, or over all years: means over the labels of its projections. */
import { type AlignedEntities, firstRowOf } from "../alignment/alignEntities.ts";
import { labelShares, overallOf } from "../alignment/summaries.ts";
import type { Entity, HoldingBudget } from "../contract/wireTypes.ts";

/** A score or a budget, and the labels that it is not based on. */
interface LabelMean {
  /** Labels of the entity without a value, in order of first appearance. */
  readonly excludedLabels: readonly string[];
}

/** Degrees C. */
interface EntityScore extends LabelMean {
  readonly temperatureC: number;
  readonly lowC: number;
  readonly highC: number;
}

/**
 * Returns the score of an entity: `overall`, or the mean over the labels in a projected year. In that year the last
 * record of each label counts, and the probabilities of the labels without a temperature are left out of the mean.
 *
 * @returns null if no label with a probability above 0 has a temperature
 */
export function scoreOfYear(aligned: AlignedEntities, index: number, year: number | "overall"): EntityScore | null {
  const { temperaturesC, rangeLowC, rangeHighC } = aligned.rows;
  const hasTemperature = (row: number): boolean => !Number.isNaN(temperaturesC[row] ?? NaN);
  if (year === "overall") {
    const overall = overallOf(aligned, index);
    if (overall === null) return null;
    const { temperature_alignment: temperatureC, range } = overall;
    const excludedLabels = labelsWithout(aligned, index, hasTemperature);
    return { temperatureC, lowC: range.low, highC: range.high, excludedLabels };
  }
  const rows = lastRows(aligned, index, { year, hasValue: hasTemperature });
  const shares = sharesOf(aligned, index, rows);
  if (shares === null) return null;
  return {
    temperatureC: weightedSum(temperaturesC, shares),
    lowC: weightedSum(rangeLowC, shares),
    highC: weightedSum(rangeHighC, shares),
    excludedLabels: excludedLabelsOf(aligned, index, rows),
  };
}

/**
 * Returns the budget of an entity up to a projected year, or up to the last year with a budget (`overall`): the mean over
 * the labels that have a budget up to that year.
 *
 * @returns null if no label with a probability above 0 has a budget
 */
export function budgetOfYear(
  aligned: AlignedEntities,
  index: number,
  year: number | "overall",
): (HoldingBudget & LabelMean) | null {
  const { budgetAllowed, budgetProjected } = aligned.rows;
  if (budgetAllowed === undefined || budgetProjected === undefined) throw new Error("Budgets were not requested.");
  const hasBudget = (row: number): boolean => !Number.isNaN(budgetAllowed[row] ?? NaN);
  const lastYear = year === "overall" ? lastYearWith(aligned, index, hasBudget) : year;
  const rows = lastRows(aligned, index, { year: lastYear, hasValue: hasBudget });
  const shares = sharesOf(aligned, index, rows);
  if (shares === null) return null;
  return {
    allowed: weightedSum(budgetAllowed, shares),
    projected: weightedSum(budgetProjected, shares),
    excludedLabels: excludedLabelsOf(aligned, index, rows),
  };
}

/** Rows by the label of their records; the label of records without one is undefined. */
type RowOfLabel = ReadonlyMap<string | undefined, number>;

function recordsOf({ entities }: AlignedEntities, index: number): Entity["projected_emissions"] {
  return entities[index]?.projected_emissions ?? [];
}

/** Returns the last row of each label in a year, of the labels for which this row has a value. */
function lastRows(
  aligned: AlignedEntities,
  index: number,
  { year, hasValue }: { readonly year: number; hasValue(row: number): boolean },
): RowOfLabel {
  const firstRow = firstRowOf(aligned, index);
  const rowOfLabel = new Map<string | undefined, number>();
  for (const [i, record] of recordsOf(aligned, index).entries()) {
    if (record.year === year) rowOfLabel.set(record.label, firstRow + i);
  }
  return new Map([...rowOfLabel].filter(([, row]) => hasValue(row)));
}

function lastYearWith(aligned: AlignedEntities, index: number, hasValue: (row: number) => boolean): number {
  const firstRow = firstRowOf(aligned, index);
  return recordsOf(aligned, index).reduce(
    (last, { year }, i) => (hasValue(firstRow + i) ? Math.max(last, year) : last),
    -Infinity,
  );
}

/** Returns the share of each row in a mean over its labels; null if the shares add up to 0. */
function sharesOf(aligned: AlignedEntities, index: number, rows: RowOfLabel): ReadonlyMap<number, number> | null {
  const shareOfLabel = labelShares(recordsOf(aligned, index));
  const shares = [...rows].map(
    ([label, row]) => [row, label === undefined ? 1 : (shareOfLabel.get(label) ?? 0)] as const,
  );
  const sum = shares.reduce((total, [, share]) => total + share, 0);
  return sum === 0 ? null : new Map(shares.map(([row, share]) => [row, share / sum]));
}

function weightedSum(column: Float64Array, shares: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const [row, share] of shares) sum += share * (column[row] ?? NaN);
  return sum;
}

/** Returns the labels of an entity that have no row. */
function excludedLabelsOf(aligned: AlignedEntities, index: number, rows: RowOfLabel): readonly string[] {
  return [...labelShares(recordsOf(aligned, index)).keys()].filter((label) => !rows.has(label));
}

/** Returns the labels of an entity none of whose rows has a value. */
function labelsWithout(aligned: AlignedEntities, index: number, hasValue: (row: number) => boolean): readonly string[] {
  const records = recordsOf(aligned, index);
  const firstRow = firstRowOf(aligned, index);
  const labels = new Set(records.filter((_, i) => hasValue(firstRow + i)).map(({ label }) => label));
  return [...labelShares(records).keys()].filter((label) => !labels.has(label));
}
