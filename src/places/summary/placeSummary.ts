/** Figures that both the tables on the terminal and the report derive from a summary. */
import type { ListedPlace } from "./placeList.ts";
import type { DistributionSummary } from "./distribution.ts";
import {
  type MetricThreshold,
  type ScoreKey,
  scoreKeyText,
  type SeriesName,
  type SummaryMetric,
} from "./scoreColumns.ts";
import type { HazardName } from "../../hazard/hazards.ts";

/** Statistics of the values of an output of `isotherm portfolio`. */
export interface PlaceSummary {
  /** Rows of the file. */
  readonly rowCount: number;
  /** Rows of the input, valid or not. */
  readonly placeCount: number;
  readonly invalidRowCount: number;
  /** The first invalid rows. */
  readonly invalidRows: readonly InvalidPlace[];
  /** Names of the kept columns that are shown with each listed place. */
  readonly shownColumns: readonly string[];
  /** In the order of hazards, scenarios and years in the documentation. */
  readonly groups: readonly GroupSummary[];
  /** Places of selected columns. */
  readonly series: readonly SeriesPlaces[];
  /** Undefined if no column was requested. */
  readonly partition: PartitionSummary | undefined;
}

/** An invalid row of the input. */
export interface InvalidPlace extends Pick<ListedPlace, "id" | "shown"> {
  readonly error: string;
}

/** Values of one hazard, scenario and analysis year. */
export interface GroupSummary extends ScoreKey {
  readonly rowCount: number;
  /** In the order of SCORE_STATUSES. */
  readonly statusCounts: readonly number[];
  readonly metrics: readonly MetricSummary[];
}

export interface MetricSummary {
  readonly metric: SummaryMetric;
  readonly unit: string;
  /** Undefined if no place has a value. */
  readonly distribution: DistributionSummary | undefined;
  /** Thresholds of `aboveCounts`, ascending. */
  readonly thresholds: readonly number[];
  /** How many values are bounds, in the order of SCORE_BOUNDS; undefined if the metric has no bounds. */
  readonly boundCounts: readonly number[] | undefined;
}

/** Places of one column of values. */
export interface SeriesPlaces extends SeriesName {
  /** Places with the largest values. */
  readonly top: readonly ListedPlace[];
  /** Places for a map, those without a value included. */
  readonly sample: readonly ListedPlace[];
}

/**
 * What is left out if a kept column has many values: the columns whose largest values are not listed, and the quantiles.
 */
export type PartOmission = "other_columns" | "quantiles";

/** The summary by the values of a kept column. */
export interface PartitionSummary {
  readonly column: string;
  readonly omitted: readonly PartOmission[];
  /** In ascending order of the value; null is last. */
  readonly parts: readonly {
    /** Null if the cell is empty. */
    readonly value: string | null;
    readonly placeCount: number;
    readonly invalidRowCount: number;
    readonly groups: readonly GroupSummary[];
  }[];
}

/** Returns the statistics of a column of values by the values of the kept column, in descending order of the mean. */
export function partsByMean(
  { parts }: PartitionSummary,
  series: SeriesName,
): readonly { readonly part: PartitionSummary["parts"][number]; readonly summary: MetricSummary | undefined }[] {
  const key = scoreKeyText(series);
  const meanOf = (summary: MetricSummary | undefined): number => summary?.distribution?.mean ?? -Infinity;
  return parts
    .map((part) => {
      const group = part.groups.find((other) => scoreKeyText(other) === key);
      return { part, summary: group?.metrics.find(({ metric }) => metric === series.metric) };
    })
    .toSorted((a, b) => meanOf(b.summary) - meanOf(a.summary) || 0);
}

/** Returns a sentence about what is left out because the kept column has many values; undefined if nothing is. */
export function omissionOf({ column, parts, omitted }: PartitionSummary): string | undefined {
  if (omitted.length === 0) return undefined;
  const quantiles = omitted.includes("quantiles") ? ", without quantiles" : "";
  return `Because ${column} has ${parts.length} values, only the listed columns are summarized by it${quantiles}.`;
}

/** Returns the largest relative error of all quantiles; 0 if all are exact. */
export function largestQuantileError({ groups, partition }: PlaceSummary): number {
  return [...groups, ...(partition?.parts ?? []).flatMap((part) => part.groups)]
    .flatMap(({ metrics }) => metrics)
    .reduce((largest, { distribution }) => Math.max(largest, distribution?.quantileError ?? 0), 0);
}

/** Options of a summary, with their defaults resolved. */
export interface SummaryOptions {
  /** Replace the thresholds of the rules for the metrics that they name. */
  readonly above: readonly MetricThreshold[];
  /** Number of places with the largest values to list. */
  readonly topCount: number;
  /** Columns whose largest values are listed. Empty: the most distant year of the warmest scenario of each hazard. */
  readonly by: readonly SeriesName[];
  /** Kept column whose values divide the places; undefined for none. */
  readonly groupBy: string | undefined;
  /** Number of places in each sample for a map. */
  readonly sampleCount: number;
}

export const TOP_COUNT_MAX = 1000;

/** What the program that wrote the file states about it. */
export interface StatedScores {
  /** Rules of the atlas by hazard. */
  readonly rules: Readonly<Partial<Record<HazardName, Readonly<Record<string, unknown>>>>>;
  /** Names of the groups, such as `riverine_floods.rcp8p5.2050`. Columns of other groups were kept from the input. */
  readonly groups?: ReadonlySet<string>;
  /** Whether values are changes since the baseline, to which the thresholds of the rules do not apply. */
  readonly isChange: boolean;
}
