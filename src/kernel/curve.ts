import type { Kernel, Region, Scratch } from "./instance.ts";
import {
  CELL_COUNTS,
  CURVE_GUMBEL,
  CURVE_LOG,
  LAYER_BYTES,
  LAYER_PRODUCT,
  LAYER_SHARE,
  LAYER_VALUES,
  STATUS_NEGATIVE_VALUE,
  STATUS_OUT_OF_RANGE,
  STEPS_MAX,
} from "./kernel.generated.ts";

/** Interpolation between return periods: linear in the Gumbel variate (depths) or in ln T (winds). */
type CurveFamily = "gumbel" | "log";

export interface CurveRule {
  readonly family: CurveFamily;
  /** Years, ascending, one per map. */
  readonly returnPeriods: readonly number[];
  /** Layer units per source unit. */
  readonly unitFactor: number;
  readonly designReturnPeriodYears: number;
  /** In the layer's unit, above 0. */
  readonly threshold: number;
}

/** Maps of one type and length, one per return period. */
export type CurveMaps = readonly Float32Array[] | readonly Float64Array[];

/** Bad value of a map: negative or infinite. */
interface BadValue {
  readonly kind: "bad-value";
  readonly map: number;
  readonly cell: number;
}

type CurveMetrics =
  | {
      readonly kind: "metrics";
      /** f64[cell], value at the design return period, NaN = missing. */
      readonly designs: Float64Array;
      /** f64[cell], annual probability of reaching the threshold, NaN = missing. */
      readonly probabilities: Float64Array;
    }
  | BadValue;

/**
 * Computes, for each cell of a stack of return-period maps, the value at the design return period and the annual
 * probability of reaching the threshold. The formula is in assembly/curve.ts.
 *
 * @param maps one array of source values per return period, all of the same length, finite or NaN = missing
 * @param flags u8[cell], to which the CURVE_ flags are added
 * @returns the metrics, or the indices of map and cell of the first negative or infinite value
 */
export function curveMetrics(kernel: Kernel, maps: CurveMaps, rule: CurveRule, flags?: Uint8Array): CurveMetrics {
  return kernel.withScratch((scratch) => {
    const outcome = curveRegions(kernel, scratch, maps, rule, flags);
    if (outcome.kind === "bad-value") return outcome;
    flags?.set(kernel.bytes(outcome.flags));
    const designs = kernel.f64(outcome.designs).slice();
    return { kind: "metrics", designs, probabilities: kernel.f64(outcome.probabilities).slice() };
  });
}

/** Computes the metrics of curves into regions of scratch memory. */
function curveRegions(
  kernel: Kernel,
  scratch: Scratch,
  maps: CurveMaps,
  rule: CurveRule,
  flags: Uint8Array | undefined,
):
  | { readonly kind: "metrics"; readonly designs: Region; readonly probabilities: Region; readonly flags: Region }
  | BadValue {
  const cellCount = maps[0]?.length ?? 0;
  if (maps.length !== rule.returnPeriods.length || maps.some((map) => map.length !== cellCount)) {
    throw new RangeError(
      `maps must have one array of equal length per return period (got lengths ` +
        `${maps.map(({ length }) => length).join(", ")} for ${rule.returnPeriods.length} return periods)`,
    );
  }
  const valueBytes = maps[0]?.BYTES_PER_ELEMENT ?? 8;
  const input = scratch.reserve(maps.length * cellCount * valueBytes);
  for (const [index, map] of maps.entries()) {
    const bytes = new Uint8Array(map.buffer, map.byteOffset, map.byteLength);
    kernel.bytes(input).set(bytes, index * bytes.length);
  }
  const designs = scratch.reserve(cellCount * 8);
  const probabilities = scratch.reserve(cellCount * 8);
  const ownFlags = scratch.copyIn(flags ?? new Uint8Array(cellCount));
  const errorPosition = scratch.reserve(8);
  const status = kernel.exports.curveMetrics(
    input.pointer,
    valueBytes,
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
    ownFlags.pointer,
    errorPosition.pointer,
  );
  if (status === STATUS_NEGATIVE_VALUE) {
    const [map = 0, cell = 0] = kernel.i32(errorPosition);
    return { kind: "bad-value", map, cell };
  }
  kernel.check(status, "curveMetrics");
  return { kind: "metrics", designs, probabilities, flags: ownFlags };
}

/** Encoding of a layer's values: `value = steps / stepsPerUnit + offset`. */
interface StepEncoding {
  readonly stepsPerUnit: number;
  readonly offset: number;
}

/** Returns the largest value that a layer can store; the smallest is `offset`. */
export function largestValue({ stepsPerUnit, offset }: StepEncoding): number {
  return STEPS_MAX / stepsPerUnit + offset;
}

type StepsOutcome =
  /** `worstRounding` is the largest rounding error, in units of the value. */
  | { readonly kind: "steps"; readonly worstRounding: number }
  /** `cell` is the index of the first value out of range. */
  | { readonly kind: "out-of-range"; readonly cell: number };

/**
 * Writes values as steps into one layer of `target.cells`, u16[cell][layerCount]. NaN becomes nodata. If a value is out
 * of range, it is reported rather than clipped, and `target` is unchanged.
 */
