import { STEPS_MAX, STEPS_OUTSIDE } from "../../kernel/kernel.generated.ts";
import type { NoDataReason } from "../../contract/wireTypes.ts";
import type { SampledSteps } from "../sampledLayers.ts";

/** Steps of a set of layers at several places. As SampledSteps, gives those of the selected row. */
export class StepMatrix implements SampledSteps {
  /** [row][layer]: steps; STEPS_OUTSIDE or STEPS_NODATA if there is no value. */
  readonly steps: Uint16Array | Float64Array;
  readonly layerCount: number;
  /** Row of the output of the place of each row. */
  readonly places: Uint32Array;
  /** Whether the steps are means over circles. */
  readonly isMean: boolean;
  #first = 0;

  constructor(
    steps: StepMatrix["steps"],
    { layerCount, places, isMean }: Pick<StepMatrix, "layerCount" | "places" | "isMean">,
  ) {
    this.steps = steps;
    this.layerCount = layerCount;
    this.places = places;
    this.isMean = isMean;
  }

  select(row: number): void {
    this.#first = row * this.layerCount;
  }

  stepsOf(position: number): number | undefined {
    const steps = this.steps[this.#first + position] ?? STEPS_OUTSIDE;
    return steps <= STEPS_MAX ? steps : undefined;
  }

  reasonOf(position: number): NoDataReason {
    return this.steps[this.#first + position] === STEPS_OUTSIDE ? "outside_coverage" : "no_data";
  }
}
