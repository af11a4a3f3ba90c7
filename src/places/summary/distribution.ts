import { type CountPrecision, ValueCounts } from "./valueCounts.ts";

/** Shares of the quantiles of every distribution. */
export const QUANTILE_SHARES = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99] as const;

/** Statistics of the values of one metric, of which there is at least one. */
export interface DistributionSummary {
  readonly count: number;
  readonly minimum: number;
  readonly mean: number;
  readonly maximum: number;
  /** In the order of QUANTILE_SHARES; empty if they were left out. */
  readonly quantiles: readonly number[];
  /** Largest relative error of the quantiles; 0 if they are exact. */
  readonly quantileError: number;
  /** Number of values at or above each threshold. */
  readonly aboveCounts: readonly number[];
}

/** Accumulates the values of one metric in one hazard, scenario and analysis year. */
export class Distribution {
  readonly #thresholds: readonly number[];
  /** Undefined without quantiles. */
  #counts: ValueCounts | undefined;
  readonly #aboveCounts: number[];
  #count = 0;
  #minimum = Infinity;
  #maximum = -Infinity;
  #sum = 0;
  /** Rounding errors of the sum (Neumaier 1974), so that the mean barely depends on the order of the values. */
  #compensation = 0;

  /** @param precision that of the quantiles; undefined leaves them out */
  constructor(thresholds: readonly number[], precision: CountPrecision | undefined) {
    this.#thresholds = thresholds;
    this.#counts = precision === undefined ? undefined : new ValueCounts(precision);
    this.#aboveCounts = thresholds.map(() => 0);
  }

  /** @param number a finite number */
  add(number: number): void {
    const value = number + 0; // -0 becomes 0
    this.#count++;
    if (value < this.#minimum) this.#minimum = value;
    if (value > this.#maximum) this.#maximum = value;
    const sum = this.#sum + value;
    this.#compensation += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum;
    this.#sum = sum;
    for (let i = 0; i < this.#thresholds.length; i++) {
      if (value >= (this.#thresholds[i] ?? NaN)) this.#aboveCounts[i] = (this.#aboveCounts[i] ?? 0) + 1;
    }
    this.#counts?.add(value);
  }

  /** Leaves out the quantiles, which take most of the memory. */
  dropQuantiles(): void {
    this.#counts = undefined;
  }

  /** Returns the statistics; undefined if there are no values. */
  summarize(): DistributionSummary | undefined {
    if (this.#count === 0) return undefined;
    const [minimum, maximum] = [this.#minimum, this.#maximum];
    const quantiles = this.#counts?.quantiles(QUANTILE_SHARES) ?? [];
    return {
      count: this.#count,
      minimum,
      mean: (this.#sum + this.#compensation) / this.#count,
      maximum,
      // A rounded value may be beyond the extremes.
      quantiles: quantiles.map((value) => Math.min(maximum, Math.max(minimum, value))),
      quantileError: this.#counts?.relativeError ?? 0,
      aboveCounts: [...this.#aboveCounts],
    };
  }
}
