/** How metrics are computed from a series of maps. Methods can be cloned between threads. */

/** Consecutive bands of one of the maps of a series. */
export interface BandRun {
  /** Index into the maps of the series. */
  readonly part: number;
  /** From 1. */
  readonly firstBand: number;
  readonly bandCount: number;
}

/** The maps of the days of one year. */
export interface YearOfDays {
  readonly year: number;
  readonly days: readonly BandRun[];
}

/** Fire weather from a daily series of the Fire Weather Index (FWI). */
export interface DailyFireWeather {
  readonly kind: "daily-fire-weather";
  readonly years: readonly YearOfDays[];
  /** A day with a larger FWI is a fire danger day. */
  readonly dangerThreshold: number;
  /** A year counts for `probability` if its largest FWI is at least this. */
  readonly threshold: number;
  readonly intensityReference: number;
  /**
   * Whether a missing day counts as a day without danger; otherwise a cell that is missing on any day is missing. Cells that are
   * missing on all days are always missing.
   */
  readonly isMissingNoDanger: boolean;
}

/** Fire weather from indicators of each year: one map a year for each indicator that is given. */
export interface AnnualFireWeather {
  readonly kind: "annual-fire-weather";
  /** The largest FWI of each year. */
  readonly maxima: readonly BandRun[];
  /** The number of fire danger days of each year. */
  readonly days: readonly BandRun[];
  readonly threshold: number;
  readonly intensityReference: number;
}

/** Winds from the footprints of all storms of a period: one map a storm. */
export interface WindEvents {
  readonly kind: "wind-events";
  readonly events: readonly BandRun[];
  readonly spanYears: number;
  /** Multiplies source values to give m/s. */
  readonly unitFactor: number;
  /** A storm counts for `probability` if its wind is at least this, in m/s. */
  readonly thresholdMps: number;
  /** Return period of the wind speed; undefined if only the probability is computed. */
  readonly designReturnPeriodYears: number | undefined;
  /** Whether a missing value means no wind; otherwise a cell that is missing in any storm is missing. */
  readonly isMissingCalm: boolean;
}

export type ComputedMethod = DailyFireWeather | AnnualFireWeather | WindEvents;

/** A metric that a method computes, in the order of the bands of the raster. */
export interface ComputedMetric {
  readonly metric: "fire_danger_days" | "wind_speed_mps" | "intensity" | "probability";
  readonly unit: "days" | "m/s" | "1";
}

/** Returns the metrics that a method computes. */
export function metricsOfMethod(method: ComputedMethod): readonly ComputedMetric[] {
  const days = { metric: "fire_danger_days", unit: "days" } as const;
  const intensity = { metric: "intensity", unit: "1" } as const;
  const probability = { metric: "probability", unit: "1" } as const;
  switch (method.kind) {
    case "daily-fire-weather":
      return [days, intensity, probability];
    case "annual-fire-weather":
      return [
        ...(method.days.length === 0 ? [] : [days]),
        ...(method.maxima.length === 0 ? [] : [intensity, probability]),
      ];
    case "wind-events":
      return [
        ...(method.designReturnPeriodYears === undefined ? [] : [{ metric: "wind_speed_mps", unit: "m/s" } as const]),
        probability,
      ];
    default:
      return method satisfies never;
  }
}

/** Returns the number of maps that a method reads. */
export function mapCountOfMethod(method: ComputedMethod): number {
  const count = (runs: readonly BandRun[]): number => runs.reduce((sum, { bandCount }) => sum + bandCount, 0);
  switch (method.kind) {
    case "daily-fire-weather":
      return count(method.years.flatMap(({ days }) => days));
    case "annual-fire-weather":
      return count(method.maxima) + count(method.days);
    case "wind-events":
      return count(method.events);
    default:
      return method satisfies never;
  }
}
