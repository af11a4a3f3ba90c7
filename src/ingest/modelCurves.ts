/** Collects the curves of climate models, and gives their mean and extremes over the models. */
import type { SupplementKind } from "../atlas/supplement.ts";

interface CurveShape {
  readonly cellCount: number;
  readonly modelCount: number;
  readonly returnPeriodCount: number;
  /** Number of metrics of a cell. */
  readonly metricCount: number;
  /** What the caller will ask for. */
  readonly kinds: readonly SupplementKind[];
}

/** Curves and metrics of the cells of a window. A cell is missing if fewer than half of the models have data, as in `ModelMean`. */
export class ModelCurves {
  readonly #shape: CurveShape;
  /** Number of models with data in each cell. */
  readonly #counts: Uint16Array;
  /** f64[returnPeriod][cell]: sums, until they are divided on first use. */
  readonly #values: Readonly<Partial<Record<SupplementKind, Float64Array>>>;
  /** u16[cell][metric] */
  readonly #metrics: Readonly<Partial<Record<SupplementKind, Uint16Array>>>;
  #isMean = false;

  constructor(shape: CurveShape) {
    const { cellCount, returnPeriodCount, metricCount, kinds } = shape;
    this.#shape = shape;
    this.#counts = new Uint16Array(cellCount);
    const curve = (kind: SupplementKind, initial: number): Partial<Record<SupplementKind, Float64Array>> =>
      kinds.includes(kind) ? { [kind]: new Float64Array(cellCount * returnPeriodCount).fill(initial) } : {};
    const metrics = (kind: SupplementKind, initial: number): Partial<Record<SupplementKind, Uint16Array>> =>
      kinds.includes(kind) ? { [kind]: new Uint16Array(cellCount * metricCount).fill(initial) } : {};
    this.#values = { ...curve("curve", 0), ...curve("curve_min", Infinity), ...curve("curve_max", 0) };
    this.#metrics = { ...metrics("metrics_min", 0xffff), ...metrics("metrics_max", 0) };
  }

  /** Whether the metrics of each model are needed. */
  get hasMetrics(): boolean {
    return Object.keys(this.#metrics).length > 0;
  }

  /** Returns the number of layers of a kind. */
  layerCountOf(kind: SupplementKind): number {
    return kind in this.#metrics ? this.#shape.metricCount : this.#shape.returnPeriodCount;
  }

  /** Adds cells of one model that are 0 on every map. @param cells counted from `firstCell` */
  addZeros(firstCell: number, cells: Int32Array): void {
    const { curve_min: minimum } = this.#values;
    const { metrics_min: metricsMin } = this.#metrics;
    const { cellCount, returnPeriodCount, metricCount } = this.#shape;
    for (let i = 0; i < cells.length; i++) {
      const cell = firstCell + (cells[i] as number);
      this.#counts[cell] = (this.#counts[cell] as number) + 1;
      if (minimum !== undefined) {
        for (let period = 0; period < returnPeriodCount; period++) minimum[period * cellCount + cell] = 0;
      }
      metricsMin?.fill(0, cell * metricCount, (cell + 1) * metricCount);
    }
  }

  /**
   * Adds cells of one model. Add models in a fixed order, because the rounding of sums depends on the order.
   * @param cells counted from `firstCell`
   * @param values one non-decreasing array for each return period; a missing cell is missing in all of them
   */
  add(firstCell: number, cells: Int32Array, values: readonly Float64Array[]): void {
    const { curve, curve_min: minimum, curve_max: maximum } = this.#values;
    const { cellCount } = this.#shape;
    const last = values.at(-1);
    for (let i = 0; i < cells.length; i++) {
      if (Number.isNaN(last?.[i])) continue;
      const cell = firstCell + (cells[i] as number);
      this.#counts[cell] = (this.#counts[cell] as number) + 1;
      for (let period = 0, index = cell; period < values.length; period++, index += cellCount) {
        const value = values[period]?.[i] as number;
        if (curve !== undefined) curve[index] = (curve[index] as number) + value;
        if (minimum !== undefined && value < (minimum[index] as number)) minimum[index] = value;
        if (maximum !== undefined && value > (maximum[index] as number)) maximum[index] = value;
      }
    }
  }

  /** Adds the rounded metrics of cells of one model, u16[cells.length][metric], whose curves were added. */
  addMetrics(firstCell: number, cells: Int32Array, steps: Uint16Array): void {
    const { metrics_min: minimum, metrics_max: maximum } = this.#metrics;
    const { metricCount } = this.#shape;
    for (let i = 0, from = 0; i < cells.length; i++, from += metricCount) {
      // All metrics of a cell are missing together.
      if (steps[from] === 0xffff) continue;
      const to = (firstCell + (cells[i] as number)) * metricCount;
      for (let metric = 0; metric < metricCount; metric++) {
        const step = steps[from + metric] as number;
        if (minimum !== undefined && step < (minimum[to + metric] as number)) minimum[to + metric] = step;
        if (maximum !== undefined && step > (maximum[to + metric] as number)) maximum[to + metric] = step;
      }
    }
  }

  /** Returns the values of all cells at a return period; NaN is missing. Nothing can be added afterwards. */
  valuesOf(kind: SupplementKind, period: number): Float64Array {
    if (!this.#isMean) this.#finish();
    const { cellCount } = this.#shape;
    return (this.#values[kind] ?? new Float64Array()).subarray(period * cellCount, (period + 1) * cellCount);
  }

  /** Copies the metrics of all cells to layers of `steps`, u16[cell][layerCount]. */
  copyMetrics(
    kind: SupplementKind,
    steps: Uint16Array,
    { firstLayer, layerCount }: { readonly firstLayer: number; readonly layerCount: number },
  ): void {
    const { cellCount, metricCount } = this.#shape;
    const source = this.#metrics[kind] ?? new Uint16Array();
    for (let cell = 0; cell < cellCount; cell++) {
      for (let metric = 0; metric < metricCount; metric++) {
        steps[cell * layerCount + firstLayer + metric] = source[cell * metricCount + metric] as number;
      }
    }
  }

  /** Calls `use` with every cell for which too few models have data. */
  forEachMissing(use: (cell: number) => void): void {
    for (let cell = 0; cell < this.#counts.length; cell++) if (this.#isMissing(cell)) use(cell);
  }

  #finish(): void {
    this.#isMean = true;
    const { cellCount } = this.#shape;
    for (const [kind, values] of Object.entries(this.#values)) {
      for (let index = 0, cell = 0; index < values.length; index++, cell = cell + 1 === cellCount ? 0 : cell + 1) {
        if (this.#isMissing(cell)) values[index] = NaN;
        else if (kind === "curve") values[index] = (values[index] as number) / (this.#counts[cell] as number);
      }
    }
  }

  #isMissing(cell: number): boolean {
    const count = this.#counts[cell] as number;
    return count === 0 || count * 2 < this.#shape.modelCount;
  }
}
