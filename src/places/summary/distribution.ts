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

/** Smallest magnitude that rounding distinguishes from 0. */
const MAGNITUDE_MIN = 2 ** -40;
const CAPACITY_MIN = 16;
const HIGH_WORD_MANTISSA_BITS = 20;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const [HIGH, LOW] = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? [1, 0] : [0, 1];

/** Limits the memory of a `ValueCounts`. */
export interface CountPrecision {
  /** As long as there are at most this many different values, each is counted exactly. */
  readonly distinctCountMax: number;
  /**
   * Bits of the mantissa to which all values are rounded once there are more. A value then changes by at most
   * 2^-(roundedBits + 1) of itself. 1 to 19.
   */
  readonly roundedBits: number;
}

/**
 * Counts how often each value occurs, in a hash table. The result does not depend on the order of the values. Counts are
 * exact up to 2^32 - 1 occurrences of a value.
 */
class ValueCounts {
  readonly #precision: CountPrecision;
  #isRounded = false;
  #keys = new Float64Array(CAPACITY_MIN);
  #counts = new Uint32Array(CAPACITY_MIN);
  #distinctCount = 0;

  constructor(precision: CountPrecision) {
    this.#precision = precision;
  }

  /** Largest relative error of a value; 0 as long as none has been rounded, because there are few different ones. */
  get relativeError(): number {
    return this.#isRounded ? 2 ** -(this.#precision.roundedBits + 1) : 0;
  }

  /** @param value a finite number other than -0 */
  add(value: number): void {
    this.#increase(this.#isRounded ? roundToBits(value, this.#precision.roundedBits) : value, 1);
    if (!this.#isRounded && this.#distinctCount > this.#precision.distinctCountMax) this.#roundAll();
  }

  /**
   * Returns quantiles: for each share the smallest value such that at least this share of all values is not larger. NaN
   * if there are no values.
   *
   * @param shares ascending, greater than 0 and at most 1
   */
  quantiles(shares: readonly number[]): readonly number[] {
    const entries = this.#ascendingEntries();
    const total = entries.counts.reduce((sum, count) => sum + count, 0);
    let index = 0;
    let passedCount = entries.counts[0] ?? 0;
    return shares.map((share) => {
      const rank = quantileRank(share, total);
      while (passedCount < rank && index + 1 < entries.values.length) passedCount += entries.counts[++index] ?? 0;
      return entries.values[index] ?? NaN;
    });
  }

  #ascendingEntries(): { readonly values: Float64Array; readonly counts: Float64Array } {
    const values = this.#keys.filter((_, slot) => (this.#counts[slot] ?? 0) > 0).toSorted();
    return { values, counts: Float64Array.from(values, (value) => this.#counts[this.#slotOf(value)] ?? 0) };
  }

  #roundAll(): void {
    const [keys, counts] = [this.#keys, this.#counts];
    this.#isRounded = true;
    this.#keys = new Float64Array(CAPACITY_MIN);
    this.#counts = new Uint32Array(CAPACITY_MIN);
    this.#distinctCount = 0;
    for (const [slot, count] of counts.entries()) {
      if (count > 0) this.#increase(roundToBits(keys[slot] ?? 0, this.#precision.roundedBits), count);
    }
  }

  #increase(key: number, count: number): void {
    const slot = this.#slotOf(key);
    if (this.#counts[slot] === 0) {
      this.#keys[slot] = key;
      this.#distinctCount++;
    }
    this.#counts[slot] = (this.#counts[slot] ?? 0) + count;
    if (this.#distinctCount * 2 > this.#keys.length) this.#grow();
  }

  #grow(): void {
    const [keys, counts] = [this.#keys, this.#counts];
    this.#keys = new Float64Array(keys.length * 2);
    this.#counts = new Uint32Array(keys.length * 2);
    for (const [from, count] of counts.entries()) {
      if (count === 0) continue;
      const slot = this.#slotOf(keys[from] ?? 0);
      this.#keys[slot] = keys[from] ?? 0;
      this.#counts[slot] = count;
    }
  }

  /** Returns the slot of a key, or the free slot where it belongs. */
  #slotOf(key: number): number {
    double[0] = key;
    const mask = this.#keys.length - 1;
    let hash = Math.imul((words[HIGH] ?? 0) ^ Math.imul(words[LOW] ?? 0, 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
    let slot = hash & mask;
    while (this.#counts[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }
}

/** Returns the rank, from 1, of the quantile among `count` ascending values. */
function quantileRank(share: number, count: number): number {
  // The product may exceed an integer by rounding: 0.07 x 100 is 7.000000000000001.
  return Math.max(1, Math.ceil(share * count * (1 - 1e-12)));
}

/** Returns the middle of the interval of values that share the sign, the exponent and the first bits of the mantissa. */
function roundToBits(value: number, bits: number): number {
  if (Math.abs(value) < MAGNITUDE_MIN) return 0;
  double[0] = value;
  const droppedBits = HIGH_WORD_MANTISSA_BITS - bits;
  words[HIGH] = (((words[HIGH] ?? 0) >>> droppedBits) << droppedBits) | (1 << (droppedBits - 1));
  words[LOW] = 0;
  return double[0];
}
