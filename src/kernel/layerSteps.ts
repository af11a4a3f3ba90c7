import type { CurveMaps, CurveRule } from "./curve.ts";
import { curveRegions } from "./curve.ts";
import type { Kernel, Region, Scratch } from "./instance.ts";
import {
  CELL_COUNTS,
  LAYER_BYTES,
  LAYER_PRODUCT,
  LAYER_SHARE,
  LAYER_VALUES,
  STATUS_OUT_OF_RANGE,
} from "./kernel.generated.ts";

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

export type CurveSteps =
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
