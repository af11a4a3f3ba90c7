import type { Problem } from "./problem.ts";

export type Hazard = "cyclones" | "wildfire" | "coastal_floods" | "riverine_floods";
export type Scenario = "baseline" | "rcp2p6" | "rcp4p5" | "rcp6p0" | "rcp8p5";
export type Metric =
  "intensity" | "wind_speed_mps" | "fire_danger_days" | "depth_meters" | "probability" | "total_hazard";

/** A location and the requested hazards, years and scenarios. */
export interface HazardQuery {
  /** Degrees north, -90 to 90, WGS84. */
  readonly latitude: number;
  /** Degrees east, -180 to 180, WGS84. */
  readonly longitude: number;
  /** At least one, without duplicates; the same holds for `analysis_years` and `scenarios`. */
  readonly hazards: readonly Hazard[];
  readonly analysis_years: readonly number[];
  readonly scenarios: readonly Scenario[];
  /** Kilometers, 0 to 100, default 0. Above 0, the cells within this geodesic distance are aggregated. */
  readonly radius?: number;
  /** Default max. */
  readonly aggregation_method?: "max" | "mean";
  /** Adds the metric `total_hazard`. */
  readonly total_hazard?: boolean;
  /** Returns every metric as its change since the 1980 baseline. */
  readonly anthropogenic?: boolean;
  /** Adds to each analysis year how its values were derived, and to the answer their sources. */
  readonly detail?: boolean;
}

export interface HazardAnswer {
  readonly location: { readonly latitude: number; readonly longitude: number };
  /** Present exactly when the requested radius is above 0. */
  readonly aggregation?: { readonly radius_km: number; readonly method: "max" | "mean" };
  /** In the requested order, as are scenarios and years. */
  readonly results: readonly {
    readonly hazard: Hazard;
    readonly scenarios: readonly {
      readonly scenario: Scenario;
      readonly analysis_years: readonly AnalysisYear[];
    }[];
  }[];
  /** With `detail`: the sources that it refers to, by `<hazard>/<scenario>/<analysis year>`. */
  readonly sources?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface AnalysisYear {
  readonly analysis_year: number;
  /** `null` where no value exists; `no_data` gives the reason. */
  readonly metrics: Readonly<Partial<Record<Metric, number | null>>>;
  /** Present where the probability is only a bound. */
  readonly bounds?: {
    readonly probability: Bound;
    /** If requested: inherits the bound of its probability. */
    readonly total_hazard?: Bound;
  };
  readonly no_data?: NoDataReason;
  /** Only with `detail`. */
  readonly detail?: {
    readonly cells: number;
    /** Share of the cells' area that has data: the minimum over the metrics that have a layer. */
    readonly valid_share: number;
    /** Present if these differ between metrics; a metric without a layer has no share. */
    readonly metrics?: Readonly<
      Partial<Record<Metric, { readonly valid_share?: number; readonly no_data?: NoDataReason }>>
    >;
    readonly cell_center?: { readonly latitude: number; readonly longitude: number };
    /** Key in the answer's `sources`; absent if the atlas has no layer. */
    readonly source?: string;
    /** With `anthropogenic`: key in `sources` of the source of the baseline. */
    readonly baseline_source?: string;
    /** Includes `return_periods_years` if the metrics were derived from return-period maps. */
    readonly rules: Readonly<Record<string, unknown>>;
    /** Limitations of the values. */
    readonly caveats?: readonly string[];
  };
}

export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/**
 * The true value is at least, or at most, `limit`. `indeterminate`: both terms of a change are bounds in the same
 * direction, so that the true value may be higher or lower.
 */
export type Bound =
  | { readonly bound: "at_least" | "at_most"; readonly limit: number }
  | { readonly bound: "indeterminate"; readonly limit?: never };

/** The element of an invalid query in a batch; it does not affect the others. */
export interface RefusedQuery {
  readonly error: Problem;
}

export interface HazardBatchAnswer {
  /** One element per query, in order. */
  readonly results: readonly (HazardAnswer | RefusedQuery)[];
}

/** The supported hazards, and the layers of the service's atlas. */
export interface HazardCatalogue {
  /** Release of the atlas; values may differ between releases. */
  readonly release: string;
  /** True if all values are invented, as in the demo. */
  readonly synthetic: boolean;
  readonly hazards: readonly {
    readonly hazard: Hazard;
    readonly analysis_years: readonly number[];
    readonly scenarios: readonly Scenario[];
    readonly metrics: readonly { readonly metric: Metric; readonly unit: string; readonly meaning: string }[];
    /** Nominal; an atlas keeps the grid of its source. */
    readonly resolution_deg: number;
    /** Grid of this atlas; `null`, as `coverage`, if it does not have the hazard. Rows run from north to south, columns from west to east. */
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
