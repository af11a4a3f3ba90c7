/** Descriptions of the metrics, generated from the rules of an atlas. */
import type { HazardName, MetricName } from "../contract/wireTypes.ts";

type StatedRules = Readonly<Record<string, unknown>>;
type Meanings = Readonly<Partial<Record<MetricName, string>>>;

/** Lower limit of Saffir-Simpson category 1, in m/s. */
const CATEGORY_1_MPS = 33;

/**
 * Returns the meaning of each metric of a hazard under the rules of an atlas. If the atlas does not state a rule, the
 * text contains the name of the rule instead of a default.
 */
export function meaningsOf(hazard: HazardName, rules: StatedRules): Meanings {
  return { ...MEANINGS[hazard](rules), total_hazard: "intensity x probability of the cell: severity times likelihood" };
}

const MEANINGS: Readonly<Record<HazardName, (rules: StatedRules) => Meanings>> = {
  cyclones: (rules) => ({
    intensity: `min(1, wind_speed_mps / ${statedRule(rules, "intensity_reference", "m/s")})`,
    wind_speed_mps: `1-minute sustained wind 10 m above ground with a return period of ${designReturnPeriod(rules)}`,
    probability:
      `annual probability of wind of at least ${statedRule(rules, "threshold", "m/s")}` +
      (rules["threshold"] === CATEGORY_1_MPS ? " (Saffir-Simpson category 1)" : ""),
  }),
  wildfire: (rules) => ({
    intensity: `min(1, mean annual maximum of the Fire Weather Index / ${statedRule(rules, "intensity_reference")})`,
    fire_danger_days: `mean number of days a year with a Fire Weather Index above ${statedRule(rules, "danger_threshold")}`,
    probability: `annual probability that the year's largest Fire Weather Index reaches ${statedRule(rules, "threshold")}`,
  }),
  coastal_floods: floodMeanings,
  riverine_floods: floodMeanings,
};

function floodMeanings(rules: StatedRules): Meanings {
  return {
    intensity: `min(1, depth_meters / ${statedRule(rules, "intensity_reference", "m")})`,
    depth_meters: `flood depth above ground with a return period of ${designReturnPeriod(rules)}, without protection`,
    probability: `annual probability of a depth of at least ${statedRule(rules, "threshold", "m")}`,
  };
}

function designReturnPeriod(rules: StatedRules): string {
  return statedRule(rules, "design_return_period_years", "years");
}

function statedRule(rules: StatedRules, rule: string, unit?: string): string {
  const value = rules[rule];
  if (typeof value !== "number") return `the atlas's ${rule}`;
  return unit === undefined ? String(value) : `${value} ${unit}`;
}
