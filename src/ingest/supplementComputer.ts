/** Computes chunks of supplements: the curves of cells, and ranges over climate models. */
import { toSteps } from "../kernel/curve.ts";
import type { Kernel } from "../kernel/instance.ts";
import { STEPS_NODATA } from "../kernel/kernel.generated.ts";
import {
  checkedValues,
  checkingValues,
  outOfRangeFault,
  type ReadMap,
  type UnstorableValue,
  type ValueCheck,
} from "./badValues.ts";
import { gathered, metricSteps, zeroCounts } from "./metricSteps.ts";
import { type CellKinds, CellSorter, type CurveCells, curveCells, intensityOf } from "./curve.ts";
import { ModelCurves } from "./modelCurves.ts";
import {
  cellsOf,
  type GroupRows,
  KERNEL_CELLS,
  kernelBatches,
  type ChunkKey,
  type ChunkOptions,
  readMaps,
  tileRowsOf,
} from "./chunkComputer.ts";
import { curveRuleOf, type CurveSource, type GroupPlan, type HazardPlan, metricsOfPlan } from "./plan.ts";
import type { CellWindow } from "./raster.ts";
import { ownMetricOf, returnPeriodsOfGroup } from "./supplementPlan.ts";

/** A run of cells of a curve. */
interface CurveBatch {
  readonly first: number;
  readonly end: number;
  readonly kinds: CellKinds;
  /** The source values of the active cells. */
  readonly source: CurveCells;
  /** Their curves, by return period; a cell that is missing on any map is missing for every return period. */
  readonly values: readonly Float64Array[];
}

/** Computes chunks of the supplement of one scenario and year. */
export class SupplementComputer {
  readonly #kernel: Kernel;
  readonly #plan: HazardPlan;
  readonly #options: ChunkOptions;
  readonly #sorter = new CellSorter(KERNEL_CELLS);

  constructor(kernel: Kernel, plan: HazardPlan, options: ChunkOptions) {
    this.#kernel = kernel;
    this.#plan = plan;
    this.#options = options;
  }

