import type { HazardRules, HazardSpec, MetricName, MetricSpec } from "../hazard/hazards.ts";
import { totalHazardSteps } from "../hazard/hazards.ts";
import { type CurveRule, curveMetrics, largestValue, toSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import type { RasterValues } from "./raster.ts";

/** A rejected source value, with the indices of its map and cell. */
export interface BadValue {
  readonly map: number;
  readonly cell: number;
  readonly value: number;
  readonly why: "negative" | "missing-marker" | "below-tolerance" | "infinite" | "above-range";
}

/** Thrown for a rejected value, and caught within src/ingest by callers that know the file and the cell. */
export class BadValueError extends Error {
  override readonly name = "BadValueError";
  readonly bad: BadValue;
  constructor(bad: BadValue) {
    super(`A value of ${bad.value} is ${bad.why}.`);
    this.bad = bad;
  }
}

/** Flag bit of a cell in which a negative value was set to zero. */
export const FLAG_CLAMPED = 1;
/** Flag bit of a cell that is missing on some maps of a curve but not on all: the whole cell is missing. */
export const FLAG_PARTLY_MISSING = 2;
/** Flag bit of a cell that reaches the threshold at the shortest return period: its probability is a lower bound. */
export const FLAG_AT_FIRST_RETURN_PERIOD = 4;
/**
 * Flag bit of a cell in which a longer return period has a smaller value, which was replaced with the running maximum.
 */
export const FLAG_MADE_NON_DECREASING = 8;

/**
 * Markers other than runs of nines: the lowest 8-bit integer and the lowest 16-bit integers; the lowest numbers of
 * wider formats are below MARKER_MAX.
 */
const MARKERS: ReadonlySet<number> = new Set([-128, -32_767, -32_768]);
/** Every value at or below this is a marker, such as the lowest 32-bit integer and the lowest float. */
const MARKER_MAX = -1e8;

/** Returns whether a source value commonly marks missing cells: -9, -99, -9999, -999.9, -32768, -3.4e38 and others. */
function isMissingMarker(value: number): boolean {
  if (value <= MARKER_MAX || MARKERS.has(value)) return true;
  // Decimals such as -999.9 are rounded in 32-bit floats; seven digits undo that.
  const text = String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));
  return /^-(9+|99+\.9+)$/.test(text);
}

/** The range of values that a map may have. */
export interface ValueRange {
  /** Multiplies source values to give the metric's unit. */
  readonly unitFactor: number;
  /**
   * Values from -`clampTolerance` to 0, in the metric's unit, are set to zero; undefined rejects every negative value.
   */
  readonly clampTolerance: number | undefined;
  /** In source units. */
  readonly max: number;
}

/**
 * Returns the values of one map with small negative values set to zero; all others are missing or within the range.
 * @throws BadValueError for the first value that is infinite, too large or too far below zero
 */
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
    // After multiplication by the unit factor, a marker may be within the tolerance.
    if (isMissingMarker(value)) throw new BadValueError({ map, cell, value, why: "missing-marker" });
    // A value far below zero is probably an undeclared nodata value rather than noise.
    if (!(value * unitFactor >= -clampTolerance)) {
      throw new BadValueError({ map, cell, value, why: "below-tolerance" });
    }
    clamped ??= values.slice();
    clamped[cell] = 0;
    flags[cell] = (flags[cell] ?? 0) | FLAG_CLAMPED;
  }
  return clamped ?? values;
}

/** The hazard's own metric and the probability of a run of cells, unrounded; NaN is missing. */
export interface OwnAndProbability {
  readonly own: Float64Array;
  readonly probability: Float64Array;
}

/** Values of the maps of one curve, equally long, in ascending order of return period. */
export interface CurveCells {
  readonly maps: readonly RasterValues[];
  /** Factor to the metric's unit, for each map. */
  readonly unitFactors: readonly number[];
}

/** Computes the own metric and the probability from the curve of each cell, and sets the flags of the cells. */
export function curveCells(
  kernel: Kernel,
  { maps, unitFactors }: CurveCells,
  rule: Omit<CurveRule, "unitFactor">,
  { clampTolerance, flags }: Pick<ValueRange, "clampTolerance"> & { readonly flags: Uint8Array },
): OwnAndProbability {
  // Files in different units are converted to the metric's unit before the curve is computed.
  const sharedFactor = unitFactors[0] ?? 1;
  const isFactorShared = unitFactors.every((factor) => factor === sharedFactor);
  const checked = maps.map((values, map) => {
    const own = unitFactors[map] ?? 1;
    const valid = checkedValues(values, flags, { map, unitFactor: own, clampTolerance, max: Number.MAX_VALUE });
    return isFactorShared ? valid : Float64Array.from(valid, (value) => value * own);
  });
  const unitFactor = isFactorShared ? sharedFactor : 1;
  flagCurves(checked, rule.threshold, unitFactor, flags);
  const outcome = curveMetrics(kernel, checked, { ...rule, unitFactor });
  if (outcome.kind === "negative") throw new Error("A negative value passed the range check.");
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

/** Mean over climate models for each cell; missing if fewer than half of the models have data. */
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

  /**
   * Adds consecutive cells of one model. Add models in a fixed order, because the rounding of sums depends on the
   * order.
   */
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

/** Unrounded metrics of a run of cells; absent metrics have no layer. */
export type MetricValues = Partial<Record<Exclude<MetricName, "total_hazard">, Float64Array>>;

/** Returns whether intensity is derived from the hazard's own metric, which must be a return level. */
export function derivesIntensity(rules: HazardRules): boolean {
  return rules.design_return_period_years !== undefined;
}

/** Returns min(1, own metric / reference), from the unrounded metric. */
export function intensityOf(own: Float64Array, rules: HazardRules): Float64Array {
  return own.map((value) => Math.min(1, value / rules.intensity_reference));
}

/** Returns the layers that a group with these metrics has, in the order of the hazard's metrics. */
export function layersFrom(spec: HazardSpec, metrics: ReadonlySet<MetricName>): readonly MetricSpec[] {
  const has = (metric: MetricName): boolean => metrics.has(metric);
  return spec.metrics.filter(({ metric }) =>
    metric === "total_hazard" ? has("intensity") && has("probability") : has(metric),
  );
}

/** Largest rounding error of each metric so far, in its unit. */
export type LargestRounding = Partial<Record<MetricName, number>>;

/**
 * Rounds metrics to the steps of their layers, interleaved by cell. The total hazard is computed from the stored steps of
 * intensity and probability.
 * @param layers as returned by `layersFrom`
 * @returns u16[cells][layers], and the largest rounding errors
 * @throws BadValueError for a value that no step can store; its `map` is the index of the layer
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
    if (numbers === undefined) throw new Error(`There are no values for the layer ${layer.metric}.`);
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

/** Returns the largest value that a layer accepts: its last step, or the metric's maximum if that is smaller. */
export function largestAllowed(spec: MetricSpec): number {
  return Math.min(spec.max ?? Infinity, largestValue(spec));
}
