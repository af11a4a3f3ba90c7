import type { HazardName, MetricName, Scenario } from "./hazards.ts";

/** Why a value is null. Never a zero, and a zero is never a null. */
export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/**
 * What is known of a value that is only a bound: it is at least, or at most, the limit. A change of which both sides are
 * bounds in the same direction is known in neither: `indeterminate`, without a limit.
 */
export type Bound =
  | { readonly bound: "at_least" | "at_most"; readonly limit: number }
  | { readonly bound: "indeterminate"; readonly limit?: never };

/** The metrics of an analysis year that are only bounds; `total_hazard` where it is asked for. */
export interface Bounds {
  readonly probability: Bound;
  readonly total_hazard?: Bound;
}

/** Shares and reasons of one metric. */
export interface MetricDetail {
  /** As in `AnswerDetail`; absent where the atlas has no layer of the metric. */
  readonly valid_share?: number;
  /** Why the metric is null. */
  readonly no_data?: NoDataReason;
}

/** How the numbers of an analysis year were made; with `detail`. */
export interface AnswerDetail {
  /**
   * Cells of the atlas's grid that were aggregated: 1 at a point, those of the circle otherwise. There are none beyond the
   * edge of the grid.
   */
  readonly cells: number;
  /**
   * 0 to 1: area with data / area of all those cells, the least of the metrics that have a layer. Says nothing of what is
   * beyond the grid. In a change it is that of the scenario, not of the baseline.
   */
  readonly valid_share: number;
  /** Present where the metrics differ in their shares or reasons: those of each. */
  readonly metrics?: Readonly<Partial<Record<MetricName, MetricDetail>>>;
  /** The cell that answered at a point. */
  readonly cell_center?: { readonly latitude: number; readonly longitude: number };
  /** Member of the answer's `sources`: where the layers come from. Absent where the atlas has none. */
  readonly source?: string;
  /** Member of `sources`: where the baseline comes from that a change is counted from. */
  readonly baseline_source?: string;
  /** What the metrics were made with; `return_periods_years` where they were derived from return-period maps. */
  readonly rules: Readonly<Record<string, unknown>>;
  /** What to know before the numbers are used: unlike sources of a change, means that may hide bounds. */
  readonly caveats?: readonly string[];
}

export interface AnalysisYearResult {
  readonly analysis_year: number;
  readonly metrics: Readonly<Partial<Record<MetricName, number | null>>>;
  /** Present exactly when the probability is only a bound. */
  readonly bounds?: Bounds;
  /** Present exactly when a metric is null. */
  readonly no_data?: NoDataReason;
  readonly detail?: AnswerDetail;
}

export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly analysis_years: readonly AnalysisYearResult[];
}

export interface HazardResult {
  readonly location: { readonly latitude: number; readonly longitude: number };
  /** There exactly when a radius above 0 was asked for. */
  readonly aggregation?: { readonly radius_km: number; readonly method: "max" | "mean" };
  /** One element a hazard, scenario and year, each in the order asked for. */
  readonly results: readonly { readonly hazard: HazardName; readonly scenarios: readonly ScenarioResult[] }[];
  /**
   * With `detail`: the sources that it names, each once, by `<hazard>/<scenario>/<analysis year>`. The source maps, file by
   * file, are in the catalog: `Atlas.holdings`, GET /api/v1/hazards.
   */
  readonly sources?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
