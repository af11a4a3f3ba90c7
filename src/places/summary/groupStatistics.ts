import { SCORE_BOUNDS, SCORE_STATUSES } from "../../hazard/scoring/scoreRequest.ts";
import { type CountPrecision, Distribution } from "./distribution.ts";
import type { GroupSummary } from "./placeSummary.ts";
import { type ScoreKey, SUMMARY_METRICS, type SummaryMetric, unitOfMetric } from "./scoreColumns.ts";

/** The scores of one row in one group. Reused from row to row. */
export interface ScoreCells {
  /** Index into SCORE_STATUSES. */
  status: number;
  /** By index of SUMMARY_METRICS; NaN if there is no value. */
  readonly values: Float64Array;
  /** Index into SCORE_BOUNDS by index of SUMMARY_METRICS. */
  readonly bounds: Uint8Array;
}

/** A hazard, scenario and analysis year, with the positions of its metrics in SUMMARY_METRICS and their thresholds. */
export interface SummaryGroup {
  readonly key: ScoreKey;
  readonly metrics: readonly {
    readonly position: number;
    readonly thresholds: readonly number[];
    readonly hasBounds: boolean;
  }[];
}

/** Accumulates the rows of one group. */
export class GroupStatistics {
  #group: SummaryGroup;
  #precision: CountPrecision | undefined;
  readonly #statusCounts = SCORE_STATUSES.map(() => 0);
  /** By position in SUMMARY_METRICS; undefined before the first value. */
  readonly #distributions: (Distribution | undefined)[] = [];
  readonly #boundCounts: (number[] | undefined)[] = [];
  #rowCount = 0;

  /** @param precision that of the quantiles; undefined leaves them out */
  constructor(group: SummaryGroup, precision: CountPrecision | undefined) {
    this.#group = group;
    this.#precision = precision;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Number of metrics that have a value, and therefore take memory. */
  get distributionCount(): number {
    return this.#distributions.reduce((count, distribution) => (distribution === undefined ? count : count + 1), 0);
  }

  /** @returns the number of metrics that have their first value */
  add({ status, values, bounds }: ScoreCells): number {
    let newCount = 0;
    this.#rowCount++;
    this.#statusCounts[status] = (this.#statusCounts[status] ?? 0) + 1;
    for (const { position, thresholds, hasBounds } of this.#group.metrics) {
      const value = values[position] ?? NaN;
      if (Number.isNaN(value)) continue;
      let distribution = this.#distributions[position];
      if (distribution === undefined) {
        newCount++;
        distribution = new Distribution(thresholds, this.#precision);
        this.#distributions[position] = distribution;
      }
      distribution.add(value);
      if (!hasBounds) continue;
      const boundCounts = (this.#boundCounts[position] ??= SCORE_BOUNDS.map(() => 0));
      const bound = bounds[position] ?? 0;
      boundCounts[bound] = (boundCounts[bound] ?? 0) + 1;
    }
    return newCount;
  }

  /** Keeps only the metrics of `group`, of the same key. @param precision undefined leaves out the quantiles */
  reduce(group: SummaryGroup, precision: CountPrecision | undefined): void {
    this.#group = group;
    this.#precision = precision;
    for (const position of this.#distributions.keys()) {
      if (group.metrics.some((metric) => metric.position === position)) continue;
      this.#distributions[position] = undefined;
      this.#boundCounts[position] = undefined;
    }
    if (precision === undefined) for (const distribution of this.#distributions) distribution?.dropQuantiles();
  }

  summarize(): GroupSummary {
    const { key, metrics } = this.#group;
    return {
      ...key,
      rowCount: this.#rowCount,
      statusCounts: [...this.#statusCounts],
      metrics: metrics.flatMap(({ position, thresholds, hasBounds }) => {
        const metric = SUMMARY_METRICS[position] as SummaryMetric;
        const distribution = this.#distributions[position]?.summarize();
        // The column may exist for other hazards only.
        if (metric === "exceedance_probability" && distribution === undefined) return [];
        const boundCounts = hasBounds ? [...(this.#boundCounts[position] ?? SCORE_BOUNDS.map(() => 0))] : undefined;
        return [{ metric, unit: unitOfMetric(key.hazard, metric), distribution, thresholds, boundCounts }];
      }),
    };
  }
}
