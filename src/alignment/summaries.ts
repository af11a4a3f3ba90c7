/** Temperatures over several years and several projections of one entity. */
import { type AlignedEntities, firstRowOf } from "./alignEntities.ts";
import type { ProjectionRecord } from "./entity.ts";
import type { BlendedYear, OverallTemperature, TemperatureRange } from "../contract/wireTypes.ts";

interface MeanTemperature {
  readonly temperature_alignment: number;
  readonly range: TemperatureRange;
}

/**
 * Returns the mean temperature of all projection records of an entity; null if no record with a temperature has a weight
 * above 0. The weight of a record is the squared distance between the coolest and the warmest anchor in its year, times the
 * share of its label.
 */
export function overallOf(aligned: AlignedEntities, index: number): OverallTemperature | null {
  const { entities, rows } = aligned;
  const { anchorSpread } = rows;
  const records = entities[index]?.projected_emissions ?? [];
  if (anchorSpread === undefined) throw new Error("The spread of the anchors was not requested.");
  const shares = labelShares(records);
  const firstRow = firstRowOf(aligned, index);
  const mean = new WeightedMean(rows);
  let years = 0;
  for (let i = 0; i < records.length; i++) {
    const row = firstRow + i;
    if (Number.isNaN(rows.temperaturesC[row] ?? NaN)) continue;
    years++;
    mean.add(row, (anchorSpread[row] ?? 0) ** 2 * shareOf(shares, records[i]));
  }
  const value = mean.value();
  return value === undefined ? null : { ...value, years };
}

/**
 * Returns the mean temperature over the labels of an entity for each year with a temperature under at least two labels,
 * in ascending order. If a year is given twice under a label, the last record counts.
 */
export function blendedOf(aligned: AlignedEntities, index: number): readonly BlendedYear[] {
  const { entities, rows } = aligned;
  const records = entities[index]?.projected_emissions ?? [];
  const shares = labelShares(records);
  if (shares.size < 2) return [];
  const firstRow = firstRowOf(aligned, index);
  const rowByLabelOfYear = new Map<number, Map<string, number>>();
  for (const [i, { year, label }] of records.entries()) {
    if (label === undefined) continue;
    const rowByLabel = rowByLabelOfYear.get(year) ?? new Map<string, number>();
    rowByLabelOfYear.set(year, rowByLabel.set(label, firstRow + i));
  }
  const years = [...rowByLabelOfYear].toSorted(([year], [other]) => year - other);
  return years.flatMap(([year, rowByLabel]) => {
    const scored = [...rowByLabel].filter(([, row]) => !Number.isNaN(rows.temperaturesC[row] ?? NaN));
    if (scored.length < 2) return [];
    const mean = new WeightedMean(rows);
    for (const [label, row] of scored) mean.add(row, shares.get(label) ?? 0);
    const value = mean.value();
    return value === undefined ? [] : [{ year, ...value }];
  });
}

/** Returns the weight of each label, with a sum of 1: the given probabilities, or equal shares. Empty without labels. */
export function labelShares(records: readonly ProjectionRecord[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  let sum = 0;
  for (const { label, probability = 1 } of records) {
    if (label === undefined || weights.has(label)) continue;
    weights.set(label, probability);
    sum += probability;
  }
  for (const [label, weight] of weights) weights.set(label, weight / sum);
  return weights;
}

/** Returns the weight of the label of a record; 1 without labels. */
function shareOf(shares: ReadonlyMap<string, number>, record: ProjectionRecord | undefined): number {
  return record?.label === undefined ? 1 : (shares.get(record.label) ?? 0);
}

/** Weighted mean of the temperatures and ranges of rows. */
class WeightedMean {
  readonly #rows: AlignedEntities["rows"];
  #weight = 0;
  #temperature = 0;
  #low = 0;
  #high = 0;

  constructor(rows: AlignedEntities["rows"]) {
    this.#rows = rows;
  }

  add(row: number, weight: number): void {
    const { temperaturesC, rangeLowC, rangeHighC } = this.#rows;
    this.#weight += weight;
    this.#temperature += weight * (temperaturesC[row] ?? NaN);
    this.#low += weight * (rangeLowC[row] ?? NaN);
    this.#high += weight * (rangeHighC[row] ?? NaN);
  }

  /** Returns undefined if the sum of the weights is 0. */
  value(): MeanTemperature | undefined {
    const weight = this.#weight;
    if (weight === 0) return undefined;
    const range = { low: this.#low / weight, high: this.#high / weight };
    return { temperature_alignment: this.#temperature / weight, range };
  }
}
