/** Descriptions of the metrics, generated from the rules of an atlas. */
import type { HazardName, MetricName } from "./names.ts";

type Rules = Readonly<Record<string, unknown>>;
type Meanings = Readonly<Partial<Record<MetricName, string>>>;

/** Lower limit of Saffir-Simpson category 1, m/s. */
const CATEGORY_1_MPS = 33;

/**
 * Returns the meaning of each metric of a hazard under the rules of an atlas. A rule that the atlas does not state appears
 * by name; no default is assumed.
 */
export function meaningsOf(hazard: HazardName, rules: Rules): Meanings {
  return { ...MEANINGS[hazard](rules), total_hazard: "intensity x probability of the cell: severity times likelihood" };
}

const MEANINGS: Readonly<Record<HazardName, (rules: Rules) => Meanings>> = {
  cyclones: (rules) => ({
    intensity: `min(1, wind_speed_mps / ${stated(rules, "intensity_reference", "m/s")})`,
    wind_speed_mps: `1-minute sustained wind 10 m above ground with a return period of ${design(rules)}`,
    probability:
      `annual probability of wind of at least ${stated(rules, "threshold", "m/s")}` +
      (rules["threshold"] === CATEGORY_1_MPS ? " (Saffir-Simpson category 1)" : ""),
  }),
  wildfire: (rules) => ({
    intensity: `min(1, mean of the yearly largest Fire Weather Index / ${stated(rules, "intensity_reference")})`,
    fire_danger_days: `mean number of days a year with a Fire Weather Index above ${stated(rules, "danger_threshold")}`,
    probability: `annual probability that the year's largest Fire Weather Index reaches ${stated(rules, "threshold")}`,
  }),
  coastal_floods: floods,
  riverine_floods: floods,
};

function floods(rules: Rules): Meanings {
  return {
    intensity: `min(1, depth_meters / ${stated(rules, "intensity_reference", "m")})`,
    depth_meters: `flood depth above ground with a return period of ${design(rules)}, without protection`,
    probability: `annual probability of a depth of at least ${stated(rules, "threshold", "m")}`,
  };
}

function design(rules: Rules): string {
  return stated(rules, "design_return_period_years", "years");
}

function stated(rules: Rules, rule: string, unit?: string): string {
  const value = rules[rule];
  if (typeof value !== "number") return `the atlas's ${rule}`;
  return unit === undefined ? String(value) : `${value} ${unit}`;
}
