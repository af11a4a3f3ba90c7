import type { HazardName, MetricName, Scenario } from "./hazards.ts";

/** Why a value is null. Zero is a valid value and is never returned for a missing one. */
export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/**
 * Bound of a value that is not known exactly: it is at least, or at most, the limit. A change between two bounds in the
 * same direction is `indeterminate` and has no limit.
 */
export type Bound =
  | { readonly bound: "at_least" | "at_most"; readonly limit: number }
  | { readonly bound: "indeterminate"; readonly limit?: never };

/** Bounds of an analysis year; `total_hazard` only if requested. */
export interface Bounds {
  readonly probability: Bound;
  readonly total_hazard?: Bound;
}

/** Coverage of one metric. */
export interface MetricDetail {
  /** As in `AnswerDetail`; absent if the atlas has no layer of the metric. */
  readonly valid_share?: number;
  /** Why the metric is null. */
  readonly no_data?: NoDataReason;
}

/** How the values of an analysis year were computed. */
export interface AnswerDetail {
  /**
   * Number of grid cells that were aggregated: 1 at a point, otherwise those in the circle. The area outside the grid has
   * no cells.
   */
  readonly cells: number;
  /**
   * Area with data / area of all those cells, 0 to 1; the minimum over the metrics that have a layer. The area outside the
   * grid is not counted. For a change, it is the share of the scenario, not of the baseline.
   */
  readonly valid_share: number;
  /** Share and reason of each metric; present if the metrics differ. */
  readonly metrics?: Readonly<Partial<Record<MetricName, MetricDetail>>>;
  /** Center of the cell at a point. */
  readonly cell_center?: { readonly latitude: number; readonly longitude: number };
  /** Key in `sources`. Absent if the atlas has no layers of the year. */
  readonly source?: string;
  /** Key in `sources` of the baseline that was subtracted for a change. */
  readonly baseline_source?: string;
  /** Rules of the metrics; with `return_periods_years` if they were derived from return-period maps. */
  readonly rules: Readonly<Record<string, unknown>>;
  /** Limitations of the values: different sources of a change, means that may include bounds. */
  readonly caveats?: readonly string[];
}

export interface AnalysisYearResult {
  readonly analysis_year: number;
  readonly metrics: Readonly<Partial<Record<MetricName, number | null>>>;
  /** Present only if the probability is a bound. */
  readonly bounds?: Bounds;
  /** Present only if a metric is null. */
  readonly no_data?: NoDataReason;
  /** Present if the query has `detail`. */
  readonly detail?: AnswerDetail;
}

export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly analysis_years: readonly AnalysisYearResult[];
}

export interface HazardResult {
  readonly location: { readonly latitude: number; readonly longitude: number };
  /** Present only if the radius is above 0. */
  readonly aggregation?: { readonly radius_km: number; readonly method: "max" | "mean" };
  /** One element per hazard, scenario and year, in the order of the query. */
  readonly results: readonly { readonly hazard: HazardName; readonly scenarios: readonly ScenarioResult[] }[];
  /**
   * With `detail`: the sources that the details refer to, by `<hazard>/<scenario>/<analysis year>`. The catalog lists the
   * files of each source: `Atlas.holdings`, GET /api/v1/hazards.
   */
  readonly sources?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