  /**
   * Reads the maps of the group and computes all layers of its supplement, interleaved by cell.
   * @throws Fault `source_invalid` naming file and cell of a value that is rejected
   */
  async compute({ group: index, window }: ChunkKey): Promise<GroupRows> {
    const group = this.#plan.groups[index];
    if (group?.content.kind !== "curves") throw new Error(`Group ${index} has no curves.`);
    const tileRows = tileRowsOf(window, this.#options.atlasRowOfSource);
    const counts = Array.from({ length: tileRows.end - tileRows.first }, zeroCounts);
    return { steps: await this.#stepsOf(group, group.content.models, window), counts, worst: {} };
  }

  async #stepsOf(group: GroupPlan, models: readonly CurveSource[], window: CellWindow): Promise<Uint16Array> {
    const [only] = models;
    if (only !== undefined && models.length === 1) return this.#stepsOfModel(group, only, window);
    const curves = new ModelCurves({
      cellCount: window.rowCount * window.columnCount,
      modelCount: models.length,
      returnPeriodCount: returnPeriodsOfGroup(group).length,
      metricCount: metricsOfPlan(this.#plan).length,
      kinds: this.#plan.supplement ?? [],
    });
    for (const model of models) await this.#addModel(curves, model, { group, window });
    return this.#roundedSteps(curves, { group, window });
  }

  /** Returns the curves of the only model; cells that are dry or missing on all maps need no computation. */
  async #stepsOfModel(group: GroupPlan, model: CurveSource, window: CellWindow): Promise<Uint16Array> {
    const layer = ownMetricOf(this.#plan);
    const layerCount = model.maps.length;
    const all = new Uint16Array(window.rowCount * window.columnCount * layerCount);
    const maps = await readMaps(model, window);
    const bad = checkingValues(maps, this.#checkOf(window), (): UnstorableValue | undefined => {
      for (const { first, end, kinds, values } of this.#batches(maps, window)) {
        const { active, missing } = kinds;
        const steps = new Uint16Array(active.length * layerCount);
        for (const [period, each] of values.entries()) {
          const outcome = toSteps(this.#kernel, each, layer, { cells: steps, layer: period, layerCount });
          if (outcome.kind === "out-of-range")
            return { layer, cell: first + (active[outcome.cell] ?? 0), value: each[outcome.cell] ?? NaN };
        }
        const target = all.subarray(first * layerCount, end * layerCount);
        scatterSteps(target, active, steps, layerCount);
        setMissing(target, missing, layerCount);
      }
      return undefined;
    });
    if (bad !== undefined) throw await outOfRangeFault(group, window, bad);
    return all;
  }

  #checkOf(window: CellWindow): ValueCheck {
    const layer = ownMetricOf(this.#plan);
    return { window, layer, clampTolerance: this.#options.clampToleranceOf(layer.unit) };
  }

  /** Yields the non-decreasing curves of the active cells of each batch. */
  *#batches(maps: readonly ReadMap[], window: CellWindow): Generator<CurveBatch> {
    const { clampTolerance } = this.#checkOf(window);
    for (const [first, end] of kernelBatches(window.rowCount * window.columnCount)) {
      const batch = cellsOf(maps, first, end);
      const kinds = this.#sorter.kindsOf(batch.maps);
      const source = { ...batch, maps: batch.maps.map((values) => gathered(values, kinds.active)) };
      const values = source.maps.map((each, map) => {
        const unitFactor = batch.unitFactors[map] ?? 1;
        const range = { unitFactor, clampTolerance, max: Number.MAX_VALUE };
        const converted = new Float64Array(checkedValues(each, new Uint8Array(each.length), range));
        // A loop, because `from` with a mapping function is slower.
        if (unitFactor !== 1)
          for (let cell = 0; cell < converted.length; cell++)
            converted[cell] = (converted[cell] as number) * unitFactor;
        return converted;
      });
      makeNonDecreasing(values);
      yield { first, end, kinds, source, values };
    }
  }

  async #addModel(
    curves: ModelCurves,
    model: CurveSource,
    { group, window }: { readonly group: GroupPlan; readonly window: CellWindow },
  ): Promise<void> {
    const layers = metricsOfPlan(this.#plan);
    const rule = curveRuleOf(this.#plan, model);
    const { rules } = this.#plan;
    const { layer, clampTolerance } = this.#checkOf(window);
    const maps = await readMaps(model, window);
    const bad = checkingValues(maps, this.#checkOf(window), (): UnstorableValue | undefined => {
      for (const { first, kinds, source, values } of this.#batches(maps, window)) {
        const { active, zero } = kinds;
        curves.addZeros(first, zero);
        curves.add(first, active, values);
        if (!curves.hasMetrics) continue;
        // The metrics of one model are computed as those of a group with a single model.
        const flags = new Uint8Array(active.length);
        const { own, probability } = curveCells(this.#kernel, source, rule, { clampTolerance, flags });
        const metrics = { [layer.metric]: own, probability, intensity: intensityOf(own, rules) };
        const outcome = metricSteps(this.#kernel, layers, metrics);
        if (outcome.kind === "out-of-range") return { ...outcome, cell: first + (active[outcome.cell] ?? 0) };
        curves.addMetrics(first, active, outcome.steps);
      }
      return undefined;
    });
    if (bad !== undefined) throw await outOfRangeFault(group, window, bad);
  }

  /** Rounds the layers of all kinds, in the order of the supplement. */
  async #roundedSteps(
    curves: ModelCurves,
    { group, window }: { readonly group: GroupPlan; readonly window: CellWindow },
  ): Promise<Uint16Array> {
    const kinds = this.#plan.supplement ?? [];
    const layer = ownMetricOf(this.#plan);
    const cellCount = window.rowCount * window.columnCount;
    const layerCount = kinds.reduce((sum, kind) => sum + curves.layerCountOf(kind), 0);
    const steps = new Uint16Array(cellCount * layerCount);
    let firstLayer = 0;
    for (const kind of kinds) {
      if (kind === "metrics_min" || kind === "metrics_max") {
        curves.copyMetrics(kind, steps, { firstLayer, layerCount });
      } else {
        for (let period = 0; period < curves.layerCountOf(kind); period++) {
          for (const [first, end] of kernelBatches(cellCount)) {
            const target = {
              cells: steps.subarray(first * layerCount, end * layerCount),
              layer: firstLayer + period,
              layerCount,
            };
            const values = curves.valuesOf(kind, period).subarray(first, end);
            const outcome = toSteps(this.#kernel, values, layer, target);
            if (outcome.kind === "steps") continue;
            const bad = { layer, cell: first + outcome.cell, value: values[outcome.cell] ?? NaN };
            throw await outOfRangeFault(group, window, bad);
          }
        }
      }
      firstLayer += curves.layerCountOf(kind);
    }
    curves.forEachMissing((cell) => steps.fill(STEPS_NODATA, cell * layerCount, (cell + 1) * layerCount));
    return steps;
  }
}

/**
 * Replaces each value with the largest of its own and those of shorter return periods. A cell that is missing on one map
 * becomes missing on all.
 */
function makeNonDecreasing(maps: readonly Float64Array[]): void {
  const last = maps.at(-1) ?? new Float64Array();
  for (let map = 1; map < maps.length; map++) {
    const [before, values] = [maps[map - 1] as Float64Array, maps[map] as Float64Array];
    for (let cell = 0; cell < values.length; cell++) {
      values[cell] = Math.max(values[cell] as number, before[cell] as number);
    }
  }
  // The maximum of NaN and a number is NaN, so the last value is missing if any is.
  for (let cell = 0; cell < last.length; cell++) {
    if (Number.isNaN(last[cell])) for (const values of maps) values[cell] = NaN;
  }
}

/** Writes the steps of some cells. @param source u16[cells][layerCount] */
function scatterSteps(target: Uint16Array, cells: Int32Array, source: Uint16Array, layerCount: number): void {
  for (let index = 0, from = 0; index < cells.length; index++) {
    const to = (cells[index] as number) * layerCount;
    for (let layer = 0; layer < layerCount; layer++) target[to + layer] = source[from++] as number;
  }
}

/** Marks cells as missing in all layers. */
function setMissing(target: Uint16Array, cells: Int32Array, layerCount: number): void {
  for (let index = 0; index < cells.length; index++) {
    const to = (cells[index] as number) * layerCount;
    target.fill(STEPS_NODATA, to, to + layerCount);
  }
}
