import type { HazardName, MetricName, Scenario } from "../hazards.ts";

/** Values of one hazard, scenario and analysis year that are computed for every place. */
export interface ScoreGroup {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysisYear: number;
  /** At least one, in the order of HAZARDS. */
  readonly metrics: readonly MetricName[];
  /** Value whose annual exceedance probability is computed from the atlas's curves; undefined if none is. */
  readonly threshold?: number | undefined;
}

/** Requests the values of groups at many places, as single queries would answer them. */
export interface ScoreRequest {
  readonly groups: readonly ScoreGroup[];
  /** Degrees, -90 to 90. A place with NaN is outside the coverage of every layer. */
  readonly latitudes: Float64Array;
  /** Degrees, -180 to 180; same length as `latitudes`. */
  readonly longitudes: Float64Array;
  /** Kilometers, 0 to 100; same length as `latitudes`. 0 samples the cell at the place. */
  readonly radiiKm: Float64Array;
  /** Aggregation over circles. */
  readonly method: "max" | "mean";
  /** Whether values are changes since the baseline. */
  readonly anthropogenic: boolean;
  /**
   * Output arrays, see `scoreArrays`, which become the result; in shared memory if the atlas has workers. Their content is
   * undefined if the promise is rejected.
   */
  readonly into?: ScoreResult | undefined;
  /** Cancels the request: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the milliseconds for which a thread computed, several times per request. */
  readonly onBusy?: ((busyMs: number) => void) | undefined;
}

/** A part of a request, which another thread computes. */
export interface PartialScoreRequest extends ScoreRequest {
  /** Row of the output arrays that each place is written to. Default: rows are in the order of the places. */
  readonly rows?: Uint32Array | undefined;
}

/** Meanings of the numbers in `statuses`, by number. Only the first two have a value. */
export const SCORE_STATUSES = ["value", "zero", "no_data", "outside_coverage", "layer_missing"] as const;
export type ScoreStatus = (typeof SCORE_STATUSES)[number];

/** Meanings of the numbers in `bounds`, by number. */
export { BOUND_KINDS as SCORE_BOUNDS } from "../bounds.ts";

/**
 * Columns are the metrics of all groups, group by group in the order of the request. NaN means that there is no value or
 * no limit.
 */
export interface ScoreResult {
  /** f64[place][column]. */
  readonly values: Float64Array;
  /** u8[place][column]: index into SCORE_STATUSES. */
  readonly statuses: Uint8Array;
  /**
   * u8[place][group]: index into SCORE_BOUNDS; how probability and total_hazard of the group are bounded. 0 if the group has
   * neither metric.
   */
  readonly bounds: Uint8Array;
  /** f64[place][group]: limit of the probability. */
  readonly probabilityLimits: Float64Array;
  /** f64[place][group]: limit of total_hazard; empty if no group has that metric. */
  readonly totalHazardLimits: Float64Array;
  /** f64[place][group]: annual probability of reaching the group's threshold; empty if no group has a threshold. */
  readonly exceedanceProbabilities: Float64Array;
  /** u8[place][group]: index into SCORE_BOUNDS; empty if no group has a threshold. */
  readonly exceedanceBounds: Uint8Array;
  /** f64[place][group]: limit of the exceedance probability; empty if no group has a threshold. */
  readonly exceedanceLimits: Float64Array;
}

/** An atlas that scores many places at once, as `openAtlas` returns. */
export interface ScoringAtlas {
  /** @throws Fault `atlas_unavailable`; the signal's reason when aborted */
  score(request: ScoreRequest): Promise<ScoreResult>;
}
