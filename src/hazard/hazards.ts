/**
 * THE table of what a hazard is: years, scenarios, metrics with their units and quanta, rules, nominal
 * resolution. Asking and filling meet here; a new hazard is a new entry.
 */

export const SCENARIOS = ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** The climate before change is one layer, of this year. */
export const BASELINE = { scenario: "baseline", year: 1980 } as const;

export const HAZARD_NAMES = ["cyclones", "wildfire", "coastal_floods", "riverine_floods"] as const;
export type HazardName = (typeof HAZARD_NAMES)[number];

export type MetricName =
  "intensity" | "wind_speed_mps" | "fire_danger_days" | "depth_meters" | "probability" | "total_hazard";

/** How a metric is stored: `value = steps / stepsPerUnit + offset`, steps 0 to 65,533. */
export interface MetricSpec {
  readonly metric: MetricName;
  /** "1" is a share or probability. */
  readonly unit: "1" | "m" | "m/s" | "days";
  readonly stepsPerUnit: number;
  readonly offset: number;
  /** Largest value that means anything, where it is smaller than the last step. */
  readonly max?: number;
  readonly meaning: string;
}

/** The numbers that turn source maps into metrics. An atlas states those it was made with. */
export interface HazardRules {
  /** The return period, in years, whose value is the hazard's own metric. Absent where the metric is no return level. */
  readonly design_return_period_years?: number;
  /** `probability` is the annual probability of reaching this, in `threshold_unit`. */
  readonly threshold: number;
  readonly threshold_unit: string;
  /** `intensity` is min(1, value / this). */
  readonly intensity_reference: number;
  /** Between return periods values lie on a straight line in this variate. */
  readonly curve?: "gumbel" | "log";
  /** Days count as days of fire danger above this Fire Weather Index. */
  readonly danger_threshold?: number;
}

export interface HazardSpec {
  readonly hazard: HazardName;
  readonly years: readonly number[];
  readonly scenarios: readonly Scenario[];
  /** The metric that is the hazard's own, beside intensity and probability. */
  readonly ownMetric: MetricName;
  /** In the order of the answer; `total_hazard` last. */
  readonly metrics: readonly MetricSpec[];
  readonly rules: HazardRules;
  /** What the specification promises; an atlas keeps the grid of its source. */
  readonly nominalResolutionDeg: number;
}

const ALL_YEARS = [1980, 2025, 2030, 2040, 2050, 2080] as const;
const FLOOD_YEARS = [1980, 2030, 2050, 2080] as const;
const FLOOD_SCENARIOS = ["baseline", "rcp4p5", "rcp8p5"] as const;

const INTENSITY = { metric: "intensity", unit: "1", stepsPerUnit: 10_000, offset: 0, max: 1 } as const;
const PROBABILITY = { metric: "probability", unit: "1", stepsPerUnit: 60_000, offset: 0, max: 1 } as const;
const TOTAL: MetricSpec = {
  metric: "total_hazard",
  unit: "1",
  stepsPerUnit: 60_000,
  offset: 0,
  max: 1,
  meaning: "intensity x probability of the cell: severity times likelihood",
};

function floods(hazard: "coastal_floods" | "riverine_floods"): HazardSpec {
  return {
    hazard,
    years: FLOOD_YEARS,
    scenarios: FLOOD_SCENARIOS,
    ownMetric: "depth_meters",
    metrics: [
      { ...INTENSITY, meaning: "min(1, depth_meters / 10 m)" },
      {
        metric: "depth_meters",
        unit: "m",
        stepsPerUnit: 1000,
        offset: 0,
        meaning: "flood depth above ground with a return period of 100 years, without protection",
      },
      { ...PROBABILITY, meaning: "annual probability of a depth of at least 0.5 m" },
      TOTAL,
    ],
    rules: {
      design_return_period_years: 100,
      threshold: 0.5,
      threshold_unit: "m",
      intensity_reference: 10,
      curve: "gumbel",
    },
    nominalResolutionDeg: 0.0089,
  };
}

export const HAZARDS: Readonly<Record<HazardName, HazardSpec>> = {
  cyclones: {
    hazard: "cyclones",
    years: ALL_YEARS,
    scenarios: SCENARIOS,
    ownMetric: "wind_speed_mps",
    metrics: [
      { ...INTENSITY, meaning: "min(1, wind_speed_mps / 100 m/s)" },
      {
        metric: "wind_speed_mps",
        unit: "m/s",
        stepsPerUnit: 100,
        offset: 0,
        meaning: "1-minute sustained wind 10 m above ground with a return period of 100 years",
      },
      { ...PROBABILITY, meaning: "annual probability of wind of at least 33 m/s (Saffir-Simpson category 1)" },
      TOTAL,
    ],
    rules: {
      design_return_period_years: 100,
      threshold: 33,
      threshold_unit: "m/s",
      intensity_reference: 100,
      curve: "log",
    },
    nominalResolutionDeg: 0.1,
  },
  wildfire: {
    hazard: "wildfire",
    years: ALL_YEARS,
    scenarios: SCENARIOS,
    ownMetric: "fire_danger_days",
    metrics: [
      { ...INTENSITY, meaning: "min(1, mean of the yearly largest Fire Weather Index / 100)" },
      {
        metric: "fire_danger_days",
        unit: "days",
        stepsPerUnit: 100,
        offset: 0,
        max: 366,
        meaning: "mean number of days a year with a Fire Weather Index above 30",
      },
      { ...PROBABILITY, meaning: "annual probability that the year's largest Fire Weather Index reaches 38" },
      TOTAL,
    ],
    rules: { threshold: 38, threshold_unit: "FWI", intensity_reference: 100, danger_threshold: 30 },
    nominalResolutionDeg: 0.1,
  },
  coastal_floods: floods("coastal_floods"),
  riverine_floods: floods("riverine_floods"),
};

export function isHazardName(name: string): name is HazardName {
  return (HAZARD_NAMES as readonly string[]).includes(name);
}

/**
 * The layer that answers for a scenario and year: the baseline is one layer, whatever year is asked, and
 * 1980 is that layer under every scenario.
 */
export function layerOf(scenario: Scenario, year: number): { readonly scenario: Scenario; readonly year: number } {
  return scenario === BASELINE.scenario || year === BASELINE.year ? BASELINE : { scenario, year };
}

/**
 * `total_hazard` in steps from the stored steps of its factors, so that whoever multiplies the two published
 * numbers gets the third.
 */
export function totalHazardSteps(intensitySteps: number, probabilitySteps: number): number {
  return Math.round(
    (intensitySteps * probabilitySteps * TOTAL.stepsPerUnit) / (INTENSITY.stepsPerUnit * PROBABILITY.stepsPerUnit),
  );
}
