import type { CellSample, CircleSample, CircleValue, LayerSet, Sampler } from "../atlas/sampler.ts";
import type { Location } from "../kernel/grid.ts";
import { STEPS_MAX, STEPS_OUTSIDE } from "../kernel/kernel.generated.ts";
import type { HazardQuery } from "./query.ts";
import type { NoDataReason } from "./result.ts";

/** What was found of a set of layers, by position. */
export interface SampledLayers {
  readonly cells: number;
  readonly centre: Location | undefined;
  /** Whole at a point or for a maximum, a fraction for a mean; undefined where there is no value. */
  stepsOf(position: number): number | undefined;
  /** Of a layer without a value. */
  reasonOf(position: number): NoDataReason;
  shareOf(position: number): number;
}

export const NO_LAYERS: SampledLayers = {
  cells: 0,
  centre: undefined,
  stepsOf: () => undefined,
  reasonOf: () => "layer_missing",
  shareOf: () => 0,
};

class CircleLayers implements SampledLayers {
  readonly cells: number;
  readonly centre = undefined;
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
  readonly centre: Location | undefined;
  readonly #steps: Uint16Array | undefined;

  constructor(found: CellSample | undefined) {
    this.cells = found === undefined ? 0 : 1;
    this.centre = found?.centre;
    this.#steps = found?.steps;
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

/** Looks up what a query's place has of a set of layers. */
export async function sampleLayers(sampler: Sampler, set: LayerSet, query: HazardQuery): Promise<SampledLayers> {
  const { latitude: latDeg, longitude: lonDeg, radius, aggregation_method: method, detail: shares } = query;
  if (radius === 0) return new CellLayers(await sampler.sampleCell(set, { latDeg, lonDeg }));
  const circle = { latDeg, lonDeg, radiusM: radius * 1000 };
  return new CircleLayers(await sampler.sampleCircle(set, circle, { method, shares }));
}
