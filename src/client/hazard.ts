import type { Problem } from "./problem.ts";

export type Hazard = "cyclones" | "wildfire" | "coastal_floods" | "riverine_floods";
export type Scenario = "baseline" | "rcp2p6" | "rcp4p5" | "rcp6p0" | "rcp8p5";
export type Metric =
  "intensity" | "wind_speed_mps" | "fire_danger_days" | "depth_meters" | "probability" | "total_hazard";

/** A location and what is asked about it. */
export interface HazardQuery {
  /** Degrees north, -90 to 90, WGS84. */
  readonly latitude: number;
  /** Degrees east, -180 to 180, WGS84. */
  readonly longitude: number;
  /** At least one, none twice; likewise `analysis_years` and `scenarios`. */
  readonly hazards: readonly Hazard[];
  readonly analysis_years: readonly number[];
  readonly scenarios: readonly Scenario[];
  /** Kilometres, 0 to 100, default 0. Above 0 the cells within this geodesic distance are aggregated. */
  readonly radius?: number;
  /** Default max. */
  readonly aggregation_method?: "max" | "mean";
  /** Adds the metric `total_hazard`. */
  readonly total_hazard?: boolean;
  /** Gives every metric as its change since the baseline of 1980. */
  readonly anthropogenic?: boolean;
  /** Adds to each analysis year how its numbers were made, and to the answer their sources. */
  readonly detail?: boolean;
}

export interface HazardAnswer {
  readonly location: { readonly latitude: number; readonly longitude: number };
  /** There exactly when a radius above 0 was asked for. */
  readonly aggregation?: { readonly radius_km: number; readonly method: "max" | "mean" };
  /** In the order asked for, as are scenarios and years. */
  readonly results: readonly {
    readonly hazard: Hazard;
    readonly scenarios: readonly {
      readonly scenario: Scenario;
      readonly analysis_years: readonly AnalysisYear[];
    }[];
  }[];
  /** With `detail`: the sources that it names, by `<hazard>/<scenario>/<analysis year>`. */
  readonly sources?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface AnalysisYear {
  readonly analysis_year: number;
  /** `null` where no number exists; `no_data` then says why. */
  readonly metrics: Readonly<Partial<Record<Metric, number | null>>>;
  /** Present where the probability is only a bound. */
  readonly bounds?: {
    readonly probability: Bound;
    /** Where it is asked for: inherits the bound of its probability. */
    readonly total_hazard?: Bound;
  };
  readonly no_data?: NoDataReason;
  /** With `detail` alone. */
  readonly detail?: {
    readonly cells: number;
    /** Share of the cells' area that has data: the least of the metrics that have a layer. */
    readonly valid_share: number;
    /** Present where the metrics differ in these; a metric without a layer has no share. */
    readonly metrics?: Readonly<
      Partial<Record<Metric, { readonly valid_share?: number; readonly no_data?: NoDataReason }>>
    >;
    readonly cell_center?: { readonly latitude: number; readonly longitude: number };
    /** Member of the answer's `sources`; absent where the atlas has no layer. */
    readonly source?: string;
    /** Of a change: the source of the baseline, in `sources` too. */
    readonly baseline_source?: string;
    /** `return_periods_years` where the metrics were derived from return-period maps. */
    readonly rules: Readonly<Record<string, unknown>>;
    /** What to know before the numbers are used. */
    readonly caveats?: readonly string[];
  };
}

export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/**
 * The true value is at least, or at most, `limit`. `indeterminate`: both sides of a change are bounds in the same
 * direction, so that it may differ either way.
 */
export type Bound =
  | { readonly bound: "at_least" | "at_most"; readonly limit: number }
  | { readonly bound: "indeterminate"; readonly limit?: never };

/** An element of a batch that could not be answered; the others are untouched by it. */
export interface RefusedQuery {
  readonly error: Problem;
}

export interface HazardBatchAnswer {
  /** One element a query, in order. */
  readonly results: readonly (HazardAnswer | RefusedQuery)[];
}

/** What there is to ask for, and what the service's atlas has of it. */
export interface HazardCatalogue {
  /** The set of numbers that answers; another release may give others. */
  readonly release: string;
  /** True where every number is invented: the demo. */
  readonly synthetic: boolean;
  readonly hazards: readonly {
    readonly hazard: Hazard;
    readonly analysis_years: readonly number[];
    readonly scenarios: readonly Scenario[];
    readonly metrics: readonly { readonly metric: Metric; readonly unit: string; readonly meaning: string }[];
    /** Nominal; an atlas keeps the grid of its source. */
    readonly resolution_deg: number;
    /** Of this atlas, as `coverage`; `null` where it has nothing of the hazard. Rows from the north, columns from the west. */
    readonly grid: {
      readonly north_deg: number;
      readonly west_deg: number;
      readonly cell_size_lat_deg: number;
      readonly cell_size_lon_deg: number;
      readonly row_count: number;
      readonly column_count: number;
    } | null;
    readonly coverage: Readonly<Record<"north" | "south" | "west" | "east", number>> | null;
    readonly rules: Readonly<Record<string, unknown>>;
    readonly layers: readonly {
      readonly scenario: Scenario;
      readonly analysis_year: number;
      readonly metrics: readonly string[];
      readonly source: Readonly<Record<string, unknown>>;
    }[];
  }[];
}
