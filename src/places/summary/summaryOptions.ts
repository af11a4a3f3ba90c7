import type { HazardName } from "../../hazard/hazards.ts";
import type { SeriesName } from "./scoreColumns.ts";
import type { MetricThreshold } from "./summaryMetrics.ts";

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
