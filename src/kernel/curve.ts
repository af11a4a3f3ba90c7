import type { Kernel, Region } from "./instance.ts";
import { CURVE_GUMBEL, CURVE_LOG, STATUS_NEGATIVE_VALUE, STATUS_OUT_OF_RANGE, STEPS_MAX } from "./kernel.generated.ts";

/** How values lie between two return periods: depths on Gumbel paper, winds on ln T. */
export type CurveFamily = "gumbel" | "log";

export interface CurveRule {
  readonly family: CurveFamily;
  /** Years, ascending; one for each map. */
  readonly returnPeriods: readonly number[];
  /** Source units to the layer's. */
  readonly unitFactor: number;
  readonly designReturnPeriodYears: number;
  /** In the layer's unit, above 0. */
  readonly threshold: number;
}

export type CurveMetrics =
  | {
      readonly kind: "metrics";
      /** Value at the design return period, NaN = missing. */
      readonly designs: Float64Array;
      /** Annual probability of reaching the threshold, NaN = missing. */
      readonly probabilities: Float64Array;
    }
  | { readonly kind: "negative"; readonly map: number; readonly cell: number };

/**
 * Return-period maps, cell by cell, to the value at the design return period and the annual probability of
 * reaching the threshold. The rule is in assembly/curve.ts.
 *
 * @param maps one array of source values a return period, all of one length, finite or NaN = missing
 * @returns the metrics, or the first value below zero: index of its map, index of its cell
 */
export function curveMetrics(
  kernel: Kernel,
  maps: readonly (Float32Array | Float64Array)[],
  rule: CurveRule,
): CurveMetrics {
  const cellCount = maps[0]?.length ?? 0;
  if (maps.length !== rule.returnPeriods.length || maps.some((map) => map.length !== cellCount)) {
    throw new RangeError(`${maps.length} maps of unlike length, or not one for each return period.`);
  }
  return kernel.withScratch((scratch) => {
    const input = scratch.reserve(maps.length * cellCount * 8);
    const values = kernel.f64(input);
    maps.forEach((map, i) => values.set(map, i * cellCount));
    const designs = scratch.reserve(cellCount * 8);
    const probabilities = scratch.reserve(cellCount * 8);
    const bad = scratch.reserve(8);
    const status = kernel.exports.curveMetrics(
      input.pointer,
      maps.length,
      cellCount,
      scratch.copyIn(Float64Array.from(rule.returnPeriods)).pointer,
      scratch.reserve(maps.length * 8).pointer,
      rule.family === "gumbel" ? CURVE_GUMBEL : CURVE_LOG,
      rule.unitFactor,
      rule.designReturnPeriodYears,
      rule.threshold,
      designs.pointer,
      probabilities.pointer,
      bad.pointer,
    );
    if (status === STATUS_NEGATIVE_VALUE) {
      const [map = 0, cell = 0] = kernel.i32(bad);
      return { kind: "negative", map, cell };
    }
    kernel.check(status, "curveMetrics");
    return { kind: "metrics", designs: kernel.f64(designs).slice(), probabilities: kernel.f64(probabilities).slice() };
  });
}

/** The smallest step of a layer: `value = steps / stepsPerUnit + offset`. */
export interface Quantum {
  readonly stepsPerUnit: number;
  readonly offset: number;
}

/** Values a layer can hold: from `offset` to the last step. */
export function largestValue({ stepsPerUnit, offset }: Quantum): number {
  return STEPS_MAX / stepsPerUnit + offset;
}

export type StepsOutcome =
  { readonly kind: "steps"; readonly worstRounding: number } | { readonly kind: "out-of-range"; readonly cell: number };

/**
 * Writes values as steps into `target`, one every `layerCount` numbers from `layer` on. NaN becomes nodata.
 * A value without a step is reported, never clipped; then `target` is untouched.
 */
export function toSteps(
  kernel: Kernel,
  values: Float64Array,
  quantum: Quantum,
  target: { readonly cells: Uint16Array; readonly layer: number; readonly layerCount: number },
): StepsOutcome {
  return kernel.withScratch((scratch) => {
    const steps = scratch.reserve(values.length * 2);
    const worst = scratch.copyIn(Float64Array.of(0));
    const bad = scratch.reserve(4);
    const status = kernel.exports.toSteps(
      scratch.copyIn(values).pointer,
      values.length,
      quantum.stepsPerUnit,
      quantum.offset,
      steps.pointer,
      worst.pointer,
      bad.pointer,
    );
    if (status === STATUS_OUT_OF_RANGE) return { kind: "out-of-range", cell: firstOf(kernel, bad) };
    kernel.check(status, "toSteps");
    const result = kernel.u16(steps);
    for (let i = 0; i < values.length; i++) {
      target.cells[i * target.layerCount + target.layer] = result[i] ?? 0;
    }
    return { kind: "steps", worstRounding: kernel.f64(worst)[0] ?? 0 };
  });
}

function firstOf(kernel: Kernel, region: Region): number {
  return kernel.i32(region)[0] ?? 0;
}
