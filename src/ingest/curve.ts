import type { HazardRules, HazardSpec, MetricName, MetricSpec } from "../hazard/hazards.ts";
import { totalHazardSteps } from "../hazard/hazards.ts";
import { type CurveRule, curveMetrics, largestValue, toSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import type { RasterValues } from "./raster.ts";

/** A value of a source that cannot become a metric, and where: indices of the map and the cell. */
export interface BadValue {
  readonly map: number;
  readonly cell: number;
  readonly value: number;
  readonly why: "negative" | "below-tolerance" | "infinite" | "above-range";
}

/** Signals a bad value up to whoever knows files and places. Never leaves this room. */
export class BadValueError extends Error {
  override readonly name = "BadValueError";
  readonly bad: BadValue;
  constructor(bad: BadValue) {
    super(`A value of ${bad.value} is ${bad.why}.`);
    this.bad = bad;
  }
}

/** What is counted of one cell; bits, since several may hold. */
export const FLAG_CLAMPED = 1;
/** Missing on some maps of a curve and there on others: the whole cell is missing. */
export const FLAG_PARTLY_MISSING = 2;
/** The shortest return period reaches the threshold already: its probability is a lower bound. */
export const FLAG_AT_FIRST_RETURN_PERIOD = 4;
/** A rarer map held a smaller value; the running maximum stands in its place. */
export const FLAG_MADE_NON_DECREASING = 8;

/** What the values of a map must keep to. */
export interface ValueRange {
  /** Source units to the metric's. */
  readonly unitFactor: number;
  /** Values down to so far below zero, in the metric's unit, count as zero; absent: no value below zero is taken. */
  readonly clampTolerance: number | undefined;
  /** In source units. */
  readonly max: number;
}

/** Returns the cells of one source map with every value checked: missing or finite, and not below zero. */
export function checkedValues(
  values: RasterValues,
  flags: Uint8Array,
  { map, unitFactor, clampTolerance, max }: ValueRange & { readonly map: number },
): RasterValues {
  let clamped: RasterValues | undefined;
  for (let cell = 0; cell < values.length; cell++) {
    const value = values[cell] ?? NaN;
    if (value >= 0 && value <= max) continue;
    if (Number.isNaN(value)) continue;
    if (!Number.isFinite(value)) throw new BadValueError({ map, cell, value, why: "infinite" });
    if (value > max) throw new BadValueError({ map, cell, value, why: "above-range" });
    if (clampTolerance === undefined) throw new BadValueError({ map, cell, value, why: "negative" });
    // What is far below zero is no noise but most likely a marker of missing values that nobody declared.
    if (!(value * unitFactor >= -clampTolerance)) {
      throw new BadValueError({ map, cell, value, why: "below-tolerance" });
    }
    clamped ??= values.slice();
    clamped[cell] = 0;
    flags[cell] = (flags[cell] ?? 0) | FLAG_CLAMPED;
  }
  return clamped ?? values;
}

/** The own metric and the probability of some cells, unrounded, NaN = missing. */
export interface OwnAndProbability {
  readonly own: Float64Array;
  readonly probability: Float64Array;
}

/** The maps of one curve, of one length, in ascending order of return period. */
export interface CurveCells {
  readonly maps: readonly RasterValues[];
  /** Source units to the metric's, one for each map. */
  readonly unitFactors: readonly number[];
}

/** One curve a cell to the own metric and the probability, with what is worth counting noted in `flags`. */
export function curveCells(
  kernel: Kernel,
  { maps, unitFactors }: CurveCells,
  rule: Omit<CurveRule, "unitFactor">,
  { clampTolerance, flags }: Pick<ValueRange, "clampTolerance"> & { readonly flags: Uint8Array },
): OwnAndProbability {
  // Where the files are in unlike units each is brought to the metric's before the curve is made.
  const shared = unitFactors[0] ?? 1;
  const isShared = unitFactors.every((factor) => factor === shared);
  const checked = maps.map((values, map) => {
    const own = unitFactors[map] ?? 1;
    const valid = checkedValues(values, flags, { map, unitFactor: own, clampTolerance, max: Number.MAX_VALUE });
    return isShared ? valid : Float64Array.from(valid, (value) => value * own);
  });
  const unitFactor = isShared ? shared : 1;
  flagCurves(checked, rule.threshold, unitFactor, flags);
  const outcome = curveMetrics(kernel, checked, { ...rule, unitFactor });
  if (outcome.kind === "negative") throw new Error("A value below zero passed the check of values.");
  return { own: outcome.designs, probability: outcome.probabilities };
}

function flagCurves(maps: readonly RasterValues[], threshold: number, unitFactor: number, flags: Uint8Array): void {
  const [first] = maps;
  if (first === undefined) return;
  for (let cell = 0; cell < first.length; cell++) {
    let missingCount = 0;
    let highest = -Infinity;
    let isRaised = false;
    for (const values of maps) {
      const value = values[cell] ?? NaN;
      if (Number.isNaN(value)) missingCount++;
      else if (value < highest) isRaised = true;
      else highest = value;
    }
    let bits = 0;
    if (missingCount === 0) {
      if ((first[cell] ?? NaN) * unitFactor >= threshold) bits |= FLAG_AT_FIRST_RETURN_PERIOD;
      if (isRaised) bits |= FLAG_MADE_NON_DECREASING;
    } else if (missingCount < maps.length) {
      bits |= FLAG_PARTLY_MISSING;
    }
    flags[cell] = (flags[cell] ?? 0) | bits;
  }
}

/** The mean over climate models, cell by cell; missing where fewer than half of the models have data. */
export class ModelMean {
  readonly #modelCount: number;
  readonly #own: Float64Array;
  readonly #probability: Float64Array;
  readonly #counts: Uint16Array;

  constructor({ modelCount, cellCount }: { readonly modelCount: number; readonly cellCount: number }) {
    this.#modelCount = modelCount;
    this.#own = new Float64Array(cellCount);
    this.#probability = new Float64Array(cellCount);
    this.#counts = new Uint16Array(cellCount);
  }

  /** Adds a run of cells of one model. The order of models is the order of the sums: keep it fixed. */
  add(firstCell: number, { own, probability }: OwnAndProbability): void {
    for (let i = 0; i < own.length; i++) {
      const value = own[i] ?? NaN;
      if (Number.isNaN(value)) continue;
      const cell = firstCell + i;
      this.#own[cell] = (this.#own[cell] ?? 0) + value;
      this.#probability[cell] = (this.#probability[cell] ?? 0) + (probability[i] ?? NaN);
      this.#counts[cell] = (this.#counts[cell] ?? 0) + 1;
    }
  }

  result(): OwnAndProbability {
    const mean = (sum: number, cell: number): number => {
      const count = this.#counts[cell] ?? 0;
      return count * 2 < this.#modelCount || count === 0 ? NaN : sum / count;
    };
    return { own: this.#own.map(mean), probability: this.#probability.map(mean) };
  }
}

/** Unrounded metrics of some cells; those that are not there make no layer. */
export type MetricValues = Partial<Record<Exclude<MetricName, "total_hazard">, Float64Array>>;

/** Whether a hazard's intensity is a share of its own metric: so wherever that metric is a return level. */
export function derivesIntensity(rules: HazardRules): boolean {
  return rules.design_return_period_years !== undefined;
}

/** min(1, own metric / reference), from the unrounded metric. */
export function intensityOf(own: Float64Array, rules: HazardRules): Float64Array {
  return own.map((value) => Math.min(1, value / rules.intensity_reference));
}

/** The layers that a group gets from the metrics it has, in the order of the hazard's table. */
export function layersFrom(spec: HazardSpec, metrics: ReadonlySet<MetricName>): readonly MetricSpec[] {
  const has = (metric: MetricName): boolean => metrics.has(metric);
  return spec.metrics.filter(({ metric }) =>
    metric === "total_hazard" ? has("intensity") && has("probability") : has(metric),
  );
}

/** Largest rounding errors so far, in each metric's unit. */
export type LargestRounding = Partial<Record<MetricName, number>>;

/**
 * Rounds metrics to the steps of their layers, side by side in each cell. The total comes from the stored steps of its
 * factors.
 * @param layers as `layersFrom` gives them
 * @returns u16[cells][layers], and the largest rounding errors
 * @throws BadValueError whose map is the index of the layer, when a value has no step
 */
export function metricSteps(
  kernel: Kernel,
  layers: readonly MetricSpec[],
  values: MetricValues,
): { readonly steps: Uint16Array; readonly worst: LargestRounding } {
  const cellCount = Object.values(values)[0]?.length ?? 0;
  const layerCount = layers.length;
  const steps = new Uint16Array(cellCount * layerCount);
  const worst: LargestRounding = {};
  layers.forEach((layer, index) => {
    if (layer.metric === "total_hazard") return;
    const numbers = values[layer.metric];
    if (numbers === undefined) throw new Error(`No values for the layer ${layer.metric}.`);
    const outcome = toSteps(kernel, numbers, layer, { cells: steps, layer: index, layerCount });
    if (outcome.kind === "out-of-range") {
      const value = numbers[outcome.cell] ?? NaN;
      throw new BadValueError({ map: index, cell: outcome.cell, value, why: value < 0 ? "negative" : "above-range" });
    }
    worst[layer.metric] = outcome.worstRounding;
  });

  const total = layers.findIndex(({ metric }) => metric === "total_hazard");
  if (total >= 0) {
    const intensity = layers.findIndex(({ metric }) => metric === "intensity");
    const probability = layers.findIndex(({ metric }) => metric === "probability");
    worst.total_hazard = addTotals(steps, values, { total, intensity, probability, layers });
  }
  return { steps, worst };
}

function addTotals(
  steps: Uint16Array,
  values: MetricValues,
  at: {
    readonly total: number;
    readonly intensity: number;
    readonly probability: number;
    readonly layers: readonly MetricSpec[];
  },
): number {
  const layerCount = at.layers.length;
  const stepsPerUnit = at.layers[at.total]?.stepsPerUnit ?? NaN;
  let worst = 0;
  for (let cell = 0; cell * layerCount < steps.length; cell++) {
    const intensity = steps[cell * layerCount + at.intensity] ?? STEPS_NODATA;
    const probability = steps[cell * layerCount + at.probability] ?? STEPS_NODATA;
    const isMissing = intensity === STEPS_NODATA || probability === STEPS_NODATA;
    const total = isMissing ? STEPS_NODATA : totalHazardSteps(intensity, probability);
    steps[cell * layerCount + at.total] = total;
    if (isMissing) continue;
    const exact = (values.intensity?.[cell] ?? NaN) * (values.probability?.[cell] ?? NaN);
    worst = Math.max(worst, Math.abs(total / stepsPerUnit - exact));
  }
  return worst;
}

/** The largest value that a layer takes: its last step, or less where more would mean nothing. */
export function largestAllowed(spec: MetricSpec): number {
  return Math.min(spec.max ?? Infinity, largestValue(spec));
}
