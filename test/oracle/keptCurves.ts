/** Reference implementation of what `--keep-curves` and `--keep-range` store for one cell, in steps. */
import { curveByDefinition, type OracleRule } from "./curve.ts";

/** Value at each return period, by model; NaN is missing. */
export type ModelValues = readonly (readonly number[])[];

export interface KeptCurves {
  readonly mean: readonly number[];
  readonly minimum: readonly number[];
  readonly maximum: readonly number[];
}

/** Returns the rounded curves, or undefined if fewer than half of the models have a value at every return period. */
export function keptCurves(models: ModelValues, stepsPerUnit: number): KeptCurves | undefined {
  const complete = models.filter((values) => values.every((value) => !Number.isNaN(value)));
  if (complete.length === 0 || complete.length < models.length / 2) return undefined;
  const curves = complete.map((values) => values.map((_, i) => Math.max(...values.slice(0, i + 1))));
  const steps = (combine: (values: readonly number[]) => number): number[] =>
    (curves[0] ?? []).map((_, i) => Math.floor(combine(curves.map((curve) => curve[i] ?? NaN)) * stepsPerUnit + 0.5));
  return {
    mean: steps((values) => values.reduce((sum, value) => sum + value, 0) / values.length),
    minimum: steps((values) => Math.min(...values)),
    maximum: steps((values) => Math.max(...values)),
  };
}

/** Steps per unit of depth, intensity, probability and total hazard. */
export interface MetricEncoding {
  readonly depth: number;
  readonly intensity: number;
  readonly probability: number;
  readonly total: number;
  readonly intensityReference: number;
}

/** Returns the rounded metrics [intensity, depth, probability, total hazard] of a model, as if it were the only one. */
export function metricStepsOfModel(values: readonly number[], rule: OracleRule, encoding: MetricEncoding): number[] {
  const { design, probability } = curveByDefinition(values, rule);
  const round = (value: number): number => Math.floor(value + 0.5);
  const intensitySteps = round(Math.min(1, design / encoding.intensityReference) * encoding.intensity);
  const probabilitySteps = round(probability * encoding.probability);
  // The product of the integers is exact, so that halves are rounded up.
  const totalSteps = (intensitySteps * probabilitySteps * encoding.total) / (encoding.intensity * encoding.probability);
  return [intensitySteps, round(design * encoding.depth), probabilitySteps, round(totalSteps)];
}
