/** Names in hazard queries and results. */

/** Scenarios of hazards, in ascending order of warming. */
export const SCENARIOS = ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"] as const;

export const HAZARD_NAMES = ["cyclones", "wildfire", "coastal_floods", "riverine_floods"] as const;

export const METRIC_NAMES = [
  "intensity",
  "wind_speed_mps",
  "fire_danger_days",
  "depth_meters",
  "probability",
  "total_hazard",
] as const;

export const AGGREGATION_METHODS = ["max", "mean"] as const;

/** Reasons why a metric has no value. */
export const NO_DATA_REASONS = ["outside_coverage", "no_data", "layer_missing"] as const;