export function toSteps(
  kernel: Kernel,
  values: Float64Array,
  encoding: StepEncoding,
  target: { readonly cells: Uint16Array; readonly layer: number; readonly layerCount: number },
): StepsOutcome {
  return kernel.withScratch((scratch) => {
    const steps = scratch.reserve(values.length * 2);
    const worst = scratch.copyIn(Float64Array.of(0));
    const errorPosition = scratch.reserve(4);
    const status = kernel.exports.toSteps(
      scratch.copyIn(values).pointer,
      values.length,
      encoding.stepsPerUnit,
      encoding.offset,
      steps.pointer,
      worst.pointer,
      errorPosition.pointer,
    );
    if (status === STATUS_OUT_OF_RANGE) return { kind: "out-of-range", cell: firstOf(kernel, errorPosition) };
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

/** How a layer is computed from a curve. Value = steps / stepsPerUnit + offset. */
export type CurveLayer = { readonly stepsPerUnit: number; readonly offset: number } & (
  | { readonly kind: "design" | "probability" }
  /** min(1, design / reference) */
  | { readonly kind: "design-share"; readonly reference: number }
  /** The product of two layers before it, given by their indices; their offset is 0. */
  | { readonly kind: "product"; readonly factors: readonly [number, number] }
);

/** Counts of cells; `flagged` by bit 0 to 3 of their flags. */
interface StepCounts {
  readonly nodata: number;
  readonly zero: number;
  readonly flagged: readonly number[];
}

type CurveSteps =
  | {
      readonly kind: "steps";
      /** Largest rounding error of each layer, in units of the value. */
      readonly worst: Float64Array;
      readonly counts: StepCounts;
    }
  /** A value of a map is negative or infinite. */
  | { readonly kind: "bad-value" }
  /** No step can store the value of a layer. */
  | { readonly kind: "out-of-range"; readonly layer: number; readonly cell: number; readonly value: number };

/**
 * Computes layers from the curves of cells and encodes them as steps; see assembly/curve.ts and assembly/layerSteps.ts.
 *
 * @param target `steps`: u16[cell][layer], which is overwritten; `flags`: u8[cell] of flags that are already set;
 *   `counted`: index of the layer with the counted cells
 */
export function curveSteps(
  kernel: Kernel,
  maps: CurveMaps,
  rule: CurveRule,
  target: {
    readonly layers: readonly CurveLayer[];
    readonly counted: number;
    readonly flags: Uint8Array | undefined;
    readonly steps: Uint16Array;
  },
): CurveSteps {
  return kernel.withScratch((scratch) => {
    const curves = curveRegions(kernel, scratch, maps, rule, target.flags);
    if (curves.kind === "bad-value") return { kind: "bad-value" };
    const { layers, counted } = target;
    const cellCount = maps[0]?.length ?? 0;
    const steps = scratch.reserve(target.steps.byteLength);
    const worst = scratch.copyIn(new Float64Array(layers.length));
    const counts = scratch.copyIn(new Int32Array(CELL_COUNTS));
    const errorPosition = scratch.reserve(8);
    const status = kernel.exports.layerSteps(
      describeLayers(kernel, scratch, layers, curves),
      layers.length,
      cellCount,
      counted,
      curves.flags.pointer,
      steps.pointer,
      worst.pointer,
      counts.pointer,
      scratch.reserve(layers.length * 8).pointer,
      errorPosition.pointer,
    );
    if (status === STATUS_OUT_OF_RANGE) {
      const [layer = 0, cell = 0] = kernel.i32(errorPosition);
      const values = layers[layer]?.kind === "probability" ? curves.probabilities : curves.designs;
      return { kind: "out-of-range", layer, cell, value: kernel.f64(values)[cell] ?? NaN };
    }
    kernel.check(status, "layerSteps");
    target.steps.set(kernel.u16(steps));
    const [nodata = 0, zero = 0, ...flagged] = kernel.i32(counts);
    return { kind: "steps", worst: kernel.f64(worst).slice(), counts: { nodata, zero, flagged } };
  });
}

/** Writes the descriptions of layers and returns their address. */
function describeLayers(
  kernel: Kernel,
  scratch: Scratch,
  layers: readonly CurveLayer[],
  { designs, probabilities }: { readonly designs: Region; readonly probabilities: Region },
): number {
  const region = scratch.copyIn(new Uint8Array(layers.length * LAYER_BYTES));
  for (const [index, layer] of layers.entries()) {
    const bytes = kernel.bytes(region);
    const view = new DataView(bytes.buffer, bytes.byteOffset + index * LAYER_BYTES, LAYER_BYTES);
    view.setFloat64(8, layer.stepsPerUnit, true);
    view.setFloat64(16, layer.offset, true);
    if (layer.kind === "product") {
      const [first, second] = layer.factors;
      if (!(first < index && second < index)) throw new RangeError("The factors of a product must precede it.");
      view.setInt32(0, LAYER_PRODUCT, true);
      view.setInt32(32, first, true);
      view.setInt32(36, second, true);
      view.setFloat64(40, (layers[first]?.stepsPerUnit ?? NaN) * (layers[second]?.stepsPerUnit ?? NaN), true);
    } else {
      view.setInt32(0, layer.kind === "design-share" ? LAYER_SHARE : LAYER_VALUES, true);
      view.setUint32(4, (layer.kind === "probability" ? probabilities : designs).pointer, true);
      if (layer.kind === "design-share") view.setFloat64(24, layer.reference, true);
    }
  }
  return region.pointer;
}
