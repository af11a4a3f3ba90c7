import type { ListedPlace } from "./placeList.ts";
import type { DistributionSummary } from "./distribution.ts";
import type { ScoreKey, SeriesName } from "./scoreColumns.ts";
import type { SummaryMetric } from "./summaryMetrics.ts";

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
