/** Names of scenarios, hazards and metrics, as in queries and responses. */
export const SCENARIOS = ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** The baseline climate is a single layer, of this year. */
export const BASELINE = { scenario: "baseline", year: 1980 } as const;

export const HAZARD_NAMES = ["cyclones", "wildfire", "coastal_floods", "riverine_floods"] as const;
export type HazardName = (typeof HAZARD_NAMES)[number];

export type MetricName =
  "intensity" | "wind_speed_mps" | "fire_danger_days" | "depth_meters" | "probability" | "total_hazard";
