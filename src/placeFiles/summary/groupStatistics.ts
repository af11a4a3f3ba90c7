import { SCORE_BOUNDS, SCORE_STATUSES } from "../../hazard/scoring/scoreRequest.ts";
import { Distribution } from "./distribution.ts";
import type { GroupSummary } from "./placeSummary.ts";
import type { ScoreKey } from "./scoreColumns.ts";
import { SUMMARY_METRICS, type SummaryMetric, unitOfMetric } from "./summaryMetrics.ts";
import type { CountPrecision } from "./valueCounts.ts";

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
  readonly #group: SummaryGroup;
  readonly #precision: CountPrecision;
  readonly #onDistribution: (() => void) | undefined;
  readonly #statusCounts = SCORE_STATUSES.map(() => 0);
  readonly #distributions: (Distribution | undefined)[] = SUMMARY_METRICS.map(() => undefined);
  readonly #boundCounts = SUMMARY_METRICS.map(() => SCORE_BOUNDS.map(() => 0));
  #rowCount = 0;

  /** @param options.onDistribution called when a metric has its first value, which takes memory */
  constructor(
    group: SummaryGroup,
    { precision, onDistribution }: { readonly precision: CountPrecision; readonly onDistribution?: () => void },
  ) {
    this.#group = group;
    this.#precision = precision;
    this.#onDistribution = onDistribution;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  add({ status, values, bounds }: ScoreCells): void {
    this.#rowCount++;
    this.#statusCounts[status] = (this.#statusCounts[status] ?? 0) + 1;
    for (const { position, thresholds } of this.#group.metrics) {
      const value = values[position] ?? NaN;
      if (Number.isNaN(value)) continue;
      let distribution = this.#distributions[position];
      if (distribution === undefined) {
        this.#onDistribution?.();
        distribution = new Distribution(thresholds, this.#precision);
        this.#distributions[position] = distribution;
      }
      distribution.add(value);
      const boundCounts = this.#boundCounts[position];
      const bound = bounds[position] ?? 0;
      if (boundCounts !== undefined) boundCounts[bound] = (boundCounts[bound] ?? 0) + 1;
    }
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
        const boundCounts = hasBounds ? [...(this.#boundCounts[position] ?? [])] : undefined;
        return [{ metric, unit: unitOfMetric(key.hazard, metric), distribution, thresholds, boundCounts }];
      }),
    };
  }
}
