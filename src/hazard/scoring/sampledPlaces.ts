import { STEPS_MAX, STEPS_OUTSIDE } from "../../kernel/kernel.generated.ts";
import type { NoDataReason } from "../../contract/wireTypes.ts";
import type { SampledSteps } from "../sampledLayers.ts";
import type { LayerSet } from "../../atlas/layerSet.ts";
import type { Sampler } from "../../atlas/sampler.ts";
import type { LocationArrays } from "../../kernel/sampling.ts";
import type { TimeSlice } from "../../concurrency/timeSlice.ts";
import { sampleCircles } from "../sampleCircles.ts";
import type { PartialScoreRequest, ScoreRequest } from "./scoreRequest.ts";

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

/** Places of a request that are sampled in the same way. */
interface PlaceSubset extends LocationArrays {
  /** Rows of the places in the output. */
  readonly places: Uint32Array;
  /** Kilometers, one per place; undefined for points. */
  readonly radiiKm: Float64Array | undefined;
}

/** Divides the places of a request into points and circles. Places with NaN become points outside every grid. */
export function dividePlaces({ latitudes, longitudes, radiiKm, rows }: PartialScoreRequest): readonly PlaceSubset[] {
  const count = latitudes.length;
  let circleCount = 0;
  let hasMissing = false;
  for (let place = 0; place < count; place++) {
    const kind = kindOf(latitudes[place] ?? NaN, longitudes[place] ?? NaN, radiiKm[place] ?? NaN);
    if (kind === "circle") circleCount++;
    else if (kind === "missing") hasMissing = true;
  }
  if (circleCount === 0 && !hasMissing) {
    return [{ places: rows ?? consecutiveRows(count), latitudes, longitudes, radiiKm: undefined }];
  }
  const points = newSubset(count - circleCount);
  const circles = { ...newSubset(circleCount), radiiKm: new Float64Array(circleCount) };
  let [point, circle] = [0, 0];
  for (let place = 0; place < count; place++) {
    const [latitude, longitude, radiusKm] = [latitudes[place] ?? NaN, longitudes[place] ?? NaN, radiiKm[place] ?? NaN];
    const kind = kindOf(latitude, longitude, radiusKm);
    if (kind === "circle") {
      circles.places[circle] = rows?.[place] ?? place;
      // Adding 0 turns -0 into 0, as in a query.
      circles.latitudes[circle] = latitude + 0;
      circles.longitudes[circle] = longitude + 0;
      circles.radiiKm[circle++] = radiusKm;
    } else {
      points.places[point] = rows?.[place] ?? place;
      points.latitudes[point] = kind === "point" ? latitude : NaN;
      points.longitudes[point++] = kind === "point" ? longitude : NaN;
    }
  }
  return [{ ...points, radiiKm: undefined }, circles].filter(({ places }) => places.length > 0);
}

function consecutiveRows(count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

function kindOf(latitude: number, longitude: number, radiusKm: number): "point" | "circle" | "missing" {
  if (Number.isNaN(latitude + longitude)) return "missing";
  return radiusKm > 0 ? "circle" : radiusKm === 0 ? "point" : "missing";
}

function newSubset(count: number): LocationArrays & { readonly places: Uint32Array } {
  return {
    places: new Uint32Array(count),
    latitudes: new Float64Array(count),
    longitudes: new Float64Array(count),
  };
}

interface SamplingRun extends Pick<ScoreRequest, "method" | "signal"> {
  readonly timeSlice: TimeSlice;
}

/** Returns the stored steps of a set of layers at points: u16[point][laneCount]. */
export async function samplePoints(
  sampler: Sampler,
  set: LayerSet | undefined,
  { places, latitudes, longitudes }: PlaceSubset,
  { signal, timeSlice }: SamplingRun,
): Promise<{ readonly steps: Uint16Array; readonly laneCount: number }> {
  const laneCount = set?.lanes.length ?? 0;
  const steps = new Uint16Array(places.length * laneCount);
  const onProgress = (): void => signal?.throwIfAborted();
  if (set !== undefined) {
    await sampler.sampleLocations(set, { latitudes, longitudes }, { steps }, { timeSlice, onProgress });
  }
  return { steps, laneCount };
}

/** Returns the steps of a set of layers at the places of a subset. */
export async function samplePlaces(
  sampler: Sampler,
  set: LayerSet | undefined,
  subset: PlaceSubset,
  run: SamplingRun,
): Promise<StepMatrix> {
  const { places, radiiKm } = subset;
  const { method, signal, timeSlice } = run;
  const layerCount = set?.lanes.length ?? 0;
  if (radiiKm === undefined) {
    const { steps } = await samplePoints(sampler, set, subset, run);
    return new StepMatrix(steps, { layerCount, places, isMean: false });
  }
  const steps = new Float64Array(places.length * layerCount);
  if (set !== undefined) {
    const circles = { ...subset, radiusKmOf: (index: number) => radiiKm[index] ?? NaN, method };
    await sampleCircles(sampler, set, circles, { out: { steps }, timeSlice, signal });
  }
  return new StepMatrix(steps, { layerCount, places, isMean: method === "mean" });
}
