/**
 * Finds all rejected values of the maps of an ingest. It runs after a value was rejected, so that a user can correct all maps
 * at once. It reads maps in the calling thread, so that the result does not depend on the number of threads.
 */
import { type Fault, isFault } from "../errors.ts";
import { HAZARDS, type MetricName, type MetricSpec } from "../hazard/hazards.ts";
import { toSteps } from "../kernel/curve.ts";
import { Kernel } from "../kernel/instance.ts";
import { isInRange, rejectionOf, type ValueRange } from "./badValue.ts";
import { curveCells, ModelMean } from "./curve.ts";
import { gathered } from "./metricSteps.ts";
import { clampToleranceOf, type IngestOptions } from "./options.ts";
import { curveRuleOf, largestAllowed, metricsOfPlan } from "./planLayers.ts";
import {
  type CurveSource,
  type GroupPlan,
  type HazardPlan,
  type MapSource,
  mapsOf,
  type MetricSource,
} from "./plan.ts";
import { type CellWindow, type RasterValues } from "./raster.ts";
import { MapRejections, type RejectedMap, rejectionListFault } from "./rejectionList.ts";
import { scanWindows } from "./scanWindows.ts";
import type { IngestTarget } from "./target.ts";

/** Returns whether an error is about one cell of a map, as opposed to a map that cannot be read. */
export function isCellFault(error: unknown): error is Fault {
  return isFault(error, "source_invalid") && typeof error.details["row"] === "number";
}

/**
 * Returns the error that lists all rejected values of an ingest.
 * @param first the error about one cell that ended the ingest
 * @throws the abort reason of the signal
 */
export async function allRejections(
  first: Fault,
  targets: readonly IngestTarget[],
  options: IngestOptions,
): Promise<Fault> {
  const kernel = await Kernel.load();
  const rejections = new Map<string, MapRejections>();
  for (const target of targets) await new GroupScanner(kernel, target, { options, rejections }).scan();
  const maps: RejectedMap[] = [];
  for (const map of rejections.values()) if (!map.isEmpty) maps.push(map.result());
  return rejectionListFault(first, maps);
}

/** A map, the range of its values, and where its rejected values are collected. */
interface CheckedMap {
  readonly source: MapSource;
  readonly range: ValueRange;
  readonly rejections: MapRejections;
  /** False if another group has the same map with the same range, so that its values have been checked. */
  readonly isFirst: boolean;
}

class GroupScanner {
  readonly #kernel: Kernel;
  readonly #target: IngestTarget;
  readonly #options: IngestOptions;
  readonly #rejections: Map<string, MapRejections>;

  constructor(
    kernel: Kernel,
    target: IngestTarget,
    { options, rejections }: { readonly options: IngestOptions; readonly rejections: Map<string, MapRejections> },
  ) {
    this.#kernel = kernel;
    this.#target = target;
    this.#options = options;
    this.#rejections = rejections;
  }

  async scan(): Promise<void> {
    const { plan, window } = this.#target;
    for (const group of plan.groups) {
      const maps = this.#mapsOf(group);
      const blocks = {
        blockRowCount: Math.max(...maps.map(({ source }) => source.raster.blockRowCount)),
        blockColumnCount: Math.max(...maps.map(({ source }) => source.raster.blockColumnCount)),
        mapCount: maps.length,
      };
      for (const part of scanWindows(window, blocks)) {
        const values: RasterValues[] = [];
        for (const map of maps) {
          this.#options.signal?.throwIfAborted();
          values.push(await this.#checkedValues(map, part));
        }
        if (group.content.kind === "curves") this.#checkCurves(group.content.models, { maps, values, part });
      }
    }
  }

  #mapsOf(group: GroupPlan): readonly CheckedMap[] {
    const { plan } = this.#target;
    const { content } = group;
    const metricOf = new Map<MapSource, MetricName>();
    if (content.kind === "metrics") {
      for (const [metric, source] of Object.entries(content.metrics)) metricOf.set(source, metric as MetricName);
    }
    return mapsOf(group).map((source): CheckedMap => {
      const layer = layerOf(plan, metricOf.get(source) ?? HAZARDS[plan.hazard].ownMetric);
      const { unitFactor } = source;
      const isLimited = content.kind === "metrics" && !(source as MetricSource).saturate;
      const range = {
        unitFactor,
        clampTolerance: clampToleranceOf(this.#options, layer.unit),
        max: isLimited ? largestAllowed(layer) / unitFactor : Number.MAX_VALUE,
      };
      const key = JSON.stringify([source.raster.spec, source.band, content.kind, range]);
      const known = this.#rejections.get(key);
      const rejections = known ?? new MapRejections(source);
      this.#rejections.set(key, rejections);
      return { source, range, rejections, isFirst: known === undefined };
    });
  }

  /** Reads a window of a map, in which rejected values become missing, like cells that cannot be read. */
  async #checkedValues(map: CheckedMap, window: CellWindow): Promise<RasterValues> {
    const { range, rejections, isFirst } = map;
    const read = await this.#read(map, window);
    let values = read;
    for (let index = 0; index < read.length; index++) {
      const value = read[index] as number;
      if (isInRange(value, range) || Number.isNaN(value)) continue;
      const reason = rejectionOf(value, range);
      if (reason !== undefined && isFirst) rejections.add(cellAt(window, index), value, reason);
      if (values === read) values = read.slice(); // readers may keep what they return
      values[index] = reason === undefined ? 0 : NaN;
    }
    return values;
  }

