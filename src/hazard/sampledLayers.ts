/**
 * Values of stored steps. Single queries and portfolios of places compute with the same functions, so that their values are
 * equal bit for bit.
 */
import type { CircleSample, CircleValue } from "../atlas/circleSampling.ts";
import type { LayerSet } from "../atlas/layerSet.ts";
import type { CellSample, Sampler } from "../atlas/sampler.ts";
import type { Location } from "../kernel/grid.ts";
import { STEPS_MAX, STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";
import type { HazardQuery } from "./query.ts";
import type { NoDataReason } from "../contract/wireTypes.ts";
import type { LayerEntry } from "../atlas/catalog.ts";

/** A stored layer that a query needs. */
export interface PlannedLayer {
  readonly entry: LayerEntry;
  /** Position in the layer set. */
  readonly position: number;
}

/** Steps of a set of layers at a point or circle, by position in the set. */
export interface SampledSteps {
  /**
   * Returns the steps of a layer: an integer for a point or a maximum, a fraction for a mean; undefined if there is no
   * value.
   */
  stepsOf(position: number): number | undefined;
  /** Returns the reason why a layer has no value. */
  reasonOf(position: number): NoDataReason;
}

/** Values of a set of layers at a query's point or circle, by position in the set. */
export interface SampledLayers extends SampledSteps {
  /** Number of cells that were aggregated. */
  readonly cells: number;
  /** Center of the cell at a point; undefined for a circle. */
  readonly center: Location | undefined;
  /** Returns the share of the cells' area that has a value, 0 to 1. */
  shareOf(position: number): number;
}

/** Result for an atlas that has none of the layers. */
export const NO_LAYERS: SampledLayers = {
  cells: 0,
  center: undefined,
  stepsOf: () => undefined,
  reasonOf: () => "layer_missing",
  shareOf: () => 0,
};

class CircleLayers implements SampledLayers {
  readonly cells: number;
  readonly center = undefined;
  readonly #values: readonly CircleValue[];

  constructor({ cellCount, values }: CircleSample) {
    this.cells = cellCount ?? 0;
    this.#values = values;
  }

  stepsOf(position: number): number | undefined {
    return this.#values[position]?.steps;
  }

  reasonOf(position: number): NoDataReason {
    return this.#values[position]?.hasNodata === true ? "no_data" : "outside_coverage";
  }

  shareOf(position: number): number {
    return this.#values[position]?.validShare ?? 0;
  }
}

class CellLayers implements SampledLayers {
  readonly cells: number;
  readonly center: Location | undefined;
  readonly #steps: Uint16Array | undefined;

  constructor(cell: CellSample | null | undefined) {
    this.cells = cell ? 1 : 0;
    this.center = cell?.center;
    this.#steps = cell?.steps;
  }

  stepsOf(position: number): number | undefined {
    const steps = this.#stepsAt(position);
    return steps <= STEPS_MAX ? steps : undefined;
  }

  reasonOf(position: number): NoDataReason {
    return this.#stepsAt(position) === STEPS_OUTSIDE ? "outside_coverage" : "no_data";
  }

  shareOf(position: number): number {
    return this.#stepsAt(position) <= STEPS_MAX ? 1 : 0;
  }

  #stepsAt(position: number): number {
    return this.#steps?.[position] ?? STEPS_OUTSIDE;
  }
}

type SampledLocation = Pick<HazardQuery, "latitude" | "longitude" | "radius" | "aggregation_method" | "detail">;

/**
 * Samples a set of layers at the query's point or circle without waiting, in a fraction of a millisecond.
 * @returns undefined if tiles must be fetched, or if a circle can only be sampled cell by cell
 */
export function readLayers(sampler: Sampler, set: LayerSet, query: SampledLocation): SampledLayers | undefined {
  const { latitude: latDeg, longitude: lonDeg, radius, aggregation_method: method, detail: shares } = query;
  if (radius === 0) {
    const cell = sampler.readCell(set, { latDeg, lonDeg });
    return cell === undefined ? undefined : new CellLayers(cell);
  }
  const sample = sampler.trySampleCircle(set, { latDeg, lonDeg, radiusM: radius * 1000 }, { method, shares });
  return sample === undefined ? undefined : new CircleLayers(sample);
}

/**
 * Samples a set of layers at the query's point or circle.
 * @param timeSlice its `yield` is awaited between tiles that must be loaded; default: of this thread
 */
export async function sampleLayers(
  sampler: Sampler,
  set: LayerSet,
  query: SampledLocation,
  timeSlice?: TimeSlice,
): Promise<SampledLayers> {
  const { latitude: latDeg, longitude: lonDeg, radius, aggregation_method: method, detail: shares } = query;
  if (radius === 0) return new CellLayers(await sampler.sampleCell(set, { latDeg, lonDeg }, timeSlice));
  const circle = { latDeg, lonDeg, radiusM: radius * 1000 };
  return new CircleLayers(await sampler.sampleCircle(set, circle, { method, shares }, timeSlice));
}

type Encoding = Pick<LayerEntry, "steps_per_unit" | "offset">;

/** @param steps an integer, or a fraction for a mean */
export function valueOfSteps(steps: number, { steps_per_unit, offset }: Encoding): number {
  return steps / steps_per_unit + offset;
}

/**
 * Returns the change from the steps of a baseline. If both layers have the same encoding, steps are subtracted: 0.412 m minus
 * 0.4 m is then 0.012 m, not 0.01199….
 */
export function changeOfSteps(steps: number, encoding: Encoding, baselineSteps: number, baseline: Encoding): number {
  const hasEqualEncoding = baseline.steps_per_unit === encoding.steps_per_unit && baseline.offset === encoding.offset;
  if (hasEqualEncoding) return (steps - baselineSteps) / encoding.steps_per_unit;
  return valueOfSteps(steps, encoding) - valueOfSteps(baselineSteps, baseline);
}
