/** Computes the metrics and layers of return-period curves, and their means over models. */
import type { HazardRules, MetricSpec } from "../hazard/hazards.ts";
import { type CurveLayer, type CurveMaps, curveMetrics, type CurveRule, curveSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { MISSING_MARKER_MIN } from "../kernel/kernel.generated.ts";
import { checkedValues, type UnstorableValue, type ValueRange } from "./badValues.ts";
import type { RasterValues } from "./raster.ts";
import { type CellCounts, type LargestRounding, zeroCounts } from "./metricSteps.ts";

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

/**
 * Computes the own metric and the probability from the curve of each cell, and sets the flags of the cells.
 * @throws BadValueError for a value that is rejected
 */
export function curveCells(
  kernel: Kernel,
  cells: CurveCells,
  rule: Omit<CurveRule, "unitFactor">,
  { clampTolerance, flags }: Pick<ValueRange, "clampTolerance"> & { readonly flags: Uint8Array },
): OwnAndProbability {
  const checked = cells.maps.map((values, map) =>
    checkedValues(values, flags, { unitFactor: cells.unitFactors[map] ?? 1, clampTolerance, max: Number.MAX_VALUE }),
  );
  const { maps, unitFactor } = inOneUnit({ ...cells, maps: checked });
  const outcome = curveMetrics(kernel, maps, { ...rule, unitFactor }, flags);
  if (outcome.kind === "bad-value") throw new Error("A negative or very large value passed the range check.");
  return { own: outcome.designs, probability: outcome.probabilities };
}

/** Returns maps of one type, and the factor to the metric's unit that all of them share. */
function inOneUnit({ maps, unitFactors }: CurveCells): {
  readonly maps: CurveMaps;
  readonly unitFactor: number;
} {
  const unitFactor = unitFactors[0] ?? 1;
  if (unitFactors.every((factor) => factor === unitFactor)) {
    const isSingle = maps.every((values) => values instanceof Float32Array);
    return { maps: isSingle ? maps : maps.map(toDoubles), unitFactor };
  }
  // Files in different units are converted to the metric's unit before the curve is computed.
  // A marker of missing cells remains one, so that the kernel reports it.
  const converted = maps.map((values, map) => {
    const factor = unitFactors[map] ?? 1;
    return Float64Array.from(values, (value) => (value >= MISSING_MARKER_MIN ? Infinity : value * factor));
  });
  return { maps: converted, unitFactor: 1 };
}

function toDoubles(values: RasterValues): Float64Array {
  return values instanceof Float64Array ? values : Float64Array.from(values);
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
   * Adds cells of one model. Add models in a fixed order, because the rounding of sums depends on the order.
   * @param cells the cells that the values belong to, counted from `firstCell`
   */
  add(firstCell: number, cells: Int32Array, { own, probability }: OwnAndProbability): void {
    for (let i = 0; i < own.length; i++) {
      const value = own[i] as number;
      if (Number.isNaN(value)) continue;
      const cell = firstCell + (cells[i] as number);
      this.#own[cell] = (this.#own[cell] as number) + value;
      this.#probability[cell] = (this.#probability[cell] as number) + (probability[i] as number);
      this.#counts[cell] = (this.#counts[cell] as number) + 1;
    }
  }

  /** Adds cells of one model in which both metrics are 0. */
  addZeros(firstCell: number, cells: Int32Array): void {
    for (let i = 0; i < cells.length; i++) {
      const cell = firstCell + (cells[i] as number);
      this.#counts[cell] = (this.#counts[cell] as number) + 1;
    }
  }

  /** Returns the means; no cells can be added afterwards. */
  result(): OwnAndProbability {
    const [own, probability, counts] = [this.#own, this.#probability, this.#counts];
    for (let cell = 0; cell < counts.length; cell++) {
      const count = counts[cell] as number;
      if (count * 2 < this.#modelCount || count === 0) {
        own[cell] = NaN;
        probability[cell] = NaN;
      } else if (count > 1) {
        own[cell] = (own[cell] as number) / count;
        probability[cell] = (probability[cell] as number) / count;
      }
    }
    return { own, probability };
  }
}

/** Returns min(1, own metric / reference), from the unrounded metric. */
export function intensityOf(own: Float64Array, rules: HazardRules): Float64Array {
  const intensity = new Float64Array(own.length);
  for (let cell = 0; cell < own.length; cell++) {
    intensity[cell] = Math.min(1, (own[cell] as number) / rules.intensity_reference);
  }
  return intensity;
}

/** Cells passed to the kernel at a time; with their curves, they fit in the processor's cache. */
const KERNEL_CELLS = 16_384;

/** The layers of a group of curves, and how they are computed. */
export interface CurveLayers {
  readonly specs: readonly MetricSpec[];
  /** Index of the hazard's own metric. */
  readonly own: number;
  readonly rules: HazardRules;
}

export type CurveRows =
  | {
      readonly kind: "rows";
      /** u16[cells][layers] */
      readonly steps: Uint16Array;
      /** Counts of the cells of each run. */
      readonly counts: readonly CellCounts[];
      readonly worst: LargestRounding;
    }
  | ({ readonly kind: "out-of-range" } & UnstorableValue);

/**
 * Computes the layers of cells.
 * @param cellEnds ends of the runs of cells to count
 * @throws BadValueError for a value of a map that is rejected
 */
export function curveRows(
  kernel: Kernel,
  cells: CurveCells,
  {
    layers,
    rule,
    clampTolerance,
    cellEnds,
  }: {
    readonly layers: CurveLayers;
    readonly rule: Omit<CurveRule, "unitFactor">;
    readonly clampTolerance: ValueRange["clampTolerance"];
    readonly cellEnds: readonly number[];
  },
): CurveRows {
  const layerCount = layers.specs.length;
  const steps = new Uint16Array((cells.maps[0]?.length ?? 0) * layerCount);
  const target = { layers: curveLayersOf(layers), counted: layers.own };
  const worst = new Float64Array(layerCount);
  const counts: CellCounts[] = [];
  let first = 0;
  for (const runEnd of cellEnds) {
    const total = zeroCounts();
    while (first < runEnd) {
      const end = Math.min(runEnd, first + KERNEL_CELLS);
      const batch = { ...cells, maps: cells.maps.map((values) => values.subarray(first, end)) };
      const { maps, unitFactor } = inOneUnit(batch);
      const ofBatch = { ...target, steps: steps.subarray(first * layerCount, end * layerCount), flags: undefined };
      let outcome = curveSteps(kernel, maps, { ...rule, unitFactor }, ofBatch);
      if (outcome.kind === "bad-value") {
        const flags = new Uint8Array(end - first);
        const checked = checkedMaps(batch, { clampTolerance, flags });
        outcome = curveSteps(kernel, inOneUnit(checked).maps, { ...rule, unitFactor }, { ...ofBatch, flags });
      }
      if (outcome.kind === "bad-value") throw new Error("A negative or very large value passed the range check.");
      if (outcome.kind === "out-of-range") {
        const { layer, cell, value } = outcome;
        return { kind: "out-of-range", layer: layers.specs[layer], cell: first + cell, value };
      }
      const { nodata, zero, flagged } = outcome.counts;
      const [clampedNegative = 0, partlyMissing = 0, reachedAtFirst = 0, raised = 0] = flagged;
      total.valid += end - first - nodata;
      total.nodata += nodata;
      total.zero += zero;
      total.clampedNegative += clampedNegative;
      total.partlyMissing += partlyMissing;
      total.reachedAtFirst += reachedAtFirst;
      total.raised += raised;
      for (const [layer, error] of outcome.worst.entries()) worst[layer] = Math.max(worst[layer] ?? 0, error);
      first = end;
    }
    counts.push(total);
  }
  const worstOfMetrics = Object.fromEntries(layers.specs.map(({ metric }, layer) => [metric, worst[layer] ?? 0]));
  return { kind: "rows", steps, counts, worst: worstOfMetrics };
}

/** Sets small negative values to 0. @throws BadValueError for a value that is rejected */
function checkedMaps(
  { maps, unitFactors }: CurveCells,
  { clampTolerance, flags }: Pick<ValueRange, "clampTolerance"> & { readonly flags: Uint8Array },
): CurveCells {
  const checked = maps.map((values, map) =>
    checkedValues(values, flags, { unitFactor: unitFactors[map] ?? 1, clampTolerance, max: Number.MAX_VALUE }),
  );
  return { maps: checked, unitFactors };
}

function curveLayersOf({ specs, own, rules }: CurveLayers): readonly CurveLayer[] {
  const indexOf = (name: string): number => specs.findIndex(({ metric }) => metric === name);
  return specs.map(({ metric, stepsPerUnit, offset }, index): CurveLayer => {
    if (index === own) return { kind: "design", stepsPerUnit, offset };
    if (metric === "probability") return { kind: "probability", stepsPerUnit, offset };
    if (metric === "intensity")
      return { kind: "design-share", reference: rules.intensity_reference, stepsPerUnit, offset };
    return { kind: "product", factors: [indexOf("intensity"), indexOf("probability")], stepsPerUnit, offset };
  });
}

/** The cells of a batch, by what their metrics are. Its arrays are valid until the next call. */
export interface CellKinds {
  /** Cells whose values are 0 on every map: both metrics are 0. */
  readonly zero: Int32Array;
  /** Cells that are missing on every map. */
  readonly missing: Int32Array;
  /** All other cells. */
  readonly active: Int32Array;
}

/** Sorts the cells of batches; it reuses its memory. */
export class CellSorter {
  readonly #nonzero: Int32Array;
  readonly #present: Int32Array;
  readonly #zero: Int32Array;
  readonly #missing: Int32Array;
  readonly #active: Int32Array;

  constructor(cellCountMax: number) {
    this.#nonzero = new Int32Array(cellCountMax);
    this.#present = new Int32Array(cellCountMax);
    this.#zero = new Int32Array(cellCountMax);
    this.#missing = new Int32Array(cellCountMax);
    this.#active = new Int32Array(cellCountMax);
  }

  /** @param maps of equal length, at most `cellCountMax` */
  kindsOf(maps: readonly RasterValues[]): CellKinds {
    const cellCount = maps[0]?.length ?? 0;
    const [nonzero, present] = [this.#nonzero, this.#present];
    nonzero.fill(0, 0, cellCount);
    present.fill(0, 0, cellCount);
    for (const values of maps) {
      if (values instanceof Float32Array) markFloats(values, nonzero, present);
      else markDoubles(values, nonzero, present);
    }
    const [zero, missing, active] = [this.#zero, this.#missing, this.#active];
    let [zeroCount, missingCount, activeCount] = [0, 0, 0];
    for (let cell = 0; cell < cellCount; cell++) {
      if (nonzero[cell] === 0) zero[zeroCount++] = cell;
      else if (present[cell] === 0) missing[missingCount++] = cell;
      else active[activeCount++] = cell;
    }
    return {
      zero: zero.subarray(0, zeroCount),
      missing: missing.subarray(0, missingCount),
      active: active.subarray(0, activeCount),
    };
  }
}

/** Marks cells that are not 0, and cells that are not missing, by the bits of their values. */
function markFloats(values: Float32Array, nonzero: Int32Array, present: Int32Array): void {
  const INFINITY_BITS = 0x7f80_0000;
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (let cell = 0; cell < bits.length; cell++) {
    const word = bits[cell] as number;
    nonzero[cell] = (nonzero[cell] as number) | word;
    present[cell] = (present[cell] as number) | ((word & 0x7fff_ffff) <= INFINITY_BITS ? 1 : 0);
  }
}

function markDoubles(values: Float64Array, nonzero: Int32Array, present: Int32Array): void {
  for (let cell = 0; cell < values.length; cell++) {
    const value = values[cell] as number;
    if (value !== 0) nonzero[cell] = 1;
    if (!Number.isNaN(value)) present[cell] = 1;
  }
}
