/** Computes the metrics of return-period curves and their means over models. */
import type { HazardRules } from "../hazard/hazards.ts";
import { type CurveMaps, type CurveRule, curveMetrics } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { CURVE_AT_FIRST, CURVE_PARTLY_MISSING, CURVE_RAISED, MISSING_MARKER_MIN } from "../kernel/kernel.generated.ts";
import { checkedValues, type ValueRange } from "./badValues.ts";
import type { RasterValues } from "./raster.ts";

/** Flag bit of a cell that is missing on some maps of a curve but not on all: the whole cell is missing. */
export const FLAG_PARTLY_MISSING = CURVE_PARTLY_MISSING;
/** Flag bit of a cell that reaches the threshold at the shortest return period: its probability is a lower bound. */
export const FLAG_AT_FIRST_RETURN_PERIOD = CURVE_AT_FIRST;
/**
 * Flag bit of a cell in which a longer return period has a smaller value, which was replaced with the running maximum.
 */
export const FLAG_MADE_NON_DECREASING = CURVE_RAISED;

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
export function inOneUnit({ maps, unitFactors }: CurveCells): {
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
