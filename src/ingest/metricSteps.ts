/** Rounds the metrics of cells to the steps of their layers. */
import { type MetricName, type MetricSpec, totalHazardSteps } from "../hazard/hazards.ts";
import { toSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import type { UnstorableValue } from "./badValues.ts";

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
