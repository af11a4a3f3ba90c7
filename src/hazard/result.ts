import type { HazardName, MetricName, Scenario } from "./hazards.ts";

/** Why a value is null. Never a zero, and a zero is never a null. */
export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/** How an analysis year's numbers were made; with `detail`. */
export interface AnswerDetail {
  /**
   * Cells of the atlas's grid that the answer looked at: 1 at a point, those of the circle otherwise. Beyond the edge of
   * the grid there are none.
   */
  readonly cells: number;
  /** 0 to 1: area with data / area of all those cells; the least of the metrics'. Nothing is said of what lies beyond the grid. */
  readonly valid_share: number;
  /** The cell that answered at a point. */
  readonly cell_centre?: { readonly latitude: number; readonly longitude: number };
  /** Where the layer comes from, as its atlas states it. */
  readonly source: Readonly<Record<string, unknown>>;
  /** The numbers its metrics were made with. */
  readonly rules: Readonly<Record<string, unknown>>;
}

export interface AnalysisYearResult {
  readonly analysis_year: number;
  readonly metrics: Readonly<Partial<Record<MetricName, number | null>>>;
  /** There exactly when a metric is null. */
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
}
