/**
 * Definition of each hazard: years, scenarios, metrics with units and step sizes, rules and nominal resolution. Queries and
 * ingest both use this table; a new hazard is a new entry.
 */
import { HAZARD_NAMES, SCENARIOS } from "../contract/names.ts";
import type { HazardName, MetricName, Scenario } from "../contract/wireTypes.ts";

export { HAZARD_NAMES, SCENARIOS } from "../contract/names.ts";
export type { HazardName, MetricName, Scenario } from "../contract/wireTypes.ts";

/** The baseline climate is a single layer, of this year. */
export const BASELINE = { scenario: "baseline", year: 1980 } as const;

/** Unit and encoding of a metric: `value = steps / stepsPerUnit + offset`, steps 0 to 65,533. */
export interface MetricSpec {
  readonly metric: MetricName;
  /** "1" means a share or a probability. */
  readonly unit: "1" | "m" | "m/s" | "days";
  readonly stepsPerUnit: number;
  /** Value of step 0, in `unit`. */
  readonly offset: number;
  /** Largest valid value, if it is smaller than the value of the last step. */
  readonly max?: number;
  /** Meaning under the default rules; `meaningsOf` describes it for the rules of an atlas. */
  readonly meaning: string;
}

/** Parameters that define the metrics. An atlas records the rules with which it was created. */
export interface HazardRules {
  /** Return period in years of the hazard's own metric. Absent if that metric is not a return level. */
  readonly design_return_period_years?: number;
  /** `probability` is the annual probability of reaching this value, in `threshold_unit`. */
  readonly threshold: number;
  readonly threshold_unit: string;
  /** `intensity` is min(1, value / intensity_reference). */
  readonly intensity_reference: number;
  /** Variate in which values are interpolated linearly between return periods. */
  readonly curve?: "gumbel" | "log";
  /** Fire Weather Index above which a day is a fire danger day. */
  readonly danger_threshold?: number;
}

/** Definition of a hazard. */
export interface HazardSpec {
  readonly hazard: HazardName;
  /** Analysis years that queries can request, ascending; the first is that of the baseline. */
  readonly years: readonly number[];
  /** Scenarios that queries can request, in ascending order of warming. */
  readonly scenarios: readonly Scenario[];
  /** The metric specific to this hazard, in addition to intensity and probability. */
  readonly ownMetric: MetricName;
  /** In the order of the response; `total_hazard` is last. */
  readonly metrics: readonly MetricSpec[];
  readonly rules: HazardRules;
  /** Nominal resolution, degrees; an atlas keeps the grid of its source. */
  readonly nominalResolutionDeg: number;
}

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

const ALL_YEARS = [1980, 2025, 2030, 2040, 2050, 2080] as const;
const FLOOD_YEARS = [1980, 2030, 2050, 2080] as const;
const FLOOD_SCENARIOS = ["baseline", "rcp4p5", "rcp8p5"] as const;

const INTENSITY = { metric: "intensity", unit: "1", stepsPerUnit: 10_000, offset: 0, max: 1 } as const;
const PROBABILITY = { metric: "probability", unit: "1", stepsPerUnit: 60_000, offset: 0, max: 1 } as const;
const TOTAL = { metric: "total_hazard", unit: "1", stepsPerUnit: 60_000, offset: 0, max: 1 } as const;

/** Adds the meaning under the default rules to the metrics of a hazard. */
function withMeanings(
  hazard: HazardName,
  rules: HazardRules,
  metrics: readonly Omit<MetricSpec, "meaning">[],
): readonly MetricSpec[] {
  const meanings = meaningsOf(hazard, { ...rules });
  return metrics.map((spec) => ({ ...spec, meaning: meanings[spec.metric] ?? "" }));
}

const FLOOD_RULES: HazardRules = {
  design_return_period_years: 100,
  threshold: 0.5,
  threshold_unit: "m",
  intensity_reference: 10,
  curve: "gumbel",
};
const CYCLONE_RULES: HazardRules = {
  design_return_period_years: 100,
  threshold: 33,
  threshold_unit: "m/s",
  intensity_reference: 100,
  curve: "log",
};
const WILDFIRE_RULES: HazardRules = {
  threshold: 38,
  threshold_unit: "FWI",
  intensity_reference: 100,
  danger_threshold: 30,
};

function floodSpec(hazard: "coastal_floods" | "riverine_floods"): HazardSpec {
  return {
    hazard,
    years: FLOOD_YEARS,
    scenarios: FLOOD_SCENARIOS,
    ownMetric: "depth_meters",
    metrics: withMeanings(hazard, FLOOD_RULES, [
      INTENSITY,
      { metric: "depth_meters", unit: "m", stepsPerUnit: 1000, offset: 0 },
      PROBABILITY,
      TOTAL,
    ]),
    rules: FLOOD_RULES,
    nominalResolutionDeg: 0.0089,
  };
}

/** Definitions of all hazards, by name. */
export const HAZARDS: Readonly<Record<HazardName, HazardSpec>> = {
  cyclones: {
    hazard: "cyclones",
    years: ALL_YEARS,
    scenarios: SCENARIOS,
    ownMetric: "wind_speed_mps",
    metrics: withMeanings("cyclones", CYCLONE_RULES, [
      INTENSITY,
      { metric: "wind_speed_mps", unit: "m/s", stepsPerUnit: 100, offset: 0 },
      PROBABILITY,
      TOTAL,
    ]),
    rules: CYCLONE_RULES,
    nominalResolutionDeg: 0.1,
  },
  wildfire: {
    hazard: "wildfire",
    years: ALL_YEARS,
    scenarios: SCENARIOS,
    ownMetric: "fire_danger_days",
    metrics: withMeanings("wildfire", WILDFIRE_RULES, [
      INTENSITY,
      { metric: "fire_danger_days", unit: "days", stepsPerUnit: 100, offset: 0, max: 366 },
      PROBABILITY,
      TOTAL,
    ]),
    rules: WILDFIRE_RULES,
    nominalResolutionDeg: 0.1,
  },
  coastal_floods: floodSpec("coastal_floods"),
  riverine_floods: floodSpec("riverine_floods"),
};

/** Returns whether a text is the name of a hazard. */
export function isHazardName(name: string): name is HazardName {
  return (HAZARD_NAMES as readonly string[]).includes(name);
}

/** A scenario and year as an atlas stores them. */
export interface StoredLayer {
  readonly scenario: Scenario;
  readonly year: number;
}

/**
 * Returns the scenario and year of the layer that is stored for a scenario and year. The baseline is a single layer,
 * used for all its years and for 1980 under every scenario.
 */
export function layerOf(scenario: Scenario, year: number): StoredLayer {
  return scenario === BASELINE.scenario || year === BASELINE.year ? BASELINE : { scenario, year };
}

/**
 * Returns the `total_hazard` of a cell in steps, computed from the stored steps of intensity and probability. At a point it
 * is therefore the product of the two published values, rounded to a step. A maximum or mean over a circle aggregates the
 * products of the cells, which differs from the product of the circle's values.
 */
export function totalHazardSteps(intensitySteps: number, probabilitySteps: number): number {
  return Math.round(
    (intensitySteps * probabilitySteps * TOTAL.stepsPerUnit) / (INTENSITY.stepsPerUnit * PROBABILITY.stepsPerUnit),
  );
}
