/** Rounds the metrics of cells to the steps of their layers, and counts the cells. */
import { type MetricName, type MetricSpec, totalHazardSteps } from "../hazard/hazards.ts";
import { toSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { CURVE_AT_FIRST, CURVE_PARTLY_MISSING, CURVE_RAISED, STEPS_NODATA } from "../kernel/kernel.generated.ts";
import { FLAG_CLAMPED, type UnstorableValue } from "./badValues.ts";

/** Unrounded metrics of a run of cells; absent metrics have no layer. */
export type MetricValues = Partial<Record<Exclude<MetricName, "total_hazard">, Float64Array>>;

/** Largest rounding error of each metric so far, in its unit. */
export type LargestRounding = Partial<Record<MetricName, number>>;

export type MetricSteps =
  | {
      readonly kind: "steps";
      /** u16[cells][layers] */
      readonly steps: Uint16Array;
      readonly worst: LargestRounding;
    }
  | ({ readonly kind: "out-of-range" } & UnstorableValue);

/** Returns the larger of two rounding errors for each metric. */
export function mergeLargestRounding(a: LargestRounding, b: LargestRounding): LargestRounding {
  const merged: LargestRounding = { ...a };
  for (const [metric, error] of Object.entries(b) as [MetricName, number][]) {
    merged[metric] = Math.max(merged[metric] ?? 0, error);
  }
  return merged;
}

/** Returns the values of some cells. */
export function gathered<Values extends Float32Array | Float64Array>(values: Values, cells: Int32Array): Values {
  const result = new (values.constructor as new (length: number) => Values)(cells.length);
  for (let index = 0; index < cells.length; index++) result[index] = values[cells[index] as number] as number;
  return result;
}

/**
 * Rounds metrics to the steps of their layers, interleaved by cell. The total hazard is computed from the stored steps of
 * intensity and probability.
 * @param layers as returned by `layersFrom`
 */
export function metricSteps(kernel: Kernel, layers: readonly MetricSpec[], values: MetricValues): MetricSteps {
  const cellCount = Object.values(values)[0]?.length ?? 0;
  const layerCount = layers.length;
  const steps = new Uint16Array(cellCount * layerCount);
  const worst: LargestRounding = {};
  for (const [index, layer] of layers.entries()) {
    if (layer.metric === "total_hazard") continue;
    const numbers = values[layer.metric];
    if (numbers === undefined) throw new Error(`There are no values for the layer ${layer.metric}.`);
    const outcome = toSteps(kernel, numbers, layer, { cells: steps, layer: index, layerCount });
    if (outcome.kind === "out-of-range")
      return { kind: "out-of-range", layer, cell: outcome.cell, value: numbers[outcome.cell] ?? NaN };
    worst[layer.metric] = outcome.worstRounding;
  }

  const total = layers.findIndex(({ metric }) => metric === "total_hazard");
  if (total >= 0) {
    const intensity = layers.findIndex(({ metric }) => metric === "intensity");
    const probability = layers.findIndex(({ metric }) => metric === "probability");
    worst.total_hazard = addTotals(steps, values, { total, intensity, probability, layers });
  }
  return { kind: "steps", steps, worst };
}

function addTotals(
  steps: Uint16Array,
  { intensity = new Float64Array(), probability = new Float64Array() }: MetricValues,
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
  for (let cell = 0, from = 0; from < steps.length; cell++, from += layerCount) {
    const intensitySteps = steps[from + at.intensity] as number;
    const probabilitySteps = steps[from + at.probability] as number;
    const isMissing = intensitySteps === STEPS_NODATA || probabilitySteps === STEPS_NODATA;
    const total = isMissing ? STEPS_NODATA : totalHazardSteps(intensitySteps, probabilitySteps);
    steps[from + at.total] = total;
    if (isMissing) continue;
    const error = Math.abs(total / stepsPerUnit - (intensity[cell] as number) * (probability[cell] as number));
    if (error > worst) worst = error;
  }
  return worst;
}

export interface CellCounts {
  readonly valid: number;
  readonly nodata: number;
  /** Valid cells with the value zero. */
  readonly zero: number;
  /** Cells in which a negative value was set to zero. */
  readonly clampedNegative: number;
  /** Cells that are missing on some maps of a curve but not on all. */
  readonly partlyMissing: number;
  /** Cells that reach the threshold at the shortest return period. */
  readonly reachedAtFirst: number;
  /** Cells whose curve was made non-decreasing. */
  readonly raised: number;
}

/** Counts and rounding errors of one group. Checkpoints store them as JSON, so the member names are part of a file format. */
export interface GroupTotals {
  counts: { -readonly [K in keyof CellCounts]: number };
  worst: LargestRounding;
}

export function zeroCounts(): GroupTotals["counts"] {
  return { valid: 0, nodata: 0, zero: 0, clampedNegative: 0, partlyMissing: 0, reachedAtFirst: 0, raised: 0 };
}

/**
 * Adds a run of cells to the counts, and returns them.
 *
 * @param steps u16[cells][layerCount]
 * @param flags u8[cells], the CURVE_ bits of the kernel and FLAG_CLAMPED
 * @param at `own`: index of the layer to count; the run of cells
 */
export function countCells(
  counts: GroupTotals["counts"],
  steps: Uint16Array,
  flags: Uint8Array,
  at: { readonly own: number; readonly layerCount: number; readonly firstCell: number; readonly endCell: number },
): CellCounts {
  const { own, layerCount, firstCell, endCell } = at;
  let nodata = 0;
  let zero = 0;
  for (let cell = firstCell, index = firstCell * layerCount + own; cell < endCell; cell++, index += layerCount) {
    const step = steps[index] as number;
    if (step === STEPS_NODATA) nodata++;
    else if (step === 0) zero++;
    const bits = flags[cell] as number;
    if (bits === 0) continue;
    if ((bits & FLAG_CLAMPED) !== 0) counts.clampedNegative++;
    if ((bits & CURVE_PARTLY_MISSING) !== 0) counts.partlyMissing++;
    if ((bits & CURVE_AT_FIRST) !== 0) counts.reachedAtFirst++;
    if ((bits & CURVE_RAISED) !== 0) counts.raised++;
  }
  counts.nodata += nodata;
  counts.zero += zero;
  counts.valid += endCell - firstCell - nodata;
  return counts;
}

/** Adds counts of other cells. */
export function addCounts(counts: GroupTotals["counts"], more: CellCounts): void {
  for (const name of Object.keys(counts) as (keyof CellCounts)[]) counts[name] += more[name];
}