  /** Reads a window; cells that cannot be read are missing, and the reasons are collected. */
  async #read(map: CheckedMap, window: CellWindow): Promise<RasterValues> {
    const { source, rejections, isFirst } = map;
    try {
      return await source.raster.readWindow({ ...window, band: source.band });
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (!isFault(error, "source_invalid")) throw error;
      const values = new Float64Array(window.rowCount * window.columnCount).fill(NaN);
      if (rejections.hasAllErrors || !isFirst) return values;
      rejections.addError(error.message);
      // The cells around a rejected cell are read separately, unless the error is about a cell of another grid.
      const { row, column = 0, other_file } = error.details;
      const { kind } = source.raster.spec;
      const isOfGrid = kind === "file" || (kind === "mosaic" && other_file !== undefined);
      if (!isOfGrid || typeof row !== "number" || typeof column !== "number") return values;
      for (const part of partsAround({ row, column }, window)) {
        const read = await this.#read(map, part);
        copyInto(values, window, { values: read, part });
      }
      return values;
    }
  }

  /**
   * Finds cells whose metric is too large although every value is valid. Only cells with a value above the largest value of
   * the layer are computed.
   */
  #checkCurves(
    models: readonly CurveSource[],
    {
      maps,
      values,
      part,
    }: { readonly maps: readonly CheckedMap[]; readonly values: readonly RasterValues[]; readonly part: CellWindow },
  ): void {
    const { plan } = this.#target;
    const layer = layerOf(plan, HAZARDS[plan.hazard].ownMetric);
    const largest = largestAllowed(layer);
    const cells = cellsAbove(largest, maps, values);
    if (cells.length === 0) return;
    const mean = new ModelMean({ modelCount: models.length, cellCount: cells.length });
    const all = Int32Array.from(cells, (_, index) => index);
    let first = 0;
    for (const model of models) {
      const end = first + model.maps.length;
      const curves = {
        maps: values.slice(first, end).map((map) => gathered(map, cells)),
        unitFactors: model.maps.map(({ unitFactor }) => unitFactor),
      };
      const options = { clampTolerance: undefined, flags: new Uint8Array(cells.length) };
      mean.add(0, all, curveCells(this.#kernel, curves, curveRuleOf(plan, model), options));
      first = end;
    }
    const { own } = mean.result();
    for (const [index, cell] of cells.entries()) {
      if (!this.#isAboveLayer(own[index] as number, layer)) continue;
      const map = maps.findIndex(
        ({ range }, at) => ((values[at] as RasterValues)[cell] as number) * range.unitFactor > largest,
      );
      const checked = maps[map];
      // A map that several groups have may be reported for each of them, so it is added only once.
      if (checked?.isFirst === true)
        checked.rejections.add(cellAt(part, cell), (values[map] as RasterValues)[cell] as number, "above-range");
    }
  }

  #isAboveLayer(metric: number, layer: MetricSpec): boolean {
    const marginUnits = 1 / layer.stepsPerUnit;
    const excess = metric - largestAllowed(layer);
    if (!(Math.abs(excess) <= marginUnits)) return excess > 0;
    const target = { cells: new Uint16Array(1), layer: 0, layerCount: 1 };
    return toSteps(this.#kernel, Float64Array.of(metric), layer, target).kind === "out-of-range";
  }
}

function layerOf(plan: HazardPlan, metric: MetricName): MetricSpec {
  const layer = metricsOfPlan(plan).find((spec) => spec.metric === metric);
  if (layer === undefined) throw new Error(`${plan.hazard} has no metric ${metric}.`);
  return layer;
}

/** Returns the cells in which a map has a larger value, in ascending order. */
function cellsAbove(largest: number, maps: readonly CheckedMap[], values: readonly RasterValues[]): Int32Array {
  const isAbove = new Uint8Array(values[0]?.length ?? 0);
  for (const [index, { range }] of maps.entries()) {
    const map = values[index] as RasterValues;
    for (let cell = 0; cell < map.length; cell++) {
      if ((map[cell] as number) * range.unitFactor > largest) isAbove[cell] = 1;
    }
  }
  const cells = new Int32Array(isAbove.reduce((sum, bit) => sum + bit, 0));
  for (let cell = 0, next = 0; cell < isAbove.length; cell++) if (isAbove[cell] === 1) cells[next++] = cell;
  return cells;
}

function cellAt({ firstRow, firstColumn, columnCount }: CellWindow, index: number): { row: number; column: number } {
  return { row: firstRow + Math.floor(index / columnCount), column: firstColumn + (index % columnCount) };
}

/** Returns the parts of a window without one cell: the rows above, the cells to its left and right, and the rows below. */
function partsAround({ row, column }: { row: number; column: number }, window: CellWindow): readonly CellWindow[] {
  const { firstRow, rowCount, firstColumn, columnCount } = window;
  const [bottom, right] = [firstRow + rowCount, firstColumn + columnCount];
  if (!(row >= firstRow && row < bottom && column >= firstColumn && column < right)) return [];
  const ofRow = { firstRow: row, rowCount: 1 };
  return [
    { ...window, rowCount: row - firstRow },
    { ...ofRow, firstColumn, columnCount: column - firstColumn },
    { ...ofRow, firstColumn: column + 1, columnCount: right - column - 1 },
    { ...window, firstRow: row + 1, rowCount: bottom - row - 1 },
  ].filter((part) => part.rowCount > 0 && part.columnCount > 0);
}

function copyInto(
  target: RasterValues,
  window: CellWindow,
  { values, part }: { readonly values: RasterValues; readonly part: CellWindow },
): void {
  for (let row = 0; row < part.rowCount; row++) {
    const to = (part.firstRow + row - window.firstRow) * window.columnCount + part.firstColumn - window.firstColumn;
    target.set(values.subarray(row * part.columnCount, (row + 1) * part.columnCount), to);
  }
}
